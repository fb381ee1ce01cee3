#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Packs the tests of a real card, with the plug-in and the program ashlar, so
# that a machine with a GPU can run them that has neither compiler nor Check:
# Linux, the same processor, a C library no older than this machine's.
#
#     sh tests/gpu/pack.sh BUILD [FOLDER]
#
# BUILD is where `make` was run; FOLDER, .gpu/card unless given, is what to
# carry. There: sh FOLDER/run.sh, which ends in 0 when no test failed.

set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1,2d >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
folder=${2:-$top/.gpu/card}
programs='test_card_capture test_card_peers test_card_range test_card_scatter
test_card_share test_card_table card_speed table_speed'

rm -rf "$folder"
mkdir -p "$folder/plugins"
for program in $programs; do
  make -s -C "$build" "tests/gpu/$program" >&2
  cp "$build/tests/gpu/$program" "$folder/"
done
make -s -C "$build" plugins/cuda/ashlar_cuda.la lib/libashlar.la \
  tools/ashlar examples/launcher/launcher >&2
cp "$build/plugins/cuda/.libs/ashlar_cuda.so" "$folder/plugins/"
cp "$build/tools/.libs/ashlar" "$build/examples/launcher/.libs/launcher" \
  "$folder/"
cp -L "$build/lib/.libs/libashlar.so.0" "$folder/"
# What such a machine need not have.
ldd "$folder/ashlar" "$folder"/test_card_* |
  awk '/lib(check|jansson|subunit)/ { print $3 }' | sort -u |
  while read -r library; do cp -L "$library" "$folder/"; done
cp "$top/tests/gpu/speed_peers.py" "$folder/"
find "$folder" -type f ! -name '*.py' -exec strip --strip-unneeded {} +

cat >"$folder/run.sh" <<'END'
#!/bin/sh
# The tests, the launcher, what the program shows, and the speed beside others.
cd "$(dirname -- "$0")" || exit
ASHLAR_PLUGIN_PATH=$PWD/plugins
LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
export ASHLAR_PLUGIN_PATH LD_LIBRARY_PATH
out=${OUT:-.}
for test in test_card_*; do
  echo "## $test"
  "./$test"
done 2>&1 | tee "$out/card.tap"
{
  echo "## launcher"
  ./launcher && echo "ok 1 - launcher" || echo "not ok 1 - launcher"
} 2>&1 | tee "$out/launcher.txt"
{
  ./ashlar sources
  ./ashlar check-plugin cuda --steps 2000 --seed 1
  ./ashlar check-plugin cuda --steps 2000 --seed 2 --options location=host
  ./ashlar doctor
  ./ashlar range --source cuda --grow 2M,64M,1G
} 2>&1 | tee "$out/ashlar.txt"
{ ./card_speed; ./table_speed; python3 speed_peers.py; } 2>&1 | grep -v ^Warning |
  tee "$out/speed.txt"
! grep -q '^not ok' "$out/card.tap" "$out/launcher.txt"
END
echo "$folder: $(du -sh "$folder" | cut -f1)" >&2
