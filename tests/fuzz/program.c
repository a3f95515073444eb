/* Random programs: a chain of one to six blocks or pairs of blocks over tensors of one to three dimensions, of one or several types, of
   constant and symbolic sizes. Inputs and outputs may be declared with strides and offsets, and some intermediate results are outputs as
   well. */
#include <stdlib.h>

#include "writer.h"

static const char *pick(Random *random, const char *const *choices, int count)
{
    return choices[random_below(random, count)];
}

static void choose_types(Writer *w)
{
    static const char *const types[] = {"float32", "float32", "float32",  "float32", "float32", "int32",  "int32",
                                        "int32",   "int8",    "int16",    "int64",   "uint8",   "uint16", "uint32",
                                        "uint64",  "float16", "bfloat16", "float64", "float64", "bool"};
    w->type = pick(w->random, types, sizeof types / sizeof *types);
    w->mixed_types = random_chance(w->random, 20);
    w->scalar = random_chance(w->random, 15) && strcmp(w->type, "bool");
    w->intrinsics = random_chance(w->random, 40) && strcmp(w->type, "bool");
    w->calls = random_chance(w->random, 40) && strcmp(w->type, "bool");
}

/* Three dimensions get smaller sizes, so that programs stay quick to interpret. */
static void choose_extents(Writer *w)
{
    static const char *const sizes[] = {"1", "2", "3", "4", "5", "7", "8", "8", "12", "13", "16", "17", "0"},
                             *const symbols[] = {"n", "m", "h"}, *const tiles[] = {"4", "8", "12"};
    w->own_dims = random_chance(w->random, 15) ? 1 : random_chance(w->random, 75) ? 2 : 3;
    w->symbolic = random_chance(w->random, 25);
    w->index_type = w->symbolic && random_chance(w->random, 40) ? "int64" : "int32";
    bool wide = !strcmp(w->index_type, "int64") && random_chance(w->random, 60); /* constant sizes are of that type too */
    int largest = w->own_dims == 3 ? 6 : w->own_dims == 2 ? 11 : 12;
    for (int i = 0; i < w->own_dims; i++) {
        bool symbol = w->symbolic && (i == 0 || random_chance(w->random, 50)),
             tiled = (w->intrinsics || w->calls) && i == w->own_dims - 1 && random_chance(w->random, 80);
        const char *size = random_chance(w->random, 2) ? "0"
                           : tiled                     ? tiles[random_below(w->random, 3)]
                                                       : sizes[random_below(w->random, largest)];
        writer_extent(w, symbol ? symbols[i] : wide ? write_text(w, "T.int64(%s)", size) : size, symbol ? -1 : atoi(size));
    }
}

static const char *shape_text(Writer *w, const Tensor *tensor)
{
    const char *shape = "";
    for (int i = 0; i < tensor->rank; i++)
        shape = write_text(w, i ? "%s, %s" : "%s%s", shape, w->extents[tensor->dims[i]].text);
    return tensor->rank == 1 ? write_text(w, "(%s,)", shape) : write_text(w, "(%s)", shape);
}

/* Strides of its own, an offset, or neither; *VARS gets the variables to declare. */
static const char *layout_text(Writer *w, const Tensor *tensor, const char **vars)
{
    if (tensor->rank == 2 && random_chance(w->random, 10)) {
        int size = w->extents[tensor->dims[1]].size;
        if (size >= 0 && random_chance(w->random, 50))
            return write_text(w, ", strides=[%d, 1]", size + 3);
        *vars = write_text(w, "s%s", tensor->name);
        return write_text(w, ", strides=[%s, 1]", *vars);
    }
    if (random_chance(w->random, 5)) {
        *vars = write_text(w, "o%s", tensor->name);
        return write_text(w, ", elem_offset=%s", *vars);
    }
    return random_chance(w->random, 3) ? ", elem_offset=4" : "";
}

