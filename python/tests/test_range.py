# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Ranges: on host memory, and on the simulated driver."""

import ctypes
import gc
import threading
import types

import pytest

import ashlar
from ashlar import QUIET, Status

KIB, MIB = 1 << 10, 1 << 20
GRANULE = 64 * KIB


@pytest.fixture
def memory(vm):
    return ashlar.Range(vm, reserve=4 * MIB)


# --- growing -----------------------------------------------------------------


def test_a_range_grows_in_place(memory):
    address = memory.address
    view = None
    for n in range(1, 41):
        result = memory.grow(n * 100_000)
        assert result.path in ("in place", "none")
        assert (result.base, result.old_base) == (address, address)
        assert result.used_bytes == memory.nbytes == n * 100_000
        if view is None:
            view = memoryview(memory)
            view[:] = bytes([7]) * 100_000
        assert ctypes.string_at(address, 3) == b"\7\7\7"
    assert len(view) == 100_000 and len(memoryview(memory)) == 4_000_000
    assert bytes(view) == bytes([7]) * 100_000
    info = memory.info()
    assert info.grows["in place"] + info.grows["none"] == 40
    assert info.grows["moved"] == 0
    assert info.base == address == int(memory)
    assert sum(size for _, size in memory.chunks()) == info.committed_bytes


def test_a_grow_to_less_does_nothing(memory):
    memory.grow(100)
    result = memory.grow(50)
    assert (result.path, result.used_bytes, result.source_calls) == (
        "none", 100, 0)


def test_a_range_says_when_there_is_no_room(memory, raises):
    assert "4194304" in raises(Status.NO_ROOM, memory.grow, 5 * MIB)
    assert memory.nbytes == 0
    memory.grow(4 * MIB)
    raises(Status.INVALID, memory.grow, -1)
    raises(Status.INVALID, memory.grow, 1 << 64)
    with pytest.raises(TypeError):
        memory.grow("1")


def test_a_range_may_move_and_views_stay_good(vm, raises):
    block = []
    memory = ashlar.Range(vm, reserve=GRANULE, may_move=True)
    memory.grow(GRANULE)
    old = memory.address
    view = memory.view()
    memoryview(view)[:4] = b"kept"
    for n in range(2, 60):
        # Whatever lies behind it, at some time it has to go elsewhere.
        result = memory.grow(n * GRANULE)
        if result.path == "moved":
            break
        block.append(ashlar.Range(vm, reserve=GRANULE))
    else:
        pytest.skip("the neighbouring addresses were always free")
    assert result.old_base != result.base == memory.address != old
    assert bytes(memoryview(memory)[:4]) == b"kept" == bytes(view)[:4]
    memoryview(view)[:4] = b"both"
    assert bytes(memoryview(memory)[:4]) == b"both"
    assert str(view.address) not in raises(
        Status.BUSY, memory.retire_old, after=QUIET
    )
    del view
    memory.retire_old(after=QUIET)
    assert memory.info().old_bytes == 0


def test_what_is_prepared_needs_no_call(memory):
    memory.prepare(1 * MIB)
    assert memory.nbytes == 0
    assert memory.grow(1 * MIB).source_calls == 0
    memory.prepare(2 * MIB, mapped=False)
    assert memory.info().prepared_bytes == 1 * MIB
    result = memory.grow(2 * MIB)
    assert result.path == "in place" and result.source_calls > 0
    memory.prepare(3 * MIB)
    assert memory.shrink(2 * MIB, after=QUIET).released_bytes == 1 * MIB


def test_shrink_gives_whole_chunks_back(vm):
    memory = ashlar.Range(vm, reserve=MIB, chunk_max=GRANULE)
    memory.grow(8 * GRANULE)
    result = memory.shrink(3 * GRANULE + 1, after=QUIET)
    assert result.released_bytes == 4 * GRANULE
    assert (memory.nbytes, memory.info().committed_bytes) == (
        3 * GRANULE + 1, 4 * GRANULE)
    kept = ashlar.Range(vm, reserve=MIB, keep=MIB)
    kept.grow(MIB)
    assert kept.shrink(0, after=QUIET).released_bytes == 0


