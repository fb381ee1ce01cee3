# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Threads, fork, and the end of the process."""

import os
import sys
import threading
import time

import pytest

import ashlar


def test_threads_share_a_pool(pool, in_threads):
    owners = {}
    lock = threading.Lock()

    def work(number):
        for turn in range(60):
            slots = pool.get_many(1 + turn * 37 % 1500)
            run = pool.run(1 + turn % 50)
            with lock:
                for slot in slots:
                    assert owners.setdefault(slot.address, number) == number
            for slot in slots[:20]:
                memoryview(slot)[0] = number
            with lock:
                for slot in slots:
                    del owners[slot.address]
            assert all(slot.address % 128 == 0 for slot in slots)
            assert len(run) > 0
            pool.stats()
            if turn % 20 == 0:
                pool.trim()

    in_threads(6, work)
    assert pool.stats().live_slots == 0 and pool.stats().duplicates == 0


def test_slots_go_back_from_other_threads(pool, in_threads):
    slots = pool.get_many(1000)
    in_threads(4, lambda number: [s.release() for s in slots[number::4]])
    assert pool.stats().live_slots == 0


def test_one_of_many_releases_wins(pool, in_threads):
    for _ in range(50):
        slot = pool.get()
        refused = []

        def work(number):
            try:
                slot.release()
            except ashlar.Error as error:
                refused.append(error)

        in_threads(4, work)
        assert len(refused) == 3
    assert pool.stats().live_slots == 0


def test_a_thread_that_ends_gives_its_cache_back(pool, in_threads):
    in_threads(1, lambda number: pool.get_many(100))
    # A joined thread may still be on its way out.
    for _ in range(1000):
        if pool.stats().caches == 0:
            break
        time.sleep(0.01)
    assert (pool.stats().caches, pool.stats().cached_slots) == (0, 0)


def test_a_pool_may_be_closed_under_others(in_threads):
    def work(number):
        try:
            while True:
                pool.reserve(3000)
                pool.get_many(2000)
                pool.trim()
        except ashlar.Error as error:
            assert error.status is ashlar.Status.STALE

    for _ in range(10):
        pool = ashlar.Pool("CUtensorMap", name="closed under others")
        timer = threading.Timer(0.02, pool.close)
        timer.start()
        in_threads(3, work)
        timer.join()
        assert "closed under others" not in ashlar.report_json()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_goes_on(pool, child):
    slot, run = pool.get(), pool.run(10)
    memoryview(slot)[:] = b"x" * 128

    def work():
        assert bytes(slot) == b"x" * 128
        assert pool.stats().live_slots == 11
        more = pool.get_many(3000)
        assert not {s.address for s in more} & {slot.address}
        slot.release()
        run.release()
        pool.put_many(more)
        assert pool.stats().live_slots == 0
        ashlar.Pool("CUtensorMap", reserve=100).get()

    assert child(work) == 0
    assert pool.stats().live_slots == 11
    assert bytes(slot) == b"x" * 128


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_under_load_never_hangs(pool, child):
    stop = threading.Event()

    def load():
        while not stop.is_set():
            pool.get_many(2000)
            pool.run(100)
            pool.reserve(5000)
            pool.trim()

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            assert child(lambda: pool.put_many(pool.get_many(1500))) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_multiprocessing_works_with_each_way_to_start(python, tmp_path):
    script = tmp_path / "work.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "import ashlar\n"
        "pool = ashlar.Pool('CUtensorMap', reserve=100)\n"
        "kept = pool.get_many(10)\n"
        "def work(n):\n"
        "    return [s.address % 128 for s in pool.get_many(n)]\n"
        "if __name__ == '__main__':\n"
        "    for way in ('fork', 'spawn', 'forkserver'):\n"
        "        context = multiprocessing.get_context(way)\n"
        "        with context.Pool(2) as workers:\n"
        "            for result in workers.map(work, [1, 100, 1000]):\n"
        "                assert not any(result)\n"
    )
    python("import runpy, sys\n"
           "runpy.run_path(sys.argv[1], run_name='__main__')", str(script))


