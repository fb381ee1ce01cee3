# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import gc
import inspect

import pytest

import ashlar
from ashlar import Status


def test_1e5_slots_are_aligned_also_after_growth(pool):
    slots = []
    capacities = set()
    for _ in range(100):
        slots += pool.get_many(500) + [pool.get() for _ in range(500)]
        capacities.add(pool.stats().capacity_slots)
    assert len(capacities) > 3, "the pool did not grow"
    addresses = {slot.address for slot in slots}
    assert len(addresses) == 100_000
    assert all(address % 128 == 0 for address in addresses)


@pytest.mark.parametrize(
    "align", [1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096, 65536, 1 << 21]
)
def test_slots_of_any_type_are_aligned(align):
    size = 24
    info = ashlar.register(f"aligned_{align}", size, align)
    pool = ashlar.Pool(info)
    assert (pool.size, pool.alignment) == (size, align)
    assert pool.stride == (size + align - 1) // align * align
    for slot in pool.get_many(33) + [pool.get()]:
        assert slot.address % align == 0
        assert memoryview(slot).nbytes == size
    assert all(address % align == 0 for address in pool.run(5).addresses)


def test_slots_go_round(pool):
    first = pool.get().address
    assert pool.get().address == first


def test_a_pool_tells_what_it_is():
    pool = ashlar.Pool("CUtensorMap", name="mine", reserve=10)
    assert (pool.name, pool.type) == ("mine", "CUtensorMap")
    assert (pool.size, pool.stride, pool.alignment) == (128, 128, 128)
    assert ashlar.Pool("cute::TmaDescriptor").name == "CUtensorMap"
    slot = pool.get()
    capacity = pool.stats().capacity_slots
    assert repr(pool) == (
        f"<ashlar.Pool of CUtensorMap: 1 live of {capacity} slots, "
        "aligned to 128>"
    )
    assert slot.pool is pool


def test_a_pool_of_an_unknown_type_is_refused(raises):
    assert "no_such_type" in raises(
        Status.NOT_FOUND, ashlar.Pool, "no_such_type"
    )
    with pytest.raises(TypeError, match="TypeInfo"):
        ashlar.Pool(17)
    with pytest.raises(TypeError):
        ashlar.Pool()


@pytest.mark.parametrize("n", [0, 1, 7, 1023, 1024, 5000])
def test_get_many_gets_so_many(pool, n):
    slots = pool.get_many(n)
    assert [type(slot) for slot in slots] == [ashlar.Slot] * n
    assert len({slot.address for slot in slots}) == n
    assert pool.stats().live_slots == n


@pytest.mark.parametrize("call", ["get_many", "run", "reserve"])
def test_numbers_that_are_no_counts_are_refused(pool, raises, call):
    call = getattr(pool, call)
    assert "-1" in raises(Status.INVALID, call, -1)
    assert raises(Status.INVALID, call, -(10**30))
    for too_much in (2**32, 2**63 - 1, 2**63, 10**30):
        with pytest.raises(ashlar.Error):
            call(too_much)
    for nonsense in (1.0, "1", None, []):
        with pytest.raises(TypeError):
            call(nonsense)
    stats = pool.stats()
    assert (stats.live_slots, stats.capacity_slots) == (0, 0)


def test_the_limit_is_kept_all_or_nothing(raises):
    pool = ashlar.Pool("CUtensorMap", max_slots=10, cache_slots=0)
    slots = pool.get_many(8)
    assert "10" in raises(Status.LIMIT, pool.get_many, 3)
    assert pool.stats().live_slots == 8
    slots += pool.get_many(2)
    raises(Status.LIMIT, pool.get)
    raises(Status.LIMIT, pool.reserve, 1)
    del slots[0]
    assert pool.get().address % 128 == 0


def test_reserve_promises_slots_without_a_call_into_the_source():
    pool = ashlar.Pool("CUtensorMap", reserve=3000)
    calls = pool.stats().source_calls
    assert pool.stats().promised_slots == 3000
    slots = pool.get_many(1500) + [pool.get() for _ in range(1500)]
    assert pool.stats().source_calls == calls
    assert len(slots) == 3000


