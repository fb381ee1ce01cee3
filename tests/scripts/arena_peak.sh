#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Traces of a training step, of a server, and of anything: an arena takes no more
# memory for them at its peak than PyTorch's caching allocator would reserve. On
# vm, by a model of that; tests/gpu/arena_torch.py holds it against the real one.

. "$top_srcdir/tests/scripts/lib.sh"

have python3 || skip_all "python3 is not installed"
[ -z "$SANITIZERS" ] || skip_all "too slow with a sanitizer"
replay=$top_builddir/tests/gpu/arena_replay
[ -x "$replay" ] || skip_all "arena_replay was not built"
gpu=$top_srcdir/tests/gpu
export PYTHONDONTWRITEBYTECODE=1

is_no_more() {
  python3 "$gpu/arena_traces.py" "$1" "$scratch/$1" &&
    theirs=$(python3 "$gpu/torch_model.py" "$scratch/$1") &&
    "$replay" "$scratch/$1" vm memory=64G >"$scratch/figures" || return 1
  ours=$(sed -n 's/^peak_committed_bytes //p' "$scratch/figures")
  [ "$ours" -le "${theirs% *}" ] || {
    echo "ours $ours, theirs and live $theirs"
    return 1
  }
}

for trace in training serving mixed; do
  expect "peak_of_${trace}_is_no_more_than_pytorchs" is_no_more "$trace"
done
finish
