# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import importlib
import os
import pathlib
import subprocess
import sys

import pytest

import ashlar

STANDIN = pathlib.Path(__file__).parent / "standin"


def pytest_addoption(parser):
    parser.addoption("--tap", help="write the results to this file, as TAP")


def pytest_configure(config):
    if config.getoption("--tap"):
        config.pluginmanager.register(Tap(config.getoption("--tap")))


class Tap:
    """One line per test, for the build's own test driver."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", buffering=1)
        self.count = 0

    def tell(self, result, name, directive=""):
        self.count += 1
        self.file.write(f"{result} {self.count} - {name}{directive}\n")

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("/")[2].replace("::test_", "::")
        name = name.replace("#", "no.")
        if report.skipped:
            self.tell("ok", name, f" # SKIP {report.longrepr[2]}")
        elif report.failed:
            self.tell("not ok", f"{name} ({report.when})")
            for line in report.longreprtext.splitlines():
                self.file.write(f"# {line}\n")
        elif report.when == "call":
            self.tell("ok", name)

    def pytest_sessionfinish(self):
        self.file.write(f"1..{self.count}\n")


@pytest.fixture
def pool():
    return ashlar.Pool("CUtensorMap")


@pytest.fixture
def raises():
    """raises(status, call, *arguments): Error of that status; its sentence."""

    def check(status, call, *arguments, **keywords):
        with pytest.raises(ashlar.Error) as caught:
            call(*arguments, **keywords)
        assert caught.value.status is status
        return str(caught.value)

    return check


@pytest.fixture
def python():
    """python(program, *arguments): what it printed; it succeeds in silence."""

    def run(program, *arguments, status=0, quiet=True, **environment):
        result = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == status, result.stderr
        if quiet:
            assert result.stderr == ""
        return result.stdout

    return run


def forget_bindings():
    for name in list(sys.modules):
        if name == "cuda" or name.startswith("cuda."):
            del sys.modules[name]


@pytest.fixture(params=["12", "13"])
def driver(request, monkeypatch):
    """The stand-in for cuda.bindings.driver, with a context current."""
    monkeypatch.setenv("ASHLAR_STANDIN", request.param)
    monkeypatch.syspath_prepend(str(STANDIN))
    forget_bindings()
    module = importlib.import_module("cuda.bindings.driver")
    assert module.__file__.startswith(str(STANDIN))
    module.cuCtxSetCurrent("a context")
    yield module
    forget_bindings()
