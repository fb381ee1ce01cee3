# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Every allocation of Python's fails once: no crash, no slot lost."""

import sys

import pytest

import ashlar

_testcapi = pytest.importorskip(
    "_testcapi", reason="this Python has no _testcapi to make calls fail"
)

POOL = ashlar.Pool("CUtensorMap", reserve=5000)


SOURCE = ashlar.Source("vm", {"granule": "64K"})


def grown(memory):
    with memory:
        memory.grow(1 << 19)
        views = [memoryview(memory), memoryview(memory.view(7, 9))]
        repr(memory), repr(views[0]), memory.info(), memory.chunks()
        memory.allow(1, "read")
        views.clear()
        memory.decommit(0, 1 << 18, after=ashlar.QUIET)


def blocks(arena):
    with arena:
        made = [arena.alloc(100), arena.alloc(1 << 20, 4096, zero=True),
                arena.alloc_type("CUtensorMap", 3)]
        views = [memoryview(block) for block in made]
        # One by one: repr() of a list that fails keeps the list for ever.
        repr(arena), repr(made[0]), made[0].usable, arena.stats()
        views.clear()
        made.pop().release(after=ashlar.QUIET)


def specs(spec):
    repr(spec), hash(spec), spec.replace(address=16).check()
    assert spec == spec.replace(dims=(64, 8))


def refused(spec):
    try:
        spec.check()
    except ashlar.SpecError as error:
        assert len(error.findings) == 4
    else:
        raise AssertionError


def statuses():
    try:
        POOL.run(-1)
    except ashlar.Error as error:
        return error.status
    raise AssertionError


CALLS = {
    "get": lambda: POOL.get(),
    "get_many": lambda: POOL.get_many(20),
    "get_many_at_once": lambda: POOL.get_many(1500)[7],
    "put_many": lambda: POOL.put_many(POOL.get_many(20)),
    "run": lambda: list(POOL.run(5)),
    "views": lambda: memoryview(POOL.run(5)[2])[3:5],
    "release": lambda: POOL.get().release(),
    "with": lambda: POOL.get().__enter__().__exit__(None, None, None),
    "repr": lambda: [repr(POOL), repr(POOL.get()), repr(POOL.run(3))],
    "addresses": lambda: [POOL.get().address, POOL.run(4).addresses],
    "pool": lambda: ashlar.Pool("CUtensorMap", name="mine").get(),
    "error": statuses,
    "stats": lambda: [POOL.stats(), POOL.live(), POOL.owns(17)],
    "types": lambda: [ashlar.types(), ashlar.register("fails", 8, 8)],
    "report": lambda: [ashlar.report(), ashlar.report_json()],
    "source": lambda: ashlar.Source("vm", {"granule": "64K"}).info(),
    "range": lambda: grown(ashlar.Range(SOURCE, reserve=1 << 20)),
    "arena": lambda: blocks(ashlar.Arena(SOURCE, reserve=1 << 22)),
    "arena_on_a_range": lambda: blocks(
        ashlar.Arena(ashlar.Range(SOURCE, reserve=1 << 22))
    ),
    "spec": lambda: specs(ashlar.Spec("bf16", (64, 8), (64, 8))),
    "spec_error": lambda: refused(
        ashlar.Spec("bf16", (64, 8), (300, 0), strides=[3])
    ),
    "fences": lambda: ashlar.Range(
        SOURCE, reserve=1 << 20,
        at_end=[ashlar.after(1, SOURCE), ashlar.QUIET],
    ).close(after=[ashlar.QUIET]),
}

if sys.version_info < (3, 13):
    # list.extend() itself loses a reference there when it fails.
    del CALLS["put_many"]


@pytest.mark.parametrize("call", CALLS)
def test_a_failing_allocation_loses_nothing(call):
    fails_everywhere(CALLS[call])


def test_a_failing_allocation_loses_no_map(device):
    spec = ashlar.Spec("bf16", (64, 8), (64, 8), address=4096)
    cache = ashlar.TensorMapCache(device, slots=4)
    run = POOL.run(1)

    def work():
        maps = ashlar.encode_many(device, [spec] * 5, pool=POOL)
        maps.append(ashlar.TensorMap(device, spec, pool=POOL))
        maps[0].rebase(8192)
        ashlar.encode_into(device, spec, run[0])
        repr(maps[5]), memoryview(maps[5]), cache.stats()
        with cache.get(spec) as held:
            memoryview(held)

    fails_everywhere(work)
    assert cache.stats().held == 0
    cache.close()


def test_a_failing_allocation_loses_no_lease(device):
    table = ashlar.TensorMapTable(device, max_slots=64, reserve=64)
    spec = ashlar.Spec("bf16", (64, 8), (64, 8), address=4096)

    def work():
        lease = table.lease(5)
        lease.encode([spec] * 3, which=[4, 1, 2])
        lease.publish(0, which=[1])
        repr(lease), repr(table), table.info(), lease[1], lease.indices
        lease.map(4), lease.fill(0, bytes(128))
        lease.retire(after=[ashlar.QUIET])

    fails_everywhere(work)
    assert table.info().leased == 0


def fails_everywhere(call):
    call()
    before = POOL.stats().live_slots
    failed = 0
    for n in range(1, 3000):
        # Nothing between the two calls but the call under test.
        _testcapi.set_nomemory(n, n + 1)
        try:
            call()
        except MemoryError:
            failed += 1
        else:
            _testcapi.remove_mem_hooks()
            if n > failed + 40:
                break
        finally:
            _testcapi.remove_mem_hooks()
        assert POOL.stats().live_slots == before
        assert SOURCE.info().holders == 0
    else:
        raise AssertionError("it never came to its end")
    assert POOL.stats().live_slots == before
    assert ashlar.Pool("CUtensorMap").get().address % 128 == 0
