/* ZIP archives in memory, as NumPy's .npz files are: members that are stored or deflated, ZIP64 where it is read. Format: PKWARE's
   APPNOTE.TXT. */
#ifndef TIRC_SUPPORT_ZIP_H
#define TIRC_SUPPORT_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef struct {
    const char *name; /* as the archive spells it, of any bytes but NUL */
    uint64_t packed, length; /* bytes in the archive, and unpacked */
    uint64_t header;         /* where its local header begins */
    uint32_t crc;
    uint16_t flags, method;
} ZipMember;

typedef struct {
    const char *data;
    size_t length;
    VEC(ZipMember) members; /* in the order of the directory */
} ZipArchive;

/* True when DATA begins as an archive does. */
bool zip_begins(const char *data, size_t length);
/* Reads the directory of DATA, which the archive refers to as long as it is used. NULL, or what is wrong with it. */
const char *zip_read(Arena *arena, const char *data, size_t length, ZipArchive *archive);
/* Unpacks a member and compares its checksum: *DATA, with a NUL byte behind it, is from malloc and the caller's to free. NULL, or what is
   wrong. */
const char *zip_unpack(const ZipArchive *archive, const ZipMember *member, char **data);

/* An archive that is being written. The same members give the same bytes: no times are kept. */
typedef struct {
    StrBuf bytes, directory;
    int count;
} ZipWriter;

ZipWriter zip_writer(Arena *arena);
/* Adds a member that is stored as it is. */
void zip_add(ZipWriter *writer, const char *name, const char *data, size_t length);
/* Adds MEMBER of ARCHIVE as it is packed there. NULL, or what is wrong with it. */
const char *zip_add_packed(ZipWriter *writer, const ZipArchive *archive, const ZipMember *member);
/* Ends the archive: its bytes are WRITER->bytes. False where it has become larger than the format without ZIP64 allows: 4 GiB, or 65,535
   members. */
bool zip_finish(ZipWriter *writer);

#endif
