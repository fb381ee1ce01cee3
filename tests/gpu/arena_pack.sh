#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Packs what shows arenas on a GPU beside PyTorch: the library, the plug-in, the
# adapter, the program that plays traces; for a machine with a GPU and PyTorch
# that has no compiler: Linux, the same processor, a C library no older.
#
#     sh tests/gpu/arena_pack.sh BUILD [FOLDER]
#
# BUILD is where `make` and `make tests/gpu/arena_replay` were run; FOLDER,
# .gpu/arena unless given, is what to carry. There: sh FOLDER/run.sh, which ends
# in 0 when all is well.

set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1,2d >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
folder=${2:-$top/.gpu/arena}

plugin=$build/plugins/cuda/.libs/ashlar_cuda.so
[ -f "$plugin" ] || { echo "$plugin was not built" >&2; exit 1; }
# What libtool left for running in place is a script; the program lies below.
replay=$build/tests/gpu/.libs/arena_replay
[ -f "$replay" ] || replay=$build/tests/gpu/arena_replay

rm -rf "$folder"
mkdir -p "$folder/lib/ashlar/plugins"
cp -L "$build/lib/.libs/libashlar.so.0" "$folder/lib/"
cp "$build/adapters/.libs/ashlar_adapter.so" "$folder/lib/ashlar/"
cp "$plugin" "$folder/lib/ashlar/plugins/"
cp "$replay" "$folder/arena_replay"
strip --strip-unneeded "$folder/lib/libashlar.so.0" "$folder/arena_replay" \
  "$folder/lib/ashlar/ashlar_adapter.so" \
  "$folder/lib/ashlar/plugins/ashlar_cuda.so"
cp "$top/tests/gpu/arena_torch.py" "$top/tests/gpu/arena_traces.py" \
  "$top/tests/gpu/torch_model.py" "$folder/"

cat >"$folder/run.sh" <<'END'
#!/bin/sh
cd "$(dirname -- "$0")" || exit
LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE
exec python3 arena_torch.py --lib lib --replay "$PWD/arena_replay" "$@"
END
du -sh "$folder" | sed "s|\t.*| in $folder; run there: sh run.sh|"
