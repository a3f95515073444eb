/* See zip.h. Numbers in an archive are little-endian; every one that is read is checked against the bytes that are there. */
#include "support/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LOCAL_SIGNATURE = 0x04034b50, MEMBER_SIGNATURE = 0x02014b50, END_SIGNATURE = 0x06054b50, END64_SIGNATURE = 0x06064b50,
       LOCATOR64_SIGNATURE = 0x07064b50 };
enum { LOCAL_BYTES = 30, MEMBER_BYTES = 46, END_BYTES = 22, END64_BYTES = 56, LOCATOR64_BYTES = 20, LONGEST_COMMENT = 65535 };
enum { METHOD_STORED = 0, METHOD_DEFLATED = 8, FLAG_ENCRYPTED = 1, FLAG_SIZES_FOLLOW = 8, EXTRA_ZIP64 = 1 };
/* Deflate makes at most 1032 bytes out of one. */
enum { LARGEST_RATIO = 1032, VERSION = 20, FIRST_OF_1980 = 0x21 };
#define NOT_HERE UINT32_MAX /* the number stands in the ZIP64 field */
#define MOST_BYTES (UINT64_C(1) << 33)

/* --- Numbers --- */
static uint64_t number(const char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | (unsigned char)at[i];
    return value;
}
static uint16_t number16(const char *at) { return (uint16_t)number(at, 2); }
static uint32_t number32(const char *at) { return (uint32_t)number(at, 4); }

static void add_number(StrBuf *out, uint64_t value, int bytes)
{
    char text[8];
    for (int i = 0; i < bytes; i++)
        text[i] = (char)(value >> 8 * i);
    strbuf_add_bytes(out, text, (size_t)bytes);
}

/* SIZE bytes at OFFSET lie in the archive. */
static bool lies_inside(const ZipArchive *archive, uint64_t offset, uint64_t size)
{
    return offset <= archive->length && size <= archive->length - offset;
}

/* --- The directory --- */
typedef struct {
    uint64_t count, size, offset;
} Directory;

bool zip_begins(const char *data, size_t length)
{
    return length >= 4 && (number32(data) == LOCAL_SIGNATURE || number32(data) == END_SIGNATURE);
}

/* The end record, behind which only a comment stands; NULL where there is none. */
static const char *find_end(const ZipArchive *archive)
{
    for (uint64_t comment = 0; comment <= LONGEST_COMMENT && comment + END_BYTES <= archive->length; comment++) {
        const char *at = archive->data + archive->length - END_BYTES - comment;
        if (number32(at) == END_SIGNATURE && number16(at + 20) == comment)
            return at;
    }
    return NULL;
}

/* Replaces what END leaves to the ZIP64 record by the numbers there; false where that record is missing. */
static bool read_end64(const ZipArchive *archive, const char *end, Directory *directory)
{
    if (directory->count != UINT16_MAX && directory->size != NOT_HERE && directory->offset != NOT_HERE)
        return true;
    if (end - archive->data < LOCATOR64_BYTES || number32(end - LOCATOR64_BYTES) != LOCATOR64_SIGNATURE)
        return directory->size != NOT_HERE && directory->offset != NOT_HERE; /* just so many members */
    uint64_t place = number(end - LOCATOR64_BYTES + 8, 8);
    if (!lies_inside(archive, place, END64_BYTES) || number32(archive->data + place) != END64_SIGNATURE)
        return false;
    const char *end64 = archive->data + place;
    *directory = (Directory){number(end64 + 32, 8), number(end64 + 40, 8), number(end64 + 48, 8)};
    return true;
}

/* Takes the 64-bit numbers of the extra field from EXTRA to END that stand for those of MEMBER. False where one is missing. */
static bool read_extra(const char *extra, const char *end, ZipMember *member)
{
    uint64_t *const fields[] = {&member->length, &member->packed, &member->header};
    int missing = 0, taken = 0;
    for (int i = 0; i < 3; i++)
        missing += *fields[i] == NOT_HERE;
    for (; missing && end - extra >= 4; extra += 4 + number16(extra + 2)) {
        const char *at = extra + 4, *stop = at + number16(extra + 2);
        if (stop > end)
            break;
        for (int i = 0; number16(extra) == EXTRA_ZIP64 && i < 3; i++)
            if (*fields[i] == NOT_HERE && stop - at >= 8) {
                *fields[i] = number(at, 8);
                at += 8;
                taken++;
            }
    }
    return taken == missing;
}

