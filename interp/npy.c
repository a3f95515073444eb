/* Reading and writing .npy; see npy.h. A file is a magic string, a version, a length and a header, which is a Python dictionary of three
   entries, then the elements. */
#include "interp/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, PREAMBLE_BYTES = 10, ALIGNMENT = 64, MOST_DIMENSIONS = 64, GROWTH_DIGITS = 21 };
static const char magic[] = "\x93NUMPY";

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

DType npy_stored_type(DType dtype)
{
    bool known = dtype.code == DT_BOOL || dtype_is_integer(dtype) || (dtype.code == DT_FLOAT && dtype.bits >= 16);
    return known ? dtype : DTYPE(DT_UINT, (uint8_t)(8 * dtype_bytes(dtype)));
}

int64_t npy_count(const NpyArray *array)
{
    int64_t count = 1;
    for (int i = 0; i < array->ndim; i++)
        count *= array->shape[i];
    return count;
}

const char *npy_describe(Context *ctx, const NpyArray *array)
{
    StrBuf text = {.arena = ctx->arena};
    strbuf_printf(&text, "%s[", dtype_name(ctx, array->dtype));
    for (int i = 0; i < array->ndim; i++)
        strbuf_printf(&text, "%s%" PRId64, i ? ", " : "", array->shape[i]);
    strbuf_add(&text, "]");
    return strbuf_text(&text);
}

/* --- The header --- */
typedef struct {
    Arena *arena;
    const char *at, *end;
    const char *descr; /* NULL until it was read */
    int fortran;       /* -1 until then */
    int ndim;          /* -1 until then */
    int64_t *shape;
    const char *wrong;
} Header;

static bool fail(Header *header, const char *wrong)
{
    if (!header->wrong)
        header->wrong = wrong;
    return false;
}

static char next_char(Header *header)
{
    while (header->at < header->end && *header->at && strchr(" \t\r\n", *header->at))
        header->at++;
    return header->at < header->end ? *header->at : 0;
}

static bool take(Header *header, char expected)
{
    if (next_char(header) != expected)
        return false;
    header->at++;
    return true;
}

/* The text of a string in quotes of either kind; NULL where none stands there. */
static const char *take_string(Header *header)
{
    char quote = next_char(header);
    if (quote != '\'' && quote != '"')
        return NULL;
    const char *begin = header->at + 1, *close = memchr(begin, quote, (size_t)(header->end - begin));
    if (!close)
        return NULL;
    header->at = close + 1;
    return arena_strndup(header->arena, begin, (size_t)(close - begin));
}

static bool take_word(Header *header, const char *word)
{
    size_t length = strlen(word);
    next_char(header);
    if ((size_t)(header->end - header->at) < length || strncmp(header->at, word, length))
        return false;
    header->at += length;
    return true;
}

/* A number of a shape; Python 2 wrote some with an L behind. */
static bool take_extent(Header *header, int64_t *extent)
{
    char digit = next_char(header);
    if (digit < '0' || digit > '9')
        return fail(header, "the shape in its header is no tuple of numbers from 0 on");
    for (*extent = 0; header->at < header->end && *header->at >= '0' && *header->at <= '9'; header->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *header->at - '0', extent))
            return fail(header, "its header has an extent beyond 2^63");
    take(header, 'L');
    return true;
}

static bool read_shape(Header *header)
{
    if (!take(header, '('))
        return fail(header, "the shape in its header is no tuple of numbers from 0 on");
    header->shape = ARENA_ARRAY(header->arena, int64_t, MOST_DIMENSIONS);
    bool comma = false;
    for (header->ndim = 0; !take(header, ')');) {
        if (header->ndim == MOST_DIMENSIONS)
            return fail(header, "it has more than 64 dimensions");
        if (!take_extent(header, &header->shape[header->ndim++]))
            return false;
        comma = take(header, ',');
        if (!comma && next_char(header) != ')')
            return fail(header, "the shape in its header is no tuple of numbers from 0 on");
    }
    return comma || header->ndim != 1 || fail(header, "the shape in its header is no tuple of numbers from 0 on");
}

