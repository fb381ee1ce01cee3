#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# What reads foreign bytes bears them: each target is given its corpus; and where
# clang has libFuzzer, inputs are made up from it, a few thousand, or as long as
# FUZZ_SECONDS says (make fuzz). An input that breaks something is kept.

. "$top_srcdir/tests/scripts/lib.sh"

here=$top_srcdir/tests/fuzz
found=$top_builddir/tests/fuzz/found
clang=clang
case $CC in
  *clang*) clang=${CC%% *} ;;
esac

# The files that read the bytes: watched by the fuzzer as it goes.
sources_of() {
  case $1 in
    description) echo lib/range/description.c lib/range/share.c ;;
    options) echo lib/source/source.c lib/source/vm.c ;;
    spec) cd "$top_srcdir" && ls lib/tensormap/check.c lib/tensormap/rules.c \
      lib/tensormap/warnings.c lib/tensormap/explain.c ;;
    manifest) cd "$top_srcdir" && ls tools/manifest.c tools/tensor*.c \
      tools/field.c tools/line.c tools/mistakes.c tools/names.c ;;
  esac
}

replays() {
  "$top_builddir/tests/fuzz/fuzz_$1" "$here/corpus/$1"/*
}

fuzzer_is_there() {
  have "$clang" || return
  printf '%s' 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n)
    { return b == 0 && n != 0; }' >"$scratch/try.c"
  "$clang" -fsanitize=fuzzer,address "$scratch/try.c" -o "$scratch/try" \
    2>/dev/null
}

# With the objects of this build for all else.
builds() {
  objects=
  for source in tests/fuzz/fuzz_$1.c $(sources_of "$1"); do
    object=$scratch/$(basename "$source" .c).o
    "$clang" -g -O1 -fsanitize=fuzzer,address -DHAVE_CONFIG_H -w -pthread \
      -I"$top_builddir" -I"$top_srcdir/include" -I"$top_srcdir/lib" \
      -I"$top_srcdir/tests" -I"$top_srcdir/tools" -c "$top_srcdir/$source" \
      -o "$object" || return
    objects="$objects $object"
  done
  tools=
  [ "$1" != manifest ] || tools=$top_builddir/tools/libtools.la
  # shellcheck disable=SC2086 # lists of words
  "$top_builddir/libtool" --silent --tag=CC --mode=link "$clang" \
    -fsanitize=fuzzer,address $sanitize -pthread $objects $tools \
    "$top_builddir/lib/libashlar-core.la" -o "$scratch/fuzz_$1"
}

# The corpus is read, and what is new stays in the scratch folder.
bears_what_is_made_up() {
  mkdir -p "$scratch/new_$1" "$found"
  limits='-runs=20000 -max_total_time=20 -seed=1'
  [ -z "${FUZZ_SECONDS-}" ] || limits="-max_total_time=$FUZZ_SECONDS"
  # shellcheck disable=SC2086
  "$scratch/fuzz_$1" $limits -max_len=4096 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$found/$1-" "$scratch/new_$1" "$here/corpus/$1"
}

targets='description options spec'
[ ! -f "$top_builddir/tests/fuzz/fuzz_manifest" ] ||
  targets="$targets manifest"
for target in $targets; do
  expect "corpus_of_${target}_is_borne" replays "$target"
done
if [ -n "$SANITIZERS" ] && [ "$SANITIZERS" != address ]; then
  skip inputs_that_are_made_up_are_borne "another sanitizer is in the objects"
elif ! fuzzer_is_there; then
  skip inputs_that_are_made_up_are_borne "no clang with -fsanitize=fuzzer"
else
  for target in $targets; do
    expect "fuzzer_of_${target}_builds" builds "$target"
    expect "inputs_made_up_for_${target}_are_borne" \
      bears_what_is_made_up "$target"
    [ -z "${FUZZ_SECONDS-}" ] || grep '^stat::number_of' "$scratch/said" |
      sed "s/^/# $target: /"
  done
fi
rmdir "$found" 2>/dev/null
finish
