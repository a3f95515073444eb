"""Serves one kernel of the examples as TVM compiles it: the same program and the same schedule. usage: tvm_peer.py KERNEL (from the top of the tree)

The kernel is that of the example whose main.c has its name. Spellings that newer releases of TVM have changed are put into the program before it is read.
"""
import glob
import os
import re
import sys
import time

import numpy
import tvm

SPELLINGS = [("T.block(", "T.sblock("), ("T.alloc_buffer(", "T.sblock_alloc_buffer("), ("T.block_attr(", "T.sblock_attr(")]


def find_example(kernel):
    """The name of the example and its -D parameters"""
    for path in glob.glob("examples/*/main.c"):
        with open(path, encoding="utf-8") as file:
            if '"' + re.sub(r"tiles .*", "tiles ", kernel) + '"' not in file.read():
                continue
        folder = os.path.dirname(path)
        with open(folder + "/Makefile", encoding="utf-8") as file:
            makefile = file.read()
        variables = dict(re.findall(r"^([A-Z]+) = (.*)$", makefile, re.M))
        schedule = re.sub(r"\$\((\w+)\)", lambda match: variables[match[1]], variables.get("SCHEDULE", ""))
        parameters = {name: int(value) for name, value in re.findall(r"-D (\w+)=(\d+)", schedule)}
        return folder + "/" + variables["NAME"], parameters
    sys.exit(1)


class Schedule:
    """A schedule under the names of the release that the examples are written for"""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name if hasattr(self.inner, name) else name.replace("block", "sblock"))


def compile_kernel(kernel):
    """The compiled function, and its parameters as (shape, type)"""
    stem, parameters = find_example(kernel)
    with open(stem + ".tir", encoding="utf-8") as file:
        text = file.read()
    with open(stem + ".sched", encoding="utf-8") as file:
        script = file.read()
    size = re.search(r"\d+", kernel)[0]
    functions = re.split(r"(?m)^(?=@T\.prim_func)", text)[1:]
    text = next((function for function in functions if "((" + size in function), functions[0])
    name = re.search(r"def (\w+)", text)[1]
    try:
        from tvm import s_tir  # noqa: the newer releases
        for old, new in SPELLINGS:
            text = text.replace(old, new)
        from tvm.script import tirx as T
        text = text.replace("@T.prim_func", "@T.prim_func(s_tir=True)")
        make = s_tir.Schedule
    except ImportError:
        from tvm.script import tir as T
        make = tvm.tir.Schedule
    module = tvm.IRModule({"main": tvm.script.from_source(text, {"T": T}).with_attr("global_symbol", "main")})
    schedule = Schedule(make(module))
    schedule.__dict__["work_on"] = lambda _: None
    script = re.sub(r'(?m)^for function in \[.*\]:$', 'for function in ["main"]:', script)
    exec(compile(script, stem + ".sched", "exec"), {"sch": schedule, **parameters})  # pylint: disable=exec-used
    target = tvm.target.Target({"kind": "llvm", "mcpu": host_processor()})
    built = (tvm.compile if hasattr(tvm, "compile") else tvm.build)(schedule.mod, target=target)
    shapes = re.findall(r'T\.Buffer\(\(([^)]*)\), "(\w+)"\)', text.split(":\n")[0])
    return built, name, [(tuple(int(n) for n in shape.split(",") if n.strip()), dtype) for shape, dtype in shapes]


def host_processor():
    """The name that LLVM has for this processor"""
    try:
        return tvm.get_global_func("target.llvm_get_system_cpu")()
    except ValueError:
        return "skylake-avx512" if "avx512f" in open("/proc/cpuinfo", encoding="utf-8").read() else "haswell"


def numbers(count, state):
    """The numbers of the examples' next_number"""
    values = numpy.empty(count, numpy.uint32)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values[i] = state >> 8
    return values


def make_input(shape, dtype):
    """The same as the examples' fill and fill_bytes"""
    count = int(numpy.prod(shape))
    if dtype == "float32":
        return (numbers(count, 12345).astype("float32") / numpy.float32(1 << 23) - 1).reshape(shape)
    return ((numbers(count, 54321) >> 8) % 256).astype("uint8").view(dtype).reshape(shape)


def main():
    """Says what is offered, then a time for each line of stdin"""
    kernel = sys.argv[1]
    built, _, shapes = compile_kernel(kernel)
    calls = int((re.search(r"(\d+) calls", kernel) or [0, 1])[1])
    to_device = getattr(tvm.runtime, "tensor", None) or tvm.nd.array
    arguments = [to_device(make_input(*shape)) for shape in shapes[:-1]] + [to_device(numpy.zeros(*shapes[-1]))]
    run = built["main"]
    run(*arguments)
    result = arguments[-1].numpy().reshape(-1).astype("float64")
    weighted = result * (1 + numpy.arange(len(result)) % 13)
    print(f"{kernel}|0|1|{weighted.sum():.17g}|{abs(weighted).sum():.17g}|TVM", flush=True)
    repeats = 0
    for line in sys.stdin:
        if not line.strip():
            break
        if not repeats:
            start = time.perf_counter()
            run(*arguments)
            repeats = calls * max(1, min(100000, int(0.002 / (calls * (time.perf_counter() - start)))))
        start = time.perf_counter()
        for _ in range(repeats):
            run(*arguments)
        print(f"{(time.perf_counter() - start) / repeats * calls:.9g}", flush=True)


try:
    main()
except Exception as error:  # pylint: disable=broad-except
    sys.exit(f"TVM does not take {sys.argv[1]}: {[line for line in str(error).splitlines() if line.strip()][0][:200]}")
