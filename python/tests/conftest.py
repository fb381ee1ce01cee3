# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors

import ctypes
import gc
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import traceback

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


def run_in_threads(count, work):
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=guarded, args=(number,))
        for number in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


@pytest.fixture
def in_threads():
    """in_threads(count, work): work(number) in each; none may raise."""
    return run_in_threads


def run_in_child(work):
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(300)
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def child():
    """child(work): run it in a forked child; 0 when it came to its end."""
    return run_in_child


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
            timeout=600,
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


@pytest.fixture
def spec():
    """A spec that the encoder takes."""
    return ashlar.Spec("bf16", (1024, 512), (64, 32), swizzle="128B",
                       address=0x7F0000000000)


@pytest.fixture
def vm():
    """A source of host memory that grows, of small granules."""
    return ashlar.Source("vm", {"granule": "64K", "memory": "64M"})


class SimulatedDriver:
    """What tests ask of the simulated driver: see cudasim.h."""

    def __init__(self, path):
        self.path = path
        self.entries = ctypes.CDLL(path)

    def call(self, name, *arguments):
        assert getattr(self.entries, name)(*arguments) == 0, name

    def reset(self, settings):
        self.call("cudasim_reset", settings.encode())

    def fail(self, entry, nth=1, result=2, forever=0):
        name = entry.encode() if entry else None
        self.call("cudasim_fail", name, ctypes.c_uint64(nth), result, forever)

    def calls(self, entry):
        count = self.entries.cudasim_calls
        count.restype = ctypes.c_uint64
        return count(entry.encode())

    def context(self):
        """Make the primary context of device 0 current."""
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def stream(self):
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        return stream

    def touch(self, stream, address, size):
        """Queue a kernel that writes there, until finish()."""
        self.call("cudasim_touch", stream, ctypes.c_uint64(address),
                  ctypes.c_size_t(size), 1)

    def finish(self, stream):
        self.call("cudasim_finish", stream)

    def left(self):
        """What was not given back: reservations, handles, mappings, events."""
        account = (ctypes.c_uint64 * 19)()
        account[0] = ctypes.sizeof(account)
        self.call("cudasim_query", account)
        return account[1], account[3], account[6], account[9]


@pytest.fixture
def driver_file():
    """The simulated driver's file."""
    path = os.environ.get("ASHLAR_CUDASIM")
    if not path:
        pytest.skip("there is no plug-in for CUDA, or no simulated driver")
    return path


@pytest.fixture
def simulated(driver_file):
    """The simulated driver, fresh; at the end nothing was lost."""
    driver = SimulatedDriver(driver_file)
    gc.collect()
    # A fresh machine under what stands on the old one would be no good.
    assert driver.left() == (0, 0, 0, 0), "an earlier test lost something"
    driver.reset("memory=64M")
    yield driver
    driver.entries.cudasim_fail_none()
    # What a caught exception's frames still hold.
    gc.collect()
    assert driver.left() == (0, 0, 0, 0)


@pytest.fixture
def device(simulated):
    """A source on the simulated driver's device 0."""
    with ashlar.Source("cuda", {"driver": simulated.path}) as source:
        yield source
