# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Encoded tensor maps and their cache, on the simulated driver."""

import ctypes

import pytest

import ashlar
from ashlar import SpecError, Status, TensorMap, TensorMapCache
from ashlar import cuda as maps_for_cuda

BASE = 0x7F0000000000


@pytest.fixture
def wrong(spec):
    return spec.replace(strides=[2050], box=(128, 300))


@pytest.fixture
def cache(device):
    with TensorMapCache(device, slots=4) as cache:
        yield cache


def encoded(device, spec):
    return bytes(TensorMap(device, spec))


# --- one ---------------------------------------------------------------------


def test_maps_are_aligned_and_tell_what_they_are(device, spec):
    kept = [TensorMap(device, spec) for _ in range(200)]
    assert all(one.address % 128 == 0 for one in kept)
    assert len({one.address for one in kept}) == 200
    one = kept[0]
    assert one.spec == spec and one.source is device and int(one) == one.address
    assert repr(one) == f"<ashlar.TensorMap at {one.address:#x}: {spec!r}>"
    assert bytes(one) == ctypes.string_at(one.address, 128)
    assert len({bytes(one) for one in kept}) == 1
    assert bytes(one) != encoded(device, spec.replace(swizzle="none"))


def test_a_map_is_for_reading(device, spec):
    view = memoryview(TensorMap(device, spec))
    assert view.readonly and view.nbytes == 128


def test_a_refused_spec_says_all_that_is_wrong(device, pool, wrong):
    with pytest.raises(SpecError) as caught:
        TensorMap(device, wrong, pool=pool)
    assert {one.rule for one in caught.value.findings} >= {
        "stride-multiple", "box-range", "inner-swizzle"}
    assert caught.value.index is None
    assert pool.stats().live_slots == 0


def test_a_map_goes_back_to_its_pool(device, spec, pool, raises):
    one = TensorMap(device, spec, pool=pool)
    assert pool.stats().live_slots == 1
    view = memoryview(one)
    one.release()
    assert "this map was released already" in raises(
        Status.NOT_LIVE, one.release)
    for call in (lambda: one.address, lambda: memoryview(one),
                 lambda: one.rebase(0), lambda: int(one), one.__enter__):
        assert "this map" in raises(Status.NOT_LIVE, call)
    assert one.released and "last view" in repr(one)
    assert pool.stats().live_slots == 1
    view.release()
    assert pool.stats().live_slots == 0
    assert repr(one) == "<ashlar.TensorMap, released>"
    with TensorMap(device, spec, pool=pool):
        assert pool.stats().live_slots == 1
    TensorMap(device, spec, pool=pool)
    assert pool.stats().live_slots == 0


def test_a_map_gets_another_address(device, spec, raises):
    one = TensorMap(device, spec)
    where = one.address
    one.rebase(BASE + 4096)
    assert one.address == where
    assert one.spec == spec.replace(address=BASE + 4096)
    assert bytes(one) == encoded(device, one.spec)
    before = bytes(one)
    with pytest.raises(SpecError):
        one.rebase(BASE + 8)
    raises(Status.INVALID, one.rebase, -1)
    assert bytes(one) == before and one.spec.address == BASE + 4096


def test_a_map_outlives_its_source(device, spec, raises):
    one = TensorMap(device, spec)
    device.close()
    assert len(bytes(one)) == 128
    assert "source was closed" in raises(Status.STALE, one.rebase, BASE)
    raises(Status.STALE, TensorMap, device, spec)


def test_maps_need_a_source_that_encodes(vm, device, spec, raises):
    assert "vm" in raises(Status.UNSUPPORTED, TensorMap, vm, spec)
    raises(Status.UNSUPPORTED, TensorMapCache, vm)
    raises(Status.UNSUPPORTED, ashlar.encode_many, vm, [spec])
    ashlar.register("of_another_size", 64, 64)
    other = ashlar.Pool("of_another_size")
    raises(Status.INVALID, TensorMap, device, spec, pool=other)
    assert other.stats().live_slots == 0
    for call in (lambda: TensorMap("cuda", spec), lambda: TensorMap(device, 1),
                 lambda: TensorMap(device, spec, pool="p"),
                 lambda: TensorMapCache("cuda"),
                 lambda: ashlar.encode_many(device, spec),
                 lambda: ashlar.encode_many(device, [spec, 1]),
                 lambda: TensorMap(device, spec).__reduce__(),
                 lambda: ashlar.CachedMap()):
        with pytest.raises(TypeError):
            call()


