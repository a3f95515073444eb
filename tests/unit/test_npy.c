/* interp/npy and support/zip: what NumPy writes is read, what we write is what NumPy writes, broken files are refused, and arrays print as NumPy 2
   prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp.h"
#include "interp/npy.h"
#include "support/zip.h"

enum { FILE_BYTES = 400 };

typedef struct {
    char bytes[FILE_BYTES];
    size_t length;
} Npy;

/* A file of VERSION with HEADER and DATA behind it. */
static Npy npy_file(int version, const char *header, const void *data, size_t bytes)
{
    Npy file = {.length = 0};
    size_t length = strlen(header), fields = version == 1 ? 2 : 4;
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (char)version;
    file.bytes[8] = (char)length;
    memcpy(file.bytes + 8 + fields, header, length);
    memcpy(file.bytes + 8 + fields + length, data, bytes);
    file.length = 8 + fields + length + bytes;
    return file;
}

static const char little_endian[] = {0, 0, (char)0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, (char)0x80, 0x40};
static const char big_endian[] = {0x3f, (char)0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0, 0x40, (char)0x80, 0, 0};

/* --- Reading --- */
static void test_reads_what_numpy_writes(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *header;
        const char *data;
        float elements[4];
    } rows[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }   \n", little_endian, {1, 2, 3, 4}},
        {2, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", little_endian, {1, 3, 2, 4}},
        {3, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2)}", big_endian, {1, 2, 3, 4}},
        {1, "{\"shape\":(2L,2L),\"fortran_order\":True,\"descr\":\">f4\"}", big_endian, {1, 3, 2, 4}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_new();
        Npy file = npy_file(rows[i].version, rows[i].header, rows[i].data, 16);
        NpyArray array;
        assert_null(npy_read(arena, file.bytes, file.length, &array));
        assert_true(dtype_equal(array.dtype, DTYPE_FLOAT32));
        assert_int_equal(array.ndim, 2);
        assert_int_equal(array.shape[0] * 10 + array.shape[1], 22);
        assert_memory_equal(array.data, rows[i].elements, 16);
        arena_free(arena);
    }
}

static void test_refuses_other_files(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } rows[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "its elements are Python objects (pickled), which are not read"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "its elements are records of several fields"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }",
         "its elements have the dtype '<c8'; bool, integers, float16, float32 and float64 are read"},
        {"{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }",
         "its elements have the dtype '<f1'; bool, integers, float16, float32 and float64 are read"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,), }",
         "its elements have the dtype ''; bool, integers, float16, float32 and float64 are read"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", "it is cut off: its elements take 20 bytes, and 16 are there"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "its shape has more than 2^63 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "its header has an extent beyond 2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "the shape in its header is no tuple of numbers from 0 on"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [4], }", "the shape in its header is no tuple of numbers from 0 on"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (4,), }", "the fortran_order in its header is neither True nor False"},
        {"{'descr': '<f4', 'shape': (4,), }", "its header lacks descr, fortran_order or shape"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (4,), }", "its header has other entries than descr, fortran_order and shape once each"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } x", "its header goes on behind the dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4), }", "the shape in its header is no tuple of numbers from 0 on"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4", "the shape in its header is no tuple of numbers from 0 on"},
        {"['descr']", "its header is no dictionary of descr, fortran_order and shape"},
        {"", "its header is no dictionary of descr, fortran_order and shape"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_new();
        Npy file = npy_file(1, rows[i].header, little_endian, 16);
        NpyArray array;
        assert_string_equal(npy_read(arena, file.bytes, file.length, &array), rows[i].message);
        arena_free(arena);
    }
}

/* A NUL is neither a blank nor the end of the header. */
static void test_refuses_nul(void **state)
{
    (void)state;
    Npy file = npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }   \n", little_endian, 16);
    Arena *arena = arena_new();
    NpyArray array;
    file.bytes[10 + 58] = 0;
    assert_string_equal(npy_read(arena, file.bytes, file.length, &array), "its header goes on behind the dictionary");
    arena_free(arena);
}

/* Every prefix of a file, and the file with any one byte changed, is read or refused; an element count beyond the file is refused. */
static void test_survives_damage(void **state)
{
    (void)state;
    const Npy file = npy_file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", little_endian, 16);
    for (size_t i = 0; i < file.length; i++) {
        Arena *arena = arena_new();
        NpyArray array;
        char *exact = malloc(i + 1); /* so that a sanitizer sees a read behind the end */
        memcpy(exact, file.bytes, i);
        assert_non_null(npy_read(arena, exact, i, &array));
        free(exact);
        for (int change = 1; change < 256; change++) {
            Npy damaged = file;
            damaged.bytes[i] = (char)(damaged.bytes[i] ^ change);
            if (!npy_read(arena, damaged.bytes, damaged.length, &array))
                assert_true(npy_count(&array) * dtype_bytes(array.dtype) <= 16);
        }
        arena_free(arena);
    }
}