static bool read_descr(Header *header)
{
    char first = next_char(header);
    header->descr = take_string(header);
    return header->descr || fail(header, first == '[' || first == '(' ? "its elements are records of several fields"
                                                                       : "the descr in its header is no string");
}

static bool read_entry(Header *header)
{
    const char *key = take_string(header);
    if (!key || !take(header, ':'))
        return fail(header, "its header is no dictionary of descr, fortran_order and shape");
    if (!strcmp(key, "descr") && !header->descr)
        return read_descr(header);
    if (!strcmp(key, "shape") && header->ndim < 0)
        return read_shape(header);
    if (strcmp(key, "fortran_order") || header->fortran >= 0)
        return fail(header, "its header has other entries than descr, fortran_order and shape once each");
    header->fortran = take_word(header, "True") ? 1 : take_word(header, "False") ? 0 : -1;
    return header->fortran >= 0 || fail(header, "the fortran_order in its header is neither True nor False");
}

static bool read_header(Header *header)
{
    if (!take(header, '{'))
        return fail(header, "its header is no dictionary of descr, fortran_order and shape");
    while (!take(header, '}')) {
        if (!read_entry(header))
            return false;
        if (!take(header, ',') && next_char(header) != '}')
            return fail(header, "its header is no dictionary of descr, fortran_order and shape");
    }
    if (next_char(header) || header->at < header->end) /* a NUL is no end */
        return fail(header, "its header goes on behind the dictionary");
    return (header->descr && header->fortran >= 0 && header->ndim >= 0) ||
           fail(header, "its header lacks descr, fortran_order or shape");
}

/* The type that DESCR names, as "<f4", "|b1" or "u1"; false with the reason where tirc has none such. */
static bool read_type(Header *header, DType *dtype, bool *big)
{
    const char *descr = header->descr;
    *big = *descr == '>' || ((*descr != '<') && HOST_IS_BIG);
    descr += *descr && strchr("<>|=", *descr) != NULL;
    char *end;
    long bytes = strtol(*descr ? descr + 1 : descr, &end, 10);
    if (*descr == 'O')
        return fail(header, "its elements are Python objects (pickled), which are not read");
    const char *code = *descr ? strchr("biuf", *descr) : NULL;
    if (!code || *end || bytes <= 0 || bytes > 8 || bytes & (bytes - 1) || (*code == 'b' && bytes != 1) || (*code == 'f' && bytes == 1))
        return fail(header, arena_printf(header->arena, "its elements have the dtype '%s'; bool, integers, float16, float32 and float64 "
                                                        "are read", header->descr));
    *dtype = *code == 'b' ? DTYPE_BOOL : DTYPE(*code == 'i' ? DT_INT : *code == 'u' ? DT_UINT : DT_FLOAT, (uint8_t)(8 * bytes));
    return true;
}

/* --- Elements --- */
/* Copies COUNT elements of BYTES bytes from FROM, in Fortran order, to TO in C order. */
static void order_elements(const NpyArray *array, int bytes, const char *from, char *to)
{
    int64_t at[MOST_DIMENSIONS] = {0}, count = npy_count(array);
    for (int64_t k = 0; k < count; k++) {
        int64_t place = 0;
        for (int i = 0; i < array->ndim; i++)
            place = place * array->shape[i] + at[i];
        memcpy(to + place * bytes, from + k * bytes, (size_t)bytes);
        for (int i = 0; i < array->ndim && ++at[i] == array->shape[i]; i++)
            at[i] = 0;
    }
}

static void reverse_bytes(char *data, int64_t count, int bytes)
{
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < bytes / 2; i++) {
            char *left = data + k * bytes + i, *right = data + (k + 1) * bytes - 1 - i, kept = *left;
            *left = *right;
            *right = kept;
        }
}

/* Puts the elements at FROM in order, where they are not. */
static void take_elements(Arena *arena, const char *from, bool fortran, bool big, NpyArray *array)
{
    int bytes = dtype_bytes(array->dtype);
    int64_t count = npy_count(array);
    array->data = from;
    if (!count || !((fortran && array->ndim > 1) || big != HOST_IS_BIG || array->dtype.code == DT_BOOL))
        return;
    char *data = arena_alloc(arena, (size_t)(count * bytes));
    if (fortran)
        order_elements(array, bytes, from, data);
    else
        memcpy(data, from, (size_t)(count * bytes));
    if (big != HOST_IS_BIG)
        reverse_bytes(data, count, bytes);
    for (int64_t k = 0; array->dtype.code == DT_BOOL && k < count; k++)
        data[k] = data[k] != 0;
    array->data = data;
}

