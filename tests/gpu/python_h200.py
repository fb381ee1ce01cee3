# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""The reports from Python, on a real GPU with the real cuda.bindings.

Shows that the trouble is there without ashlar, and gone with it; that a kernel
that loads through such maps, given by value and read from device memory, gets
the right tiles; and what all that costs. Prints its readings, and writes them to
$OUT/python.json if OUT is set. The exit status is 1 when something is wrong.

    python3 python_h200.py              needs a GPU of compute capability 9.0
    python3 python_h200.py --at 48      only: a kernel that reads a map from
                                        device memory at that residue
"""

import collections
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import ashlar
import ashlar.cuda as maps

try:
    from cuda import bindings
    from cuda.bindings import driver
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

WIDTH = 1024  # of the square of 32-bit integers that maps are over
TILE = 32
KEPT = 200

KERNELS = r"""
struct alignas(64) Map { unsigned long long words[16]; };

__device__ void load(const void *map, int x, int y, int *out)
{
    __shared__ alignas(128) int tile[32 * 32];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned done = 0;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at)
                     : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     ::"r"(at), "r"(32 * 32 * 4) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(at) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p;"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at)
                     : "memory");
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
        out[i] = tile[i];
}

extern "C" __global__ void by_value(const __grid_constant__ Map map, int x,
                                    int y, int *out)
{
    load(&map, x, y, out);
}

extern "C" __global__ void by_address(const char *maps, int *out)
{
    const char *map = maps + 128 * blockIdx.x;

    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;"
                 ::"l"(map) : "memory");
    load(map, 0, 0, out + 32 * 32 * blockIdx.x);
}
"""

readings = {}
wrong = []


def say(name, value, right=True):
    right = right and value is not False
    readings[name] = value
    print(f"{'ok  ' if right else 'BAD '} {name}: {value}", flush=True)
    if not right:
        wrong.append(name)


def check(result):
    code, *values = result
    if int(code) != 0:
        raise RuntimeError(f"{code.__class__.__name__}.{code.name} ({int(code)})")
    return values[0] if len(values) == 1 else values


def residues(objects):
    count = collections.Counter(int(one.getPtr()) % 128 for one in objects)
    return {str(residue): n for residue, n in sorted(count.items())}


def content(one):
    return ctypes.string_at(int(one.getPtr()), 128)


# --- the GPU -----------------------------------------------------------------


def compile_kernels():
    """By NVRTC; else by nvcc. The cubin, and by which."""
    try:
        from cuda.bindings import nvrtc

        program = check(nvrtc.nvrtcCreateProgram(
            KERNELS.encode(), b"tile.cu", 0, [], []))
        options = [b"--gpu-architecture=sm_90"]
        code, = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if int(code) != 0:
            log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program))
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.decode())
        cubin = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
        check(nvrtc.nvrtcGetCUBIN(program, cubin))
        return cubin, "NVRTC %d.%d" % tuple(check(nvrtc.nvrtcVersion()))
    except (ImportError, RuntimeError) as error:
        print(f"# no NVRTC ({error}), trying nvcc")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "tile.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(KERNELS)
        subprocess.run(
            ["nvcc", "-arch=sm_90", "-cubin", source, "-o", source + "bin"],
            check=True,
        )
        with open(source + "bin", "rb") as file:
            return file.read(), "nvcc"


class Gpu:
    def __init__(self):
        check(driver.cuInit(0))
        self.device = check(driver.cuDeviceGet(0))
        context = check(driver.cuDevicePrimaryCtxRetain(self.device))
        check(driver.cuCtxSetCurrent(context))
        cubin, self.compiler = compile_kernels()
        module = check(driver.cuModuleLoadData(cubin))
        self.by_value = check(driver.cuModuleGetFunction(module, b"by_value"))
        self.by_address = check(
            driver.cuModuleGetFunction(module, b"by_address"))
        numbers = (ctypes.c_int * (WIDTH * WIDTH))(*range(WIDTH * WIDTH))
        self.square = self.upload(ctypes.addressof(numbers),
                                  ctypes.sizeof(numbers))

    def memory(self, size):
        return int(check(driver.cuMemAlloc(size)))

    def upload(self, address, size):
        pointer = self.memory(size)
        check(driver.cuMemcpyHtoD(pointer, address, size))
        return pointer

    def launch(self, function, blocks, values, types):
        check(driver.cuLaunchKernel(
            function, blocks, 1, 1, 32, 1, 1, 0, 0, (values, types), 0))
        check(driver.cuCtxSynchronize())

    def tiles(self, out, count):
        got = (ctypes.c_int * (TILE * TILE * count))()
        check(driver.cuMemcpyDtoH(ctypes.addressof(got), out,
                                  ctypes.sizeof(got)))
        return [list(got[i * TILE * TILE : (i + 1) * TILE * TILE])
                for i in range(count)]


def tile_at(x, y):
    return [(y + row) * WIDTH + x + column
            for row in range(TILE) for column in range(TILE)]


def arguments(gpu, x=0, y=0):
    """Of a map whose tile (0, 0) is the square's at (x, y)."""
    wide, narrow = driver.cuuint64_t, driver.cuuint32_t
    return (
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_INT32,
        2,
        gpu.square + 4 * (y * WIDTH + x),
        [wide(WIDTH - x), wide(WIDTH - y)],
        [wide(4 * WIDTH)],
        [narrow(TILE), narrow(TILE)],
        [narrow(1), narrow(1)],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )


