# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Correctly aligned memory for CUDA descriptors and other over-aligned types.

    import ashlar

    pool = ashlar.Pool("CUtensorMap", reserve=4096)
    slot = pool.get()           # slot.address % 128 == 0, always
    run = pool.run(4096)        # 4,096 of them side by side, one object

    memory = ashlar.Range(ashlar.Source("cuda"))
    memory.grow(1 << 30)        # device memory that grows where it is

ashlar.cuda has tensor maps for the users of cuda.bindings, and
`python -m ashlar.doctor` looks at what this machine mixes.
"""

from ._records import (
    QUIET,
    ArenaFragmentation,
    ArenaStats,
    Error,
    Fence,
    Finding,
    PoolStats,
    RangeInfo,
    RangeResult,
    SourceInfo,
    SpecError,
    Status,
    TableInfo,
    TableSlot,
    TensorMapCacheStats,
    TypeInfo,
    after,
    after_capture,
    after_event,
    after_graph,
)


def _explain(error: ImportError) -> str:
    """What the loader said, and what to do about it."""
    said = str(error)
    if "static TLS" in said:
        return (
            f"{said}\n"
            "This ashlar was built with a jemalloc that has static TLS, as "
            "the distribution's: a program that runs already cannot load it. "
            "Build ashlar with its private jemalloc instead (./bootstrap, "
            "then ./configure without --with-jemalloc=system, then install "
            "this package again), or start Python with LD_PRELOAD set to the "
            "full path of libjemalloc.so.2."
        )
    if "libashlar.so" in said:
        return (
            f"{said}\n"
            "This package was built against an installed libashlar, which is "
            "not found now. Run ldconfig as root, or set LD_LIBRARY_PATH to "
            "the folder it was installed in, or install this package again "
            "with the library inside (see doc/python.md)."
        )
    if "_core" in said:
        return (
            f"{said}\n"
            "The extension module of ashlar was not built for this Python "
            "(3.11 or later, with its interpreter lock), or this is the "
            "source folder: install it with pip install ./python, and start "
            "Python in another folder."
        )
    return said


try:
    from ._core import (
        Arena,
        Block,
        CachedMap,
        Pool,
        Range,
        RangeView,
        Row,
        Run,
        Slot,
        Source,
        Spec,
        TableLease,
        TensorMap,
        TensorMapCache,
        TensorMapTable,
        build_info,
        encode_into,
        encode_many,
        find_type,
        register,
        report,
        report_json,
        types,
        version,
    )
except ImportError as error:
    raise ImportError(
        _explain(error), name=error.name, path=error.path
    ) from error

__version__ = version()

__all__ = [
    "QUIET",
    "Arena",
    "ArenaFragmentation",
    "ArenaStats",
    "Block",
    "CachedMap",
    "Error",
    "Fence",
    "Finding",
    "Pool",
    "PoolStats",
    "Range",
    "RangeInfo",
    "RangeResult",
    "RangeView",
    "Row",
    "Run",
    "Slot",
    "Source",
    "SourceInfo",
    "Spec",
    "SpecError",
    "Status",
    "TableInfo",
    "TableLease",
    "TableSlot",
    "TensorMap",
    "TensorMapCache",
    "TensorMapCacheStats",
    "TensorMapTable",
    "TypeInfo",
    "after",
    "after_capture",
    "after_event",
    "after_graph",
    "build_info",
    "encode_into",
    "encode_many",
    "find_type",
    "register",
    "report",
    "report_json",
    "types",
    "version",
]
