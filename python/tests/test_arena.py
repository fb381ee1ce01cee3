# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Arenas: on the heap, on host memory that grows, on the simulated driver."""

import pytest

import ashlar
from ashlar import QUIET, Status

MIB = 1 << 20


@pytest.fixture(params=["heap", "isolated", "source", "range"])
def arena(request, vm):
    """An arena on each kind of base."""
    if request.param == "source":
        return ashlar.Arena(vm, reserve=512 * MIB)
    if request.param == "range":
        return ashlar.Arena(ashlar.Range(vm, reserve=512 * MIB))
    return ashlar.Arena(isolated=request.param == "isolated")


def test_blocks_are_where_they_have_to_be(arena):
    kept = []
    for n, alignment in enumerate([None, 1, 16, 64, 128, 4096, 1 << 16] * 20):
        block = arena.alloc(100 + n * 37, alignment)
        assert block.address % (alignment or 16) == 0
        assert block.usable >= block.nbytes == 100 + n * 37
        memoryview(block)[:] = bytes([n]) * block.nbytes
        kept.append(block)
    for n, block in enumerate(kept):
        assert bytes(block) == bytes([n]) * block.nbytes
    assert arena.stats().live_blocks == len(kept) == 140
    del block
    kept.clear()
    assert arena.stats().live_blocks == 0


def test_a_block_of_a_type_has_its_alignment(arena):
    block = arena.alloc_type("CUtensorMap", 10)
    assert block.address % 128 == 0 and block.nbytes == 1280
    ashlar.register("of_an_arena", 40, 64)
    assert arena.alloc_type(ashlar.find_type("of_an_arena")).nbytes == 64
    with pytest.raises(TypeError):
        arena.alloc_type(7)


def test_a_block_may_be_zeros(arena):
    for size in (100, 2 * MIB):
        memoryview(arena.alloc(size))[:] = b"x" * size
        assert bytes(arena.alloc(size, zero=True)) == bytes(size)


def test_a_block_goes_back(arena, raises):
    block = arena.alloc(100)
    address = block.address
    assert int(block) == address and block.arena is arena
    assert repr(block) == f"<ashlar.Block of 100 bytes at {address:#x}>"
    block.release()
    assert block.released
    assert repr(block) == "<ashlar.Block of 100 bytes, released>"
    assert "released already" in raises(Status.NOT_LIVE, block.release)
    for call in (lambda: block.address, lambda: block.usable,
                 lambda: block.arena, lambda: memoryview(block),
                 lambda: int(block), lambda: block.resize(10),
                 block.__enter__, lambda: block.release(after=QUIET)):
        raises(Status.NOT_LIVE, call)
    with arena.alloc(100) as block:
        assert arena.stats().live_blocks == 1
    assert block.released and arena.stats().live_blocks == 0
    arena.alloc(10).release(after=[QUIET])
    assert arena.stats().live_blocks == 0


def test_a_view_delays_the_release(arena, raises):
    block = arena.alloc(100)
    view = memoryview(block)
    raises(Status.BUSY, block.release, after=QUIET)
    assert not block.released
    block.release()
    assert "last view" in repr(block)
    assert "last view" in raises(Status.NOT_LIVE, block.release)
    view[:] = b"v" * 100
    assert arena.stats().live_blocks == 1
    view.release()
    assert arena.stats().live_blocks == 0


def test_a_block_is_resized_where_it_is(arena, raises):
    block = arena.alloc(4 * MIB)
    address, view = block.address, memoryview(block)
    raises(Status.BUSY, block.resize, MIB)
    view.release()
    block.resize(MIB)
    assert (block.address, block.nbytes) == (address, MIB)
    assert len(memoryview(block)) == MIB
    try:
        block.resize(2 * MIB)
    except ashlar.Error as error:
        assert error.status is Status.NO_ROOM and block.nbytes == MIB
    else:
        assert memoryview(block)[2 * MIB - 1] is not None
    raises(Status.INVALID, block.resize, 0)
    raises(Status.INVALID, block.resize, -1)


def test_an_arena_tells_what_it_is(vm, raises):
    arena = ashlar.Arena(vm, name="mine", reserve=32 * MIB)
    assert arena.name == "mine" and not arena.closed
    block = arena.alloc(3 * MIB)
    assert repr(arena) == '<ashlar.Arena "mine", range: 1 live blocks>'
    stats = arena.stats()
    assert stats.kind == "range" and stats.committed_bytes >= 3 * MIB
    assert stats.reserved_bytes == 32 * MIB
    assert arena.fragmentation().allocated_bytes >= 3 * MIB
    block.release()
    assert arena.trim() >= 3 * MIB
    assert arena.stats().committed_bytes == 0
    heap = ashlar.Arena()
    assert (heap.stats().kind, heap.name) == ("shared", "arena")
    raises(Status.UNSUPPORTED, heap.fragmentation)
    assert ashlar.Arena(isolated=True).stats().kind == "isolated"
    assert '"mine"' in ashlar.report_json()


def test_bad_wishes_are_refused(arena, vm, raises):
    raises(Status.INVALID, arena.alloc, 0)
    raises(Status.INVALID, arena.alloc, -1)
    raises(Status.INVALID, arena.alloc, 10, 3)
    raises(Status.INVALID, arena.alloc, 10, 1 << 31)
    raises(Status.INVALID, arena.alloc_type, "CUtensorMap", 0)
    raises(Status.NOT_FOUND, arena.alloc_type, "no_such_type")
    with pytest.raises(TypeError):
        arena.alloc("10")
    with pytest.raises(TypeError):
        ashlar.Arena("vm")
    with pytest.raises(TypeError):
        ashlar.Block()
    raises(Status.INVALID, ashlar.Arena, name="x" * 64)
    raises(Status.INVALID, ashlar.Arena, reserve=MIB)
    assert arena.stats().live_blocks == 0