def test_parts_are_taken_and_given(vm, raises):
    memory = ashlar.Range(vm, reserve=MIB, chunk_max=GRANULE)
    memory.grow(8 * GRANULE)
    memoryview(memory)[:] = b"x" * (8 * GRANULE)
    result = memory.decommit(2 * GRANULE, 3 * GRANULE, after=QUIET)
    assert result.released_bytes == 3 * GRANULE
    said = raises(Status.INVALID, memoryview, memory)
    assert str(2 * GRANULE) in said and "commit()" in said
    assert bytes(memory.view(0, 2 * GRANULE)) == b"x" * (2 * GRANULE)
    assert bytes(memory.view(5 * GRANULE)) == b"x" * (3 * GRANULE)
    raises(Status.INVALID, memory.view, GRANULE, GRANULE + 1)
    raises(Status.INVALID, memory.view, 5 * GRANULE - 1)
    memory.commit(2 * GRANULE, 3 * GRANULE)
    assert bytes(memoryview(memory)[2 * GRANULE : 5 * GRANULE]) == bytes(
        3 * GRANULE)
    raises(Status.INVALID, memory.decommit, 7 * GRANULE, 2 * GRANULE,
           after=QUIET)
    raises(Status.INVALID, memory.commit, 8 * GRANULE, 1)


def test_alignment_and_options_are_kept(vm, raises):
    memory = ashlar.Range(vm, reserve=MIB, alignment=MIB)
    assert memory.address % MIB == 0
    raises(Status.INVALID, ashlar.Range, vm, alignment=3 * GRANULE)
    raises(Status.INVALID, ashlar.Range, vm, chunk_max=GRANULE + 1)
    raises(Status.INVALID, ashlar.Range, vm, access={8: "read"})
    raises(Status.INVALID, ashlar.Range, vm, access={1: "write"})
    raises(Status.INVALID, ashlar.Range, vm, reserve=-1)
    raises(Status.NO_ADDRESS_SPACE, ashlar.Range, vm, reserve=1 << 60)
    for wrong in (3, ["read"]):
        with pytest.raises(TypeError):
            ashlar.Range(vm, access=wrong)
    with pytest.raises(TypeError):
        ashlar.Range("vm")
    with pytest.raises(TypeError):
        ashlar.Range()
    # Nothing of these is left.
    del memory
    vm.close()


# --- views -------------------------------------------------------------------


def test_what_is_viewed_cannot_be_taken_away(vm, raises):
    memory = ashlar.Range(vm, reserve=MIB, chunk_max=GRANULE)
    memory.grow(8 * GRANULE)
    view = memory.view(4 * GRANULE, 10)
    array = memoryview(view)
    del view
    assert "10 bytes" in raises(Status.BUSY, memory.shrink, 0, after=QUIET)
    raises(Status.BUSY, memory.shrink, 4 * GRANULE + 9, after=QUIET)
    raises(Status.BUSY, memory.decommit, 0, 8 * GRANULE, after=QUIET)
    assert "1 view:" in raises(Status.BUSY, memory.close)
    memory.shrink(4 * GRANULE + 10, after=QUIET)
    memory.decommit(0, 4 * GRANULE, after=QUIET)
    array[:] = b"0123456789"
    array.release()
    del array
    memory.shrink(0, after=QUIET)
    memory.close()


def test_a_view_keeps_range_and_source():
    view = ashlar.Range(ashlar.Source("vm"), reserve=4 * MIB)
    view.grow(100)
    array = memoryview(view.view(10, 20))
    del view
    gc.collect()
    array[:] = b"y" * 20
    assert bytes(array) == b"y" * 20


def test_a_with_gives_the_range_up_with_its_last_view(vm, raises):
    with ashlar.Range(vm, reserve=MIB) as memory:
        memory.grow(100)
        array = memoryview(memory)
    assert memory.closed
    raises(Status.STALE, memory.grow, 200)
    array[:] = b"z" * 100
    assert "1 range:" in raises(Status.BUSY, vm.close)
    array.release()
    assert repr(memory) == "<ashlar.Range, closed>"
    vm.close()


def test_a_view_tells_what_it_is(memory, raises):
    memory.grow(1000)
    view = memory.view(100, 50)
    assert (view.address, view.nbytes, view.offset) == (
        memory.address + 100, 50, 100)
    assert view.range is memory and int(view) == view.address
    assert repr(view) == f"<ashlar.RangeView of 50 bytes at {view.address:#x}>"
    assert memory.view(1000).nbytes == 0
    assert memory.view(10).nbytes == 990
    raises(Status.INVALID, memory.view, 1001)
    raises(Status.INVALID, memory.view, 0, 1001)
    raises(Status.INVALID, memory.view, 1 << 63, 1 << 63)
    raises(Status.UNSUPPORTED, memory.view, ahead=True)
    with pytest.raises(TypeError):
        ashlar.RangeView()


def test_numpy_arrays_stay_where_they_are(memory):
    numpy = pytest.importorskip("numpy")
    memory.grow(8000)
    first = numpy.frombuffer(memory, numpy.float64)
    first[:] = numpy.arange(1000)
    memory.grow(2 * MIB)
    longer = numpy.frombuffer(memory.view(0, MIB), numpy.float64)
    assert longer.ctypes.data == first.ctypes.data == memory.address
    assert (longer[:1000] == numpy.arange(1000)).all()
    assert numpy.asarray(memory).shape == (2 * MIB,)