static void test_writes_what_numpy_writes(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    const float elements[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    NpyArray array = {DTYPE_FLOAT32, 2, (const int64_t[]){3, 4}, (const char *)elements};
    StrBuf out = {.arena = arena};
    npy_write(&out, &array);
    static const char dictionary[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, dictionary, sizeof dictionary - 1);
    header[127] = '\n';
    assert_int_equal(out.length, 128 + sizeof elements);
    assert_memory_equal(out.text, header, 128);
    assert_memory_equal(out.text + 128, elements, sizeof elements);
    arena_free(arena);
}

/* --- Printing --- */
static NpyArray real_array(Arena *arena, DType type, int ndim, const int64_t *shape, const double *values)
{
    NpyArray array = {type, ndim, shape, NULL};
    char *data = arena_alloc(arena, (size_t)npy_count(&array) * 8 + 8);
    for (int64_t i = 0; i < npy_count(&array); i++)
        interp_write_real(type, data + i * dtype_bytes(type), dtype_round_float(type, values[i]));
    array.data = data;
    return array;
}

static void test_prints_as_numpy(void **state)
{
    (void)state;
    static const struct {
        int bits, ndim;
        int64_t shape[3];
        double values[8];
        const char *text;
    } rows[] = {
        {32, 1, {3}, {1, 2.5, -3.25}, "[ 1.    2.5  -3.25]"},
        {32, 2, {2, 2}, {0.1, 1, 2, 3}, "[[0.1 1. ]\n [2.  3. ]]"},
        {64, 1, {2}, {1.0 / 3, 2.0 / 3}, "[0.33333333 0.66666667]"},
        {32, 1, {2}, {1e-5, 1}, "[1.e-05 1.e+00]"},
        {32, 1, {2}, {1234567, 1}, "[1.234567e+06 1.000000e+00]"},
        {64, 1, {1}, {1234567}, "[1234567.]"},
        {64, 1, {2}, {1e100, 1}, "[1.e+100 1.e+000]"},
        {32, 1, {3}, {NAN, INFINITY, -INFINITY}, "[ nan  inf -inf]"},
        {32, 1, {2}, {NAN, 1.5}, "[nan 1.5]"},
        {32, 1, {2}, {-0.0, 0}, "[-0.  0.]"},
        {16, 1, {2}, {97.56, 0.1}, "[97.56  0.1 ]"},
        {32, 3, {2, 1, 2}, {1, 2, 3, 4}, "[[[1. 2.]]\n\n [[3. 4.]]]"},
        {32, 0, {0}, {0.1}, "0.1"},
        {32, 0, {0}, {1e6}, "1e+06"},
        {64, 0, {0}, {1e6}, "1000000.0"},
        {32, 2, {0, 3}, {0}, "[]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_new();
        NpyArray array = real_array(arena, DTYPE(DT_FLOAT, (uint8_t)rows[i].bits), rows[i].ndim, rows[i].shape, rows[i].values);
        assert_string_equal(npy_text(arena, &array), rows[i].text);
        arena_free(arena);
    }
}

static void test_prints_long_arrays(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    int32_t numbers[1200];
    for (int i = 0; i < 1200; i++)
        numbers[i] = i;
    NpyArray line = {DTYPE_INT32, 1, (const int64_t[]){25}, (const char *)numbers};
    assert_string_equal(npy_text(arena, &line), "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24]");
    NpyArray table = {DTYPE_INT32, 2, (const int64_t[]){8, 150}, (const char *)numbers};
    assert_string_equal(npy_text(arena, &table), "[[   0    1    2 ...  147  148  149]\n [ 150  151  152 ...  297  298  299]\n"
                                                 " [ 300  301  302 ...  447  448  449]\n ...\n [ 750  751  752 ...  897  898  899]\n"
                                                 " [ 900  901  902 ... 1047 1048 1049]\n [1050 1051 1052 ... 1197 1198 1199]]");
    const char bools[] = {1, 0};
    NpyArray truths = {DTYPE_BOOL, 1, (const int64_t[]){2}, bools};
    assert_string_equal(npy_text(arena, &truths), "[ True False]");
    arena_free(arena);
}

/* --- Archives --- */
/* The bytes of a deflated member that holds 64 letters a, as Python's zipfile makes it: 1 block of type 1. */
static const char deflated[] = {0x4b, 0x4c, (char)0xa4, 0x0c, 0x00, 0x00};

static void test_archives(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    ZipWriter writer = zip_writer(arena);
    zip_add(&writer, "x.npy", "hello", 5);
    zip_add(&writer, "empty", "", 0);
    assert_true(zip_finish(&writer));
    ZipArchive archive;
    assert_true(zip_begins(writer.bytes.text, writer.bytes.length));
    assert_null(zip_read(arena, writer.bytes.text, writer.bytes.length, &archive));
    assert_int_equal(archive.members.count, 2);
    assert_string_equal(archive.members.data[0].name, "x.npy");
    char *data;
    assert_null(zip_unpack(&archive, &archive.members.data[0], &data));
    assert_string_equal(data, "hello");
    free(data);
    ZipWriter copy = zip_writer(arena);
    assert_null(zip_add_packed(&copy, &archive, &archive.members.data[0]));
    assert_null(zip_add_packed(&copy, &archive, &archive.members.data[1]));
    assert_true(zip_finish(&copy));
    assert_int_equal(copy.bytes.length, writer.bytes.length);
    assert_memory_equal(copy.bytes.text, writer.bytes.text, copy.bytes.length);
    arena_free(arena);
}

static void test_inflates(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    char letters[65] = {0}, *data;
    memset(letters, 'a', 64);
    ZipWriter stored = zip_writer(arena), packed = zip_writer(arena);
    zip_add(&stored, "a", letters, 64);
    zip_add(&packed, "a", deflated, sizeof deflated);
    zip_finish(&stored);
    zip_finish(&packed);
    ZipArchive right, archive;
    assert_null(zip_read(arena, stored.bytes.text, stored.bytes.length, &right));
    assert_null(zip_read(arena, packed.bytes.text, packed.bytes.length, &archive));
    ZipMember member = archive.members.data[0];
    member.method = 8;
    member.length = 64;
    member.crc = right.members.data[0].crc;
    assert_null(zip_unpack(&archive, &member, &data));
    assert_string_equal(data, letters);
    free(data);
    member.crc ^= 1;
    assert_string_equal(zip_unpack(&archive, &member, &data), "its checksum (CRC-32) is wrong");
    member.length = 63;
    assert_string_equal(zip_unpack(&archive, &member, &data), "its deflated bytes are broken");
    member.length = 1 << 30;
    assert_string_equal(zip_unpack(&archive, &member, &data), "its size cannot be what the directory says");
    member.flags = 1;
    assert_string_equal(zip_unpack(&archive, &member, &data), "it is encrypted");
    arena_free(arena);
}

/* An archive with any one byte changed, or cut off anywhere, is read or refused, and what is read has the right checksum. */
static void test_archives_survive_damage(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    ZipWriter writer = zip_writer(arena);
    zip_add(&writer, "x.npy", "hello", 5);
    zip_add(&writer, "y.npy", "world", 5);
    assert_true(zip_finish(&writer));
    for (size_t i = 0; i < writer.bytes.length; i++)
        for (int change = 0; change < 256; change += change < 8 ? 1 : 37) {
            size_t length = change ? writer.bytes.length : i; /* no change: cut off here */
            char *bytes = malloc(length + 1);
            memcpy(bytes, writer.bytes.text, length);
            if (change)
                bytes[i] = (char)(bytes[i] ^ change);
            ZipArchive archive;
            const char *wrong = zip_read(arena, bytes, length, &archive);
            assert_true(wrong || change);
            for (int k = 0; !wrong && k < archive.members.count; k++) {
                char *data;
                if (!zip_unpack(&archive, &archive.members.data[k], &data))
                    assert_true(archive.members.data[k].length != 5 || !memcmp(data, "hello", 5) || !memcmp(data, "world", 5));
                free(data);
            }
            free(bytes);
        }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_numpy_writes), cmocka_unit_test(test_refuses_other_files),
        cmocka_unit_test(test_refuses_nul),             cmocka_unit_test(test_survives_damage),         cmocka_unit_test(test_writes_what_numpy_writes),
        cmocka_unit_test(test_prints_as_numpy),         cmocka_unit_test(test_prints_long_arrays),
        cmocka_unit_test(test_archives),                cmocka_unit_test(test_inflates),
        cmocka_unit_test(test_archives_survive_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