def test_a_failed_context_is_not_the_specs_fault(device, simulated, spec,
                                                 raises):
    simulated.context()
    TensorMap(device, spec)
    simulated.call("cudasim_fail_context", 0, 700)
    said = raises(Status.CONTEXT_FAILED, TensorMap, device, spec)
    assert "700" in said


# --- many --------------------------------------------------------------------


def test_many_are_encoded_at_once(device, spec, pool):
    specs = [spec.replace(address=BASE + 4096 * n) for n in range(3000)]
    kept = ashlar.encode_many(device, specs, pool=pool)
    assert [one.spec for one in kept] == specs
    assert pool.stats().live_slots == 3000
    assert all(one.address % 128 == 0 for one in kept)
    for n in (0, 17, 2999):
        assert bytes(kept[n]) == encoded(device, specs[n])
    kept.clear()
    assert pool.stats().live_slots == 0
    assert ashlar.encode_many(device, []) == []
    assert len(ashlar.encode_many(device, iter([spec]))) == 1


def test_one_wrong_spec_refuses_all(device, spec, wrong, pool):
    with pytest.raises(SpecError) as caught:
        ashlar.encode_many(device, [spec, spec, wrong, spec, wrong], pool=pool)
    assert caught.value.index == 2
    assert str(caught.value).startswith("specs[2] breaks 3 rules")
    assert pool.stats().live_slots == 0


def test_a_pool_without_room_refuses_all(device, spec, raises):
    pool = ashlar.Pool("CUtensorMap", max_slots=10, cache_slots=0)
    raises(Status.LIMIT, ashlar.encode_many, device, [spec] * 11, pool=pool)
    assert pool.stats().live_slots == 0
    assert len(ashlar.encode_many(device, [spec] * 10, pool=pool)) == 10


def test_maps_are_encoded_into_a_run(device, spec, wrong, pool, raises):
    run = pool.run(10)
    for n in range(10):
        ashlar.encode_into(device, spec.replace(address=BASE + 16 * n), run[n])
    for n in range(10):
        assert bytes(run[n]) == encoded(
            device, spec.replace(address=BASE + 16 * n))
    before = bytes(run[3])
    with pytest.raises(SpecError):
        ashlar.encode_into(device, wrong, run[3])
    assert bytes(run[3]) == before
    raises(Status.MISALIGNED, ashlar.encode_into, device, spec,
           shifted(run))
    raises(Status.INVALID, ashlar.encode_into, device, spec,
           memoryview(run[3])[:64])
    for wrong_target in (b"x" * 128, 7, TensorMap(device, spec)):
        with pytest.raises((TypeError, BufferError)):
            ashlar.encode_into(device, spec, wrong_target)


def shifted(run):
    """128 bytes of a run that begin 16 bytes too late."""
    return memoryview(run).cast("B")[16:144]


# --- with the bindings -------------------------------------------------------


def test_the_bindings_take_them(device, driver, spec, cache):
    one = TensorMap(device, spec)
    borrowed = maps_for_cuda.borrow(one)
    assert isinstance(borrowed, driver.CUtensorMap)
    assert int(borrowed.getPtr()) == one.address
    one.release()
    assert ctypes.string_at(int(borrowed.getPtr()), 128) == encoded(
        device, spec)
    copied = maps_for_cuda.tensor_map(TensorMap(device, spec))
    assert int(copied.getPtr()) % 128 == 0
    assert ctypes.string_at(int(copied.getPtr()), 128) == encoded(device, spec)
    held = cache.get(spec)
    borrowed = maps_for_cuda.borrow(held)
    held.release()
    assert cache.stats().held == 1
    del borrowed
    assert cache.stats().held == 0


# --- the cache ---------------------------------------------------------------