def test_a_full_arena_says_so(vm, raises):
    arena = ashlar.Arena(vm, reserve=4 * MIB)
    raises(Status.NO_ADDRESS_SPACE, arena.alloc, 5 * MIB)
    assert arena.stats().live_blocks == 0


# --- what stands on what -----------------------------------------------------


def test_an_arena_has_its_range_for_itself(vm, raises):
    memory = ashlar.Range(vm, reserve=32 * MIB)
    sight = memory.view()
    raises(Status.BUSY, ashlar.Arena, memory)
    del sight
    memory.allow(0, "read")
    raises(Status.BUSY, ashlar.Arena, memory)
    memory.allow(0, "read-write")
    arena = ashlar.Arena(memory)
    block = arena.alloc(100)
    assert memory.address <= block.address < memory.address + 32 * MIB
    raises(Status.BUSY, memory.view)
    raises(Status.BUSY, memoryview, memory)
    raises(Status.BUSY, memory.allow, 0, "none")
    raises(Status.BUSY, memory.shrink, 0, after=QUIET)
    assert "1 arena:" in raises(Status.BUSY, memory.close)
    memory.allow(3, "read")
    block.release()
    arena.close()
    memory.close()
    used = ashlar.Range(vm, reserve=MIB)
    used.grow(1)
    raises(Status.INVALID, ashlar.Arena, used)


def test_close_says_what_is_alive(vm, raises):
    arena = ashlar.Arena(vm, reserve=4 * MIB)
    blocks = [arena.alloc(10) for _ in range(3)]
    assert "3 blocks:" in raises(Status.BUSY, arena.close)
    assert "1 arena:" in raises(Status.BUSY, vm.close)
    blocks.clear()
    arena.close()
    arena.close()
    assert repr(arena) == "<ashlar.Arena, closed>"
    for call in (lambda: arena.alloc(1), arena.trim, arena.stats,
                 arena.fragmentation, lambda: arena.name, arena.__enter__,
                 lambda: arena.alloc_type("CUtensorMap")):
        assert "arena was closed" in raises(Status.STALE, call)
    vm.close()


def test_a_block_keeps_all_below_it():
    view = memoryview(
        ashlar.Arena(ashlar.Range(ashlar.Source("vm"))).alloc(100)
    )
    view[:] = b"k" * 100
    assert bytes(view) == b"k" * 100


def test_a_with_gives_the_arena_up_with_its_last_block(vm, raises):
    with ashlar.Arena(vm, reserve=4 * MIB) as arena:
        block = arena.alloc(10)
    raises(Status.STALE, arena.alloc, 10)
    memoryview(block)[:] = b"0123456789"
    raises(Status.BUSY, vm.close)
    block.release()
    vm.close()


def test_threads_share_an_arena(arena, in_threads):
    def work(number):
        for n in range(50):
            blocks = [arena.alloc(1000 * (1 + k)) for k in range(10)]
            blocks.append(arena.alloc(MIB))
            memoryview(blocks[n % 10])[:3] = bytes([number] * 3)
            blocks[0].release()
            arena.trim()

    in_threads(4, work)
    assert arena.stats().live_blocks == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork_the_heaps_go_on(vm, child, raises):
    heap, on_range = ashlar.Arena(), ashlar.Arena(vm, reserve=4 * MIB)
    kept = [heap.alloc(100), on_range.alloc(100)]

    def work():
        memoryview(heap.alloc(100))[:] = b"c" * 100
        raises(Status.FORKED, on_range.alloc, 100)
        kept[1].release()
        kept.clear()

    assert child(work) == 0
    assert on_range.stats().live_blocks == 1
    assert len(bytes(kept[0])) == 100


# --- on the simulated driver -------------------------------------------------


def test_blocks_on_a_device_are_arrays(device, raises):
    arena = ashlar.Arena(device, reserve=32 * MIB)
    block = arena.alloc(1000, 256)
    assert block.__cuda_array_interface__ == {
        "shape": (1000,), "typestr": "|u1", "data": (block.address, False),
        "strides": None, "stream": None, "version": 3,
    }
    assert block.address % 256 == 0
    with pytest.raises(BufferError):
        memoryview(block)
    raises(Status.UNSUPPORTED, arena.alloc, 10, zero=True)
    block.release()
    raises(Status.NOT_LIVE, getattr, block, "__cuda_array_interface__")
    assert not hasattr(ashlar.Arena().alloc(10), "__cuda_array_interface__")


def test_blocks_wait_for_their_streams(device, simulated, raises):
    simulated.context()
    stream = simulated.stream()
    arena = ashlar.Arena(device, reserve=32 * MIB,
                         at_end=ashlar.after(stream.value))
    address = arena.alloc(4 * MIB).address
    simulated.touch(stream, address, 10)
    # Dropped before the work was queued, so its fence has passed already.
    block = arena.alloc(4 * MIB)
    simulated.touch(stream, block.address, 4 * MIB)
    block.release(after=ashlar.after(stream.value, device))
    assert arena.stats().waiting_blocks == 1
    raises(Status.BUSY, arena.close)
    del block
    dropped = arena.alloc(2 * MIB)
    simulated.touch(stream, dropped.address, 2 * MIB)
    del dropped
    assert arena.stats().waiting_blocks == 2
    simulated.finish(stream)
    assert arena.stats().waiting_blocks == 0
    arena.close()
    simulated.call("cuStreamDestroy_v2", stream)
    device.close()
