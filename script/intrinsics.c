/* Tensor intrinsics that every program knows: what the runtime has micro-kernels for. */
#include <string.h>

#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "script/script_internal.h"
#include "support/bug.h"

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

const Module *script_with_builtin_intrinsics(Context *ctx, const Module *module)
{
    if (module_intrin(module, "tmm16"))
        return module;
    const Module *builtin = complete_module(ctx, parse_module_text(ctx, "<built-in tmm16>", tmm16_text, sizeof tmm16_text - 1));
    CHECK(builtin && builtin->intrin_count == 1);
    Module *extended = arena_copy(ctx->arena, module, sizeof *module);
    extended->intrins = ARENA_ARRAY(ctx->arena, TensorIntrin, module->intrin_count + 1);
    if (module->intrin_count)
        memcpy(extended->intrins, module->intrins, sizeof *module->intrins * (size_t)module->intrin_count);
    extended->intrins[extended->intrin_count++] = builtin->intrins[0];
    return extended;
}
