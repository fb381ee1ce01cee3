# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Importing the package: in a plain python3, and where it cannot work."""

import os
import pathlib
import shutil
import subprocess

import pytest

import ashlar
from ashlar import _core

COMPILER = os.environ.get("CC", "cc").split()


@pytest.fixture
def compile(tmp_path):
    """compile(source, name): a shared object; skips without a compiler."""

    def build(source, name):
        file = tmp_path / f"{name}.c"
        file.write_text(source)
        output = tmp_path / f"{name}.so"
        try:
            subprocess.run(
                [*COMPILER, "-shared", "-fPIC", "-O1", file, "-o", output],
                check=True,
            )
        except OSError:
            pytest.skip("there is no compiler")
        return output

    return build


@pytest.fixture
def package(tmp_path):
    """A copy of the package without its extension module."""
    copy = tmp_path / "copy"
    shutil.copytree(
        pathlib.Path(ashlar.__file__).parent,
        copy / "ashlar",
        ignore=shutil.ignore_patterns("*.so", "__pycache__"),
    )
    return copy


USE = (
    "import ashlar\n"
    "assert ashlar.Pool('CUtensorMap').get().address % 128 == 0\n"
)


def test_import_starts_nothing(python):
    python(
        "import os, sys\n"
        "def state(): return (len(os.listdir('/proc/self/task')),\n"
        "                     sorted(os.listdir('/proc/self/fd')))\n"
        "before = state()\n"
        "import ashlar, ashlar.cuda, ashlar.doctor\n"
        "assert state() == before, 'a thread or a file is left'\n"
        "assert 'libcuda' not in open('/proc/self/maps').read()\n"
        "assert 'cuda' not in sys.modules\n"
    )


def test_import_needs_no_environment(python):
    python(USE, LD_PRELOAD="", GLIBC_TUNABLES="")


def test_import_works_after_libraries_with_much_tls(python, compile):
    # A good part of what the C library has left for late comers, and dynamic
    # TLS besides: in libraries of their own, since one with both takes it all.
    fixed = compile(
        "__thread char fixed[1024]"
        " __attribute__((tls_model(\"initial-exec\")));\n"
        "char *heavy(void) { return fixed; }\n",
        "fixed",
    )
    dynamic = compile(
        "__thread char dynamic[65536];\n"
        "char *heavy(void) { return dynamic; }\n",
        "dynamic",
    )
    python(
        "import ctypes, sys\n"
        "for path in sys.argv[1:]: ctypes.CDLL(path).heavy()\n" + USE,
        str(fixed),
        str(dynamic),
    )


def test_import_works_in_another_thread(python):
    python(
        "import threading\n"
        "def work():\n"
        "    import ashlar\n"
        "    kept.append(ashlar.Pool('CUtensorMap').get())\n"
        "kept = []\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "assert len(kept) == 4\n"
    )


def test_warnings_as_errors_and_debug_mode_are_fine(python):
    python("import warnings; warnings.simplefilter('error')\n" + USE,
           PYTHONDEVMODE="1")


def explained(python, package):
    said = python(
        "try: import ashlar\n"
        "except ImportError as error: print(error)\n"
        "else: print('imported', ashlar.__file__)\n",
        PYTHONPATH=str(package),
    )
    assert "imported" not in said
    return said


def test_static_tls_is_explained(python, package, compile):
    # As libjemalloc.so.2 of the distributions: more than the loader has left.
    core = compile(
        "__thread char much[1 << 20]"
        " __attribute__((tls_model(\"initial-exec\")));\n"
        "char *PyInit__core(void) { return much; }\n",
        "core",
    )
    shutil.copy(core, package / "ashlar" / "_core.abi3.so")
    said = explained(python, package)
    assert "static TLS" in said
    assert "./bootstrap" in said and "LD_PRELOAD" in said


def test_a_missing_library_is_explained(python, package, compile, tmp_path):
    library = tmp_path / "libashlar.so.0"
    compile("int gone;\n", "libashlar").rename(library)
    core = tmp_path / "core.so"
    subprocess.run(
        [*COMPILER, "-shared", "-fPIC", "-Wl,--no-as-needed", library, "-o",
         core, "-x", "c", "/dev/null"],
        check=True,
    )
    library.unlink()
    shutil.copy(core, package / "ashlar" / "_core.abi3.so")
    said = explained(python, package)
    assert "libashlar.so.0" in said
    assert "ldconfig" in said and "LD_LIBRARY_PATH" in said


def test_a_missing_module_is_explained(python, package):
    said = explained(python, package)
    assert "was not built" in said and "pip install ./python" in said


def test_one_symbol_is_exported():
    tool = os.environ.get("NM", "nm").split()
    try:
        result = subprocess.run(
            [*tool, "-D", "--defined-only", _core.__file__],
            capture_output=True,
            text=True,
            check=True,
        )
    except OSError:
        pytest.skip("there is no nm")
    names = [line.split()[-1] for line in result.stdout.splitlines()]
    assert names == ["PyInit__core"]
