# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Aligned tensor maps for the users of cuda.bindings, 12 and 13.

`driver.CUtensorMap()` keeps its 128 bytes inside the Python object, at whatever
address that happens to have: usually 16 behind a multiple of 32. The driver
takes such a map without a word; aligned stores, and kernels that read the map
from device memory, do not. The maps made here are the bindings' own class over
128 bytes at a multiple of 128:

    from ashlar import cuda

    m = cuda.encode_tiled(dtype, 2, pointer, [1024, 1024], [2048], [64, 64],
                          [1, 1])
    m = cuda.tensor_map()           # zeros, to be filled in by other code
    m = cuda.tensor_map(other)      # a copy of a map that was made elsewhere

    with cuda.aligned_maps():       # for code that cannot be changed
        driver.CUtensorMap().getPtr() % 128 == 0

cuda.bindings is not imported until something here is called.
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
import warnings
from typing import Any, Sequence

from . import CachedMap, Error, Pool, Row, Slot, Status, TensorMap
from ._core import _copy_from

__all__ = [
    "aligned_maps",
    "borrow",
    "encode_tiled",
    "map_pool",
    "tensor_map",
]

_MAP_BYTES = 128
_ALIGNMENT = 128

# Errors after which a context answers every call alike: what was asked is not
# at fault. The numbers are CUresult's, in every version.
_CONTEXT_FAILED = frozenset((700, 702, 710, *range(714, 720), 721))
_HINTS = {
    1: "an argument breaks one of the rules for tensor maps; the driver does "
    "not say which",
    3: "call driver.cuInit(0) first",
    4: "the driver is shutting down",
    201: "make a context current on this thread first",
}

_lock = threading.RLock()
_pool: Pool | None = None
_aligned_classes: dict[type, type] = {}


