# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""The stubs, the manual and the package say the same."""

import ast
import ctypes
import gc
import inspect
import pathlib
import re
import types

import pytest

import ashlar
from ashlar import _core

PACKAGE = pathlib.Path(ashlar.__file__).parent


@pytest.fixture(scope="module")
def stubs():
    return ast.parse((PACKAGE / "_core.pyi").read_text())


def names_of(body):
    return {
        node.name
        for node in body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_stubs_have_every_name_and_no_other(stubs):
    there = {name for name in vars(_core) if not name.startswith("__")}
    assert names_of(stubs.body) == there
    special = {"__enter__", "__exit__", "__int__", "__len__", "__getitem__",
               "__iter__"}
    for node in stubs.body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = getattr(_core, node.name)
        there = {
            name
            for name in vars(kind)
            if not name.startswith("_") or name in special
        }
        told = {
            name
            for name in names_of(node.body)
            if not name.startswith("_") or name in special
        }
        assert told == there, node.name


def test_stubs_have_the_parameters_of_the_docstrings(stubs):
    def parameters(function):
        arguments = function.args
        return [
            argument.arg
            for argument in (
                *arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                *filter(None, [arguments.kwarg]),
            )
            if argument.arg not in ("self", "cls")
        ]

    checked = 0
    for node in stubs.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            continue
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = getattr(_core, node.name)
        for member in members:
            if not isinstance(member, ast.FunctionDef):
                continue
            if member.name.startswith("_") or member.decorator_list:
                continue
            live = owner if member is node else getattr(owner, member.name)
            told = list(inspect.signature(live).parameters)
            assert parameters(member) == [n for n in told if n != "self"]
            checked += 1
    assert checked > 20


def test_everything_public_is_in_all():
    from ashlar import cuda

    for module in (ashlar, cuda):
        for name in module.__all__:
            assert hasattr(module, name)
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public <= set(ashlar.__all__)


class Array:
    """What CuPy and PyTorch make of what has __cuda_array_interface__."""

    def __init__(self, owner):
        self.owner = owner
        self.interface = owner.__cuda_array_interface__


MANUAL = pathlib.Path(__file__).parents[2] / "doc" / "python.md"


@pytest.mark.skipif(not MANUAL.exists(), reason="the manual is not here")
def test_the_manuals_code_runs(driver, device, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", MANUAL.read_text(),
                        re.M | re.S)
    assert len(blocks) >= 4
    try:
        import numpy
    except ImportError:
        numpy = types.SimpleNamespace(asarray=memoryview)
    arrays = types.SimpleNamespace(asarray=Array, as_tensor=Array)
    monkeypatch.setattr(ashlar, "Source", lambda name, options=None: device)
    names = {
        "cupy": arrays, "torch": arrays,
        "dtype": driver.CUtensorMapDataType(9),
        "pointer": 0x7F0000000000,
        "f": None, "grid": (1, 1, 1), "block": (32, 1, 1), "stream": 0,
        "n": 17, "c_int": ctypes.c_int, "device": 0x7F0000000000,
        "arguments": lambda i: (9, 1, 4096 * i, [64], [], [32], [1]),
        "numpy": numpy,
        "print": lambda said: said == {48} or pytest.fail(str(said)),
    }
    for block in blocks:
        exec(compile(block, str(MANUAL), "exec"), names)
    assert [int(one.getPtr()) % 128 for one in names["maps"]] == [0] * 4096
    assert names["rows"].shape == (1000, 64)
    # What the manual makes can all be let go.
    names.clear()
    gc.collect()
    device.close()
