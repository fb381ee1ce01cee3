#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Where plug-ins are looked for by a library that is installed somewhere, and
# by a program with more rights than its caller.

. "$top_srcdir/tests/scripts/lib.sh"

modules=$top_builddir/tests/plugin/modules/.libs
opener=$top_builddir/tests/plugin/opener
[ -f "$modules/ashlar_older.so" ] || skip_all "--disable-shared"
unset ASHLAR_PLUGIN_PATH
# A leak checker cannot look at a process with more rights.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

# opens NAME LINE PROGRAM: what opener prints has this line
opens() {
  "$3" "$1" >"$scratch/out" || return 1
  cat "$scratch/out"
  grep -qF -- "$2" "$scratch/out"
}

# --- beside the library -------------------------------------------------------

home=$scratch/home
mkdir -p "$home/lib/ashlar/plugins" "$home/elsewhere" "$home/work"
cp "$shared_library" "$home/lib/libashlar.so.0"
cp "$modules/ashlar_older.so" "$home/lib/ashlar/plugins"
# shellcheck disable=SC2086 # CC may have arguments
$CC $sanitize -I"$top_srcdir/include" "$top_srcdir/tests/plugin/opener.c" \
  -o "$home/opener" "$home/lib/libashlar.so.0" || exit 1
LD_LIBRARY_PATH=$home/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

found_beside_the_library() {
  opens older "path $home/lib/ashlar/plugins/ashlar_older.so" "$home/opener"
}

# A library that is a link is where the link leads to.
found_beside_a_library_that_is_a_link() {
  ln -sf "$home/lib/libashlar.so.0" "$home/elsewhere/libashlar.so.0"
  (
    LD_LIBRARY_PATH=$home/elsewhere
    opens older "path $home/lib/ashlar/plugins/ashlar_older.so" "$home/opener"
  )
}

variable_comes_before_the_library() {
  (
    ASHLAR_PLUGIN_PATH=$modules
    export ASHLAR_PLUGIN_PATH
    opens older "path $modules/ashlar_older.so" "$home/opener"
  )
}

refused_file_hides_the_library_s() {
  echo text >"$home/elsewhere/ashlar_older.so"
  (
    ASHLAR_PLUGIN_PATH=$home/elsewhere
    export ASHLAR_PLUGIN_PATH
    opens older 'status ASHLAR_ERR_NO_PLUGIN' "$home/opener" &&
      grep -qF "$home/elsewhere/ashlar_older.so" "$scratch/out"
  )
}

# A program that has the library in it goes by its own file, whatever its
# caller calls it and from wherever.
program_goes_by_its_own_file() {
  mkdir -p "$home/work/ashlar/plugins" "$home/bin/ashlar/plugins"
  cp "$opener" "$home/bin/opener"
  cp "$modules/ashlar_older.so" "$home/bin/ashlar/plugins"
  cp "$modules/ashlar_future.so" "$home/work/ashlar/plugins"
  touch "$home/work/opener"
  (
    cd "$home/work" && PATH=$home/bin:$PATH &&
      opens older "path $home/bin/ashlar/plugins/ashlar_older.so" opener &&
      opens future 'status ASHLAR_ERR_NO_PLUGIN' opener
  )
}

expect plugin_is_found_beside_the_library found_beside_the_library
expect plugin_is_found_beside_a_library_that_is_a_link \
  found_beside_a_library_that_is_a_link
expect variable_comes_before_the_library variable_comes_before_the_library
expect refused_file_hides_that_of_the_library refused_file_hides_the_library_s
expect program_goes_by_its_own_file program_goes_by_its_own_file

# --- with more rights ---------------------------------------------------------

# A set-user-id copy of the program, with plug-ins beside it.
make_privileged() {
  chmod 755 "$scratch" "$home" "$home/bin" &&
    chmod 755 "$home/bin/ashlar" "$home/bin/ashlar/plugins" &&
    cp "$modules/ashlar_future.so" "$home/elsewhere/" &&
    chown 65534 "$home/bin/opener" && chmod 4755 "$home/bin/opener"
}

privileged_program_ignores_the_variable() {
  (
    ASHLAR_PLUGIN_PATH=$home/elsewhere
    export ASHLAR_PLUGIN_PATH
    opens future 'no source is called "future"' "$home/bin/opener" &&
      opens older 'status ASHLAR_OK' "$home/bin/opener"
  )
}

writable() {
  opens older 'status ASHLAR_ERR_NO_PLUGIN' "$home/bin/opener" &&
    grep -qF 'may be written by anybody' "$scratch/out" &&
    grep -qF 'more rights than its caller' "$scratch/out"
}

privileged_program_refuses_a_writable_folder() {
  chmod 1777 "$home/bin/ashlar/plugins" && writable
  result=$?
  chmod 755 "$home/bin/ashlar/plugins"
  return $result
}

privileged_program_refuses_a_writable_file() {
  chmod 666 "$home/bin/ashlar/plugins/ashlar_older.so" && writable
  result=$?
  chmod 644 "$home/bin/ashlar/plugins/ashlar_older.so"
  return $result
}

# Others may: it is the rights that count, not the folder.
plain_program_takes_a_writable_folder() {
  chmod 777 "$home/lib/ashlar/plugins"
  opens older 'status ASHLAR_OK' "$home/opener"
}

why=
if [ -n "$SANITIZERS" ]; then
  why='a sanitizer does not run with more rights'
elif [ "$(id -u)" -ne 0 ]; then
  why='only root can make a program for another user'
elif ! make_privileged 2>"$scratch/err"; then
  why='the program could not be given to another user'
elif ! opens heap 'privileged 1' "$home/bin/opener" >"$scratch/said" 2>&1; then
  why='set-user-id has no effect here'
fi
# privileged NAME FUNCTION
privileged() {
  if [ -n "$why" ]; then skip "$1" "$why"; else expect "$1" "$2"; fi
}
privileged privileged_program_ignores_the_variable \
  privileged_program_ignores_the_variable
privileged privileged_program_refuses_a_writable_folder \
  privileged_program_refuses_a_writable_folder
privileged privileged_program_refuses_a_writable_file \
  privileged_program_refuses_a_writable_file
expect plain_program_takes_a_writable_folder \
  plain_program_takes_a_writable_folder
finish