def _bindings() -> Any:
    """The module cuda.bindings.driver, imported now if it was not."""
    driver = sys.modules.get("cuda.bindings.driver")
    if driver is not None:
        return driver
    for name in ("cuda.bindings.driver", "cuda.cuda"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
    raise ImportError(
        "ashlar.cuda needs the CUDA bindings for Python, which are not "
        "installed: pip install cuda-bindings"
    )


def map_pool() -> Pool:
    """The pool that maps come from unless another is named.

    map_pool().reserve(n) makes room for n maps ahead of need.
    """
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                _pool = Pool("CUtensorMap", name="ashlar.cuda")
    return _pool


class _AlignedType(type):
    """The class of aligned classes.

    While an aligned class stands for the bindings' own, maps that the bindings
    made must still count as instances of what driver.CUtensorMap is now.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        if cls in _aligned_classes.values():
            return isinstance(instance, cls.__base__)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls in _aligned_classes.values():
            return issubclass(subclass, cls.__base__)
        return super().__subclasscheck__(subclass)


def _make_aligned(base: Any) -> type:
    new = base.__new__

    class CUtensorMap(base, metaclass=_AlignedType):  # type: ignore[misc]
        """A tensor map at a multiple of 128.

        CUtensorMap() takes a slot of ashlar.cuda.map_pool(), filled with zeros;
        CUtensorMap(_ptr=address) borrows that address, as ever.
        """

        # What is held as long as the map: a Slot, or a view of one that the
        # caller has, so that releasing it waits for the map.
        __slots__ = ("_held",)

        def __new__(cls, _ptr: int = 0) -> Any:
            if _ptr:
                return new(cls, _ptr)
            slot = (_pool or map_pool()).get()
            slot.zero()
            self = new(cls, slot.address)
            self._held = slot
            return self

    CUtensorMap.__module__ = __name__
    CUtensorMap.__qualname__ = CUtensorMap.__name__
    return CUtensorMap


def _aligned_class(driver: Any) -> Any:
    base = driver.CUtensorMap
    if type(base) is _AlignedType:
        return base
    aligned = _aligned_classes.get(base)
    if aligned is None:
        with _lock:
            aligned = _aligned_classes.get(base)
            if aligned is None:
                aligned = _aligned_classes[base] = _make_aligned(base)
    return aligned


def _check_slot(slot: Slot | Row | TensorMap | CachedMap) -> memoryview:
    """A view of the caller's slot, which keeps it from going back."""
    view = memoryview(slot)
    if view.nbytes < _MAP_BYTES:
        raise Error(
            f"{slot!r} has {view.nbytes} bytes; a tensor map needs "
            f"{_MAP_BYTES}",
            Status.INVALID,
        )
    if slot.address % _ALIGNMENT != 0:
        raise Error(
            f"{slot!r} is {slot.address % _ALIGNMENT} bytes behind a multiple "
            f"of {_ALIGNMENT}; take it from a pool of CUtensorMap",
            Status.MISALIGNED,
        )
    return view


def _place(aligned: Any, slot: Slot | Row | None, pool: Pool | None) -> Any:
    """A map of zeros over a slot."""
    if slot is None:
        if pool is None:
            return aligned()
        slot = pool.get()
    held = _check_slot(slot)
    held[:_MAP_BYTES] = bytes(_MAP_BYTES)
    made = aligned(_ptr=slot.address)
    made._held = held
    return made


def _fill(made: Any, source: Any) -> None:
    address = getattr(source, "getPtr", None)
    if address is not None:
        _copy_from(made._held, int(address()), _MAP_BYTES)
        return
    content = memoryview(source).cast("B")
    if content.nbytes != _MAP_BYTES:
        raise Error(
            f"a tensor map has {_MAP_BYTES} bytes; the source has "
            f"{content.nbytes}",
            Status.INVALID,
        )
    memoryview(made._held)[:_MAP_BYTES] = content


def tensor_map(
    source: Any = None,
    *,
    slot: Slot | Row | None = None,
    pool: Pool | None = None,
) -> Any:
    """A driver.CUtensorMap at a multiple of 128.

    source  what to copy: a map of the bindings, or 128 bytes; None for zeros
    slot    where to put it: a Slot, or a slot of a Run (run[i]). The map holds
            on to it: released meanwhile, it goes back when the map is gone
    pool    take a slot of this pool rather than of map_pool()

    The slot goes back to its pool when nothing refers to the map any more. As
    with any map, it has to stay until the launch that it is given to by value
    has returned, or until the copy of it has been made.
    """
    made = _place(_aligned_class(_bindings()), slot, pool)
    if source is not None:
        _fill(made, source)
    return made


def borrow(map: TensorMap | CachedMap) -> Any:
    """A driver.CUtensorMap over the bytes of a map that ashlar encoded.

    Nothing is copied: it is for reading, as a launch by value does, and keeps
    those bytes as they are as long as it lives.
    """
    held = _check_slot(map)
    made = _aligned_class(_bindings())(_ptr=map.address)
    made._held = held
    return made


def _own(driver: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as the bindings insist on them: all of their own types."""

    def integers(values: Sequence[Any] | None, kind: Any) -> Any:
        if values is None:
            return None
        return [
            value if isinstance(value, kind) else kind(int(value))
            for value in values
        ]

    def member(value: Any, kind: Any) -> Any:
        return value if isinstance(value, kind) else kind(int(value or 0))

    data_type, rank, address, *rest = arguments
    wide, narrow = driver.cuuint64_t, driver.cuuint32_t
    return (
        member(data_type, driver.CUtensorMapDataType),
        rank,
        address,
        *map(integers, rest[:4], (wide, wide, narrow, narrow)),
        member(rest[4], driver.CUtensorMapInterleave),
        member(rest[5], driver.CUtensorMapSwizzle),
        member(rest[6], driver.CUtensorMapL2promotion),
        member(rest[7], driver.CUtensorMapFloatOOBfill),
    )


def _refused(call: str, code: Any) -> Error:
    number = int(code)
    if number in _CONTEXT_FAILED:
        status = Status.CONTEXT_FAILED
        hint = (
            "the context had failed before this call, by a kernel or copy: "
            "the arguments are not at fault"
        )
    else:
        status = Status.DRIVER
        hint = _HINTS.get(number, "")
    name = getattr(code, "name", "CUresult")
    return Error(
        f"{call} failed: {name} ({number})" + (hint and f"; {hint}"), status
    )


def encode_tiled(
    tensorDataType: Any,
    tensorRank: Any,
    globalAddress: Any,
    globalDim: Sequence[Any] | None,
    globalStrides: Sequence[Any] | None,
    boxDim: Sequence[Any] | None,
    elementStrides: Sequence[Any] | None,
    interleave: Any = None,
    swizzle: Any = None,
    l2Promotion: Any = None,
    oobFill: Any = None,
    *,
    slot: Slot | Row | None = None,
    pool: Pool | None = None,
) -> Any:
    """driver.cuTensorMapEncodeTiled(), into an aligned slot.

    The arguments are those of the bindings, whose encoder is called; where
    they insist on driver.cuuint64_t, driver.cuuint32_t or members of their
    enumerations, plain integers do as well. The last four are NONE unless
    given. `slot` and `pool` are as for tensor_map().

    Returns the map itself, a driver.CUtensorMap. Raises Error, status DRIVER,
    when the driver refuses, or CONTEXT_FAILED, when the context had failed
    already.
    """
    driver = _bindings()
    arguments = (
        tensorDataType,
        tensorRank,
        globalAddress,
        globalDim,
        globalStrides,
        boxDim,
        elementStrides,
        interleave,
        swizzle,
        l2Promotion,
        oobFill,
    )
    try:
        code, encoded = driver.cuTensorMapEncodeTiled(*arguments)
    except (AttributeError, TypeError):
        # Not all of the bindings' own types, which they are quick to see.
        code, encoded = driver.cuTensorMapEncodeTiled(*_own(driver, arguments))
    if int(code) != 0:
        raise _refused("cuTensorMapEncodeTiled", code)
    made = _place(_aligned_class(driver), slot, pool)
    _fill(made, encoded)
    return made


class _Replacement:
    """CUtensorMap of one module, replaced as long as somebody wants it."""

    def __init__(self, module: Any) -> None:
        self.original = module.CUtensorMap
        self.aligned = _aligned_class(module)
        self.count = 0


_replaced: dict[Any, _Replacement] = {}


def _replace(module: Any) -> None:
    replacement = _replaced.get(module)
    if replacement is None:
        replacement = _replaced[module] = _Replacement(module)
    replacement.count += 1
    module.CUtensorMap = replacement.aligned


def _restore(module: Any) -> None:
    replacement = _replaced[module]
    replacement.count -= 1
    if replacement.count > 0:
        return
    del _replaced[module]
    if module.CUtensorMap is replacement.aligned:
        module.CUtensorMap = replacement.original
    else:
        warnings.warn(
            f"{module.__name__}.CUtensorMap was replaced by something else "
            "while aligned_maps() was open; it is left as it is",
            RuntimeWarning,
            stacklevel=4,
        )


class aligned_maps:
    """While it is open, driver.CUtensorMap() makes aligned maps.

        with ashlar.cuda.aligned_maps():
            m = driver.CUtensorMap()        # m.getPtr() % 128 == 0

    driver.CUtensorMap is replaced by a subclass whose instances hold a slot of
    map_pool(); those made before, and by the bindings, still count as its
    instances, and those made meanwhile stay aligned afterwards. It is one
    replacement for the whole process: other threads get aligned maps too, and
    openings may nest and overlap in any order.

    It cannot reach
      - names imported earlier: after `from cuda.bindings.driver import
        CUtensorMap` a module has the old class. Name such modules,
        aligned_maps(module, ...), and their CUtensorMap is replaced too;
      - classes derived from driver.CUtensorMap earlier;
      - maps that the bindings make inside: driver.cuTensorMapEncodeTiled() and
        its like return theirs, wherever they are. Use encode_tiled(), or copy
        them with tensor_map(m);
      - driver.sizeof(driver.CUtensorMap), which knows only its own classes.
    """

    def __init__(self, *modules: types.ModuleType) -> None:
        driver = _bindings()
        for module in modules:
            if not issubclass(
                getattr(module, "CUtensorMap", object), driver.CUtensorMap
            ):
                raise Error(
                    f"{module!r} has no CUtensorMap of the bindings",
                    Status.INVALID,
                )
        self._modules = tuple(dict.fromkeys((driver, *modules)))

    def __enter__(self) -> Any:
        """The aligned class."""
        with _lock:
            for module in self._modules:
                _replace(module)
            return self._modules[0].CUtensorMap

    def __exit__(self, *exception: object) -> None:
        with _lock:
            for module in reversed(self._modules):
                _restore(module)
