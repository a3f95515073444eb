/* Tensor intrinsics that every program knows: what the runtime has micro-kernels for, and what single instructions of processors do. */
#include <string.h>

#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "script/script_internal.h"
#include "support/bug.h"
#include "support/strbuf.h"

static const char tmm16_text[] =
    "@T.prim_func\n"
    "def tmm16_description(a: T.handle, b: T.handle, c: T.handle):\n"
    "    A = T.match_buffer(a, (16, 16), \"float32\", scope=\"global.A_reg\", offset_factor=16)\n"
    "    B = T.match_buffer(b, (16, 16), \"float32\", scope=\"global.B_reg\", offset_factor=16)\n"
    "    C = T.match_buffer(c, (16, 16), \"float32\", scope=\"global.accumulator\", offset_factor=16)\n"
    "    with T.block(\"root\"):\n"
    "        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])\n"
    "        T.writes(C[0:16, 0:16])\n"
    "        for i, j, k in T.grid(16, 16, 16):\n"
    "            with T.block(\"\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n"
    "\n"
    "@T.prim_func\n"
    "def tmm16_implementation(a: T.handle, b: T.handle, c: T.handle):\n"
    "    sa, sb, sc = T.int32(), T.int32(), T.int32()\n"
    "    A = T.match_buffer(a, (16, 16), \"float32\", strides=[sa, 1], scope=\"global.A_reg\", offset_factor=16)\n"
    "    B = T.match_buffer(b, (16, 16), \"float32\", strides=[sb, 1], scope=\"global.B_reg\", offset_factor=16)\n"
    "    C = T.match_buffer(c, (16, 16), \"float32\", strides=[sc, 1], scope=\"global.accumulator\", offset_factor=16)\n"
    "    with T.block(\"root\"):\n"
    "        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])\n"
    "        T.writes(C[0:16, 0:16])\n"
    "        T.call_extern(\"int32\", \"tmm16\", C.access_ptr(\"w\"), A.access_ptr(\"r\"), B.access_ptr(\"r\"), sa, sb, sc)\n"
    "\n"
    "tvm.tir.TensorIntrin.register(\"tmm16\", tmm16_description, tmm16_implementation)\n";

/* Rows of products of four small integers, each added to an int32: what one instruction of a processor does, under the names of TVM's library. */
typedef struct {
    const char *name, *path; /* of the constant that holds the name, below tvm.tir.tensor_intrin and tvm.s_tir.tensor_intrin */
    const char *a, *b, *c;   /* types of the elements */
    int rows;
    const char *instruction, *arguments;
} DotProduct;

static const DotProduct dot_products[] = {
    {"dot_16x4_vnni", "x86.VNNI_DOT_16x4_INTRIN", "uint8", "int8", "int32", 16, "llvm.x86.avx512.vpdpbusd.512",
     "T.broadcast(T.reinterpret(\"int32\", A.vload([0], \"uint8x4\")), 16), T.reinterpret(\"int32x16\", B.vload([0, 0], \"int8x64\"))"},
    {"dot_4x4_i8i8s32_sdot", "arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN", "int8", "int8", "int32", 4, "llvm.aarch64.neon.sdot.v4i32.v16i8",
     "T.reinterpret(\"int8x16\", T.broadcast(T.reinterpret(\"int32\", A.vload([0], \"int8x4\")), 4)), B.vload([0, 0], \"int8x16\")"},
    {"dot_4x4_u8u8u32_udot", "arm_cpu.ARM_DOT_4x4_u8_UDOT_INTRIN", "uint8", "uint8", "uint32", 4, "llvm.aarch64.neon.udot.v4i32.v16i8",
     "T.reinterpret(\"uint8x16\", T.broadcast(T.reinterpret(\"uint32\", A.vload([0], \"uint8x4\")), 4)), B.vload([0, 0], \"uint8x16\")"},
};
enum { DOT_COUNT = sizeof dot_products / sizeof *dot_products };

static void add_dot_header(StrBuf *text, const DotProduct *dot, const char *part)
{
    strbuf_printf(text,
                  "@T.prim_func\n"
                  "def %s_%s(A: T.Buffer((4,), \"%s\", offset_factor=1), B: T.Buffer((%d, 4), \"%s\", offset_factor=1), C: T.Buffer((%d,), \"%s\", offset_factor=1)):\n"
                  "    with T.block(\"root\"):\n"
                  "        T.reads(C[0:%d], A[0:4], B[0:%d, 0:4])\n"
                  "        T.writes(C[0:%d])\n",
                  dot->name, part, dot->a, dot->rows, dot->b, dot->rows, dot->c, dot->rows, dot->rows, dot->rows);
}

