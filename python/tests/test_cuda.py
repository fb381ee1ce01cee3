# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""ashlar.cuda, against a stand-in with the shape of cuda.bindings 12 and 13."""

import ctypes
import gc
import sys
import threading
import types
import warnings

import pytest

import ashlar
from ashlar import Status, cuda


def residue(map):
    return int(map.getPtr()) % 128


def content(map):
    return ctypes.string_at(int(map.getPtr()), 128)


def arguments(driver, address=0x7F0000000000):
    """Of cuTensorMapEncodeTiled, as the bindings want them."""
    wide, narrow = driver.cuuint64_t, driver.cuuint32_t
    return {
        "tensorDataType": (
            driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
        ),
        "tensorRank": 2,
        "globalAddress": address,
        "globalDim": [wide(1024), wide(512)],
        "globalStrides": [wide(2048)],
        "boxDim": [narrow(64), narrow(32)],
        "elementStrides": [narrow(1), narrow(1)],
        "interleave": driver.CUtensorMapInterleave(0),
        "swizzle": driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        "l2Promotion": driver.CUtensorMapL2promotion(0),
        "oobFill": driver.CUtensorMapFloatOOBfill(0),
    }


@pytest.fixture
def live():
    gc.collect()
    before = cuda.map_pool().stats().live_slots
    return lambda: cuda.map_pool().stats().live_slots - before


def test_the_bindings_own_maps_are_misaligned(driver):
    kept = [driver.CUtensorMap() for _ in range(200)]
    assert {residue(map) for map in kept} == {48}


def test_the_bindings_are_imported_when_asked_for(python):
    python(
        "import sys, ashlar.cuda\n"
        "assert 'cuda' not in sys.modules\n"
        "ashlar.cuda.map_pool().reserve(10)\n"
        "assert 'cuda' not in sys.modules"
    )


def test_without_bindings_the_error_says_what_to_install(python):
    said = python(
        "import ashlar.cuda\n"
        "import sys; sys.modules['cuda'] = None\n"
        "try: ashlar.cuda.tensor_map()\n"
        "except ImportError as error: print(error)"
    )
    assert "cuda-bindings" in said


# --- tensor_map() ------------------------------------------------------------


def test_tensor_maps_are_aligned(driver, live):
    kept = [cuda.tensor_map() for _ in range(200)]
    assert {residue(map) for map in kept} == {0}
    assert len({int(map.getPtr()) for map in kept}) == 200
    assert all(isinstance(map, driver.CUtensorMap) for map in kept)
    assert {content(map) for map in kept} == {bytes(128)}
    assert live() == 200
    del kept
    assert live() == 0


def test_a_tensor_map_works_as_the_bindings_own(driver):
    map = cuda.tensor_map()
    map.opaque = list(range(16))
    assert [int(word) for word in map.opaque] == list(range(16))
    assert content(map)[8:16] == bytes([1, 0, 0, 0, 0, 0, 0, 0])
    code, = driver.cuTensorMapReplaceAddress(map, 0x1000)
    assert int(code) == 0 and content(map)[:8] == (0x1000).to_bytes(8, "little")
    assert repr(map).startswith("opaque")
    assert type(map).__name__ == "CUtensorMap"


def test_a_tensor_map_copies_a_map(driver):
    code, other = driver.cuTensorMapEncodeTiled(*arguments(driver).values())
    map = cuda.tensor_map(other)
    assert residue(other) == 48 and residue(map) == 0
    assert content(map) == content(other) != bytes(128)
    assert content(cuda.tensor_map(map)) == content(map)


def test_a_tensor_map_copies_bytes(driver, raises):
    data = bytes(range(128))
    slot = ashlar.Pool("CUtensorMap").get()
    memoryview(slot)[:] = data
    for source in (data, bytearray(data), memoryview(data), slot):
        assert content(cuda.tensor_map(source)) == data
    assert "127" in raises(Status.INVALID, cuda.tensor_map, data[1:])
    for nonsense in (17, "text"):
        with pytest.raises(TypeError):
            cuda.tensor_map(nonsense)
    raises(Status.INVALID, cuda.tensor_map, type("M", (), {
        "getPtr": lambda self: 0})())


def test_a_tensor_map_stands_on_the_callers_slot(driver, pool):
    slot = pool.get()
    map = cuda.tensor_map(bytes(range(128)), slot=slot)
    assert int(map.getPtr()) == slot.address
    assert bytes(slot) == bytes(range(128))
    slot.release()
    assert pool.stats().live_slots == 1, "the map still stands on it"
    assert content(map) == bytes(range(128))
    del map
    assert pool.stats().live_slots == 0


