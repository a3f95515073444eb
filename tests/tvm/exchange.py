"""Programs and schedules between tirc and TVM: each loads what the other prints, replays its traces, and computes the same numbers.

usage: exchange.py BUILD. Prints a line for each failure, then "N passed, N failed"."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

import numpy
import tvm
from tvm import s_tir
from tvm.script import from_source

build = sys.argv[1]
tirc = os.path.join(build, "tirc")
HEAD = "# from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n"

PRODUCT = HEAD + '''def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16, 16):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
'''
CHAIN = HEAD + '''def main(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    B = T.sblock_alloc_buffer((16, 16))
    for i, j in T.grid(16, 16):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 16):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(B[vi, vj] + T.float32(1), T.float32(0))
'''
BIAS = HEAD + '''def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32"), D: T.Buffer((16, 16), "float32")):
    S = T.sblock_alloc_buffer((16, 16))
    for i, j, k in T.grid(16, 16, 16):
        with T.sblock("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vj, vk]
    for i, j in T.grid(16, 16):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = S[vi, vj] + C[vi, vj]
'''
STENCIL = HEAD + '''def main(A: T.Buffer((66,), "float32"), C: T.Buffer((64,), "float32")):
    T.func_attr({"noted": True, "typed": T.bool(True)})
    B = T.sblock_alloc_buffer((66,))
    for i in range(66):
        with T.sblock("B"):
            vi = T.axis.spatial(66, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(64):
        with T.sblock("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + B[vi + 2]
'''
SMALL = HEAD + '''def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float8_e4m3fn"), C: T.Buffer((16,), "float8_e5m2")):
    for i in range(16):
        with T.sblock("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = T.Cast("float8_e4m3fn", A[vi])
            C[vi] = T.float8_e5m2(1.5)
'''

# name, program, steps (Python that both take), the numbers are compared
CASES = [
    ("product", PRODUCT, "", True),
    ("tiles", PRODUCT, '''b = sch.get_sblock("C")
i, j, k = sch.get_loops(b)
i0, i1 = sch.split(i, [None, 4])
j0, j1 = sch.split(j, [None, 8])
k0, k1 = sch.split(k, [4, None])
sch.reorder(i0, j0, k0, i1, k1, j1)
sch.vectorize(j1)
sch.decompose_reduction(b, k0)
''', True),
    ("caches", PRODUCT, '''b = sch.get_sblock("C")
i, j, k = sch.get_loops(b)
sch.cache_read(b, 1, "global")
c = sch.cache_write(b, 0, "global")
sch.reverse_compute_at(c, j)
sch.annotate(i, "note", 1)
''', True),
    ("rfactor", PRODUCT, '''b = sch.get_sblock("C")
i, j, k = sch.get_loops(b)
k0, k1 = sch.split(k, [4, None])
sch.rfactor(k0, 2)
''', True),
    ("sampled", PRODUCT, '''b = sch.get_sblock("C")
i, j, k = sch.get_loops(b)
f = sch.sample_perfect_tile(j, 2, 16, decision=[4, 4])
j0, j1 = sch.split(j, f)
sch.reorder(j0, i, k, j1)
v = sch.sample_categorical([0, 16], [0.5, 0.5], decision=1)
sch.annotate(b, "step", v)
''', True),
    ("layout", PRODUCT, '''b = sch.get_sblock("C")
sch.cache_read(b, 0, "global")
sch.transform_layout(b, ("read", 0), lambda i, j: (j, i))
''', True),
    ("inlined", CHAIN, 'sch.compute_inline("B")\n', True),
    ("moved", CHAIN, '''b = sch.get_sblock("B")
c = sch.get_sblock("C")
i, j = sch.get_loops(c)
sch.compute_at(b, i)
sch.parallel(i)
''', True),
    ("fused", CHAIN, '''c = sch.get_sblock("C")
sch.reverse_compute_inline(c)
l = sch.fuse(*sch.get_loops("B"))
l0, l1 = sch.split(l, [None, 32])
''', True),
    ("bias", BIAS, 'sch.fuse_reduction_epilogue("S", "D")\n', True),
    ("windows", STENCIL, '''i, = sch.get_loops("C")
i0, i1 = sch.split(i, [None, 6])
sch.compute_at("B", i0)
sch.rolling_buffer("B", 0)
''', True),
    ("small floats", SMALL, "", False),
]


def run_tirc(program, *options, steps=None):
    """What tirc prints of the program in the spelling of the release."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tir")
        with open(path, "w") as file:
            file.write(program)
        command = [tirc, path, "--dialect=tirx", *options]
        if steps is not None:
            script = os.path.join(folder, "steps.sched")
            with open(script, "w") as file:
                file.write(steps)
            command += ["-s", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(done.stderr[:500])
        return done.stdout


def same_program(ours, theirs):
    """The text OURS is, read by TVM, the function THEIRS."""
    tvm.ir.assert_structural_equal(from_source(ours), theirs, map_free_vars=True)


def compute(program, text):
    """The results of tirc's object of the text, and of TVM's code of the program, for the same inputs."""
    generator = numpy.random.default_rng(1)
    head = re.search(r"def main\((.*)\):", text).group(1)
    shapes = re.findall(r"T\.Buffer\(\(([^)]*)\)", head)
    inputs = [generator.random([int(n) for n in shape.split(",") if n.strip()]).astype("float32") for shape in shapes]
    with tempfile.TemporaryDirectory() as folder:
        path, source, library = (os.path.join(folder, n) for n in ("p.o", "p.tir", "p.so"))
        with open(source, "w") as file:
            file.write(text)
        subprocess.run([tirc, source, "-o", path], check=True, timeout=60, capture_output=True)
        subprocess.run(["gcc", "-shared", "-o", library, path, os.path.join(build, "libtirc_rt.a"), "-fopenmp", "-lm"], check=True, timeout=60)
        ours = [a.copy() for a in inputs]
        loaded = ctypes.CDLL(library)
        main = getattr(loaded, "main" if hasattr(loaded, "main") and not hasattr(loaded, "tir_main") else "tir_main")
        if main(*[a.ctypes.data_as(ctypes.c_void_p) for a in ours]):
            raise AssertionError("the object returns an error")
    arrays = [tvm.runtime.tensor(a) for a in inputs]
    tvm.compile(program, target="llvm")(*arrays)
    for own, other in zip(ours, arrays):
        numpy.testing.assert_allclose(own, other.numpy(), rtol=1e-5, atol=1e-5)


def check(program, steps, numbers):
    schedule = s_tir.Schedule(from_source(program), debug_mask="all")
    exec(steps, {"sch": schedule})
    theirs = schedule.mod["main"]
    ours = run_tirc(program, "--show", steps=steps) if steps else run_tirc(program, "--show")
    same_program(ours, theirs)
    printed = theirs.script()
    read = run_tirc(printed, "--show")
    same_program(read, theirs)
    if steps:
        trace = run_tirc(program, steps=steps + "print(sch.trace)\n", *["--interpret"]).split("main(seed")[0]
        again = s_tir.Schedule(from_source(program), debug_mask="all")
        names = {"s_tir": s_tir}
        exec(trace, names)
        names["apply_trace"](again)
        tvm.ir.assert_structural_equal(again.mod["main"], theirs, map_free_vars=True)
        replayed = run_tirc(program, "--show", steps=str(schedule.trace) + "\napply_trace(sch)\n")
        same_program(replayed, theirs)
    if numbers:
        compute(theirs, ours)


def main():
    failed = 0
    for name, program, steps, numbers in CASES:
        try:
            check(program, steps, numbers)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:600]}")
    print(f"{len(CASES) - failed} passed, {failed} failed (TVM {tvm.__version__})")
    return 1 if failed else 0


sys.exit(main())