# --- what is shown -----------------------------------------------------------


def versions(gpu):
    number = check(driver.cuDriverGetVersion())
    say("python", platform.python_version())
    say("cuda.bindings", bindings.__version__)
    say("driver for CUDA", f"{number // 1000}.{number % 1000 // 10}")
    say("device", check(driver.cuDeviceGetName(64, gpu.device))
        .rstrip(b"\0").decode())
    say("kernels compiled by", gpu.compiler)
    say("ashlar", f"{ashlar.__version__}, {ashlar.build_info('compiler')}")


def reports_script():
    """The script of the reports: many maps, kept alive."""
    kept = [driver.CUtensorMap() for _ in range(KEPT)]
    say(f"{KEPT} driver.CUtensorMap(), residues", residues(kept),
        any(int(one.getPtr()) % 128 for one in kept))
    original = driver.CUtensorMap
    with maps.aligned_maps():
        aligned = [driver.CUtensorMap() for _ in range(KEPT)]
        say("the same inside aligned_maps()", residues(aligned),
            residues(aligned) == {"0": KEPT})
        say("all are instances of driver.CUtensorMap meanwhile",
            all(isinstance(one, driver.CUtensorMap) for one in kept + aligned))
    say("and afterwards", driver.CUtensorMap is original and
        all(isinstance(one, driver.CUtensorMap) for one in kept + aligned))
    aligned[0].opaque = list(range(16))
    say("opaque can be set and read",
        [int(word) for word in aligned[0].opaque] == list(range(16)) and
        content(aligned[0])[:9] == bytes(8) + b"\1")


def encoders(gpu):
    theirs = [check(driver.cuTensorMapEncodeTiled(*arguments(gpu)))
              for _ in range(KEPT)]
    say(f"{KEPT} of driver.cuTensorMapEncodeTiled(), residues",
        residues(theirs))
    ours = [maps.encode_tiled(*arguments(gpu)) for _ in range(KEPT)]
    say(f"{KEPT} of ashlar.cuda.encode_tiled(), residues", residues(ours),
        residues(ours) == {"0": KEPT})
    copies = [maps.tensor_map(one) for one in theirs]
    say("their copies by tensor_map(), residues", residues(copies),
        residues(copies) == {"0": KEPT})
    say("all with the same bytes",
        len({content(one) for one in theirs + ours + copies}) == 1)
    plain = maps.encode_tiled(3, 2, gpu.square, [WIDTH, WIDTH], [4 * WIDTH],
                              [TILE, TILE], [1, 1])
    say("plain integers do as well", content(plain) == content(ours[0]))
    replaced = maps.tensor_map(ours[0])
    check(driver.cuTensorMapReplaceAddress(replaced, gpu.square + 4096))
    say("cuTensorMapReplaceAddress() takes such a map",
        content(replaced) == content(maps.encode_tiled(
            *arguments(gpu)[:2], gpu.square + 4096, *arguments(gpu)[3:])))
    try:
        maps.encode_tiled(3, 2, gpu.square, [WIDTH, WIDTH], [4 * WIDTH + 2],
                          [TILE, TILE], [1, 1])
        say("a bad stride is refused", "no", False)
    except ashlar.Error as error:
        say("a bad stride is refused", str(error),
            error.status is ashlar.Status.DRIVER)


def launches_by_value(gpu):
    out = gpu.memory(4 * TILE * TILE)
    with maps.aligned_maps():
        filled = driver.CUtensorMap()
    filled.opaque = maps.encode_tiled(*arguments(gpu)).opaque
    kinds = {
        "encode_tiled()": maps.encode_tiled(*arguments(gpu)),
        "tensor_map(theirs)": maps.tensor_map(
            check(driver.cuTensorMapEncodeTiled(*arguments(gpu)))),
        "aligned_maps()": filled,
    }
    for name, one in kinds.items():
        right = 0
        for x, y in ((0, 0), (32, 64), (512, 992), (992, 0)):
            check(driver.cuMemsetD32(out, 0xFFFFFFFF, TILE * TILE))
            gpu.launch(gpu.by_value, 1, (one, x, y, out),
                       (None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p))
            right += gpu.tiles(out, 1)[0] == tile_at(x, y)
        say(f"by value, a map of {name}", f"{right} of 4 tiles right",
            right == 4)