ENDS = {
    "slots in globals": "kept = [pool.get(), pool.run(3), pool.run(3)[1]]",
    "views in globals": (
        "kept = memoryview(pool.get()); other = memoryview(pool.run(3)[0])"
    ),
    "a cycle": "kept = [pool.get_many(10)]; kept.append(kept)",
    "a module that outlives": (
        "import sys; sys.kept = pool.get_many(10); sys.modules['x'] = pool"
    ),
    "an object with __del__": (
        "class Late:\n"
        "    def __init__(self): self.pool, self.slot = pool, pool.get()\n"
        "    def __del__(self): self.slot.release(); self.pool.get()\n"
        "kept = Late(); kept.self = kept"
    ),
    "atexit": (
        "import atexit; slot = pool.get()\n"
        "atexit.register(lambda: (pool.get(), slot.release()))"
    ),
    "a daemon thread": (
        "import threading, time\n"
        "def work():\n"
        "    while True: pool.get_many(1100); pool.run(5); pool.reserve(10)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.1)"
    ),
    "closed": "kept = pool.get(); pool.close()",
    "a range in globals": (
        "source = ashlar.Source('vm'); kept = ashlar.Range(source)\n"
        "kept.grow(1 << 20); view = memoryview(kept); other = kept.view(10)"
    ),
    "a range that outlives": (
        "import sys; sys.kept = memoryview(ashlar.Range(ashlar.Source('vm')))"
    ),
    "blocks in globals": (
        "arena = ashlar.Arena(ashlar.Source('vm')); kept = arena.alloc(100)\n"
        "other = memoryview(ashlar.Arena().alloc(10)); arena.alloc(1 << 20)"
    ),
    "a thread that grows": (
        "import threading, time\n"
        "kept = ashlar.Range(ashlar.Source('vm'), chunk_max=2 << 20)\n"
        "def work():\n"
        "    while True:\n"
        "        kept.grow(32 << 20); kept.shrink(0, after=ashlar.QUIET)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.1)"
    ),
    "sys.exit with slots": "kept = pool.get(); import sys; sys.exit(0)",
}


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.replace(" ", "_"))
def test_the_interpreter_ends_in_silence(python, end):
    program = "import ashlar\npool = ashlar.Pool('CUtensorMap')\n" + ENDS[end]
    assert python(program) == ""
    assert python(program, PYTHONDEVMODE="1") == ""


def test_a_map_at_the_end_is_silent(python, driver):
    assert python(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from ashlar import cuda\n"
        "from cuda.bindings import driver\n"
        "kept = cuda.tensor_map()\n"
        "cuda.aligned_maps().__enter__()\n"
        "other = driver.CUtensorMap()\n"
        "class Late:\n"
        "    def __del__(self): driver.CUtensorMap()\n"
        "late = Late()\n",
        os.path.dirname(os.path.dirname(os.path.dirname(driver.__file__))),
    ) == ""


def test_other_threads_run_meanwhile():
    # With such an interval another thread runs only where one lets it.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    turns, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(1)
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        for call in ("reserve", "get_many"):
            for _ in range(1000):
                pool = ashlar.Pool("CUtensorMap")
                before = len(turns)
                getattr(pool, call)(500_000)
                if len(turns) > before:
                    break
            else:
                raise AssertionError(f"no other thread ran during {call}()")
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


MAPS = """
import os, sys
import ashlar
source = ashlar.Source("cuda", {"driver": os.environ["ASHLAR_CUDASIM"]})
spec = ashlar.Spec("bf16", (64, 8), (64, 8), address=4096)
cache = ashlar.TensorMapCache(source)
sys.kept = kept = [ashlar.TensorMap(source, spec), cache.get(spec),
                   memoryview(cache.get(spec.replace(address=8192))),
                   memoryview(ashlar.TensorMap(source, spec))]
memory = ashlar.Range(source)
memory.grow(1 << 20)
arena = ashlar.Arena(source)
table = ashlar.TensorMapTable(source, max_slots=64)
kept += [memory.view(), arena.alloc(100), table.lease(3), kept]
"""


def test_what_is_on_a_device_ends_in_silence(python, driver_file):
    assert python(MAPS, PYTHONDEVMODE="1") == ""
    # With the driver gone before.
    assert python(
        MAPS + "import ctypes\n"
        "ctypes.CDLL(os.environ['ASHLAR_CUDASIM']).cudasim_deinitialize()"
    ) == ""
