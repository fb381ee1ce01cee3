# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Specs of tensor maps: made, compared, and checked without a driver."""

import copy
import enum
import pickle
import types

import pytest

import ashlar
from ashlar import Spec, SpecError, Status

TILED = dict(dtype="bf16", dims=(1024, 512), box=(64, 32), swizzle="128B",
             address=0x7F0000000000)


def rules(findings):
    return [(one.rule, one.field, one.index) for one in findings]


def test_a_spec_tells_what_it_is():
    spec = Spec(**TILED)
    assert (spec.dtype, spec.swizzle, spec.mode) == (
        "bfloat16", "swizzle_128B", "tiled")
    assert (spec.rank, spec.dims, spec.box) == (2, (1024, 512), (64, 32))
    assert (spec.strides, spec.element_strides) == ((2048,), (1, 1))
    assert spec.address == 0x7F0000000000
    assert (spec.interleave, spec.l2_promotion, spec.oob_fill) == (
        "none", "none", "none")
    assert repr(spec) == (
        "Spec(dtype='bfloat16', dims=(1024, 512), box=(64, 32), "
        "strides=(2048,), address=0x7f0000000000, swizzle='swizzle_128B')"
    )
    assert eval(repr(spec)) == spec


def test_settings_have_the_names_that_people_know():
    class Wrapped(enum.IntEnum):
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7

    torch = type("dtype", (), {"__str__": lambda self: "torch.bfloat16"})
    numpy = types.SimpleNamespace(name="float64")
    float16 = type("float16", (), {})
    for given, name in (
        ("bfloat16", "bfloat16"), ("BF16", "bfloat16"), ("half", "float16"),
        ("CU_TENSOR_MAP_DATA_TYPE_UINT8", "uint8"), (9, "bfloat16"),
        (Wrapped(7), "float32"), (torch(), "bfloat16"), (numpy, "float64"),
        (float16, "float16"), (77, 77),
    ):
        assert Spec(given, (64,), strides=()).dtype == name
    spec = Spec("uint8", (64,) * 3, oob_fill="nan",
                l2_promotion="CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
                interleave="16B", swizzle=1, mode="im2col")
    assert (spec.oob_fill, spec.interleave, spec.l2_promotion, spec.swizzle,
            spec.mode) == ("nan_request_zero_fma", "interleave_16B", "l2_128B",
                           "swizzle_32B", "im2col")


def test_wrapped_integers_are_taken():
    class Wide:
        def __init__(self, value):
            self.value = value

        def __int__(self):
            return self.value

    spec = Spec("bf16", [Wide(64), 8], [Wide(8), Wide(4)], address=Wide(4096))
    assert spec == Spec("bf16", (64, 8), (8, 4), address=4096)


def test_what_no_spec_can_hold_is_refused(raises):
    said = raises(Status.INVALID, Spec, "bfloat17", (64,))
    assert "bfloat17" in said and "bfloat16" in said
    assert "1 to 5" in raises(Status.INVALID, Spec, "bf16", ())
    assert "6 entries" in raises(Status.INVALID, Spec, "bf16", (1,) * 6)
    said = raises(Status.INVALID, Spec, "bf16", (64, 64), (64,))
    assert "box has 1 entries" in said and "2" in said
    raises(Status.INVALID, Spec, "bf16", (64, 64), strides=(1, 2))
    raises(Status.INVALID, Spec, "bf16", (64, -1))
    raises(Status.INVALID, Spec, "bf16", (64, 1 << 64))
    raises(Status.INVALID, Spec, "bf16", (64,), (1 << 32,))
    raises(Status.INVALID, Spec, "bf16", (64,) * 3, lower_corner=(1 << 31,))
    raises(Status.INVALID, Spec, "bf16", (64,) * 3, lower_corner=(0, 0))
    raises(Status.INVALID, Spec, "bf16", (64,), channels=-1)
    for wrong in ((64.0,), ("64",), 64, None, [None]):
        with pytest.raises(TypeError):
            Spec("bf16", wrong)
    with pytest.raises(TypeError):
        Spec("bf16", (64,), (64,), (2,))
    with pytest.raises(ValueError):
        Spec("bf\0", (64,))


def test_equal_specs_are_equal():
    spec = Spec(**TILED)
    assert spec == Spec(**{**TILED, "strides": [2048]})
    assert hash(spec) == hash(Spec(**TILED))
    assert len({spec, Spec(**TILED), spec.replace(address=16)}) == 2
    assert spec != spec.replace(swizzle="64B") and spec != "spec"
    assert not spec != copy.copy(spec)
    with pytest.raises(TypeError):
        spec < spec
    with pytest.raises(AttributeError):
        spec.address = 3


