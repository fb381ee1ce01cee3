#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# What make install puts into an empty place is enough to build and run the
# first example, found by pkg-config, against the shared and the static library.

. "$top_srcdir/tests/scripts/lib.sh"

place=$scratch/place
example=$top_srcdir/examples/01_pool.c
prefix=$(sed -n 's/^prefix=//p' "$top_builddir/ashlar.pc")

install_into_place() {
  make_here install DESTDIR="$place"
}

# ashlar.pc as it would be if the place were the root.
ashlar_pc() {
  pc=$(find "$place" -name ashlar.pc)
  mkdir -p "$scratch/pc"
  sed "s|^\([a-z_]*\)=$prefix|\1=$place$prefix|" "$pc" >"$scratch/pc/ashlar.pc"
  PKG_CONFIG_PATH=$scratch/pc $PKG_CONFIG "$@" ashlar
}

build_shared() {
  # shellcheck disable=SC2046,SC2086 # lists of words
  $CC $sanitize "$example" -o "$scratch/shared" $(ashlar_pc --cflags --libs)
}

run_shared() {
  LD_LIBRARY_PATH=$(ashlar_pc --variable=libdir) "$scratch/shared"
}

build_static() {
  find "$place" -name 'libashlar.so*' -exec rm {} +
  # shellcheck disable=SC2046,SC2086
  $CC $sanitize "$example" -o "$scratch/static" \
    $(ashlar_pc --static --cflags --libs)
}

all_headers() {
  (cd "$top_srcdir/include" && find . -name '*.h*' | sort) >"$scratch/ours"
  (cd "$(ashlar_pc --variable=includedir)" && find . -name '*.h*' | sort) \
    >"$scratch/installed"
  same "$scratch/ours" "$scratch/installed"
}

plugin_directory() {
  case $(ashlar_pc --variable=plugindir) in
    /*) ;;
    *) echo "plugindir is no absolute folder"; return 1 ;;
  esac
}

expect make_install_works_into_an_empty_place install_into_place
expect every_public_header_is_installed all_headers
expect ashlar_pc_names_the_plugin_directory plugin_directory
if [ -f "$shared_library" ]; then
  expect example_builds_with_the_shared_library build_shared
  expect example_runs_with_the_shared_library run_shared
else
  skip example_builds_with_the_shared_library --disable-shared
fi
if [ -f "$static_library" ]; then
  expect example_builds_with_the_static_library build_static
  expect example_runs_with_the_static_library "$scratch/static"
else
  skip example_builds_with_the_static_library --disable-static
fi
finish