/* The bytes that ARRAY has; false beyond 2^63. An extent of 0 makes all others harmless. */
static bool count_bytes(const NpyArray *array, int64_t *bytes)
{
    *bytes = dtype_bytes(array->dtype);
    for (int i = 0; i < array->ndim; i++)
        if (array->shape[i] == 0) {
            *bytes = 0;
            return true;
        }
    for (int i = 0; i < array->ndim; i++)
        if (__builtin_mul_overflow(*bytes, array->shape[i], bytes))
            return false;
    return true;
}

const char *npy_read(Arena *arena, const char *text, size_t length, NpyArray *array)
{
    if (length < PREAMBLE_BYTES || memcmp(text, magic, MAGIC_BYTES))
        return length < MAGIC_BYTES && length && !memcmp(text, magic, length) ? "it is cut off" : "it is no .npy file";
    const unsigned char *bytes = (const unsigned char *)text;
    int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7])
        return arena_printf(arena, "its format version is %d.%d; 1.0, 2.0 and 3.0 are read", version, bytes[7]);
    size_t begin = version == 1 ? PREAMBLE_BYTES : PREAMBLE_BYTES + 2, header_length = bytes[8] | (size_t)bytes[9] << 8;
    if (length < begin)
        return "it is cut off in its header";
    if (version > 1)
        header_length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (header_length > length - begin)
        return "it is cut off in its header";
    Header header = {.arena = arena, .at = text + begin, .end = text + begin + header_length, .fortran = -1, .ndim = -1};
    bool big = false;
    if (!read_header(&header) || !read_type(&header, &array->dtype, &big))
        return header.wrong;
    array->ndim = header.ndim;
    array->shape = header.shape;
    int64_t wanted;
    size_t there = length - begin - header_length;
    if (!count_bytes(array, &wanted))
        return "its shape has more than 2^63 bytes";
    if ((uint64_t)wanted > there)
        return arena_printf(arena, "it is cut off: its elements take %" PRId64 " bytes, and %zu are there", wanted, there);
    take_elements(arena, text + begin + header_length, header.fortran, big, array);
    return NULL;
}

/* --- Writing --- */
static char type_code(DType dtype)
{
    return dtype.code == DT_BOOL ? 'b' : dtype.code == DT_INT ? 'i' : dtype.code == DT_UINT ? 'u' : 'f';
}

/* NumPy leaves room for the first extent to grow to 21 digits in place. */
static int room_to_grow(const NpyArray *array)
{
    char digits[32];
    return array->ndim ? GROWTH_DIGITS - snprintf(digits, sizeof digits, "%" PRId64, array->shape[0]) : 0;
}

void npy_write(StrBuf *out, const NpyArray *array)
{
    int bytes = dtype_bytes(array->dtype);
    StrBuf header = {.arena = out->arena};
    strbuf_printf(&header, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", bytes == 1 ? '|' : HOST_IS_BIG ? '>' : '<',
                  type_code(array->dtype), bytes);
    for (int i = 0; i < array->ndim; i++)
        strbuf_printf(&header, "%s%" PRId64, i ? ", " : "", array->shape[i]);
    strbuf_printf(&header, "%s), }%*s", array->ndim == 1 ? "," : "", room_to_grow(array), "");
    size_t used = PREAMBLE_BYTES + header.length + 1, padding = ALIGNMENT - used % ALIGNMENT;
    strbuf_printf(&header, "%*s\n", (int)padding, "");
    strbuf_add_bytes(out, magic, MAGIC_BYTES);
    const char version[] = {1, 0, (char)(header.length & 255), (char)(header.length >> 8)};
    strbuf_add_bytes(out, version, sizeof version);
    strbuf_add_bytes(out, header.text, header.length);
    strbuf_add_bytes(out, array->data, (size_t)npy_count(array) * (size_t)bytes);
}