def test_equal_specs_find_one_map(device, spec, cache):
    first = cache.get(spec)
    second = cache.get(spec.replace())
    assert first.address == second.address
    assert first.address % 128 == 0 and int(first) == first.address
    assert bytes(first) == encoded(device, spec) and first.spec == spec
    assert memoryview(first).readonly
    other = cache.get(spec, context=7)
    assert other.address != first.address
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.maps, stats.held, stats.slots) == (
        1, 2, 2, 2, 4)
    assert repr(cache) == "<ashlar.TensorMapCache: 2 maps in 4 slots>"
    assert repr(first) == f"<ashlar.CachedMap at {first.address:#x}: {spec!r}>"


def test_a_held_map_stays_and_others_go(cache, spec, raises):
    held = [cache.get(spec.replace(address=BASE + 16 * n)) for n in range(3)]
    contents = [bytes(one) for one in held]
    for n in range(100):
        cache.get(spec.replace(address=BASE + 4096 + 16 * n))
    assert [bytes(one) for one in held] == contents
    assert cache.stats().evictions >= 99
    held.append(cache.get(spec))
    held.append(cache.get(spec.replace(address=BASE + 64)))
    raises(Status.LIMIT, cache.get, spec.replace(address=BASE + 80))
    view = memoryview(held[0])
    held[0].release()
    assert "this map was released already" in raises(
        Status.NOT_LIVE, held[0].release)
    assert "last view" in repr(held[0])
    with held[1] as one:
        assert one is held[1]
    assert one.released and repr(one) == "<ashlar.CachedMap, released>"
    assert bytes(view) == contents[0]
    assert cache.stats().held == 4 - 1


def test_a_freed_buffers_maps_are_forgotten(cache, spec):
    first = cache.get(spec)
    cache.get(spec.replace(address=BASE + (1 << 30)))
    assert cache.invalidate(BASE, 1) == 1
    assert cache.get(spec).address != first.address
    assert cache.invalidate(BASE, 1 << 31) == 2
    assert cache.invalidate(BASE, 0) == 0
    assert cache.stats().invalidations == 3


def test_a_wrong_spec_leaves_nothing(cache, wrong):
    for _ in range(2):
        with pytest.raises(SpecError) as caught:
            cache.get(wrong)
        assert len(caught.value.findings) == 3
    assert (cache.stats().maps, cache.stats().held) == (0, 0)
    with pytest.raises(TypeError):
        cache.get("spec")


def test_close_says_what_is_held(device, cache, spec, raises):
    held = [cache.get(spec), cache.get(spec)]
    assert "2 maps:" in raises(Status.BUSY, cache.close)
    assert "1 cache:" in raises(Status.BUSY, device.close)
    held.clear()
    cache.close()
    cache.close()
    assert cache.closed and repr(cache) == "<ashlar.TensorMapCache, closed>"
    for call in (lambda: cache.get(spec), cache.stats, cache.__enter__,
                 lambda: cache.invalidate(0, 1)):
        assert "cache was closed" in raises(Status.STALE, call)
    device.close()


def test_a_with_gives_the_cache_up_with_its_last_map(device, spec, raises):
    with TensorMapCache(device, slots=4) as cache:
        held = cache.get(spec)
    raises(Status.STALE, cache.get, spec)
    assert bytes(held) == encoded(device, spec)
    raises(Status.BUSY, device.close)
    del held
    device.close()


def test_bad_options_of_a_cache_are_refused(device, raises):
    raises(Status.INVALID, TensorMapCache, device, slots=-1)
    raises(Status.INVALID, TensorMapCache, device, slots=1 << 30)
    raises(Status.INVALID, TensorMapCache, device, name="x" * 64)
    assert TensorMapCache(device).stats().slots == 4096


def test_threads_share_cache_source_and_pool(device, spec, pool, in_threads):
    cache = TensorMapCache(device, slots=64)

    def work(number):
        for n in range(300):
            one = spec.replace(address=BASE + 4096 * ((n * 7) % 100))
            with cache.get(one) as held:
                assert bytes(held)[:8] == one.address.to_bytes(8, "little")
            if n % 50 == number:
                ashlar.encode_many(device, [one] * 2000, pool=pool)

    in_threads(4, work)
    assert cache.stats().held == 0 and pool.stats().live_slots == 0
