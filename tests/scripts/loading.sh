#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Loading the library does nothing: it has no constructors, and needs nothing
# but the C library (and jemalloc). Once loaded, it stays.

. "$top_srcdir/tests/scripts/lib.sh"

no_constructors() {
  find "$top_builddir/lib" -path '*/.libs/libashlar_core_la-*.o' \
    >"$scratch/objects"
  [ -s "$scratch/objects" ] ||
    find "$top_builddir/lib" -name 'libashlar_core_la-*.o' >"$scratch/objects"
  [ -s "$scratch/objects" ] || { echo "no objects found"; return 1; }
  while read -r object; do
    $READELF -SW "$object" | grep -E '\.(pre)?init_array|\.fini_array|\.[cd]tors' |
      sed "s|^|${object##*/}: |"
  done <"$scratch/objects" >"$scratch/constructors"
  empty "$scratch/constructors"
}

stays() {
  $READELF -dW "$shared_library" | grep -E 'FLAGS_1.*NODELETE'
}

needs_little() {
  $READELF -dW "$shared_library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libdl|libpthread|ld-linux[-a-z0-9_]*)\.so|^libjemalloc\.so' \
      >"$scratch/needed"
  empty "$scratch/needed"
}

# All of a library's thread-local storage is fixed if any of it is, and there
# is little room for that in a running program.
little_tls() {
  size=$($READELF -lW "$shared_library" | awk '$1 == "TLS" { print $6 }')
  [ "$((size))" -le 64 ] || { echo "$((size)) bytes"; return 1; }
}

if [ -n "$SANITIZERS" ] || grep -q -e '--coverage' "$top_builddir/Makefile"; then
  skip no_object_has_a_constructor "the instrumentation has constructors"
else
  expect no_object_has_a_constructor no_constructors
fi
if [ ! -f "$shared_library" ]; then
  skip library_stays_loaded --disable-shared
  skip library_needs_the_c_library_alone --disable-shared
  skip library_has_little_thread_local_storage --disable-shared
else
  expect library_stays_loaded stays
  if [ -n "$SANITIZERS" ]; then
    skip library_needs_the_c_library_alone "the sanitizer has a runtime"
  else
    expect library_needs_the_c_library_alone needs_little
  fi
  if [ "$JEMALLOC_KIND" = private ] && [ "$JEMALLOC_STATIC_TLS" != no ]; then
    skip library_has_little_thread_local_storage "this jemalloc has much"
  else
    expect library_has_little_thread_local_storage little_tls
  fi
fi
finish
