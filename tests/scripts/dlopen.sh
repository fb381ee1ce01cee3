#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# A running program can load the library: a plain python3 does, also when other
# libraries took their part of the little static TLS there is.

. "$top_srcdir/tests/scripts/lib.sh"

[ "$JEMALLOC_KIND" = private ] ||
  skip_all "the system's jemalloc has static TLS and cannot be loaded late"
[ "$JEMALLOC_STATIC_TLS" = no ] ||
  skip_all "this jemalloc's thread-local storage needs a fixed place"
[ -z "$SANITIZERS" ] ||
  skip_all "a sanitizer's runtime cannot be loaded late"
[ -f "$shared_library" ] || skip_all "--disable-shared"
have python3 || skip_all "python3 is not installed"

cat >"$scratch/load.py" <<'EOF'
import ctypes, os, sys, threading

def threads():
    return len(os.listdir("/proc/self/task"))

def files():
    return sorted(os.listdir("/proc/self/fd"))

before = threads(), files()
for path in sys.argv[1:]:
    library = ctypes.CDLL(path)
assert (threads(), files()) == before, "loading left a thread or a file"
assert "libcuda" not in open("/proc/self/maps").read(), "a driver is loaded"

library.ashlar_version_string.restype = ctypes.c_char_p
assert library.ashlar_version_string().decode() == os.environ["VERSION"]

# It works, from the thread that loaded it and from another.
library.ashlar_type_find.restype = ctypes.c_void_p
library.ashlar_type_find.argtypes = [ctypes.c_char_p]
found = []
def find():
    found.append(library.ashlar_type_find(b"CUtensorMap"))
find()
thread = threading.Thread(target=find)
thread.start()
thread.join()
assert found[0] and found[0] == found[1], "CUtensorMap is not registered"
EOF

# A good part of the room that the C library keeps for late comers' fixed TLS
# (1,664 bytes by default), and much TLS of the other kind.
cat >"$scratch/fixed.c" <<'EOF'
__thread char fixed[1024] __attribute__((tls_model("initial-exec")));
char *fixed_tls(void) { return fixed; }
EOF
cat >"$scratch/much.c" <<'EOF'
__thread char much[65536] __attribute__((tls_model("global-dynamic")));
char *much_tls(void) { return much; }
EOF
for heavy in fixed much; do
  # shellcheck disable=SC2086 # CC may have arguments
  $CC -shared -fPIC -O1 "$scratch/$heavy.c" -o "$scratch/$heavy.so" || exit 1
done

expect python_loads_the_library python3 "$scratch/load.py" "$shared_library"
expect python_loads_it_after_a_library_with_much_tls \
  python3 "$scratch/load.py" "$scratch/fixed.so" "$scratch/much.so" \
  "$shared_library"
finish