def test_reserved_runs_are_there():
    pool = ashlar.Pool("CUtensorMap")
    pool.reserve_runs(n=100, count=3)
    assert pool.stats().free_runs == 3
    calls = pool.stats().source_calls
    runs = [pool.run(100) for _ in range(3)]
    assert pool.stats().live_runs == 3
    assert pool.stats().source_calls == calls
    assert len(runs) == 3


def test_a_reserve_that_fails_leaves_no_pool(raises):
    wanted = {"name": "failing", "max_slots": 2}
    raises(Status.LIMIT, ashlar.Pool, "CUtensorMap", reserve=5, **wanted)
    raises(Status.INVALID, ashlar.Pool, "CUtensorMap", reserve=-5, **wanted)
    assert "failing" not in ashlar.report_json()


def test_trim_gives_memory_back(pool):
    slots = pool.get_many(50_000)
    del slots
    pool.detach()
    assert pool.trim() > 1 << 20
    assert pool.get().address % 128 == 0


def test_put_many_releases_all(pool):
    slots = pool.get_many(100)
    pool.put_many(slots)
    assert all(slot.released for slot in slots)
    assert pool.stats().live_slots == 0
    pool.put_many([])
    pool.put_many(iter(pool.get_many(3)))
    assert pool.stats().live_slots == 0


def test_put_many_is_all_or_nothing(pool, raises):
    slots = pool.get_many(5)
    other = ashlar.Pool("CUtensorMap").get()
    gone = pool.get()
    gone.release()
    assert "element 5" in raises(
        Status.WRONG_OWNER, pool.put_many, slots + [other]
    )
    assert "element 5" in raises(
        Status.NOT_LIVE, pool.put_many, slots + [gone]
    )
    raises(Status.NOT_LIVE, pool.put_many, slots + [slots[2]])
    with pytest.raises(TypeError, match="element 5 is no Slot"):
        pool.put_many(slots + [17])
    with pytest.raises(TypeError):
        pool.put_many(17)
    assert not any(slot.released for slot in slots + [other])
    assert pool.stats().live_slots == 5


def test_put_many_leaves_a_viewed_slot_to_its_view(pool, raises):
    slots = pool.get_many(3)
    view = memoryview(slots[1])
    pool.put_many(slots)
    assert pool.stats().live_slots == 1
    assert all(slot.released for slot in slots)
    view.release()
    assert pool.stats().live_slots == 0
    raises(Status.NOT_LIVE, pool.put_many, slots)


def test_live_lists_slots_and_runs(pool, raises):
    slot, run = pool.get(), pool.run(7)
    assert sorted(pool.live()) == sorted([(slot.address, 1), (run.address, 7)])
    unchecked = ashlar.Pool("CUtensorMap", unchecked=True)
    raises(Status.UNSUPPORTED, unchecked.live)


def test_owns_and_index_know_addresses(pool, raises):
    slot, run = pool.get(), pool.run(3)
    other = ashlar.Pool("CUtensorMap").get()
    assert pool.owns(slot) and pool.owns(slot.address + 127)
    assert pool.owns(run) and pool.owns(run[2])
    for stranger in (other, 0, -1, 12345, 2**64, 2**200):
        assert not pool.owns(stranger)
    assert pool.index(slot) == pool.index(slot.address + 1)
    indices = {pool.index(address) for address in run.addresses}
    assert len(indices) == 3 and pool.index(slot) not in indices
    raises(Status.WRONG_OWNER, pool.index, other)
    with pytest.raises(TypeError):
        pool.owns(1.5)
    with pytest.raises(TypeError):
        pool.index("1")


def test_statistics_add_up(pool):
    kept = [pool.get_many(300), pool.run(20), pool.get()]
    stats = pool.stats()
    assert stats.live_slots == 321 and stats.live_runs == 1
    assert (
        stats.live_slots + stats.cached_slots + stats.free_slots
        == stats.capacity_slots
    )
    assert stats.stride == 128
    assert stats.slab_bytes >= stats.capacity_slots * 128
    assert stats.duplicates == 0
    assert len(kept) == 3