def test_tensor_maps_stand_on_the_slots_of_a_run(driver, pool):
    run = pool.run(100)
    maps = [cuda.tensor_map(bytes([i] * 128), slot=run[i]) for i in range(100)]
    assert [int(map.getPtr()) for map in maps] == list(run.addresses)
    assert bytes(run) == b"".join(bytes([i] * 128) for i in range(100))
    run.release()
    assert pool.stats().live_slots == 100
    del maps
    assert pool.stats().live_slots == 0


def test_a_tensor_map_takes_a_slot_of_the_callers_pool(driver, pool, live):
    map = cuda.tensor_map(pool=pool)
    assert pool.owns(int(map.getPtr())) and live() == 0
    del map
    assert pool.stats().live_slots == 0


def test_slots_that_fit_no_map_are_refused(driver, raises):
    small = ashlar.Pool(ashlar.register("small_for_a_map", 64, 128))
    weak = ashlar.Pool(ashlar.register("weak_for_a_map", 144, 16))
    slots = weak.get_many(8)
    misaligned = next(slot for slot in slots if slot.address % 128 != 0)
    assert "64 bytes" in raises(
        Status.INVALID, cuda.tensor_map, slot=small.get()
    )
    raises(Status.INVALID, cuda.tensor_map, pool=small)
    raises(Status.MISALIGNED, cuda.tensor_map, slot=misaligned)
    gc.collect()
    assert small.stats().live_slots == 0
    big = ashlar.Pool(ashlar.register("big_for_a_map", 1000, 128))
    slot = big.get()
    memoryview(slot)[:] = b"\xff" * 1000
    code, other = driver.cuTensorMapEncodeTiled(*arguments(driver).values())
    for source in (None, other, bytes(128)):
        cuda.tensor_map(source, slot=slot)
        assert bytes(slot)[128:] == b"\xff" * 872


# --- encode_tiled() ----------------------------------------------------------


def test_an_encoded_map_is_the_bindings_aligned(driver):
    code, theirs = driver.cuTensorMapEncodeTiled(*arguments(driver).values())
    kept = [cuda.encode_tiled(**arguments(driver)) for _ in range(200)]
    assert residue(theirs) == 48
    assert {residue(map) for map in kept} == {0}
    assert {content(map) for map in kept} == {content(theirs)}
    assert all(isinstance(map, driver.CUtensorMap) for map in kept)
    positional = cuda.encode_tiled(*arguments(driver).values())
    assert content(positional) == content(theirs)


def test_plain_integers_do_as_well(driver):
    theirs = cuda.encode_tiled(**arguments(driver))
    map = cuda.encode_tiled(
        9, driver.cuuint32_t(2), 0x7F0000000000, (1024, 512), (2048,),
        [driver.cuuint32_t(64), 32], [1, 1], swizzle=3,
    )
    assert content(map) == content(theirs)
    with pytest.raises(ValueError):
        cuda.encode_tiled(**{**arguments(driver), "swizzle": 17})
    with pytest.raises((TypeError, ValueError)):
        cuda.encode_tiled(**{**arguments(driver), "globalDim": ["a", "b"]})
    with pytest.raises(RuntimeError):
        cuda.encode_tiled(**{**arguments(driver), "globalDim": None})


def test_an_encoded_map_goes_where_it_is_told(driver, pool):
    run = pool.run(2)
    map = cuda.encode_tiled(**arguments(driver), slot=run[1])
    assert int(map.getPtr()) == run.addresses[1]
    other = cuda.encode_tiled(**arguments(driver), pool=pool)
    assert pool.owns(int(other.getPtr()))
    assert bytes(run[1]) == content(other)


def test_what_the_driver_refuses_raises(driver, raises, live):
    bad = {**arguments(driver), "globalStrides": [2050]}
    sentence = raises(Status.DRIVER, cuda.encode_tiled, **bad)
    assert "cuTensorMapEncodeTiled" in sentence
    assert "CUDA_ERROR_INVALID_VALUE (1)" in sentence
    driver.context = None
    sentence = raises(Status.DRIVER, cuda.encode_tiled, **arguments(driver))
    assert "CUDA_ERROR_INVALID_CONTEXT (201)" in sentence
    assert "make a context current" in sentence
    driver.fails_with = 700
    sentence = raises(
        Status.CONTEXT_FAILED, cuda.encode_tiled, **arguments(driver)
    )
    assert "CUDA_ERROR_ILLEGAL_ADDRESS (700)" in sentence
    assert "not at fault" in sentence
    assert live() == 0


# --- aligned_maps() ----------------------------------------------------------


