# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""The shape of cuda.bindings.driver, without a driver.

What is alike, since ashlar relies on it or must cope with it:
  - CUtensorMap keeps its bytes in the object, 48 behind a multiple of 128;
    `_ptr=` borrows an address instead; instances have neither __dict__ nor
    weak references; subclasses work; getPtr() tells the address;
  - calls return a tuple that begins with a CUresult, and None for what they
    could not make; the encoder makes its map by itself, whatever the module's
    CUtensorMap is by then, and takes only lists or tuples of the module's own
    integers, and members of its own enumerations;
  - those are IntEnums in 12, and a lookalike of 13's own.

There is no context until one is made current: the encoder says so.
"""

import ctypes
import enum
import struct

from . import __version__

MAJOR = int(__version__.split(".")[0])
CUDA_VERSION = {12: 12090, 13: 13000}[MAJOR]

if MAJOR == 12:
    _Enum = enum.IntEnum
else:

    class _Members(type):
        def __init__(cls, name, bases, namespace):
            super().__init__(name, bases, namespace)
            cls._values = {}
            for key, value in list(namespace.items()):
                if isinstance(value, int) and not key.startswith("_"):
                    member = int.__new__(cls, value)
                    member._name = key
                    cls._values[value] = member
                    setattr(cls, key, member)

    class _Enum(int, metaclass=_Members):
        def __new__(cls, value):
            try:
                return cls._values[value]
            except KeyError:
                raise ValueError(
                    f"{value} is not a valid {cls.__name__}"
                ) from None

        name = property(lambda self: self._name)
        value = property(int)


class CUresult(_Enum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class CUtensorMapDataType(_Enum):
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0
    CU_TENSOR_MAP_DATA_TYPE_INT32 = 3
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9


class CUtensorMapInterleave(_Enum):
    CU_TENSOR_MAP_INTERLEAVE_NONE = 0


class CUtensorMapSwizzle(_Enum):
    CU_TENSOR_MAP_SWIZZLE_NONE = 0
    CU_TENSOR_MAP_SWIZZLE_128B = 3


class CUtensorMapL2promotion(_Enum):
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0


class CUtensorMapFloatOOBfill(_Enum):
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0


class _Integer:
    __slots__ = ("_value",)

    def __init__(self, init_value=0, _ptr=0):
        self._value = self._kind(init_value)

    def __int__(self):
        return self._value.value

    def __repr__(self):
        return f"<{type(self).__name__} {int(self)}>"

    def getPtr(self):
        return ctypes.addressof(self._value)


class cuuint32_t(_Integer):
    __slots__ = ()
    _kind = ctypes.c_uint32


class cuuint64_t(_Integer):
    __slots__ = ()
    _kind = ctypes.c_uint64


class CUtensorMap_st:
    __slots__ = ("_inside", "_address")

    def __new__(cls, _ptr=0):
        self = super().__new__(cls)
        self._address = int(_ptr)
        if self._address == 0:
            self._inside = ctypes.create_string_buffer(3 * 128)
            inside = ctypes.addressof(self._inside)
            self._address = inside + -inside % 128 + 48
        return self

    def __init__(self, _ptr=0):
        pass

    def getPtr(self):
        return self._address

    @property
    def opaque(self):
        words = (ctypes.c_uint64 * 16).from_address(self._address)
        return [cuuint64_t(init_value=word) for word in words]

    @opaque.setter
    def opaque(self, words):
        (ctypes.c_uint64 * 16).from_address(self._address)[:] = [
            int(word) for word in words
        ]

    def __repr__(self):
        return f"opaque : {self.opaque}"


class CUtensorMap(CUtensorMap_st):
    __slots__ = ()


_CUtensorMap = CUtensorMap

# What the tests set: who is current, and what every call says then.
context = None
fails_with = None


def sizeof(objType):
    if objType == _CUtensorMap:
        return 128
    raise TypeError(f"Unknown type: {objType}")


def _list_of(values, kind, name, rank):
    values = [] if values is None else values
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(f"Argument '{name}' is not instance of type {kind}")
    if len(values) < rank:
        raise RuntimeError(f"List is too small: {len(values)} < {rank}")
    return [int(value) for value in values]


def cuTensorMapEncodeTiled(
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
):
    rank = int(tensorRank)
    numbers = [
        *_list_of(globalDim, cuuint64_t, "globalDim", rank),
        *_list_of(globalStrides, cuuint64_t, "globalStrides", rank - 1),
    ]
    small = [
        *_list_of(boxDim, cuuint32_t, "boxDim", rank),
        *_list_of(elementStrides, cuuint32_t, "elementStrides", rank),
    ]
    choices = [tensorDataType, interleave, swizzle, l2Promotion, oobFill]
    if any(choice is None for choice in choices):
        raise TypeError("an enumeration must not be None")
    words = [
        int(globalAddress), rank, *numbers, *small,
        *(choice.value for choice in choices),
    ]
    if fails_with is not None:
        return (CUresult(fails_with), None)
    if context is None:
        return (CUresult.CUDA_ERROR_INVALID_CONTEXT, None)
    if any(stride % 16 != 0 for stride in numbers[rank:]):
        return (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    made = _CUtensorMap()
    packed = struct.pack(f"<{len(words)}Q", *words)[:128].ljust(128, b"\0")
    ctypes.memmove(made.getPtr(), packed, 128)
    return (CUresult.CUDA_SUCCESS, made)


def cuTensorMapReplaceAddress(tensorMap, globalAddress):
    if not isinstance(tensorMap, _CUtensorMap):
        raise TypeError(f"expected CUtensorMap, got {type(tensorMap)}")
    ctypes.c_uint64.from_address(tensorMap.getPtr()).value = int(globalAddress)
    return (CUresult.CUDA_SUCCESS,)


def cuInit(Flags):
    return (CUresult.CUDA_SUCCESS,)


def cuDriverGetVersion():
    return (CUresult.CUDA_SUCCESS, CUDA_VERSION)


def cuDeviceGet(ordinal):
    return (CUresult.CUDA_SUCCESS, ordinal)


def cuDevicePrimaryCtxRetain(dev):
    return (CUresult.CUDA_SUCCESS, "primary context")


def cuDevicePrimaryCtxRelease(dev):
    return (CUresult.CUDA_SUCCESS,)


def cuCtxSetCurrent(ctx):
    global context
    context = ctx
    return (CUresult.CUDA_SUCCESS,)


def cuMemcpyHtoD(dstDevice, srcHost, ByteCount):
    ctypes.string_at(int(srcHost), ByteCount)
    return (CUresult.CUDA_SUCCESS,)


def cuLaunchKernel(
    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
    sharedMemBytes, hStream, kernelParams, extra,
):
    values, types = kernelParams
    for value, kind in zip(values, types, strict=True):
        if kind is None:
            ctypes.string_at(value.getPtr(), 1)
        else:
            kind(value)
    return (CUresult.CUDA_SUCCESS,)