static void write_declarations(Writer *w, StrBuf *text)
{
    for (int i = 0; i < w->own_dims; i++)
        if (w->extents[i].size < 0)
            strbuf_printf(text, "    %s = T.%s()\n", w->extents[i].text, w->index_type);
    for (int i = 0; i < w->tensor_count; i++) {
        const Tensor *tensor = &w->tensors[i];
        const char *vars = NULL, *layout = tensor->param && !tensor->compact ? layout_text(w, tensor, &vars) : "";
        if (vars)
            strbuf_printf(text, "    %s = T.%s()\n", vars, w->index_type);
        if (tensor->param)
            strbuf_printf(text, "    %s = T.match_buffer(p%s, %s, \"%s\"%s)\n", tensor->name, tensor->name, shape_text(w, tensor),
                          tensor->type, layout);
    }
    for (int i = 0; i < w->tensor_count; i++)
        if (!w->tensors[i].param)
            strbuf_printf(text, "    %s = T.alloc_buffer(%s, \"%s\")\n", w->tensors[i].name, shape_text(w, &w->tensors[i]),
                          w->tensors[i].type);
}

static void write_function(Writer *w, StrBuf *text)
{
    strbuf_add(text, "@T.prim_func\ndef main(");
    for (int i = 0, count = 0; i < w->tensor_count; i++)
        if (w->tensors[i].param)
            strbuf_printf(text, "%sp%s: T.handle", count++ ? ", " : "", w->tensors[i].name);
    strbuf_printf(text, "%s):\n", w->scalar ? write_text(w, ", alpha: T.%s", w->type) : "");
    write_declarations(w, text);
    strbuf_add(text, strbuf_text(&w->body));
}

/* The last result, and now and then one before. */
static void choose_outputs(Writer *w)
{
    int last = w->tensor_count - 1;
    while (!w->tensors[last].written)
        last--;
    for (int i = 1; i < w->tensor_count; i++)
        w->tensors[i].param |= i == last || (w->tensors[i].written && random_chance(w->random, 8));
}

const char *random_program(Random *random, Arena *arena)
{
    Writer w = {.random = random, .arena = arena, .body = {.arena = arena}};
    choose_types(&w);
    choose_extents(&w);
    static const int all[MOST_RANK] = {0, 1, 2}; /* the first input defines every size */
    Tensor *input = writer_tensor(&w, w.type, all, w.own_dims);
    input->param = input->input = input->written = true;
    if (random_chance(random, 25)) {
        input = writer_target(&w);
        input->param = input->input = input->written = true;
    }
    int wanted = 1 + random_below(random, random_chance(random, 70) ? 3 : 6);
    while (w.block_count < wanted)
        random_blocks(&w);
    choose_outputs(&w);
    StrBuf text = {.arena = arena};
    write_function(&w, &text);
    if (w.calls)
        writer_functions(&w, &text);
    if (w.intrinsics)
        writer_intrinsics(&w, &text);
    return strbuf_text(&text);
}

/* A copy of a tile whose rows lie anywhere, and a product of two rows. */
static void writer_tile_intrinsics(Writer *w, StrBuf *text)
{
    for (int part = 0; part < 2; part++)
        strbuf_printf(text,
                      "\n@T.prim_func\ndef tile2x4_%s(a: T.handle, b: T.handle):\n    sa = T.int32()\n    sb = T.int32()\n"
                      "    A = T.match_buffer(a, (2, 4), \"%s\", offset_factor=1, strides=[sa, 1])\n"
                      "    B = T.match_buffer(b, (2, 4), \"%s\", offset_factor=1, strides=[sb, 1])\n    with T.block(\"root\"):\n"
                      "        T.reads(A[0:2, 0:4])\n        T.writes(B[0:2, 0:4])\n%s",
                      part ? "implementation" : "description", w->type, w->type,
                      part ? "        for i in range(2):\n            for j in T.vectorized(4):\n                B[i, j] = A[i, j]\n"
                           : "        for i, j in T.grid(2, 4):\n            with T.block(\"\"):\n                vi, vj = "
                             "T.axis.remap(\"SS\", [i, j])\n                B[vi, vj] = A[vi, vj]\n");
    for (int part = 0; part < 2; part++)
        strbuf_printf(text,
                      "\n@T.prim_func\ndef dot2_%s(a: T.handle, b: T.handle, c: T.handle):\n    A = T.match_buffer(a, (2,), \"%s\", "
                      "offset_factor=1)\n    B = T.match_buffer(b, (2,), \"%s\", offset_factor=1)\n    C = T.match_buffer(c, (1,), "
                      "\"%s\", offset_factor=1)\n    with T.block(\"root\"):\n        T.reads(C[0], A[0:2], B[0:2])\n        "
                      "T.writes(C[0])\n%s",
                      part ? "implementation" : "description", w->type, w->type, w->type,
                      part ? "        C[0] = C[0] + A[0] * B[0] + A[1] * B[1]\n"
                           : "        for k in range(2):\n            with T.block(\"\"):\n                vk = T.axis.reduce(2, k)\n      "
                             "          C[0] = C[0] + A[vk] * B[vk]\n");
}