/* Reads the member at *PLACE of the directory and steps over it; false where it is broken. */
static bool read_member(Arena *arena, ZipArchive *archive, uint64_t *place)
{
    const char *at = archive->data + *place;
    if (!lies_inside(archive, *place, MEMBER_BYTES) || number32(at) != MEMBER_SIGNATURE)
        return false;
    unsigned name = number16(at + 28), extra = number16(at + 30), comment = number16(at + 32);
    if (!lies_inside(archive, *place + MEMBER_BYTES, (uint64_t)name + extra + comment) || memchr(at + MEMBER_BYTES, 0, name))
        return false;
    ZipMember member = {.name = arena_strndup(arena, at + MEMBER_BYTES, name),
                        .flags = number16(at + 8),
                        .method = number16(at + 10),
                        .crc = number32(at + 16),
                        .packed = number32(at + 20),
                        .length = number32(at + 24),
                        .header = number32(at + 42)};
    if (!read_extra(at + MEMBER_BYTES + name, at + MEMBER_BYTES + name + extra, &member))
        return false;
    vec_push(arena, &archive->members, member);
    *place += MEMBER_BYTES + (uint64_t)name + extra + comment;
    return true;
}

const char *zip_read(Arena *arena, const char *data, size_t length, ZipArchive *archive)
{
    *archive = (ZipArchive){.data = data, .length = length};
    const char *end = find_end(archive);
    if (!end)
        return "the archive has no directory; is it cut off?";
    Directory directory = {number16(end + 10), number32(end + 12), number32(end + 16)};
    if (!read_end64(archive, end, &directory) || !lies_inside(archive, directory.offset, directory.size))
        return "the archive's directory lies outside of it";
    uint64_t place = directory.offset;
    for (uint64_t i = 0; i < directory.count; i++)
        if (!read_member(arena, archive, &place))
            return "the archive's directory is broken";
    return NULL;
}

/* --- Unpacking --- */
/* The packed bytes of MEMBER; NULL where they are not all there. */
static const char *packed_bytes(const ZipArchive *archive, const ZipMember *member)
{
    const char *header = archive->data + member->header;
    if (!lies_inside(archive, member->header, LOCAL_BYTES) || number32(header) != LOCAL_SIGNATURE)
        return NULL;
    uint64_t skipped = LOCAL_BYTES + (uint64_t)number16(header + 26) + number16(header + 28);
    return lies_inside(archive, member->header, skipped) && lies_inside(archive, member->header + skipped, member->packed)
               ? header + skipped
               : NULL;
}

