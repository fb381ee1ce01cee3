#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# A plug-in of somebody else's: the code that doc/plugin-author.md shows, built
# from the installed headers and nothing else, is found, opened, checked, used.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -f "$shared_library" ] || skip_all "--disable-shared"
place=$scratch/place
mkdir "$scratch/plugins"
ASHLAR_PLUGIN_PATH=$scratch/plugins
export ASHLAR_PLUGIN_PATH

headers_are_installed() {
  "${MAKE:-make}" -C "$top_builddir" install-includeHEADERS \
    install-pkgincludeHEADERS DESTDIR="$place" || return 1
  include=$(find "$place" -name ashlar.h)
  include=${include%/ashlar.h}
  [ -f "$include/ashlar/plugin.h" ]
}

guide_shows_the_example() {
  sed -n '/^```c$/,/^```$/p' "$top_srcdir/doc/plugin-author.md" |
    sed '1d; $d' >"$scratch/guard.c"
  sed '1,2d' "$top_srcdir/examples/plugin/guard.c" >"$scratch/wanted.c"
  same "$scratch/wanted.c" "$scratch/guard.c"
}

# builds NAME FILE
builds() {
  # shellcheck disable=SC2086 # CC may have arguments
  $CC $sanitize -std=c11 -pedantic -Wall -Wextra -Werror -O1 -g -shared -fPIC \
    -I"$include" -o "$scratch/plugins/ashlar_$1.so" "$2"
}

# Without the library, and against the installed headers alone.
example_of_the_guide_builds() {
  builds guard "$scratch/guard.c"
}

range_example_builds() {
  builds memfd "$top_srcdir/examples/plugin/memfd.c"
}

keep_all_promises() {
  for name in guard memfd; do
    "$ashlar" check-plugin "$name" --steps 2000 || return 1
  done
}

are_listed() {
  "$ashlar" sources >"$scratch/out" || return 1
  cat "$scratch/out"
  grep -Eq '^guard +- +- +blocks host$' "$scratch/out" &&
    grep -Eq '^memfd +64\.0 KiB .* ranges host$' "$scratch/out"
}

range_grows_on_it() {
  "$ashlar" range --source memfd --grow 64K,1M --reserve 1M >"$scratch/out"
  got=$?
  cat "$scratch/out"
  [ $got -eq 0 ] && grep -Eq '^1\.00 MiB  reserved ' "$scratch/out"
}

# A pool on the blocks of the guide's example: what is behind one is guarded.
pool_stands_on_it() {
  cat >"$scratch/pool.c" <<'END'
#include <ashlar.h>
#include <stdio.h>

int main(void)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;
    unsigned char *slot;

    if (ashlar_source_open("guard", "fill=9", &options.source) != ASHLAR_OK ||
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool) !=
            ASHLAR_OK ||
        (slot = ashlar_pool_get(pool)) == NULL || slot[127] != 9) {
        puts(ashlar_last_error_message());
        return 1;
    }
    return ashlar_pool_put(pool, slot) != ASHLAR_OK ||
           ashlar_pool_destroy(pool, 0) != ASHLAR_OK ||
           ashlar_source_close(options.source) != ASHLAR_OK;
}
END
  # shellcheck disable=SC2086
  $CC $sanitize -I"$include" "$scratch/pool.c" -o "$scratch/pool" \
    "$shared_library" -Wl,-rpath,"${shared_library%/*}" && "$scratch/pool"
}

expect headers_are_installed headers_are_installed
expect guide_shows_the_example guide_shows_the_example
expect example_of_the_guide_builds_from_installed_headers \
  example_of_the_guide_builds
expect range_example_builds_from_installed_headers range_example_builds
expect pool_stands_on_the_guides_example pool_stands_on_it
if [ -x "$ashlar" ]; then
  expect both_keep_all_promises keep_all_promises
  expect both_are_listed are_listed
  expect range_grows_on_the_range_example range_grows_on_it
else
  skip both_keep_all_promises "the program ashlar was not built"
  skip both_are_listed "the program ashlar was not built"
  skip range_grows_on_the_range_example "the program ashlar was not built"
fi
finish
