# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Sub-interpreters: each has a module of its own over the one library."""

import sys

import pytest

import ashlar

try:
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
    else:
        import _xxsubinterpreters as interpreters
except ImportError:
    pytest.skip("this Python shows no sub-interpreters",
                allow_module_level=True)

WORK = """
import ashlar
pool = ashlar.Pool("CUtensorMap", name="of a sub-interpreter")
kept = [pool.get_many(1500), pool.run(10), memoryview(pool.get())]
assert all(slot.address % 128 == 0 for slot in kept[0])
kept[0].clear()
try:
    pool.get_many(-1)
except ashlar.Error as error:
    assert error.status is ashlar.Status.INVALID
else:
    raise AssertionError
kept.append(pool.get_many(5))
memory = ashlar.Range(ashlar.Source("vm"))
memory.grow(1 << 20)
kept += [memoryview(memory), memory.view(5)]
kept.append(ashlar.Arena(ashlar.Source("vm")).alloc(100))
"""

# Of their own locks, from 3.12 on, or sharing the main interpreter's.
WAYS = ["shared", "own"] if sys.version_info >= (3, 12) else ["shared"]


def create(way):
    if sys.version_info >= (3, 13):
        return interpreters.create("isolated" if way == "own" else "legacy")
    return interpreters.create(isolated=way == "own")


def run(interpreter, code):
    failed = interpreters.run_string(interpreter, code)
    assert failed is None, failed


@pytest.mark.parametrize("way", WAYS)
def test_sub_interpreters_have_pools_of_their_own(way):
    here = ashlar.Pool("CUtensorMap", name="of the main interpreter")
    slots = here.get_many(10)
    for _ in range(3):
        interpreter = create(way)
        run(interpreter, WORK)
        assert "of a sub-interpreter" in ashlar.report_json()
        run(interpreter,
            "assert 'of the main interpreter' in ashlar.report_json()")
        interpreters.destroy(interpreter)
        assert here.stats().live_slots == 10
    assert "of a sub-interpreter" not in ashlar.report_json()
    assert ashlar.Pool("CUtensorMap").get().address % 128 == 0
    assert len(slots) == 10


@pytest.mark.parametrize("way", WAYS)
def test_sub_interpreters_run_in_threads(python, way):
    create_source = (
        "interpreters.create('isolated' if own else 'legacy')"
        if sys.version_info >= (3, 13)
        else "interpreters.create(isolated=own)"
    )
    python(
        f"import {interpreters.__name__} as interpreters, threading\n"
        "import ashlar\n"
        f"work, own = {WORK!r}, {way == 'own'}\n"
        "def one():\n"
        f"    interpreter = {create_source}\n"
        "    assert interpreters.run_string(interpreter, work) is None\n"
        "    interpreters.destroy(interpreter)\n"
        "    done.append(1)\n"
        "done = []\n"
        "threads = [threading.Thread(target=one) for _ in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "assert len(done) == 4\n",
        quiet=sys.version_info < (3, 14),
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_end_with_a_sub_interpreter_left_is_silent(python, way):
    create_source = (
        "interpreters.create('isolated' if own else 'legacy')"
        if sys.version_info >= (3, 13)
        else "interpreters.create(isolated=own)"
    )
    python(
        f"import {interpreters.__name__} as interpreters\n"
        f"work, own = {WORK!r}, {way == 'own'}\n"
        f"interpreter = {create_source}\n"
        "interpreters.run_string(interpreter, work)\n"
    )
