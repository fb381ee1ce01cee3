#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# A project that uses CMake finds what make install laid down, by
# find_package(ashlar), and is built with the shared and the static library.

. "$top_srcdir/tests/scripts/lib.sh"

have cmake || skip_all "no cmake"
place=$scratch/place

install_into_place() {
  make_here install DESTDIR="$place" || return
  config=$(find "$place" -name ashlarConfig.cmake)
  [ -n "$config" ] && package=${config%/*}
}

# project FIND-ARGUMENTS: a project with a program for each target there is
project() {
  rm -rf "$scratch/project" "$scratch/out"
  mkdir "$scratch/project"
  cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.10)
project(launcher C)
find_package(ashlar $1 REQUIRED)
add_executable(shared $top_srcdir/examples/01_pool.c)
target_link_libraries(shared PRIVATE ashlar::ashlar)
if(TARGET ashlar::static)
  add_executable(static $top_srcdir/examples/01_pool.c)
  target_link_libraries(static PRIVATE ashlar::static)
endif()
file(WRITE $scratch/plugindir "\${ashlar_PLUGIN_DIR}")
END
}

# configures FIND-ARGUMENTS FOLDER: of the package
configures() {
  project "$1"
  # The library's own dependencies are not to be found by accident.
  CC=$CC cmake -S "$scratch/project" -B "$scratch/out" \
    -DCMAKE_C_FLAGS="$sanitize" -Dashlar_DIR="$2" \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
}

builds() {
  configures "$VERSION" "$package" && cmake --build "$scratch/out"
}

# refuses FIND-ARGUMENTS WORDS: of the sentence
refuses() {
  if configures "$1" "$package" >"$scratch/refused" 2>&1; then
    echo "it was found"
    return 1
  fi
  grep -q -- "$2" "$scratch/refused" || { cat "$scratch/refused"; return 1; }
}

runs() {
  "$scratch/out/$1" >"$scratch/printed" && grep -q '0 of 128' "$scratch/printed"
}

# A program with the library's copy in it needs no file of that name.
static_is_static() {
  ! $READELF -d "$scratch/out/static" | grep libashlar
}

plugin_folder_is_told() {
  folder=$(cat "$scratch/plugindir")
  case $folder in
    "$place"/*/plugins) ;;
    *) echo "it is \"$folder\", and the package is in $place"; return 1 ;;
  esac
}

# Moved as a whole, as a package that is unpacked elsewhere.
moved_elsewhere() {
  mv "$place" "$scratch/elsewhere" &&
    configures "" "$scratch/elsewhere${package#"$place"}" &&
    cmake --build "$scratch/out" && runs shared
}

without_libraries() {
  find "$scratch/elsewhere" -name 'libashlar.*' -exec rm {} +
  package=$scratch/elsewhere${package#"$place"}
  refuses "" 'neither libashlar.so nor libashlar.a'
}

package=
expect make_install_lays_the_package_down install_into_place
expect find_package_finds_it_and_a_program_builds builds
expect program_with_the_first_target_runs runs shared
if [ -f "$static_library" ]; then
  expect program_with_the_static_target_runs runs static
  expect static_target_is_static static_is_static
else
  skip program_with_the_static_target_runs --disable-static
fi
expect plugin_folder_is_told plugin_folder_is_told
expect earlier_version_is_served configures "${VERSION%.*}" "$package"
expect later_version_is_refused refuses 99.0 'requested version'
expect other_major_version_is_refused refuses 1.0 'requested version'
expect package_may_be_moved moved_elsewhere
expect package_without_libraries_says_so without_libraries
finish
