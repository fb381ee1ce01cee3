# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import json
import os
import re
import subprocess
import sys
import types

import pytest

from ashlar import _toolkits, doctor

CUDA_12 = """
#define CUDA_VERSION 12040
typedef struct CUtensorMap_st {
#if defined(__cplusplus) && (__cplusplus >= 201103L)
    alignas(64)
#elif __STDC_VERSION__ >= 201112L
    _Alignas(64)
#endif
        cuuint64_t opaque[CU_TENSOR_MAP_NUM_QWORDS];
} CUtensorMap;
"""
CUDA_13 = CUDA_12.replace("12040", "13000").replace("(64)", "(128)")
CUDA_11 = "#define CUDA_VERSION 11080\n"


def write_header(text, place, folder):
    path = place / "nvidia" / folder / "include" / "cuda.h"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


@pytest.fixture(autouse=True)
def pip_brought_one(monkeypatch, tmp_path_factory):
    """All tests run as where a package of pip's has brought a toolkit."""
    place = tmp_path_factory.mktemp("site")
    monkeypatch.syspath_prepend(str(place))
    return write_header(CUDA_13, place, "cu13")


@pytest.fixture
def no_toolkits(monkeypatch):
    """None is found, whatever is installed; returns the path to find some."""
    path = []
    monkeypatch.setattr(_toolkits, "sys", types.SimpleNamespace(path=path))
    monkeypatch.setattr(_toolkits, "_PLACES", ())
    monkeypatch.setattr(_toolkits.shutil, "which", lambda name: None)
    for variable in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    return path


@pytest.fixture
def headers(no_toolkits, tmp_path):
    """headers(text, folder): a cuda.h there, in a wheel; only those exist."""
    no_toolkits.append(str(tmp_path))
    return lambda text, folder: write_header(text, tmp_path, folder)


def told(findings):
    return {finding.topic: finding for finding in findings}


def test_the_bindings_maps_are_found_misaligned(driver, no_toolkits):
    findings = told(doctor.examine())
    assert findings["slots"].level == "ok"
    maps = findings["maps"]
    assert maps.level == "problem" and "aligned_maps()" in maps.advice
    assert "200 of 200" in maps.fact and "200 at 48" in maps.fact
    assert ("not even of 64" in maps.fact) == (driver.MAJOR == 12)
    assert driver.__file__ in findings["bindings"].fact
    assert ("at 64" in findings["bindings"].fact) == (driver.MAJOR == 12)
    assert findings["cure"].level == "ok"
    assert findings["driver"].level == "ok"
    assert "mixture" not in findings


def test_encoded_maps_are_looked_at_where_a_context_is(driver, no_toolkits):
    encoder = told(doctor.examine())["encoder"]
    assert encoder.level == "problem" and "encode_tiled()" in encoder.advice
    driver.context = None
    encoder = told(doctor.examine())["encoder"]
    assert encoder.level == "note" and "--encode" in encoder.fact
    assert driver.context is None
    encoder = told(doctor.examine(make_context=True))["encoder"]
    assert encoder.level == "problem"


def test_what_the_driver_says_is_passed_on(driver, no_toolkits, monkeypatch):
    driver.fails_with = 700
    assert "700" in told(doctor.examine())["encoder"].fact

    def absent(*arguments):
        raise RuntimeError("libcuda.so.1 cannot be opened")

    monkeypatch.setattr(driver, "cuDriverGetVersion", absent)
    monkeypatch.setattr(driver, "cuInit", absent)
    findings = told(doctor.examine(make_context=True))
    assert "libcuda.so.1" in findings["driver"].fact
    assert "libcuda.so.1" in findings["encoder"].fact
    monkeypatch.setattr(
        driver, "cuDriverGetVersion", lambda: (driver.CUresult(0), 11040)
    )
    assert told(doctor.examine())["driver"].level == "note"


def test_bindings_that_align_are_fine(driver, no_toolkits, monkeypatch):
    from ashlar import cuda

    with cuda.aligned_maps():
        findings = told(doctor.examine())
    assert findings["maps"].level == "ok"


def test_64_against_128_is_told(driver, headers):
    headers(CUDA_12 if driver.MAJOR == 13 else CUDA_13, "cu99")
    mixture = told(doctor.examine())["mixture"]
    assert mixture.level == "note"
    assert re.search(r"64 by .*12.*, to 128 by .*13", mixture.fact)


def test_a_toolkit_that_pip_brought_is_found(pip_brought_one):
    assert str(pip_brought_one) in {t.header for t in _toolkits.find()}


def test_the_tests_see_only_their_own_toolkits(headers):
    assert _toolkits.find() == []
    own = headers(CUDA_12, "cu12")
    assert [t.header for t in _toolkits.find()] == [str(own)]


def test_toolkit_headers_are_found_and_read(headers, monkeypatch, tmp_path):
    first = headers(CUDA_12, "cuda_runtime")
    second = headers(CUDA_13, "cu13")
    old = headers(CUDA_11, "cu11")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "include").symlink_to(second.parent)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    found = {
        (os.path.realpath(t.header), t.version, t.alignment)
        for t in _toolkits.find()
    }
    assert found == {
        (str(first), 12040, 64), (str(second), 13000, 128), (str(old), 11080, 0)
    }
    findings = doctor._look_at_toolkits(_toolkits.find())
    assert sorted(finding.level for finding in findings) == ["note", "ok", "ok"]
    assert told(doctor._look_at_mixture(None, _toolkits.find()))["mixture"]


def test_without_bindings_or_headers_it_says_so(no_toolkits, monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda", None)
    findings = told(doctor.examine())
    assert findings["bindings"].level == "note"
    assert "cuda-bindings" in findings["bindings"].fact
    assert "maps" not in findings
    assert "not needed" in findings["headers"].fact


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "ashlar.doctor", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_it_runs_as_a_program(driver):
    path = os.pathsep.join(
        [os.path.dirname(os.path.dirname(os.path.dirname(driver.__file__))),
         os.environ.get("PYTHONPATH", "")]
    )
    result = run(PYTHONPATH=path, COLUMNS="80")
    assert (result.returncode, result.stderr) == (1, "")
    assert "200 at 48" in result.stdout
    assert "1 problem" in result.stdout
    lines = result.stdout.splitlines()
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)
    result = run("--json", "--encode", PYTHONPATH=path)
    told = json.loads(result.stdout)
    assert (result.returncode, told["problems"]) == (1, 2)
    assert {"level", "topic", "fact", "advice"} == set(told["findings"][0])
    result = run("--help")
    assert result.returncode == 0 and "--encode" in result.stdout
    assert run("--colour").returncode == 2