static void add_dot_product(StrBuf *text, const DotProduct *dot)
{
    add_dot_header(text, dot, "description");
    strbuf_printf(text,
                  "        for i, k in T.grid(%d, 4):\n"
                  "            with T.block(\"update\"):\n"
                  "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                  "                C[vi] = C[vi] + T.Cast(\"%s\", A[vk]) * T.Cast(\"%s\", B[vi, vk])\n",
                  dot->rows, dot->c, dot->c);
    add_dot_header(text, dot, "implementation");
    strbuf_printf(text,
                  "        C[T.ramp(0, 1, %d)] = T.call_llvm_pure_intrin(\"%sx%d\", T.llvm_lookup_intrinsic_id(\"%s\"), C.vload([0], \"%sx%d\"), %s)\n"
                  "tvm.tir.TensorIntrin.register(\"%s\", %s_description, %s_implementation)\n",
                  dot->rows, dot->c, dot->rows, dot->instruction, dot->c, dot->rows, dot->arguments, dot->name, dot->name, dot->name);
}

Value script_path_value(Script *script, Str path)
{
    static const char *const packages[] = {"tvm.tir.tensor_intrin.", "tvm.s_tir.tensor_intrin."};
    for (int i = 0; i < DOT_COUNT; i++)
        for (size_t k = 0; k < sizeof packages / sizeof *packages; k++)
            if (!strncmp(path, packages[k], strlen(packages[k])) && !strcmp(path + strlen(packages[k]), dot_products[i].path))
                return (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, dot_products[i].name)};
    return script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = path});
}

bool script_is_intrinsic_package(const char *path)
{
    size_t length = strlen(path);
    static const char *const packages[] = {"tvm.tir.tensor_intrin.", "tvm.s_tir.tensor_intrin."};
    for (int i = 0; i < DOT_COUNT; i++)
        for (size_t k = 0; k < sizeof packages / sizeof *packages; k++) {
            size_t outer = strlen(packages[k]), inner = strcspn(dot_products[i].path, ".");
            if (length == outer - 1 ? !strncmp(path, packages[k], length)
                                    : length == outer + inner && !strncmp(path, packages[k], outer) && !strncmp(path + outer, dot_products[i].path, inner))
                return true;
        }
    return false;
}

/* The intrinsic that TEXT, of built-in NAME, registers. */
static TensorIntrin builtin_intrinsic(Context *ctx, const char *name, const char *text)
{
    const Module *builtin = complete_module(ctx, parse_module_text(ctx, context_internf(ctx, "<built-in %s>", name), text, strlen(text)));
    CHECK(builtin && builtin->intrin_count == 1);
    return builtin->intrins[0];
}

const Module *script_with_builtin_intrinsics(Context *ctx, const Module *module)
{
    if (module_intrin(module, "tmm16"))
        return module;
    Module *extended = arena_copy(ctx->arena, module, sizeof *module);
    extended->intrins = ARENA_ARRAY(ctx->arena, TensorIntrin, module->intrin_count + 1);
    if (module->intrin_count)
        memcpy(extended->intrins, module->intrins, sizeof *module->intrins * (size_t)module->intrin_count);
    extended->intrins[extended->intrin_count++] = builtin_intrinsic(ctx, "tmm16", tmm16_text);
    return extended;
}

static void want_intrinsic(Script *script, const Value *value)
{
    for (int i = 0; value->kind == VALUE_STRING && i < DOT_COUNT; i++) {
        bool known = strcmp(value->as.text, dot_products[i].name) != 0;
        for (int k = 0; k < script->intrins.count && !known; k++)
            known = !strcmp(script->intrins.data[k].name, value->as.text);
        if (known)
            continue;
        StrBuf text = {.arena = script->ctx->arena};
        add_dot_product(&text, &dot_products[i]);
        vec_push(script->ctx->arena, &script->intrins, builtin_intrinsic(script->ctx, dot_products[i].name, strbuf_text(&text)));
    }
}

void script_want_intrinsics(Script *script, const Arguments *arguments)
{
    for (int i = 0; i < arguments->positional_count; i++)
        want_intrinsic(script, &arguments->positional[i]);
    const Value *keyword = script_keyword(arguments, "tensor_intrin");
    if (keyword)
        want_intrinsic(script, keyword);
}
