# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Builds the extension module; pyproject.toml says the rest.

The library comes from the first of these that is there:

    $ASHLAR_BUILD       a folder in which ashlar was built: the library becomes
                        part of the extension module, which then needs nothing
    ../build, ..        the same, beside this folder, when `make` was run there
    pkg-config ashlar   an installed libashlar, which is then needed to run

ASHLAR_BUILD=installed goes straight to the last.
"""

import os
import pathlib
import shlex
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ARCHIVE = pathlib.Path("lib", ".libs", "libashlar-core.a")
SHARED = pathlib.Path("lib", ".libs", "libashlar.so")


def built():
    """The folder of a build that has the library, if there is one."""
    named = os.environ.get("ASHLAR_BUILD")
    if named == "installed":
        return None
    if named:
        folder = pathlib.Path(named).resolve()
        if not (folder / ARCHIVE).is_file():
            raise SystemExit(
                f"ASHLAR_BUILD={named}: there is no {ARCHIVE}; run make there"
            )
        return folder
    for folder in (HERE.parent / "build", HERE.parent):
        if (folder / ARCHIVE).is_file():
            return folder
    return None


def makefile_variable(folder, name):
    """What configure put into a variable of a build's Makefile."""
    with open(folder / "Makefile", encoding="utf-8") as makefile:
        for line in makefile:
            left, equals, right = line.partition("=")
            if equals and left.strip() == name:
                return shlex.split(right)
    return []


def pkg_config(*what):
    tool = shlex.split(os.environ.get("PKG_CONFIG", "pkg-config"))
    try:
        result = subprocess.run(
            [*tool, *what, "ashlar"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise SystemExit(
            "libashlar was not found. Either build it in this tree "
            "(./bootstrap check, or ./bootstrap && ./configure && make), and "
            "it becomes part of the package; or install it and put its folder "
            f"lib/pkgconfig into PKG_CONFIG_PATH.\n{said.strip()}"
        ) from None
    return shlex.split(result.stdout)


def from_build(folder, extension):
    """The library inside: its own names stay hidden, and it stays loaded."""
    if makefile_variable(folder, "SANITIZERS"):
        raise SystemExit(f"{folder} was built with sanitizers: use another")
    if not (folder / SHARED).exists():
        raise SystemExit(f"{folder} was built with --disable-shared: the "
                         "objects in it do not fit into an extension module")
    print(f"ashlar: the library inside, from {folder}")
    (source,) = makefile_variable(folder, "top_srcdir")
    extension.include_dirs.append(str(folder / source / "include"))
    extension.extra_objects.append(str(folder / ARCHIVE))
    extension.depends.append(str(folder / ARCHIVE))
    extension.extra_link_args += [
        "-Wl,--exclude-libs,ALL",
        "-Wl,-z,nodelete",
        *makefile_variable(folder, "JEMALLOC_LIBS"),
        "-lpthread",
        "-ldl",
        "-lm",
    ]


def from_system(extension):
    flags = pkg_config("--cflags", "--libs")
    print(f"ashlar: the installed library, {shlex.join(flags)}")
    for flag in flags:
        if flag.startswith("-I"):
            extension.include_dirs.append(flag[2:])
        elif flag.startswith("-L"):
            extension.library_dirs.append(flag[2:])
            # Found where it was found now, also in a place of its own.
            extension.runtime_library_dirs.append(flag[2:])
        elif flag.startswith("-l"):
            extension.libraries.append(flag[2:])
        else:
            extension.extra_compile_args.append(flag)


class Build(build_ext):
    """Finds the library only when something is built."""

    def build_extension(self, ext):
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            raise SystemExit(
                "ashlar needs a Python with the interpreter lock: the limited "
                "API that it is built on is not there without"
            )
        folder = built()
        if folder is not None:
            from_build(folder, ext)
        else:
            from_system(ext)
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            "ashlar._core",
            sources=sorted(
                str(path.relative_to(HERE)) for path in HERE.glob("core/*.c")
            ),
            depends=["core/core.h"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=["-std=gnu11", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