def test_host_memory_has_no_interface_for_cuda(memory):
    memory.grow(10)
    assert not hasattr(memory, "__cuda_array_interface__")
    assert not hasattr(memory.view(), "__cuda_array_interface__")


def test_rights_are_set_and_watched(memory, raises):
    memory.grow(100)
    array = memoryview(memory)
    raises(Status.BUSY, memory.allow, 0, "read")
    memory.allow(3, "none")
    memory.allow(3, "read")
    array.release()
    memory.allow(0, "read")
    array = memoryview(memory)
    assert array.readonly and array[0] == 0
    memory.allow(0, "read")
    raises(Status.BUSY, memory.allow, 0, "none")
    array.release()
    memory.allow(0, "none")
    with pytest.raises(BufferError):
        memoryview(memory)
    memory.allow(0, "read-write")
    memoryview(memory)[:] = b"1" * 100
    raises(Status.INVALID, memory.allow, 8, "read")
    raises(Status.INVALID, memory.allow, 0, "write")
    read_only = ashlar.Range(memory.source, reserve=MIB, access={0: "read"})
    read_only.grow(10)
    assert memoryview(read_only).readonly


# --- the end -----------------------------------------------------------------


def test_a_closed_range_is_refused(memory, raises):
    memory.grow(10)
    memory.close()
    memory.close(after=QUIET)
    for call in (
        memory.info, memory.chunks, memory.view, lambda: memory.address,
        lambda: memory.nbytes, lambda: memory.source, memory.__enter__,
        lambda: memory.grow(1), lambda: memory.prepare(1),
        lambda: memory.shrink(0, after=QUIET), lambda: memory.commit(0, 0),
        lambda: memory.decommit(0, 0, after=QUIET),
        lambda: memory.retire_old(after=QUIET),
        lambda: memory.allow(0, "read"), lambda: memoryview(memory),
    ):
        assert "range was closed" in raises(Status.STALE, call)


def test_fences_have_to_be_such(memory, raises):
    memory.grow(10)
    for wrong in (0, None, "quiet", [0], object()):
        with pytest.raises(TypeError):
            memory.shrink(0, after=wrong)
    with pytest.raises(TypeError):
        memory.shrink(0)
    assert "QUIET" in raises(Status.INVALID, memory.shrink, 0, after=[])
    raises(Status.INVALID, memory.shrink, 0, after=[QUIET] * 17)
    raises(Status.INVALID, memory.shrink, 0, after=ashlar.Fence("quite"))
    raises(Status.INVALID, memory.shrink, 0, after=ashlar.after(-1))
    with pytest.raises(TypeError):
        memory.shrink(0, after=ashlar.after(0, "vm"))
    assert memory.nbytes == 10
    memory.shrink(0, after=[QUIET, QUIET])


def test_streams_of_others_are_understood():
    ours = types.SimpleNamespace
    for stream in (17, ours(cuda_stream=17), ours(ptr=17),
                   ours(__cuda_stream__=(0, 17)),
                   ours(__cuda_stream__=lambda: (0, 17)),
                   ours(cuda_stream=17, ptr=3)):
        assert ashlar.after(stream) == ("stream", 17, None)
    assert ashlar.after_event(ours(cuda_event=5)) == ("event", 5, None)
    assert ashlar.after_capture(3).kind == "capture"
    assert ashlar.after_graph(3).kind == "graph"
    with pytest.raises(TypeError):
        ashlar.after(object())


def test_a_source_that_a_fence_is_of_stays_open(vm, memory, raises):
    other = ashlar.Source("vm")
    fence = ashlar.after(1, other)
    kept = ashlar.Range(vm, reserve=MIB, at_end=[fence, QUIET])
    kept.grow(10)
    assert "1 fence:" in raises(Status.BUSY, other.close)
    kept.close()
    other.drain()
    other.close()
    raises(Status.STALE, other.info)
    raises(Status.STALE, memory.close, after=fence)
    raises(Status.STALE, ashlar.Range, vm, at_end=fence)
    assert not memory.closed


def test_other_threads_run_and_are_refused_meanwhile(vm):
    memory = ashlar.Range(vm, reserve=32 * MIB, chunk_max=GRANULE)
    memory.grow(GRANULE)
    errors, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            try:
                memoryview(memory)[:1] = b"x"
                memory.info()
            except ashlar.Error as error:
                if error.status not in (Status.BUSY, Status.STALE):
                    errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        memory.grow(8 * MIB)
        try:
            memory.shrink(GRANULE, after=QUIET)
        except ashlar.Error as error:
            assert error.status is Status.BUSY
    memory.__exit__(None, None, None)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert repr(memory) == "<ashlar.Range, closed>"
    vm.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork_the_parents_are_refused(vm, memory, child, raises):
    memory.grow(100)

    def work():
        for call in (lambda: memory.grow(200), memory.info, vm.drain,
                     lambda: ashlar.Range(vm), lambda: memoryview(memory)):
            raises(Status.FORKED, call)
        memory.close()
        vm.close()
        fresh = ashlar.Range(ashlar.Source("vm"), reserve=4 * MIB)
        fresh.grow(10)

    assert child(work) == 0
    memory.grow(200)
    memoryview(memory)[:] = b"z" * 200