/* Inflates PACKED into DATA, which has room for the member; true when it fills it exactly. */
static bool inflate_all(const ZipMember *member, const char *packed, char *data)
{
    enum { CHUNK = 1 << 30 };
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    uint64_t unread = member->packed, unwritten = member->length;
    stream.next_in = (Bytef *)packed;
    stream.next_out = (Bytef *)data;
    int status = Z_OK;
    while (status == Z_OK) {
        uInt in = (uInt)(unread < CHUNK ? unread : CHUNK), out = (uInt)(unwritten < CHUNK ? unwritten : CHUNK);
        stream.avail_in = in;
        stream.avail_out = out;
        status = inflate(&stream, Z_NO_FLUSH);
        unread -= in - stream.avail_in;
        unwritten -= out - stream.avail_out;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && !unread && !unwritten;
}

static uint32_t checksum(const char *data, uint64_t length)
{
    return (uint32_t)crc32_z(crc32(0, NULL, 0), (const Bytef *)data, length);
}

/* What is wrong with what the directory says of MEMBER, or NULL. */
static const char *check_member(const ZipMember *member)
{
    if (member->flags & FLAG_ENCRYPTED)
        return "it is encrypted";
    if (member->method != METHOD_STORED && member->method != METHOD_DEFLATED)
        return "it is packed by a method other than stored or deflated";
    if (member->length > MOST_BYTES)
        return "it has more than 8 GiB";
    if (member->method == METHOD_STORED ? member->length != member->packed : member->length / LARGEST_RATIO > member->packed)
        return "its size cannot be what the directory says";
    return NULL;
}

const char *zip_unpack(const ZipArchive *archive, const ZipMember *member, char **data)
{
    *data = NULL;
    const char *wrong = check_member(member);
    if (wrong)
        return wrong;
    const char *packed = packed_bytes(archive, member);
    if (!packed)
        return "its bytes are not where the directory says; is the archive cut off?";
    char *memory = malloc(member->length + 1);
    if (!memory)
        return "there is not enough memory for it";
    if (member->method == METHOD_STORED)
        memcpy(memory, packed, member->length);
    else if (!inflate_all(member, packed, memory))
        wrong = "its deflated bytes are broken";
    if (!wrong && checksum(memory, member->length) != member->crc)
        wrong = "its checksum (CRC-32) is wrong";
    if (wrong) {
        free(memory);
        return wrong;
    }
    memory[member->length] = 0;
    *data = memory;
    return NULL;
}

/* --- Writing --- */
ZipWriter zip_writer(Arena *arena)
{
    return (ZipWriter){.bytes = {.arena = arena}, .directory = {.arena = arena}};
}

/* What a local header and the directory say alike, from the needed version to the length of the name. */
static void add_facts(StrBuf *out, const ZipMember *member)
{
    add_number(out, VERSION, 2);
    add_number(out, member->flags, 2);
    add_number(out, member->method, 2);
    add_number(out, 0, 2);
    add_number(out, FIRST_OF_1980, 2);
    add_number(out, member->crc, 4);
    add_number(out, member->packed, 4);
    add_number(out, member->length, 4);
    add_number(out, strlen(member->name), 2);
}

static void add_member(ZipWriter *writer, const ZipMember *member, const char *packed)
{
    uint64_t place = writer->bytes.length;
    add_number(&writer->bytes, LOCAL_SIGNATURE, 4);
    add_facts(&writer->bytes, member);
    add_number(&writer->bytes, 0, 2);
    strbuf_add(&writer->bytes, member->name);
    strbuf_add_bytes(&writer->bytes, packed, member->packed);
    add_number(&writer->directory, MEMBER_SIGNATURE, 4);
    add_number(&writer->directory, VERSION, 2);
    add_facts(&writer->directory, member);
    for (int zero = 0; zero < 6; zero++)
        add_number(&writer->directory, 0, 2);
    add_number(&writer->directory, place, 4);
    strbuf_add(&writer->directory, member->name);
    writer->count++;
}

void zip_add(ZipWriter *writer, const char *name, const char *data, size_t length)
{
    add_member(writer, &(ZipMember){.name = name, .packed = length, .length = length, .crc = checksum(data, length)}, data);
}

const char *zip_add_packed(ZipWriter *writer, const ZipArchive *archive, const ZipMember *member)
{
    const char *packed = packed_bytes(archive, member);
    if (!packed)
        return "its bytes are not where the directory says; is the archive cut off?";
    ZipMember copy = *member;
    copy.flags &= (uint16_t)~FLAG_SIZES_FOLLOW; /* they stand in the header now */
    add_member(writer, &copy, packed);
    return NULL;
}

bool zip_finish(ZipWriter *writer)
{
    uint64_t directory = writer->bytes.length, size = writer->directory.length;
    if (writer->count)
        strbuf_add_bytes(&writer->bytes, writer->directory.text, size);
    add_number(&writer->bytes, END_SIGNATURE, 4);
    add_number(&writer->bytes, 0, 4);
    add_number(&writer->bytes, (uint64_t)writer->count, 2);
    add_number(&writer->bytes, (uint64_t)writer->count, 2);
    add_number(&writer->bytes, size, 4);
    add_number(&writer->bytes, directory, 4);
    add_number(&writer->bytes, 0, 2);
    return writer->count <= UINT16_MAX && writer->bytes.length < UINT32_MAX;
}