def test_a_closed_pool_gives_nothing_and_takes_back(raises):
    pool = ashlar.Pool("CUtensorMap", name="closing")
    slot, run = pool.get(), pool.run(3)
    pool.close()
    pool.close()
    assert pool.closed and "closed" in repr(pool)
    for call in (pool.get, pool.trim, pool.stats, pool.detach, pool.live):
        assert "closed" in raises(Status.STALE, call)
    for call in (pool.get_many, pool.run, pool.reserve, pool.owns):
        raises(Status.STALE, call, 1)
    raises(Status.STALE, getattr, pool, "name")
    raises(Status.STALE, pool.__enter__)
    memoryview(slot)[:] = bytes(128)
    assert "closing" in ashlar.report_json()
    pool.put_many([slot])
    assert "closing" in ashlar.report_json()
    run.release()
    assert "closing" not in ashlar.report_json()
    assert repr(pool) == "<ashlar.Pool of CUtensorMap, closed>"
    pool.put_many([])


def test_with_closes_a_pool():
    with ashlar.Pool("CUtensorMap") as pool:
        slot = pool.get()
    assert pool.closed
    assert slot.address % 128 == 0


def test_a_pool_goes_when_nothing_refers_to_it():
    pool = ashlar.Pool("CUtensorMap", name="short-lived")
    slot = pool.get()
    row = pool.run(2)[1]
    del pool
    assert "short-lived" in ashlar.report_json()
    memoryview(slot)[:] = bytes(128)
    slot.pool.get()
    del slot
    assert "short-lived" in ashlar.report_json()
    assert row.address % 128 == 0
    del row
    assert "short-lived" not in ashlar.report_json()


def test_options_are_taken(raises):
    pool = ashlar.Pool(
        "CUtensorMap",
        reserve=100,
        max_slots=5000,
        cache_slots=16,
        unchecked=True,
        huge_pages=True,
        name="options",
    )
    assert pool.stats().max_slots == 5000
    assert pool.get().address % 128 == 0
    assert ashlar.Pool("CUtensorMap", reserve=None, name=None).name
    with pytest.raises(TypeError):
        ashlar.Pool("CUtensorMap", 4096)
    with pytest.raises(TypeError):
        ashlar.Pool("CUtensorMap", colour="red")
    raises(Status.INVALID, ashlar.Pool, "CUtensorMap", name="x" * 100)
    raises(Status.INVALID, ashlar.Pool, "CUtensorMap", max_slots=2**40)
    raises(Status.INVALID, ashlar.Pool, "CUtensorMap", cache_slots=2**40)


def test_caches_can_be_switched_off():
    pool = ashlar.Pool("CUtensorMap", cache_slots=0)
    pool.get()
    assert pool.stats().caches == 0


def test_reports_know_the_pool():
    pool = ashlar.Pool("CUtensorMap", name="reported \N{SNOWMAN}")
    slots = pool.get_many(17)
    assert "reported" in ashlar.report()
    assert "reported \N{SNOWMAN}" in ashlar.report_json()
    assert len(slots) == 17


def test_pools_are_no_part_of_cycles():
    gc.collect()
    pool = ashlar.Pool("CUtensorMap")
    assert not gc.is_tracked(pool) and not gc.is_tracked(pool.get())


def test_everything_is_documented():
    for kind in (ashlar.Pool, ashlar.Slot, ashlar.Run, ashlar.Row):
        assert kind.__module__ == "ashlar" and kind.__doc__
        for name, member in vars(kind).items():
            if not name.startswith("_"):
                assert member.__doc__, name
            if callable(member) and not name.startswith("__"):
                inspect.signature(member)
    for name in ashlar.__all__:
        assert getattr(ashlar, name).__doc__, name
    inspect.signature(ashlar.Pool)
