# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Ranges, arenas and tensor maps from Python, on a real GPU.

Shows, with PyTorch and CuPy where they are installed, that arrays over a growing
range stay where they are and keep what is in them; that what is given up waits
for the streams that use it; that ashlar's encoder and that of cuda.bindings make
the same bytes. Prints what it found and its readings, and writes these to
$OUT/python_card.json if OUT is set. The exit status is 1 when something is wrong.

    python3 python_card.py                  device 0; skipped without one
    python3 python_card.py --driver FILE    another driver's library, such as the
                                            simulated one, which runs no kernels
"""

import argparse
import contextlib
import importlib
import json
import os
import platform
import sys
import time

import ashlar
import ashlar.cuda

MIB = 1 << 20
TURNS = 2000

failures = []
readings = {}


def expect(name, right):
    print(("ok - " if right else "not ok - ") + name)
    if not right:
        failures.append(name)


def skip(name, reason):
    print(f"ok - {name} # SKIP {reason}")


def library(name):
    """A module, if it is there and has a device; else why not."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return None, str(error)
    try:
        there = (
            module.cuda.is_available()
            if name == "torch"
            else module.cuda.runtime.getDeviceCount() > 0
        )
    except Exception as error:
        return None, str(error)
    return (module, "") if there else (None, f"{name} has no device")


# --- arrays over a growing range ----------------------------------------------


