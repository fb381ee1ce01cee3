#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# make uninstall takes away what make install laid down, and nothing else.

. "$top_srcdir/tests/scripts/lib.sh"

place=$scratch/place
plugins=$(PKG_CONFIG_PATH=$top_builddir $PKG_CONFIG --variable=plugindir ashlar)
prefix=$(PKG_CONFIG_PATH=$top_builddir $PKG_CONFIG --variable=prefix ashlar)
stranger=$place$plugins/ashlar_stranger.so

install_into_place() {
  make_here install DESTDIR="$place"
}

uninstall_from_place() {
  make_here uninstall DESTDIR="$place"
}

no_file_is_left() {
  find "$place" ! -type d >"$scratch/left" || return
  empty "$scratch/left"
}

# Those that others use too, such as lib, may stay; the prefix may be called
# anything.
no_folder_of_ours_is_left() {
  [ -d "$place$prefix" ] || return 0
  find "$place$prefix" -mindepth 1 -name '*ashlar*' >"$scratch/left" || return
  empty "$scratch/left"
}

strangers_file_is_left() {
  mkdir -p "${stranger%/*}" && : >"$stranger" && install_into_place &&
    uninstall_from_place && [ -f "$stranger" ]
}

expect make_install_works install_into_place
expect make_install_works_over_itself install_into_place
expect make_uninstall_works uninstall_from_place
expect no_file_is_left no_file_is_left
expect no_folder_of_ours_is_left no_folder_of_ours_is_left
expect a_strangers_plug_in_is_left strangers_file_is_left
finish
