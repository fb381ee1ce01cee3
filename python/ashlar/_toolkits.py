# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""CUDA headers on this machine, and how they declare CUtensorMap."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from typing import Iterator, NamedTuple

_PLACES = (
    "/usr/local/cuda/include/cuda.h",
    "/usr/local/cuda-*/include/cuda.h",
    "/opt/cuda*/include/cuda.h",
    "/usr/lib/cuda/include/cuda.h",
    "/usr/include/cuda.h",
)
_BELOW = ("include/cuda.h", "targets/*/include/cuda.h")
# Where the wheels nvidia-cuda-runtime and nvidia-cuda-runtime-cu12 put theirs.
_WHEELS = ("nvidia/cu*/include/cuda.h", "nvidia/cuda_runtime/include/cuda.h")

_VERSION = re.compile(r"^\s*#\s*define\s+CUDA_VERSION\s+(\d+)", re.M)
_STRUCT = re.compile(r"struct\s+CUtensorMap_st\s*\{(.*?)\}", re.S)
_ALIGNED = re.compile(r"\b(?:_Alignas|alignas)\s*\(\s*(\d+)\s*\)")


class Toolkit(NamedTuple):
    """One cuda.h."""

    header: str
    #: As CUDA_VERSION: 13000 for 13.0.
    version: int
    #: Bytes that CUtensorMap is declared at; 0: not declared, or without.
    alignment: int


def _read(header: str) -> Toolkit | None:
    try:
        with open(header, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    version = _VERSION.search(text)
    if version is None:
        return None
    struct = _STRUCT.search(text)
    aligned = struct and _ALIGNED.search(struct[1])
    return Toolkit(
        header, int(version[1]), int(aligned[1]) if aligned else 0
    )


def _patterns() -> Iterator[str]:
    for variable in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        folder = os.environ.get(variable)
        if folder:
            for place in _BELOW:
                yield os.path.join(glob.escape(folder), place)
    nvcc = shutil.which("nvcc")
    if nvcc:
        folder = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        for place in _BELOW:
            yield os.path.join(glob.escape(folder), place)
    for folder in sys.path:
        for place in _WHEELS:
            yield os.path.join(glob.escape(folder or "."), place)
    yield from _PLACES


def find() -> list[Toolkit]:
    """All toolkit headers in the usual places, each once."""
    found: dict[str, Toolkit] = {}
    for pattern in _patterns():
        for header in sorted(glob.glob(pattern)):
            real = os.path.realpath(header)
            if real not in found:
                toolkit = _read(header)
                if toolkit is not None:
                    found[real] = toolkit
    return list(found.values())
