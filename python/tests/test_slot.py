# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import copy
import ctypes
import gc
import pickle
import sys

import pytest

import ashlar
from ashlar import Status


@pytest.fixture
def slot(pool):
    return pool.get()


def live(pool):
    return pool.stats().live_slots


def test_a_slot_tells_its_address(slot):
    assert int(slot) == slot.address
    assert slot.address % 128 == 0
    assert repr(slot) == f"<ashlar.Slot of CUtensorMap at {slot.address:#x}>"


def test_a_slot_is_memory(slot):
    with memoryview(slot) as view:
        assert (view.nbytes, view.format, view.shape) == (128, "B", (128,))
        assert not view.readonly and view.contiguous
        view[:] = bytes(range(128))
    assert ctypes.string_at(slot.address, 128) == bytes(range(128))
    assert bytes(slot) == bytearray(slot) == bytes(range(128))
    assert bytes(memoryview(slot).cast("Q")[:1]) == bytes(range(8))
    slot.zero()
    assert bytes(slot) == bytes(128)


def test_a_slot_shows_the_object_not_its_padding():
    ashlar.register("forty_bytes", 40, 64)
    pool = ashlar.Pool("forty_bytes")
    slot, neighbour = pool.get(), pool.get()
    memoryview(neighbour)[:] = b"\xff" * 40
    slot.zero()
    assert bytes(slot) == bytes(40)
    assert bytes(neighbour) == b"\xff" * 40


def test_ctypes_structures_fit_over_a_slot(pool, slot):
    class Words(ctypes.Structure):
        _fields_ = [("words", ctypes.c_uint64 * 16)]

    words = Words.from_buffer(slot)
    words.words[3] = 17
    assert ctypes.addressof(words) == slot.address
    slot.release()
    assert live(pool) == 1, "the structure still stands on the slot"
    assert words.words[3] == 17
    del words
    gc.collect()
    assert live(pool) == 0


def test_numpy_sees_a_slot(pool, slot):
    numpy = pytest.importorskip("numpy")
    array = numpy.asarray(slot)
    assert array.shape == (128,) and array.dtype == numpy.uint8
    assert array.ctypes.data == slot.address
    slot.release()
    assert live(pool) == 1
    array[:] = 7
    del array
    assert live(pool) == 0


def test_release_gives_a_slot_back_once(pool, slot, raises):
    address = slot.address
    slot.release()
    assert live(pool) == 0 and slot.released
    assert "released already" in raises(Status.NOT_LIVE, slot.release)
    assert live(pool) == 0
    assert pool.get().address == address


def test_a_released_slot_says_so(slot, raises):
    slot.release()
    assert repr(slot) == "<ashlar.Slot, released>"
    for read in ("address", "pool"):
        assert "released" in raises(Status.NOT_LIVE, getattr, slot, read)
    for call in (int, memoryview, slot.zero, slot.__enter__):
        raises(Status.NOT_LIVE, *((call, slot) if call in (int, memoryview)
                                  else (call,)))


def test_with_gives_a_slot_back(pool, raises):
    with pool.get() as slot:
        assert live(pool) == 1
        assert isinstance(slot, ashlar.Slot)
    assert live(pool) == 0
    raises(Status.NOT_LIVE, slot.release)
    with pool.get() as slot:
        slot.release()
    assert live(pool) == 0
    with pytest.raises(KeyError):
        with pool.get():
            raise KeyError
    assert live(pool) == 0


def test_garbage_collection_gives_a_slot_back(pool):
    slots = [pool.get() for _ in range(10)]
    assert live(pool) == 10
    slots.append(slots)
    del slots
    gc.collect()
    assert live(pool) == 0


def test_a_view_delays_the_release(pool, slot, raises):
    view = memoryview(slot)
    part = view[10:20]
    slot.release()
    assert slot.released and live(pool) == 1
    assert "goes back with its last view" in repr(slot)
    assert "last view" in raises(Status.NOT_LIVE, slot.release)
    raises(Status.NOT_LIVE, memoryview, slot)
    others = pool.get_many(1000)
    part[0] = 17
    assert view[10] == 17
    view.release()
    assert live(pool) == 1001
    del part
    assert live(pool) == 1000
    assert repr(slot) == "<ashlar.Slot, released>"
    assert len(others) == 1000


def test_a_view_keeps_a_slot_that_nobody_else_has(pool):
    view = memoryview(pool.get())
    assert live(pool) == 1
    view[:] = bytes(128)
    del view
    assert live(pool) == 0


def test_a_view_outlives_with_and_pool(pool):
    with pool.get() as slot:
        view = memoryview(slot)
        view[:] = bytes(128)
    del pool, slot
    view[0] = 1
    assert view[0] == 1


def test_slots_come_from_pools_only(slot):
    with pytest.raises(TypeError):
        ashlar.Slot()
    with pytest.raises(TypeError):
        class Mine(ashlar.Slot):
            pass
    with pytest.raises(TypeError):
        ashlar.Slot.release = None
    with pytest.raises(AttributeError):
        slot.address = 0
    with pytest.raises(AttributeError):
        slot.note = "no"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_slots_are_not_copied(slot, protocol):
    with pytest.raises(TypeError):
        pickle.dumps(slot, protocol)
    with pytest.raises(TypeError):
        pickle.dumps(slot.pool, protocol)
    with pytest.raises(TypeError):
        copy.copy(slot)
    for kind in (ashlar.Slot, ashlar.Run, ashlar.Row, ashlar.Pool):
        with pytest.raises(TypeError):
            object.__new__(kind)


def test_slots_are_compared_by_identity(pool):
    a, b = pool.get(), pool.get()
    assert a == a and a != b and len({a, b}) == 2


def test_errors_keep_their_status_through_pickle(slot):
    slot.release()
    with pytest.raises(ashlar.Error) as caught:
        slot.release()
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    assert copied.status is Status.NOT_LIVE
    assert ashlar.Error("later", -999).status == -999


def test_references_balance(pool, raises):
    def use():
        slot = pool.get()
        memoryview(slot).release()
        slot.pool, slot.address, repr(slot), bytes(slot)
        with slot:
            pass
        raises(Status.NOT_LIVE, slot.release)
        run = pool.run(3)
        list(run), run[1].run, memoryview(run[2]), run.addresses, repr(run[0])
        with run:
            raises(Status.INVALID, pool.run, -1)
        pool.put_many(pool.get_many(5))
        pool.stats(), pool.live(), pool.owns(1), ashlar.types()
        raises(Status.NOT_FOUND, ashlar.Pool, "no_such_type")
        ashlar.register("counted", 8, 8)

    kinds = [ashlar.Pool, ashlar.Slot, ashlar.Run, ashlar.Row, ashlar.Error,
             ashlar.TypeInfo, ashlar.PoolStats, pool, None, True, range]
    for _ in range(10):
        use()
    gc.collect()
    before = [sys.getrefcount(kind) for kind in kinds]
    blocks = sys.getallocatedblocks()
    for _ in range(200):
        use()
    gc.collect()
    after = [sys.getrefcount(kind) for kind in kinds]
    assert all(abs(a - b) < 20 for a, b in zip(after, before)), (before, after)
    assert sys.getallocatedblocks() - blocks < 100
    assert live(pool) == 0