# --- on the simulated driver -------------------------------------------------


def test_device_memory_has_the_interface_for_cuda(device):
    memory = ashlar.Range(device, reserve=32 * MIB)
    memory.grow(5 * MIB)
    first = memory.view(MIB, 100)
    assert memory.__cuda_array_interface__ == {
        "shape": (5 * MIB,), "typestr": "|u1",
        "data": (memory.address, False), "strides": None, "stream": None,
        "version": 3,
    }
    before = first.__cuda_array_interface__
    assert before["shape"] == (100,)
    assert before["data"] == (memory.address + MIB, False)
    assert memory.grow(30 * MIB).path == "in place"
    assert first.__cuda_array_interface__ == before
    assert memory.__cuda_array_interface__["shape"] == (30 * MIB,)
    memory.allow(0, "read")
    assert memory.view().__cuda_array_interface__["data"][1] is True
    with pytest.raises(BufferError):
        memoryview(memory)
    with pytest.raises(BufferError):
        memoryview(memory.view())


def test_a_view_ahead_is_over_all_addresses(device, raises):
    memory = ashlar.Range(device, reserve=32 * MIB, chunk_max=2 * MIB)
    ahead = memory.view(ahead=True)
    assert (ahead.nbytes, ahead.address) == (32 * MIB, memory.address)
    assert repr(ahead).endswith(", ahead>")
    memory.grow(32 * MIB)
    memory.decommit(0, 32 * MIB, after=QUIET)
    memory.commit(4 * MIB, 2 * MIB)
    assert memory.chunks() == [(4 * MIB, 2 * MIB)]
    raises(Status.BUSY, memory.close)
    raises(Status.INVALID, memory.view, 31 * MIB, 2 * MIB, ahead=True)
    del ahead
    memory.close()


def test_memory_waits_for_a_stream(device, simulated, raises):
    simulated.context()
    stream = simulated.stream()
    memory = ashlar.Range(device, reserve=32 * MIB)
    memory.grow(8 * MIB)
    simulated.touch(stream, memory.address, 8 * MIB)
    memory.close(after=ashlar.after(stream.value))
    assert device.info().retired_bytes == 8 * MIB
    assert str(8 * MIB) in raises(Status.BUSY, device.drain)
    raises(Status.BUSY, device.close)
    simulated.finish(stream)
    device.drain(timeout=10)
    simulated.call("cuStreamDestroy_v2", stream)
    device.close()


def test_the_end_waits_for_the_streams_it_was_told(device, simulated):
    simulated.context()
    stream = simulated.stream()
    memory = ashlar.Range(device, reserve=32 * MIB,
                          at_end=ashlar.after(stream.value))
    memory.grow(8 * MIB)
    simulated.touch(stream, memory.address, 8 * MIB)
    del memory
    assert device.info().retired_bytes == 8 * MIB
    simulated.finish(stream)
    device.drain()
    assert device.info().retired_bytes == 0
    simulated.call("cuStreamDestroy_v2", stream)
    device.close()


def test_a_grow_that_fails_changed_nothing(device, simulated, raises):
    memory = ashlar.Range(device, reserve=32 * MIB)
    memory.grow(4 * MIB)
    before = memory.info()
    for entry, result in (("cuMemCreate", 2), ("cuMemMap", 999),
                          ("cuMemSetAccess", 999)):
        status = Status.NO_DEVICE_MEMORY if result == 2 else Status.DRIVER
        simulated.fail(entry, result=result)
        said = raises(status, memory.grow, 16 * MIB)
        assert entry in said or "memory" in said
        now = memory.info()
        assert now._replace(epoch=0) == before._replace(epoch=0)
    memory.grow(16 * MIB)


def test_every_call_that_fails_loses_nothing(device, simulated):
    def work():
        memory = ashlar.Range(device, reserve=32 * MIB)
        memory.grow(4 * MIB)
        memory.grow(9 * MIB)
        memory.shrink(2 * MIB, after=QUIET)
        memory.close()

    for n in range(1, 100):
        simulated.fail(None, nth=n, result=999)
        try:
            work()
        except ashlar.Error:
            pass
        else:
            if n > 3 * 20:
                break
        simulated.entries.cudasim_fail_none()
        device.drain(timeout=10)
        assert simulated.left()[1:3] == (0, 0)
