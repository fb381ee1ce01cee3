#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The public symbols are the same in the headers, the map and the libraries,
# and nothing else is exported: above all, no malloc.

. "$top_srcdir/tests/scripts/lib.sh"

allocators='malloc|free|calloc|realloc|reallocarray|memalign|posix_memalign'
allocators="$allocators|aligned_alloc|valloc|pvalloc|malloc_usable_size"
allocators="$allocators|malloc_stats|mallinfo2?|_Zn[wa].*|_Zd[la].*"

# Functions, up to their bracket, and constants.
grep -hv '^#' "$top_srcdir"/include/ashlar/*.h | tr '\n' ' ' |
  sed 's/\/\*[^*]*\*\+\([^/*][^*]*\*\+\)*\// /g' |
  grep -oE 'ASHLAR_API [^;(]*[;(]' |
  sed -E 's/.*[ *](ashlar_[a-z0-9_]+) *[;(]$/\1/' |
  sort >"$scratch/headers"

sed -n 's/^ *\(ashlar_[a-z0-9_]*\);.*/\1/p' "$top_srcdir/lib/libashlar.map" |
  sort >"$scratch/map"

one_each() {
  uniq -d "$scratch/map" >"$scratch/twice"
  empty "$scratch/twice"
}

shared_exports() {
  $NM -D --defined-only "$shared_library" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$scratch/shared"
  same "$scratch/map" "$scratch/shared"
}

static_exports() {
  $NM --defined-only --extern-only "$static_library" |
    awk 'NF == 3 { print $3 }' | sort >"$scratch/static"
  same "$scratch/map" "$scratch/static"
}

versioned() {
  $NM -D --with-symbol-versions --defined-only "$shared_library" |
    awk '$2 != "A" && $3 !~ /@@ASHLAR_[0-9.]+$/' >"$scratch/unversioned"
  empty "$scratch/unversioned"
}

# Neither exported nor inside under its plain name.
no_allocator_in() {
  $NM --defined-only "$1" | awk 'NF == 3 { print $3 }' |
    grep -xE "$allocators" >"$scratch/allocators"
  empty "$scratch/allocators"
}

expect headers_and_map_have_the_same_symbols \
  same "$scratch/headers" "$scratch/map"
expect map_names_each_symbol_once one_each

if [ -f "$shared_library" ]; then
  expect shared_library_exports_the_map_and_nothing_else shared_exports
  expect every_exported_symbol_has_a_version versioned
  expect shared_library_defines_no_malloc no_allocator_in "$shared_library"
else
  skip shared_library_exports_the_map_and_nothing_else --disable-shared
fi

if [ ! -f "$static_library" ]; then
  skip static_library_shows_the_map_and_nothing_else --disable-static
else
  if [ -f "$top_builddir/lib/ashlar.lo" ]; then
    expect static_library_shows_the_map_and_nothing_else static_exports
  else
    skip static_library_shows_the_map_and_nothing_else \
      "objects are not merged in this build"
  fi
  expect static_library_defines_no_malloc no_allocator_in "$static_library"
fi
finish
