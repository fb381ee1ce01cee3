# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""python -m ashlar.doctor: is every tensor map here where it has to be?

Looks at the bindings, measures where they put their maps, compares with what
the toolkit headers and the driver are for, and says what to do.
"""

from __future__ import annotations

import argparse
import collections
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import textwrap
from typing import Any, Iterable, NamedTuple, Sequence

import ashlar

from . import _toolkits, cuda

_MAPS = 200
_PACKAGES = (
    "cuda-python",
    "cuda-core",
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
    "torch",
    "triton",
    "cupy-cuda12x",
    "cupy-cuda13x",
)
_COLOURS = {"ok": "32", "note": "33", "problem": "31"}


class Finding(NamedTuple):
    """A fact: "ok", worth a "note", or a "problem"."""

    level: str
    topic: str
    fact: str
    advice: str | None = None


class Maps(NamedTuple):
    """Where some maps were."""

    total: int
    #: How many were so many bytes behind a multiple of 128.
    residues: collections.Counter[int]

    def misaligned(self, alignment: int) -> int:
        return sum(
            count
            for residue, count in self.residues.items()
            if residue % alignment != 0
        )


def _measure(maps: Iterable[Any]) -> Maps:
    # All are kept alive meanwhile: else one address would serve for all.
    kept = list(maps)
    residues = collections.Counter(int(map.getPtr()) % 128 for map in kept)
    return Maps(len(kept), residues)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _declared(version: int) -> int:
    """What headers of that version declare CUtensorMap at."""
    return 128 if version >= 13000 else 64


def _residues(maps: Maps) -> str:
    parts = [
        f"{count} at {residue}"
        for residue, count in maps.residues.most_common(4)
    ]
    rest = len(maps.residues) - len(parts)
    if rest > 0:
        parts.append(f"and {rest} other residues")
    return ", ".join(parts)


def _look_at_ashlar() -> list[Finding]:
    pool = ashlar.Pool("CUtensorMap", name="ashlar.doctor")
    slots = pool.get_many(_MAPS)
    wrong = sum(slot.address % 128 != 0 for slot in slots)
    return [
        Finding(
            "ok",
            "python",
            f"{platform.python_implementation()} {platform.python_version()}, "
            f"{sys.executable}",
        ),
        Finding(
            "ok",
            "ashlar",
            f"{ashlar.__version__}, {os.path.dirname(ashlar.__file__)} "
            f"(jemalloc: {ashlar.build_info('jemalloc.kind')})",
        ),
        Finding(
            "problem" if wrong else "ok",
            "slots",
            f"{len(slots) - wrong} of {len(slots)} slots of CUtensorMap are at "
            "a multiple of 128",
        ),
    ]


def _look_at_maps(topic: str, what: str, maps: Maps, needed: int) -> Finding:
    wrong = maps.misaligned(128)
    if wrong == 0:
        return Finding(
            "ok", topic, f"{maps.total} of {maps.total} {what} are aligned"
        )
    less = maps.misaligned(needed)
    return Finding(
        "problem",
        topic,
        f"{wrong} of {maps.total} {what} are not at a multiple of 128"
        + (f" ({less} not even of {needed})" if needed < 128 and less else "")
        + f"; bytes behind one: {_residues(maps)}",
        "make them with ashlar.cuda.tensor_map() and "
        "ashlar.cuda.encode_tiled(); for code that you cannot change, open "
        "ashlar.cuda.aligned_maps() around it"
        if topic == "maps"
        else "encode with ashlar.cuda.encode_tiled(), or copy what the "
        "bindings return: ashlar.cuda.tensor_map(map)",
    )


def _arguments(driver: Any, address: int) -> tuple[Any, ...]:
    """Of cuTensorMapEncodeTiled: 32 x 32 of 1024 x 1024 integers."""
    wide, narrow = driver.cuuint64_t, driver.cuuint32_t
    return (
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_INT32,
        2,
        address,
        [wide(1024), wide(1024)],
        [wide(4096)],
        [narrow(32), narrow(32)],
        [narrow(1), narrow(1)],
        driver.CUtensorMapInterleave(0),
        driver.CUtensorMapSwizzle(0),
        driver.CUtensorMapL2promotion(0),
        driver.CUtensorMapFloatOOBfill(0),
    )


def _check(call: str, result: tuple[Any, ...]) -> Any:
    if int(result[0]) != 0:
        name = getattr(result[0], "name", "CUresult")
        raise RuntimeError(f"{call} failed: {name} ({int(result[0])})")
    return result[1] if len(result) > 1 else None


def _encode(driver: Any, make_context: bool) -> Maps | str:
    """Where the encoder's maps are, or why that is not known.

    A context is made only on request: it takes a moment, and device memory.
    """
    device = None
    try:
        if make_context:
            _check("cuInit", driver.cuInit(0))
            device = _check("cuDeviceGet", driver.cuDeviceGet(0))
            context = _check(
                "cuDevicePrimaryCtxRetain",
                driver.cuDevicePrimaryCtxRetain(device),
            )
            _check("cuCtxSetCurrent", driver.cuCtxSetCurrent(context))
        # Nothing reads through the address: any multiple of 16 will do.
        arguments = _arguments(driver, 0x7F0000000000)
        maps = []
        for _ in range(_MAPS):
            result = driver.cuTensorMapEncodeTiled(*arguments)
            if int(result[0]) in (3, 201) and not make_context:
                return "no context is current (--encode makes one)"
            maps.append(_check("cuTensorMapEncodeTiled", result))
        return _measure(maps)
    except (RuntimeError, AttributeError) as error:
        return str(error)
    finally:
        if device is not None:
            driver.cuDevicePrimaryCtxRelease(device)


def _look_at_bindings(driver: Any, make_context: bool) -> list[Finding]:
    package = sys.modules.get("cuda.bindings")
    version = getattr(package, "__version__", "of unknown version")
    declared = _declared(driver.CUDA_VERSION)
    findings = [
        Finding(
            "ok",
            "bindings",
            f"cuda.bindings {version}, {driver.__file__}; made with CUDA "
            f"{_version(driver.CUDA_VERSION)}, which declares CUtensorMap at "
            f"{declared}",
        )
    ]
    maps = _measure(driver.CUtensorMap() for _ in range(_MAPS))
    findings.append(
        _look_at_maps("maps", "driver.CUtensorMap()", maps, declared)
    )
    encoded = _encode(driver, make_context)
    if isinstance(encoded, str):
        findings.append(
            Finding("note", "encoder", f"its maps were not looked at: {encoded}")
        )
    else:
        what = "maps of driver.cuTensorMapEncodeTiled()"
        findings.append(_look_at_maps("encoder", what, encoded, declared))
    made = _measure(cuda.tensor_map() for _ in range(_MAPS))
    findings.append(
        _look_at_maps("cure", "ashlar.cuda.tensor_map()", made, declared)
    )
    return findings


def _look_at_driver(driver: Any) -> Finding:
    # Asking for the version starts nothing on the device.
    try:
        number = int(_check("cuDriverGetVersion", driver.cuDriverGetVersion()))
    except (RuntimeError, AttributeError) as error:
        return Finding(
            "note",
            "driver",
            f"not found: {error}",
            "fine for making maps; to encode and to launch, install the "
            "NVIDIA driver or, in a container, start it with its GPUs",
        )
    if number < 12000:
        return Finding(
            "note",
            "driver",
            f"for CUDA {_version(number)}",
            "tensor maps need a driver for CUDA 12.0 or later",
        )
    return Finding("ok", "driver", f"for CUDA {_version(number)}")


def _look_at_toolkits(toolkits: Sequence[_toolkits.Toolkit]) -> list[Finding]:
    findings = []
    for toolkit in toolkits:
        name = f"CUDA {_version(toolkit.version)}, {toolkit.header}"
        if toolkit.alignment == 0:
            findings.append(
                Finding("note", "headers", f"{name}: no aligned CUtensorMap")
            )
        else:
            findings.append(
                Finding(
                    "ok",
                    "headers",
                    f"{name}: CUtensorMap at {toolkit.alignment}",
                )
            )
    return findings or [
        Finding("ok", "headers", "none of a toolkit; not needed")
    ]


def _look_at_packages() -> list[Finding]:
    installed = []
    for name in _PACKAGES:
        try:
            installed.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    if not installed:
        return []
    return [Finding("ok", "packages", ", ".join(installed))]


def _look_at_mixture(
    driver: Any, toolkits: Sequence[_toolkits.Toolkit]
) -> list[Finding]:
    """Code compiled at 64 and code compiled at 128, in one program."""
    at: dict[int, list[str]] = {}
    if driver is not None:
        at.setdefault(_declared(driver.CUDA_VERSION), []).append(
            f"the bindings (CUDA {_version(driver.CUDA_VERSION)})"
        )
    for toolkit in toolkits:
        if toolkit.alignment:
            at.setdefault(toolkit.alignment, []).append(
                f"headers of CUDA {_version(toolkit.version)}"
            )
    if len(at) < 2:
        return []
    sides = [
        f"{alignment} by {' and '.join(dict.fromkeys(names))}"
        for alignment, names in sorted(at.items())
    ]
    return [
        Finding(
            "note",
            "mixture",
            f"CUtensorMap is aligned to {', to '.join(sides)}",
            "what is packed at 64 by one is refused, or faults, where the "
            "other counts on 128; take all maps from ashlar, whose slots suit "
            "both",
        )
    ]


def examine(make_context: bool = False) -> list[Finding]:
    """All there is to say about this process and machine."""
    findings = _look_at_ashlar()
    toolkits = _toolkits.find()
    driver = None
    try:
        driver = cuda._bindings()
    except ImportError as error:
        findings.append(
            Finding(
                "note",
                "bindings",
                str(error),
                "fine for pools; ashlar.cuda needs them",
            )
        )
    if driver is not None:
        findings += _look_at_bindings(driver, make_context)
        findings.append(_look_at_driver(driver))
    findings += _look_at_toolkits(toolkits)
    findings += _look_at_packages()
    findings += _look_at_mixture(driver, toolkits)
    return findings


def _print_text(findings: Sequence[Finding]) -> None:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = max(shutil.get_terminal_size((80, 24)).columns, 60)
    for finding in findings:
        level = f"{finding.level:<9}"
        if colour:
            level = f"\x1b[{_COLOURS[finding.level]}m{level}\x1b[0m"
        lines = textwrap.wrap(finding.fact, width - 23)
        if finding.advice is not None:
            lines += textwrap.wrap(
                finding.advice,
                width - 23,
                initial_indent="-> ",
                subsequent_indent="   ",
            )
        print(f"{level}{finding.topic:<14}{lines[0]}")
        for line in lines[1:]:
            print(f"{'':23}{line}")


def _count(findings: Sequence[Finding], level: str) -> int:
    return sum(finding.level == level for finding in findings)


def _plural(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 when there is a problem."""
    parser = argparse.ArgumentParser(
        prog="python -m ashlar.doctor",
        description="Tell whether tensor maps made here in Python are where "
        "they have to be, what is mixed with what, and what to do.",
        epilog="The exit status is 1 when there is a problem.",
    )
    parser.add_argument(
        "--encode",
        action="store_true",
        help="make a context on device 0, to look at encoded maps too",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object"
    )
    options = parser.parse_args(arguments)
    findings = examine(options.encode)
    problems = _count(findings, "problem")
    notes = _count(findings, "note")
    if options.json:
        json.dump(
            {
                "ashlar": ashlar.__version__,
                "problems": problems,
                "notes": notes,
                "findings": [finding._asdict() for finding in findings],
            },
            sys.stdout,
            indent=2,
        )
        print()
    else:
        _print_text(findings)
        print(f"\n{_plural(problems, 'problem')}, {_plural(notes, 'note')}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
