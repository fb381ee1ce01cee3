# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import ctypes

import pytest

import ashlar
from ashlar import Status


def live(pool):
    return pool.stats().live_slots


def test_every_row_of_runs_is_aligned(pool):
    kept = []
    for n in [1, 2, 3, 64, 1000, 4096, 100_000]:
        run = pool.run(n)
        kept.append(run)
        assert len(run) == n
        assert run.addresses == range(run.address, run.address + n * 128, 128)
        assert all(address % 128 == 0 for address in run.addresses)
    assert live(pool) == sum(map(len, kept))


def test_a_run_tells_what_it_is(pool):
    run = pool.run(3)
    assert int(run) == run.address == run.addresses[0]
    assert (len(run), run.stride) == (3, 128)
    assert run.pool is pool
    assert repr(run) == f"<ashlar.Run of 3 CUtensorMap at {run.address:#x}>"
    row = run[2]
    assert row.run is run
    assert int(row) == row.address == run.addresses[2]
    assert repr(row) == f"<ashlar.Row of CUtensorMap at {row.address:#x}>"


def test_a_run_is_rows_of_bytes():
    ashlar.register("fortyfour_bytes", 44, 16)
    run = ashlar.Pool("fortyfour_bytes").run(5)
    run.zero()
    view = memoryview(run)
    assert (view.ndim, view.shape, view.strides) == (2, (5, 48), (48, 1))
    assert view.c_contiguous and not view.f_contiguous and not view.readonly
    assert (view.nbytes, view.format, view.itemsize) == (240, "B", 1)
    view[3, 2] = 17
    assert ctypes.string_at(run.address + 3 * 48, 3) == b"\0\0\x11"
    assert bytes(run)[3 * 48 + 2] == 17
    assert view.cast("B")[3 * 48 + 2] == 17
    assert bytes(run[3]) == b"\0\0\x11".ljust(44, b"\0")
    memoryview(run[4])[:] = b"\xff" * 44
    assert bytes(run)[4 * 48 :] == b"\xff" * 44 + bytes(4)


def test_numpy_sees_a_run(pool):
    numpy = pytest.importorskip("numpy")
    run = pool.run(100)
    array = numpy.asarray(run)
    assert array.shape == (100, 128) and array.dtype == numpy.uint8
    assert array.ctypes.data == run.address
    array[:] = numpy.arange(100)[:, None]
    assert bytes(run[99]) == bytes([99] * 128)
    words = array.view(numpy.uint64)
    assert words.shape == (100, 16)
    run.release()
    assert live(pool) == 100
    del array, words
    assert live(pool) == 0


def test_a_run_is_a_sequence_of_rows(pool):
    run = pool.run(4)
    assert [row.address for row in run] == list(run.addresses)
    assert run[-1].address == run[3].address
    for outside in (4, -5, 2**100):
        with pytest.raises(IndexError):
            run[outside]
    with pytest.raises(TypeError):
        run["0"]
    assert isinstance(run[0], ashlar.Row)


def test_a_run_goes_back_whole(pool, raises):
    run = pool.run(4)
    assert live(pool) == 4
    run.release()
    assert live(pool) == 0 and run.released
    assert repr(run) == "<ashlar.Run of 4, released>"
    raises(Status.NOT_LIVE, run.release)
    for read in ("address", "addresses", "pool"):
        raises(Status.NOT_LIVE, getattr, run, read)
    raises(Status.NOT_LIVE, memoryview, run)
    raises(Status.NOT_LIVE, run.__getitem__, 0)
    raises(Status.NOT_LIVE, run.zero)
    assert len(run) == 4
    with pool.run(5) as run:
        assert live(pool) == 5
    assert live(pool) == 0
    pool.run(6)
    assert live(pool) == 0


def test_views_and_rows_delay_the_release(pool):
    run = pool.run(4)
    view, row = memoryview(run), run[1]
    run.release()
    assert live(pool) == 4 and "last view" in repr(run)
    view[3, 3] = 1
    view.release()
    assert live(pool) == 4
    of_row = memoryview(row)
    del row
    of_row[0] = 1
    assert live(pool) == 4
    of_row.release()
    del of_row
    assert live(pool) == 0


def test_a_row_keeps_run_and_pool(pool):
    row = pool.run(3)[2]
    del pool
    memoryview(row)[:] = bytes(128)
    assert row.run[0].address == row.address - 256


def test_buffers_of_every_kind_are_right(pool):
    # What consumers ask for, by the C API: flags and what must be there.
    class Buffer(ctypes.Structure):
        _fields_ = [
            ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p),
            ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
            ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
            ("format", ctypes.c_char_p),
            ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
            ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
            ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
            ("internal", ctypes.c_void_p),
        ]

    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    give = ctypes.pythonapi.PyBuffer_Release
    give.argtypes = [ctypes.POINTER(Buffer)]
    simple, writable, fmt, nd, strides = 0, 1, 4, 8, 0x18
    run = pool.run(3)
    for flags in (simple, writable, fmt, nd, nd | writable, strides,
                  0x20 | strides, 0x80 | strides, 0x11D):
        buffer = Buffer()
        get(run, ctypes.byref(buffer), flags)
        assert (buffer.buf, buffer.len) == (run.address, 384)
        assert (buffer.itemsize, buffer.readonly) == (1, 0)
        assert (buffer.format == b"B") == bool(flags & fmt)
        if flags & nd:
            assert buffer.ndim == 2 and buffer.shape[:2] == [3, 128]
        else:
            assert buffer.ndim == 1 and not buffer.shape
        if flags & 0x10:
            assert buffer.strides[:2] == [128, 1]
        else:
            assert not buffer.strides
        assert not buffer.suboffsets
        give(ctypes.byref(buffer))
    with pytest.raises(BufferError):
        get(run, ctypes.byref(Buffer()), 0x40 | strides)
    get(pool.run(1), ctypes.byref(Buffer()), 0x40 | strides)
    run.release()
    assert live(pool) == 1, "the run of one is still viewed"


def test_the_longest_run_is_told(raises):
    pool = ashlar.Pool("CUtensorMap", max_slots=100, cache_slots=0)
    first, middle, last = pool.run(30), pool.run(40), pool.run(30)
    raises(Status.LIMIT, pool.run, 1)
    raises(Status.INVALID, pool.run, 0)
    first.release()
    last.release()
    assert "30" in raises(Status.FRAGMENTED, pool.run, 50)
    middle.release()
    assert len(pool.run(100)) == 100


def test_runs_and_rows_come_from_pools_only(pool):
    for kind in (ashlar.Run, ashlar.Row):
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})