/* Implementations of a copy of four elements. The last ones write less, or add, and must be refused. */
static const char *copy_body(Writer *w)
{
    static const char *const bodies[] = {
        "        for i in T.vectorized(4):\n            B[i] = A[i]\n",
        "        for i in range(4):\n            B[3 - i] = A[3 - i]\n",
        "        for i, j in T.grid(2, 2):\n            B[i * 2 + j] = A[i * 2 + j]\n",
        "        for i in range(4):\n            B[i] = A[0]\n            B[i] = A[i]\n",
        "        for i in range(2):\n            B[i] = A[i]\n        for i in range(2):\n            B[i + 2] = A[i + 2]\n",
        "        for i in range(3):\n            B[i] = A[i]\n",
        "        for i in range(4):\n            if A[i] == A[i]:\n                B[i] = A[i]\n",
        "        for i in range(4):\n            B[i] = B[i] + A[i]\n",
        "        for i in range(4):\n            if A[i] != A[0]:\n                B[i] = A[i]\n"};
    int count = sizeof bodies / sizeof *bodies;
    return random_chance(w->random, 40) ? bodies[0] : bodies[random_below(w->random, count)];
}

/* The same of a sum; the last ones do not add, or fill more than once. */
static const char *sum_body(Writer *w)
{
    static const char *const bodies[] = {"        C[0] = C[0] + A[0] + A[1]\n", "        for k in range(2):\n            C[0] = C[0] + A[k]\n",
                                         "        C[0] = C[0] + A[0]\n        C[0] = C[0] + A[1]\n", "        C[0] = A[0] + A[1]\n",
                                         "        C[0] = A[0]\n        C[0] = C[0] + A[1]\n"};
    int count = sizeof bodies / sizeof *bodies;
    return random_chance(w->random, 60) ? bodies[0] : bodies[random_below(w->random, count)];
}

void writer_intrinsics(Writer *w, StrBuf *text)
{
    for (int part = 0; part < 2; part++)
        strbuf_printf(text,
                      "\n@T.prim_func\ndef copy4_%s(a: T.handle, b: T.handle):\n    A = T.match_buffer(a, (4,), \"%s\", offset_factor=1)\n"
                      "    B = T.match_buffer(b, (4,), \"%s\", offset_factor=1)\n    with T.block(\"root\"):\n        T.reads(A[0:4])\n    "
                      "    T.writes(B[0:4])\n%s",
                      part ? "implementation" : "description", w->type, w->type,
                      part ? copy_body(w)
                           : "        for i in range(4):\n            with T.block(\"\"):\n                vi = T.axis.spatial(4, i)\n     "
                             "           B[vi] = A[vi]\n");
    for (int part = 0; part < 2; part++)
        strbuf_printf(text,
                      "\n@T.prim_func\ndef sum2_%s(a: T.handle, c: T.handle):\n    A = T.match_buffer(a, (2,), \"%s\", offset_factor=1)\n"
                      "    C = T.match_buffer(c, (1,), \"%s\", offset_factor=1)\n    with T.block(\"root\"):\n        T.reads(C[0], "
                      "A[0:2])\n        T.writes(C[0])\n%s",
                      part ? "implementation" : "description", w->type, w->type,
                      part ? sum_body(w)
                           : "        for k in range(2):\n            with T.block(\"\"):\n                vk = T.axis.reduce(2, k)\n      "
                             "          C[0] = C[0] + A[vk]\n");
    writer_tile_intrinsics(w, text);
    strbuf_add(text, "\ntvm.tir.TensorIntrin.register(\"copy4\", copy4_description, copy4_implementation)\n"
                     "tvm.tir.TensorIntrin.register(\"sum2\", sum2_description, sum2_implementation)\n"
                     "tvm.tir.TensorIntrin.register(\"tile2x4\", tile2x4_description, tile2x4_implementation)\n"
                     "tvm.tir.TensorIntrin.register(\"dot2\", dot2_description, dot2_implementation)\n");
}