def test_a_spec_is_replaced_copied_and_pickled():
    spec = Spec(**TILED, element_strides=(1, 2), l2_promotion="256B")
    assert spec.replace() == spec
    assert spec.replace(address=32).address == 32
    assert spec.replace(dims=(2048, 8)).strides == (4096,)
    assert spec.replace(dims=(2048, 8), strides=(8192,)).strides == (8192,)
    assert spec.replace(dtype="float").strides == (4096,)
    assert spec.replace(box=(8, 8)).strides == (2048,)
    im2col = Spec("half", (64, 9, 9, 3), mode="im2col", lower_corner=(-1, -2),
                  upper_corner=(1, 2), channels=64, pixels=128)
    odd = Spec(77, (1,), strides=(), swizzle=99)
    for one in (spec, im2col, odd):
        assert copy.copy(one) == copy.deepcopy(one) == one
        assert pickle.loads(pickle.dumps(one)) == one
        assert eval(repr(one)) == one
    with pytest.raises(TypeError):
        spec.replace(17)
    with pytest.raises(TypeError):
        spec.replace(size=17)


def test_a_right_spec_passes():
    assert Spec(**TILED).check() == []
    assert Spec(**TILED).check(capability=90) == []
    im2col = Spec("half", (64, 9, 9, 3), mode="im2col", lower_corner=(-1, -2),
                  upper_corner=(1, 2), channels=64, pixels=128, address=4096)
    assert im2col.check() == []


def test_all_that_is_wrong_is_told_at_once():
    spec = Spec("half", (1025, 64), (128, 64), strides=[2050], swizzle="128B",
                address=0x7F0000000008)
    with pytest.raises(SpecError) as caught:
        spec.check()
    error = caught.value
    assert isinstance(error, ashlar.Error) and error.status is Status.INVALID
    assert error.index is None
    assert sorted(rules(error.findings)) == [
        ("address-multiple", "address", None),
        ("inner-swizzle", "box", 0),
        ("stride-multiple", "strides", 0),
    ]
    lines = str(error).splitlines()
    assert len(lines) == 4 and "3 rules" in lines[0]
    for line, finding in zip(lines[1:], error.findings):
        assert line.strip() == str(finding)
        assert finding.sentence in line and finding.rule in line
    stride = next(one for one in error.findings if one.field == "strides")
    assert (stride.value, stride.bound, stride.right) == (2050, 16, 2064)
    assert stride.cause is None and stride.cause_value is None
    box = next(one for one in error.findings if one.field == "box")
    assert (box.value, box.right, box.cause, box.cause_value) == (
        128, 64, "swizzle", "swizzle_128B")
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error) and back.findings == error.findings


def test_settings_and_corners_are_told_as_such():
    with pytest.raises(SpecError) as caught:
        Spec("bf16", (64,), (8,), swizzle=99, address=4096).check()
    (finding,) = caught.value.findings
    assert (finding.field, finding.value) == ("swizzle", 99)
    assert "a rule" in str(caught.value)
    spec = Spec("half", (64, 9, 9, 3), mode="im2col", channels=64, pixels=8,
                lower_corner=(-200, 0), upper_corner=(1, 2), address=4096)
    with pytest.raises(SpecError) as caught:
        spec.check()
    assert (-200, "lower_corner", 0) in [
        (one.value, one.field, one.index) for one in caught.value.findings
    ]


def test_what_people_regret_is_a_warning():
    spec = Spec("bf16", (64, 8), (128, 8))
    warnings = spec.check()
    assert {one.severity for one in warnings} == {"warning"}
    assert ("address-null", "address", None) in rules(warnings)
    assert ("box-wide", "box", 0) in rules(warnings)
    wrong = spec.replace(strides=[3])
    found = wrong.findings()
    assert found[0].severity == "error" and found[-1].severity == "warning"
    with pytest.raises(SpecError) as caught:
        wrong.check()
    assert {one.severity for one in caught.value.findings} == {"error"}


def test_the_device_is_asked_about(raises):
    spec = Spec("16u4_align8b", (64, 8), (64, 8), address=4096)
    assert "capability" not in {rule for rule, _, _ in rules(spec.findings())}
    assert "capability" in {rule for rule, _, _ in rules(spec.findings(90))}
    raises(Status.INVALID, spec.check, -1)
    assert "90 for 9.0" in raises(Status.INVALID, spec.check, 9000)