def launches_by_address(gpu):
    """Maps in the slots of a run, copied at once, a map per block."""
    count = 256
    pool = ashlar.Pool("CUtensorMap")
    places = [(x, y) for y in range(0, WIDTH, 64) for x in range(0, WIDTH, 64)]
    run = pool.run(count)
    for i, (x, y) in enumerate(places):
        maps.encode_tiled(*arguments(gpu, x, y), slot=run[i])
    device = gpu.upload(run.address, count * run.stride)
    out = gpu.memory(4 * TILE * TILE * count)
    gpu.launch(gpu.by_address, count, (device, out),
               (ctypes.c_void_p, ctypes.c_void_p))
    right = sum(tile == tile_at(*place)
                for tile, place in zip(gpu.tiles(out, count), places))
    say("from device memory, a run of maps copied at once",
        f"{right} of {count} tiles right", right == count)


def at(residue):
    """Alone in a process, whose context may be lost."""
    gpu = Gpu()
    one = maps.encode_tiled(*arguments(gpu))
    device = gpu.memory(4096)
    check(driver.cuMemcpyHtoD(device + residue, int(one.getPtr()), 128))
    out = gpu.memory(4 * TILE * TILE)
    gpu.launch(gpu.by_address, 1, (device + residue, out),
               (ctypes.c_void_p, ctypes.c_void_p))
    right = gpu.tiles(out, 1)[0] == tile_at(0, 0)
    print("the right tile" if right else "a wrong tile")


def misaligned_in_device_memory():
    for residue in (0, 16, 48, 64):
        result = subprocess.run(
            [sys.executable, __file__, "--at", str(residue)],
            capture_output=True, text=True, timeout=120)
        lines = (result.stdout + result.stderr).strip().splitlines()
        say(f"a map in device memory at residue {residue}", lines[-1],
            residue != 0 or lines[-1] == "the right tile")


def import_after_others():
    """In a process that holds many libraries with thread-local storage."""
    for name in ("torch", "jax", "cupy"):
        program = (
            f"import {name}, ashlar\n"
            "print(ashlar.Pool('CUtensorMap').get().address % 128)"
        )
        result = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, timeout=300)
        said = (result.stdout + result.stderr).strip().splitlines()[-1]
        if "No module named" not in said:
            say(f"after import {name}, a slot's residue", said, said == "0")


def costs(gpu):
    """Nanoseconds each, the best of nine rounds."""
    encode = arguments(gpu)
    maps.map_pool().reserve(20_000)
    pool = ashlar.Pool("CUtensorMap", reserve=20_000)
    pool.reserve_runs(4096, 1)
    timed = [
        ("driver.CUtensorMap()", driver.CUtensorMap, 20_000, None),
        ("driver.cuTensorMapEncodeTiled()",
         lambda: driver.cuTensorMapEncodeTiled(*encode), 5000, None),
        ("ashlar.cuda.tensor_map()", maps.tensor_map, 20_000, None),
        ("ashlar.cuda.encode_tiled()",
         lambda: maps.encode_tiled(*encode), 5000, None),
        ("pool.get(), put as it goes", pool.get, 100_000, 150),
        ("pool.get_many(4096), put as they go",
         lambda: pool.get_many(4096), 30, None),
        ("pool.run(4096), put as it goes",
         lambda: pool.run(4096), 5000, 2000),
    ]
    for name, call, times, target in timed:
        best = min(one_round(call, times) for _ in range(9))
        say(f"ns: {name}", round(best), target is None or best <= target)
    got = []
    for _ in range(100):
        start = time.perf_counter_ns()
        slots = pool.get_many(4096)
        got.append(time.perf_counter_ns() - start)
        del slots
    say("ns: pool.get_many(4096) alone", min(got), min(got) <= 150_000)


def one_round(call, times):
    start = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - start) / times


def main():
    gpu = Gpu()
    versions(gpu)
    reports_script()
    encoders(gpu)
    launches_by_value(gpu)
    launches_by_address(gpu)
    misaligned_in_device_memory()
    costs(gpu)
    import_after_others()
    if os.environ.get("OUT"):
        path = os.path.join(os.environ["OUT"], "python.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"readings": readings, "wrong": wrong}, file, indent=2)
    print(f"{len(readings) - len(wrong)} readings right, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--at"]:
        at(int(sys.argv[2]))
    else:
        sys.exit(main())