class Bytes:
    """Device memory that nobody owns here."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False),
            "strides": None, "stream": None, "version": 3,
        }


class Torch:
    name = "torch"

    def __init__(self, module):
        self.module = module

    def floats(self, owner):
        bytes_of = self.module.as_tensor(owner, device="cuda:0")
        return bytes_of.view(self.module.float32)

    def address(self, array):
        return array.data_ptr()

    def fill(self, array, value):
        array.fill_(value)

    def total(self, array):
        return float(array.double().sum().item())

    def bytes_at(self, address, size):
        owner = Bytes(address, size)
        return self.module.as_tensor(owner, device="cuda:0").cpu().numpy()

    def stream(self):
        return self.module.cuda.Stream()

    def on(self, stream):
        return self.module.cuda.stream(stream)

    def work(self):
        """Queue something that takes some hundred milliseconds."""
        self.module.cuda._sleep(500_000_000)

    def finish(self):
        self.module.cuda.synchronize()


class CuPy(Torch):
    name = "cupy"

    def floats(self, owner):
        return self.module.asarray(owner).view(self.module.float32)

    def address(self, array):
        return array.data.ptr

    def fill(self, array, value):
        array.fill(value)

    def total(self, array):
        return float(array.astype("float64").sum())

    def bytes_at(self, address, size):
        return self.module.asarray(Bytes(address, size)).get()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def work(self):
        code = (
            "extern \"C\" __global__ void wait() {"
            " long long end = clock64() + 500000000LL;"
            " while (clock64() < end); }"
        )
        self.module.RawKernel(code, "wait")((1,), (1,), ())

    def finish(self):
        self.module.cuda.Device().synchronize()


def arrays_stay(arrays, source):
    """Growing under arrays: the same address, and the same content."""
    memory = ashlar.Range(source, reserve=1024 * MIB)
    memory.grow(16 * MIB)
    first = arrays.floats(memory.view())
    arrays.fill(first, 1)
    paths = set()
    for total in range(32, 1024 + 1, 64):
        paths.add(memory.grow(total * MIB).path)
    whole = arrays.floats(memory.view())
    arrays.fill(whole[first.shape[0]:], 2)
    name = arrays.name
    expect(f"{name}: every grow is in place", paths == {"in place"})
    expect(f"{name}: an array over a growing range stays where it is",
           arrays.address(first) == arrays.address(whole) == memory.address)
    small = 16 * MIB // 4
    expect(f"{name}: what was in it is in the longer array",
           arrays.total(whole[:small]) == arrays.total(first) == small)
    expect(f"{name}: the rest can be used",
           arrays.total(whole[small:]) == 2 * (whole.shape[0] - small))
    try:
        memory.shrink(0, after=ashlar.QUIET)
    except ashlar.Error as error:
        expect(f"{name}: an array keeps its memory",
               error.status is ashlar.Status.BUSY)
    else:
        expect(f"{name}: an array keeps its memory", False)
    arrays.finish()
    del first, whole
    memory.close()


def memory_waits(arrays, source):
    """What a stream works on goes when it is done, and nobody waits."""
    memory = ashlar.Range(source, reserve=256 * MIB)
    memory.grow(128 * MIB)
    stream = arrays.stream()
    array = arrays.floats(memory.view())
    with arrays.on(stream):
        arrays.work()
        arrays.fill(array, 3)
    del array
    start = time.perf_counter()
    memory.close(after=ashlar.after(stream))
    readings[f"{arrays.name}.close_after_us"] = (
        time.perf_counter() - start) * 1e6
    waiting = source.info().retired_bytes
    expect(f"{arrays.name}: memory waits for the stream that uses it",
           waiting == 128 * MIB)
    source.drain(timeout=60)
    expect(f"{arrays.name}: and goes when that is done",
           source.info().retired_bytes == 0)
    arrays.finish()


def blocks_are_arrays(arrays, source):
    arena = ashlar.Arena(source, reserve=512 * MIB)
    stream = arrays.stream()
    blocks = [arena.alloc((1 + n) * MIB, 512) for n in range(10)]
    views = [arrays.floats(block) for block in blocks]
    arrays.finish()
    with arrays.on(stream):
        for n, view in enumerate(views):
            arrays.fill(view, n)
        totals = [arrays.total(view) for view in views]
    expect(f"{arrays.name}: blocks of an arena are arrays",
           totals == [n * (1 + n) * MIB / 4 for n in range(10)])
    views.clear()
    with arrays.on(stream):
        arrays.work()
    for block in blocks:
        block.release(after=ashlar.after(stream))
    expect(f"{arrays.name}: released blocks wait for their stream",
           arena.stats().waiting_blocks == 10)
    arrays.finish()
    expect(f"{arrays.name}: and are free behind it",
           arena.stats().waiting_blocks == 0)
    arena.close()


def tables_reach_the_device(arrays, source):
    """Neighbours by a copy, scattered slots by a kernel, a rewritten one."""
    table = ashlar.TensorMapTable(source, max_slots=4096)
    stream = arrays.stream()
    lease = table.lease(1000, run=True)
    plain = specs(1 << 32)[1]
    lease.encode([plain.replace(address=(1 << 32) + 4096 * n)
                  for n in range(1000)])
    lease.publish(stream, which=range(0, 100))
    lease.publish(stream, which=range(101, 1000, 2))
    lease.publish(stream, which=range(100, 1000, 2))
    lease.rewrite(500, ashlar.TensorMap(source, plain), stream)
    arrays.finish()
    there = arrays.bytes_at(table.address, 128 * 1000).tobytes()
    expect(f"{arrays.name}: a table's maps are on the device",
           there == b"".join(map(lease.map, range(1000))))
    with arrays.on(stream):
        arrays.work()
    lease.retire(after=ashlar.after(stream))
    expect(f"{arrays.name}: retired slots wait for their stream",
           table.info().waiting == 1000)
    arrays.finish()
    expect(f"{arrays.name}: and are free behind it",
           table.info().waiting == 0)
    table.close()


# --- tensor maps --------------------------------------------------------------


def specs(address):
    plain = ashlar.Spec("bf16", (1024, 512), (64, 32), address=address)
    return [
        plain,
        plain.replace(swizzle="128B"),
        plain.replace(swizzle="64B", box=(32, 256)),
        plain.replace(l2_promotion="256B", oob_fill="nan"),
        plain.replace(element_strides=(1, 2)),
        plain.replace(strides=(4096,)),
        ashlar.Spec("uint8", (64, 32, 16, 8, 4), (64, 8, 4, 2, 1),
                    address=address, swizzle="64B"),
        ashlar.Spec("float32", (4096,), (256,), address=address + 64),
    ]


def encoded_by_bindings(driver, spec):
    wide, narrow = driver.cuuint64_t, driver.cuuint32_t

    def number(field, kind):
        # Names of settings are in the order of the values.
        value = getattr(spec, field)
        for candidate in range(32):
            with contextlib.suppress(ashlar.Error):
                if getattr(spec.replace(**{field: candidate}), field) == value:
                    return kind(candidate)
        raise ValueError(value)

    code, made = driver.cuTensorMapEncodeTiled(
        number("dtype", driver.CUtensorMapDataType),
        spec.rank,
        spec.address,
        [wide(n) for n in spec.dims],
        # Of an empty list the bindings make NULL, which the driver refuses.
        [wide(n) for n in spec.strides or (0,)],
        [narrow(n) for n in spec.box],
        [narrow(n) for n in spec.element_strides],
        number("interleave", driver.CUtensorMapInterleave),
        number("swizzle", driver.CUtensorMapSwizzle),
        number("l2_promotion", driver.CUtensorMapL2promotion),
        number("oob_fill", driver.CUtensorMapFloatOOBfill),
    )
    if int(code) != 0:
        raise RuntimeError(f"cuTensorMapEncodeTiled: {code}, for {spec}")
    return bytes(ashlar.cuda.tensor_map(made)._held)


def maps_are_the_drivers(source, address):
    kept = [ashlar.TensorMap(source, spec) for spec in specs(address)]
    expect("maps are at multiples of 128",
           all(one.address % 128 == 0 for one in kept))
    expect("encode_many makes the same maps",
           [bytes(one) for one in ashlar.encode_many(source, specs(address))]
           == [bytes(one) for one in kept])
    for one in kept:
        one.rebase(address + 4096)
    expect("rebase makes the same bytes as encoding anew",
           all(bytes(one) == bytes(ashlar.TensorMap(source, one.spec))
               for one in kept))
    wrong = specs(address)[0].replace(strides=(2050,))
    try:
        ashlar.TensorMap(source, wrong)
    except ashlar.SpecError as error:
        expect("a refused map says its rule", "2050" in str(error))
    else:
        expect("a refused map says its rule", False)
    name = "cuda.bindings' encoder makes the same bytes"
    try:
        from cuda.bindings import driver
    except ImportError as missing:
        skip(name, missing)
        return
    expect(name, all(bytes(ashlar.TensorMap(source, spec))
                     == encoded_by_bindings(driver, spec)
                     for spec in specs(address)))


# --- readings -----------------------------------------------------------------


def best(work, turns=TURNS, repeats=5):
    """Seconds of a turn, of the best of some repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(turns):
            work()
        times.append((time.perf_counter() - start) / turns)
    return min(times)