def test_aligned_maps_aligns_the_reports_script(driver, live):
    with cuda.aligned_maps():
        kept = [driver.CUtensorMap() for _ in range(200)]
        assert {residue(map) for map in kept} == {0}
    assert {residue(map) for map in kept} == {0}
    assert live() == 200
    assert residue(driver.CUtensorMap()) == 48
    del kept
    assert live() == 0


def test_aligned_maps_restores_the_class(driver):
    original = driver.CUtensorMap
    with cuda.aligned_maps() as aligned:
        assert driver.CUtensorMap is aligned is not original
        assert issubclass(aligned, original)
    assert driver.CUtensorMap is original
    with pytest.raises(KeyError):
        with cuda.aligned_maps():
            raise KeyError
    assert driver.CUtensorMap is original


def test_aligned_maps_nests_and_overlaps(driver):
    original = driver.CUtensorMap
    outer, inner, later = (cuda.aligned_maps() for _ in range(3))
    outer.__enter__()
    aligned = driver.CUtensorMap
    with inner, inner:
        assert driver.CUtensorMap is aligned
    assert driver.CUtensorMap is aligned
    later.__enter__()
    outer.__exit__(None, None, None)
    assert driver.CUtensorMap is aligned
    assert residue(driver.CUtensorMap()) == 0
    assert residue(cuda.tensor_map()) == 0
    later.__exit__(None, None, None)
    assert driver.CUtensorMap is original


def test_aligned_maps_serves_threads(driver):
    original = driver.CUtensorMap
    wrong = []

    def work():
        for _ in range(100):
            with cuda.aligned_maps():
                maps = [driver.CUtensorMap() for _ in range(3)]
                wrong.extend(map for map in maps if residue(map) != 0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and driver.CUtensorMap is original


def test_borrowed_addresses_stay_borrowed(driver, live):
    with cuda.aligned_maps():
        map = driver.CUtensorMap(_ptr=0x1234)
        assert int(map.getPtr()) == 0x1234
        assert int(driver.CUtensorMap(0x1234).getPtr()) == 0x1234
        assert live() == 0


def test_all_maps_are_instances_while_it_is_open(driver):
    earlier = driver.CUtensorMap()
    with cuda.aligned_maps():
        code, encoded = driver.cuTensorMapEncodeTiled(
            *arguments(driver).values()
        )
        assert residue(encoded) == 48, "the encoder cannot be reached"
        assert isinstance(earlier, driver.CUtensorMap)
        assert isinstance(encoded, driver.CUtensorMap)
        assert issubclass(type(earlier), driver.CUtensorMap)
        assert not isinstance(17, driver.CUtensorMap)

        class Mine(driver.CUtensorMap):
            pass

        mine = Mine()
        assert residue(mine) == 0 and isinstance(mine, Mine)
        assert not isinstance(earlier, Mine)
        assert not issubclass(type(earlier), Mine)
    assert isinstance(mine, driver.CUtensorMap)


def test_modules_with_an_earlier_name_are_served_when_named(driver, raises):
    module = types.ModuleType("launcher")
    module.CUtensorMap = original = driver.CUtensorMap
    with cuda.aligned_maps():
        assert residue(module.CUtensorMap()) == 48
    with cuda.aligned_maps(module):
        assert residue(module.CUtensorMap()) == 0
        with cuda.aligned_maps(module, module):
            assert residue(module.CUtensorMap()) == 0
        assert residue(module.CUtensorMap()) == 0
    assert module.CUtensorMap is original
    assert "bindings" in raises(Status.INVALID, cuda.aligned_maps, types)


def test_what_others_put_there_is_left(driver):
    original = driver.CUtensorMap
    with pytest.warns(RuntimeWarning, match="left as it is"):
        with cuda.aligned_maps():
            driver.CUtensorMap = "somebody's"
    assert driver.CUtensorMap == "somebody's"
    driver.CUtensorMap = original
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with cuda.aligned_maps():
            assert residue(driver.CUtensorMap()) == 0
    assert driver.CUtensorMap is original


def test_an_exhausted_pool_raises_where_the_map_is_made(driver, raises):
    pool = ashlar.Pool("CUtensorMap", max_slots=1, cache_slots=0)
    kept = cuda.tensor_map(pool=pool)
    raises(Status.LIMIT, cuda.tensor_map, pool=pool)
    assert residue(kept) == 0


def test_maps_have_no_references_to_leak(driver, live):
    kinds = [ashlar.Slot, driver.CUtensorMap]

    def use():
        cuda.tensor_map()
        cuda.encode_tiled(**arguments(driver))
        with cuda.aligned_maps():
            driver.CUtensorMap()

    use()
    gc.collect()
    before = [sys.getrefcount(kind) for kind in kinds]
    for _ in range(100):
        use()
    gc.collect()
    after = [sys.getrefcount(kind) for kind in kinds]
    assert after == before and live() == 0
