# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""What the package costs: python speed.py. Best of several, nanoseconds."""

import sys
import time
import timeit

import ashlar

BULK = 4096


def best(statement, number, **names):
    times = timeit.repeat(statement, globals=names, number=number, repeat=9)
    return min(times) / number * 1e9


def many(pool):
    """get_many() and what ends it, apart: (get, drop, put_many)."""
    gets, drops, puts = [], [], []
    for _ in range(100):
        start = time.perf_counter_ns()
        slots = pool.get_many(BULK)
        middle = time.perf_counter_ns()
        del slots
        gets.append(middle - start)
        drops.append(time.perf_counter_ns() - middle)
        slots = pool.get_many(BULK)
        start = time.perf_counter_ns()
        pool.put_many(slots)
        puts.append(time.perf_counter_ns() - start)
    return min(gets), min(drops), min(puts)


def main():
    pool = ashlar.Pool("CUtensorMap", reserve=20_000)
    pool.reserve_runs(BULK, 1)
    names = {"pool": pool, "object": object}
    got, dropped, put = many(pool)
    rows = [
        ("object()", best("object()", 100_000, **names), None),
        ("pool.get()", best("pool.get()", 100_000, **names), 150),
        (
            "pool.get().release()",
            best("pool.get().release()", 100_000, **names),
            150,
        ),
        (f"pool.get_many({BULK})", got, 150_000),
        (f"  dropping those {BULK}", dropped, None),
        ("  or pool.put_many()", put, None),
        (f"pool.run({BULK})", best(f"pool.run({BULK})", 20_000, **names), 2000),
    ]
    try:
        from ashlar import cuda
        from cuda.bindings import driver
    except ImportError:
        pass
    else:
        names.update(cuda=cuda, driver=driver)
        cuda.map_pool().reserve(100)
        rows += [
            (
                "driver.CUtensorMap()",
                best("driver.CUtensorMap()", 50_000, **names),
                None,
            ),
            (
                "ashlar.cuda.tensor_map()",
                best("cuda.tensor_map()", 50_000, **names),
                None,
            ),
        ]
        with cuda.aligned_maps():
            cost = best("driver.CUtensorMap()", 50_000, **names)
        rows.append(("  driver.CUtensorMap() in aligned_maps()", cost, None))
    print(f"Python {sys.version.split()[0]}, ashlar {ashlar.__version__}")
    for name, cost, target in rows:
        wanted = f"  (at most {target:,})" if target else ""
        print(f"{name:<42}{cost:>12,.0f} ns{wanted}")
    return any(target and cost > target for _, cost, target in rows)


if __name__ == "__main__":
    sys.exit(main())
