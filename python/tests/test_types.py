# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import pytest

import ashlar
from ashlar import Status, _core


def test_a_tensor_map_is_known():
    info = ashlar.find_type("CUtensorMap")
    assert (info.size, info.alignment, info.stride) == (128, 128, 128)
    assert (info.cuda12_alignment, info.cuda13_alignment) == (64, 128)
    assert info.built_in and not info.not_over_aligned
    assert "cute::TmaDescriptor" in info.aliases
    assert ashlar.find_type("cute::TmaDescriptor") == info
    assert info.source


def test_types_are_listed():
    ashlar.register("listed", 1, 1)
    infos = ashlar.types()
    names = [info.name for info in infos]
    assert len(set(names)) == len(names)
    assert {"CUtensorMap", "ncclUniqueId", "listed"} <= set(names)
    assert all(isinstance(info, ashlar.TypeInfo) for info in infos)
    assert any(info.not_over_aligned for info in infos)
    assert all(ashlar.find_type(info.name) == info for info in infos)


def test_registering_again_finds_the_stronger(raises):
    weak = ashlar.register("grows", 40, 8)
    assert (weak.stride, weak.built_in, weak.frozen) == (40, False, False)
    assert ashlar.register(name="grows", size=40, align=64).alignment == 64
    assert ashlar.register("grows", 40, 16).alignment == 64
    ashlar.Pool("grows")
    assert ashlar.find_type("grows").frozen
    sentence = raises(Status.CONFLICT, ashlar.register, "grows", 40, 128)
    assert "64" in sentence and "128" in sentence
    raises(Status.CONFLICT, ashlar.register, "grows", 41, 8)


def test_a_callers_weaker_tensor_map_is_the_same_type(raises):
    for align in (8, 64, 128):
        assert ashlar.register("CUtensorMap", 128, align).alignment == 128
    raises(Status.CONFLICT, ashlar.register, "CUtensorMap", 128, 256)


@pytest.mark.parametrize(
    "arguments",
    [("", 8, 8), ("x" * 128, 8, 8), ("x", 0, 8), ("x", 8, 0), ("x", 8, 3),
     ("x", 8, 2**31), ("x", -8, 8), ("x", 8, -8), ("x", 2**63 - 1, 64),
     ("x", 2**70, 8)],
)
def test_what_is_no_type_is_refused(raises, arguments):
    assert raises(Status.INVALID, ashlar.register, *arguments)
    raises(Status.NOT_FOUND, ashlar.find_type, "x")


def test_names_are_text(raises):
    ashlar.register("\N{SNOWMAN}", 8, 8)
    assert ashlar.find_type("\N{SNOWMAN}").size == 8
    for name in (None, b"bytes", 1):
        with pytest.raises(TypeError):
            ashlar.register(name, 8, 8)
        with pytest.raises(TypeError):
            ashlar.find_type(name)
    with pytest.raises(ValueError):
        ashlar.register("with\0zero", 8, 8)
    with pytest.raises(ValueError):
        ashlar.find_type("CUtensorMap\0")


def test_statuses_are_the_librarys():
    for status in Status:
        name = "ASHLAR_OK" if status == 0 else f"ASHLAR_ERR_{status.name}"
        assert _core._status_name(status) == name
    unknown = _core._status_name(-10_000)
    assert _core._status_name(min(Status) - 1) == unknown, (
        "the library has a status that this package does not know"
    )


def test_the_build_tells_of_itself(raises):
    assert ashlar.build_info("version") == ashlar.version()
    assert ashlar.__version__ == ashlar.version()
    assert ashlar.build_info("jemalloc.kind") in ("private", "system")
    raises(Status.NOT_FOUND, ashlar.build_info, "colour")