def measure(source, address):
    spec = specs(address)[1]
    many = [spec.replace(address=address + 128 * n) for n in range(4096)]
    cache = ashlar.TensorMapCache(source)
    one = ashlar.TensorMap(source, spec)
    memory = ashlar.Range(source, reserve=1024 * MIB)
    memory.grow(2 * MIB)
    readings.update(
        tensor_map_ns=best(lambda: ashlar.TensorMap(source, spec)) * 1e9,
        rebase_ns=best(lambda: one.rebase(address)) * 1e9,
        cache_get_ns=best(lambda: cache.get(spec)) * 1e9,
        check_ns=best(spec.check) * 1e9,
        encode_4096_us=best(
            lambda: ashlar.encode_many(source, many), 5) * 1e6,
        view_ns=best(memory.view) * 1e9,
        grow_of_nothing_ns=best(lambda: memory.grow(MIB)) * 1e9,
    )
    for size in (32, 256):
        start = time.perf_counter()
        memory.grow(memory.nbytes + size * MIB)
        readings[f"grow_{size}_mib_us"] = (time.perf_counter() - start) * 1e6
    memory.close()
    cache.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--driver", help="the file of the driver's library")
    driver = parser.parse_args().driver
    try:
        source = ashlar.Source("cuda", {"driver": driver} if driver else {})
    except ashlar.Error as error:
        print(f"1..0 # SKIP {error}")
        return 0
    memory = ashlar.Range(source, reserve=64 * MIB)
    memory.grow(8 * MIB)
    for name, kind in (("torch", Torch), ("cupy", CuPy)):
        module, reason = library(name)
        if module is None or driver:
            skip(f"{name}: arrays over ranges and blocks",
                 reason or "no kernels run there")
            continue
        readings[name] = module.__version__
        for work in (arrays_stay, memory_waits, blocks_are_arrays,
                     tables_reach_the_device):
            work(kind(module), source)
    maps_are_the_drivers(source, memory.address)
    if not driver:
        measure(source, memory.address)
        readings.update(device=source.info().description,
                        python=platform.python_version())
        for name, value in readings.items():
            print(f"# {name}: {value:.4g}" if isinstance(value, float)
                  else f"# {name}: {value}")
    memory.close()
    source.drain(timeout=60)
    source.close()
    if os.environ.get("OUT"):
        with open(os.path.join(os.environ["OUT"], "python_card.json"), "w",
                  encoding="utf-8") as out:
            json.dump({"failures": failures, "readings": readings}, out,
                      indent=2)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
