#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The Python package as its users get it: by make install, and by pip, offline,
# in a virtual environment, with the library inside or with an installed one.

. "$top_srcdir/tests/scripts/lib.sh"

[ "${HAVE_PYTHON-}" = yes ] || skip_all "Python package: ${HAVE_PYTHON-no}"

place=$scratch/place
prefix=$(sed -n 's/^prefix=//p' "$top_builddir/ashlar.pc")

cat >"$scratch/use.py" <<'EOT'
import os, sys
import ashlar, ashlar.cuda
pool = ashlar.Pool("CUtensorMap", reserve=100)
kept = pool.get_many(100), pool.run(100), ashlar.cuda.map_pool().get()
assert all(slot.address % 128 == 0 for slot in kept[0])
assert all(address % 128 == 0 for address in kept[1].addresses)
assert ashlar.__version__ == os.environ["VERSION"], ashlar.__version__
assert ashlar.__file__.startswith(sys.argv[1]), ashlar.__file__
loaded = "libashlar.so" in open("/proc/self/maps").read()
assert loaded == (sys.argv[2] == "needs-libashlar"), "the wrong libashlar"
EOT

explains_static_tls() {
  if "$@" >"$scratch/explained" 2>&1; then
    echo "it was loaded"
    return 1
  fi
  cat "$scratch/explained"
  grep -q 'static TLS' "$scratch/explained" &&
    grep -q './bootstrap' "$scratch/explained"
}

# runs COMMAND...: it works; or, with a jemalloc that cannot be loaded late, it
# says what to do
runs() {
  if [ "$JEMALLOC_KIND" = private ]; then
    "$@"
  else
    explains_static_tls "$@"
  fi
}

# --- make install ------------------------------------------------------------

install_into_place() {
  make_here install DESTDIR="$place" || return
  site=$(find "$place" -path '*/ashlar/_core.abi3.so')
  site=${site%/ashlar/_core.abi3.so}
  [ -n "$site" ] || { echo "no extension module"; return 1; }
}

# What pip installs, too.
files_in_place() {
  (cd "$top_srcdir/python" && find ashlar -type f ! -path '*__pycache__*'
    echo ashlar/_core.abi3.so) | sort >"$scratch/files"
  (cd "$1" && find ashlar -type f ! -path '*__pycache__*') | sort \
    >"$scratch/there"
  same "$scratch/files" "$scratch/there"
}

use_place() {
  PYTHONPATH=$site LD_LIBRARY_PATH=$place$libdir \
    runs "$PYTHON" "$scratch/use.py" "$site" needs-libashlar
}

# --- pip ---------------------------------------------------------------------

pip_works() {
  "$PYTHON" -m venv --system-site-packages --without-pip "$scratch/first" \
    >/dev/null 2>&1 &&
    "$scratch/first/bin/python" -c 'import setuptools, wheel, pip' 2>/dev/null
}

# A folder to build in, since the source may be for reading only.
source_copy() {
  rm -rf "$scratch/source"
  cp -R "$top_srcdir/python" "$scratch/source"
  chmod -R u+w "$scratch/source"
  rm -rf "$scratch/source/build"
}

# pip_install VENV: as a user does who is offline
pip_install() {
  source_copy
  "$PYTHON" -m venv --system-site-packages --without-pip "$scratch/$1" &&
    "$scratch/$1/bin/python" -m pip install --no-index --no-build-isolation \
      "$scratch/source"
}

library_inside() {
  ASHLAR_BUILD=$top_builddir pip_install inside
}

use_inside() {
  (cd / && runs "$scratch/inside/bin/python" "$scratch/use.py" \
    "$scratch/inside" "alone")
}

# ashlar.pc as it would be if the place were the root.
library_installed() {
  mkdir -p "$scratch/pc"
  sed "s|^\([a-z_]*\)=$prefix|\1=$place$prefix|" \
    "$(find "$place" -name ashlar.pc)" >"$scratch/pc/ashlar.pc"
  PKG_CONFIG_PATH=$scratch/pc ASHLAR_BUILD=installed pip_install installed
}

use_installed() {
  (cd / && runs "$scratch/installed/bin/python" "$scratch/use.py" \
    "$scratch/installed" needs-libashlar)
}

doctor() {
  (cd / && "$scratch/inside/bin/python" -m ashlar.doctor >"$scratch/doctor" ||
    [ $? -eq 1 ]) && grep -q ' slots ' "$scratch/doctor" ||
    { cat "$scratch/doctor"; return 1; }
}

files_by_pip() {
  files_in_place "$(echo "$scratch"/inside/lib/python*/site-packages)"
}

no_library() {
  source_copy
  if (cd "$scratch/source" && PKG_CONFIG=false ASHLAR_BUILD=installed \
    "$PYTHON" setup.py -q build_ext) >"$scratch/refused" 2>&1; then
    echo "it was built, from what?"
    return 1
  fi
  grep -q './bootstrap' "$scratch/refused" &&
    grep -q PKG_CONFIG_PATH "$scratch/refused" ||
    { cat "$scratch/refused"; return 1; }
}

same_version() {
  grep -x "version = \"$VERSION\"" "$top_srcdir/python/pyproject.toml"
}

libdir=$(PKG_CONFIG_PATH=$top_builddir $PKG_CONFIG --variable=libdir ashlar)
site=
expect pyproject_toml_says_the_version same_version
expect make_install_installs_the_package install_into_place
expect make_install_installs_every_file files_in_place "$site"
expect what_make_install_installs_works use_place
if pip_works; then
  expect pip_installs_it_with_the_library_inside library_inside
  expect what_pip_installs_needs_no_libashlar use_inside
  expect pip_installs_every_file files_by_pip
  if [ "$JEMALLOC_KIND" = private ]; then
    expect doctor_runs doctor
  else
    skip doctor_runs "the system's jemalloc cannot be loaded late"
  fi
  expect pip_installs_it_for_an_installed_library library_installed
  expect what_pip_installs_finds_the_installed_library use_installed
  expect without_a_library_setup_py_says_what_to_do no_library
else
  skip pip_installs_it "pip, setuptools, wheel or venv is not there"
fi
finish
