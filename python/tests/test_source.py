# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import inspect

import pytest

import ashlar
from ashlar import Status


def test_a_source_tells_what_it_is(vm):
    info = vm.info()
    assert (vm.name, info.name, info.path) == ("vm", "vm", "")
    assert info.granule == 64 << 10 and info.memory_bytes == 64 << 20
    assert {"ranges", "host_access", "fence"} <= info.can
    assert "encode" not in info.can
    assert repr(vm) == "<ashlar.Source vm>"


def test_the_heap_is_a_source_without_ranges(raises):
    heap = ashlar.Source("heap")
    assert heap.info().can == {"blocks", "host_access"}
    assert heap.info().granule == 0
    assert "heap" in raises(Status.UNSUPPORTED, ashlar.Range, heap)


def test_options_are_a_text_or_a_dict(raises):
    for options in ("granule=128K", {"granule": "128K"},
                    {"granule": 128 << 10, "huge": False}):
        assert ashlar.Source("vm", options).info().granule == 128 << 10
    assert ashlar.Source("vm", {}).info().granule == 2 << 20
    said = raises(Status.INVALID, ashlar.Source, "vm", {"granul": 1})
    assert "granul" in said and "granule" in said
    raises(Status.INVALID, ashlar.Source, "vm", "granule")
    assert "comma" in raises(
        Status.INVALID, ashlar.Source, "vm", {"granule": "64K,huge=yes"}
    )
    for wrong in (7, ["granule=64K"], "a\0b"):
        with pytest.raises((TypeError, ValueError)):
            ashlar.Source("vm", wrong)


def test_a_source_that_is_not_there_is_refused(raises):
    said = raises(Status.NO_PLUGIN, ashlar.Source, "no_such_source")
    assert "no_such_source" in said
    with pytest.raises(TypeError):
        ashlar.Source(None)


def test_a_closed_source_is_refused(vm, raises):
    vm.close()
    vm.close()
    assert vm.closed and repr(vm) == "<ashlar.Source, closed>"
    for call in (vm.info, vm.drain, lambda: vm.name, vm.__enter__):
        assert "source was closed" in raises(Status.STALE, call)
    raises(Status.STALE, ashlar.Range, vm)


def test_close_says_what_stands_on_it(vm, raises):
    kept = [ashlar.Range(vm, reserve=1 << 20) for _ in range(2)]
    assert "2 ranges" in raises(Status.BUSY, vm.close)
    assert not vm.closed
    kept.pop()
    assert "1 range:" in raises(Status.BUSY, vm.close)
    kept.clear()
    vm.close()


def test_a_source_lives_as_long_as_what_stands_on_it():
    memory = ashlar.Range(ashlar.Source("vm"), reserve=1 << 22)
    memory.grow(1 << 20)
    memoryview(memory)[-1] = 7
    assert memory.source.name == "vm"


def test_a_with_closes_a_source_with_the_last_on_it(vm, raises):
    with vm as source:
        assert source is vm
        memory = ashlar.Range(vm, reserve=1 << 20)
    assert vm.closed
    raises(Status.STALE, vm.info)
    memory.grow(1 << 20)
    memory.close()
    raises(Status.STALE, vm.info)


def test_drain_of_nothing_succeeds(vm):
    vm.drain()
    vm.drain(timeout=0.001)
    for wrong in (-1, float("nan"), float("inf"), 1e10):
        with pytest.raises(ValueError):
            vm.drain(wrong)
    with pytest.raises(TypeError):
        vm.drain("1")


def test_the_signatures_are_told():
    assert str(inspect.signature(ashlar.Source)) == "(name, options=None)"
    assert "at_end" in inspect.signature(ashlar.Range).parameters


def test_cuda_on_the_simulated_driver(device, simulated):
    info = device.info()
    assert info.description == "cudasim device 0"
    assert {"ranges", "encode", "copy", "fence"} <= info.can
    assert "host_access" not in info.can
    assert info.path.endswith("ashlar_cuda.so")
    assert simulated.calls("cuDevicePrimaryCtxRetain") == 0


def test_without_a_driver_the_error_says_so(raises, driver_file):
    said = raises(Status.NO_DRIVER, ashlar.Source, "cuda",
                  {"driver": "/no/such/libcuda.so.1"})
    assert "/no/such/libcuda.so.1" in said
