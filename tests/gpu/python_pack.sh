#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Packs the Python package, with the library inside and without debugging
# symbols, the plug-in for CUDA, and the package's tests, so that a machine with a GPU can run them that has
# neither compiler nor pip at hand: Linux, the same processor, a C library no
# older than this machine's, and a python3 of 3.11 or later with cuda.bindings.
#
#     sh tests/gpu/python_pack.sh BUILD [FOLDER]
#
# BUILD is where `make` was run; FOLDER, .gpu/python unless given, is what to
# carry. There: sh FOLDER/run.sh, which ends in 0 when all is well.

set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1,2d >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
folder=${2:-$top/.gpu/python}
python=${PYTHON:-/usr/bin/python3}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$top/python/." "$scratch/source"
(cd "$scratch/source" && rm -rf build &&
  ASHLAR_BUILD=$build "$python" setup.py -q build_ext -b "$scratch/lib")

rm -rf "$folder"
mkdir -p "$folder/site"
cp -R "$top/python/ashlar" "$folder/site/"
cp "$scratch/lib/ashlar/_core.abi3.so" "$folder/site/ashlar/"
strip --strip-unneeded "$folder/site/ashlar/_core.abi3.so"
cp -R "$top/python/tests" "$folder/tests"
cp "$top/python/pyproject.toml" "$top/tests/gpu/python_card.py" \
  "$top/tests/gpu/python_h200.py" "$folder/"
mkdir "$folder/plugins"
cp "$build/plugins/cuda/.libs/ashlar_cuda.so" "$folder/plugins/"
strip --strip-unneeded "$folder/plugins/ashlar_cuda.so"
find "$folder" -name __pycache__ -prune -exec rm -rf {} +

cat >"$folder/run.sh" <<'END'
#!/bin/sh
# What is shown on the GPU, then the package's own tests, then the doctor.
cd "$(dirname -- "$0")" || exit
PYTHONPATH=$PWD/site PYTHONDONTWRITEBYTECODE=1
ASHLAR_PLUGIN_PATH=$PWD/plugins
export PYTHONPATH PYTHONDONTWRITEBYTECODE ASHLAR_PLUGIN_PATH
result=0
python3 python_h200.py || result=1
echo
python3 python_card.py || result=1
echo
python3 -m pytest -q -p no:cacheprovider -c pyproject.toml tests || result=1
echo
python3 -m ashlar.doctor --encode # 1, when the bindings' own maps are wrong
[ $? -le 1 ] || result=1
exit $result
END
du -sh "$folder" | sed "s|\t.*| in $folder; run there: sh run.sh|"
