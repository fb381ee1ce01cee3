#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The program's help, its manual page, and what bash completes have the same
# commands with the same options.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"

commands=$("$ashlar" --help |
  sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p')
# All but help, which has no options.
workers=$(echo "$commands" | grep -vx help)

# What argp gives every command is said once in the manual.
everywhere='help|usage|version'

# options_by_help COMMAND: "letter name", or "- name" without one, a line
options_by_help() {
  "$ashlar" "$1" --help |
    sed -n 's/^  -\(.\), --\([a-z-]*\).*/\1 \2/p
      s/^      --\([a-z-]*\).*/- \1/p' | grep -vE " ($everywhere)\$"
}

page() {
  mandoc -Tascii -Owidth=1000 "$top_srcdir/man/ashlar.1" |
    sed "s/.$(printf '\b')//g"
}

manual_has_the_commands() {
  page | sed -n '/^SYNOPSIS/,/^DESCRIPTION/s/^ *ashlar \([a-z-]*\).*/\1/p' |
    grep -v '^-' | sort >"$scratch/shown"
  echo "$commands" | sort >"$scratch/commands"
  same "$scratch/commands" "$scratch/shown"
}

# Of each command, by their letters where they have one.
synopses_have_the_options() {
  for command in $workers; do
    options_by_help "$command" |
      awk '{ print $1 == "-" ? $2 : $1 }' | sort >"$scratch/options"
    page | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | grep "^ *ashlar $command " |
      grep -oE '\[-[^]]*\]' | tr -d '[]' | while read -r option _; do
      case $option in
        --*) printf '%s\n' "$option" | sed 's/^--//; s/=.*//' ;;
        *) printf '%s' "$option" | sed 's/^-//' | fold -w 1 && echo ;;
      esac
    done | grep . | sort >"$scratch/shown"
    diff -u "$scratch/options" "$scratch/shown" || echo "(of $command)"
  done >"$scratch/wrong"
  empty "$scratch/wrong"
}

manual_explains_the_options() {
  for command in $workers; do
    options_by_help "$command"
  done | cut -d' ' -f2 | sort -u >"$scratch/options"
  sed -n '/^\.It Fl/s/^.*Fl \\-\([a-z\\-]*\).*/\1/p' \
    "$top_srcdir/man/ashlar.1" | tr -d '\\' | grep -vxE "$everywhere" |
    sort -u >"$scratch/explained"
  same "$scratch/options" "$scratch/explained"
}

# completes WORD...: what bash offers for the last of the words, a line each
completes() {
  PATH=$top_builddir/tools:$PATH bash -c '
    . "$1"
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _ashlar ashlar
    printf "%s\n" "${COMPREPLY[@]}"' bash \
    "$top_srcdir/completions/ashlar.bash" ashlar "$@" | sort -u
}

bash_completes_the_commands() {
  echo "$commands" | sort >"$scratch/wanted"
  completes '' >"$scratch/offered"
  same "$scratch/wanted" "$scratch/offered" || return
  completes help '' >"$scratch/offered"
  same "$scratch/wanted" "$scratch/offered" || return
  completes doc | grep -x doctor
}

bash_completes_the_options() {
  for command in $workers; do
    { options_by_help "$command" | sed 's/.* /--/'
      echo "$everywhere" | tr '|' '\n' | sed 's/^/--/'; } | sort -u \
      >"$scratch/wanted"
    completes "$command" -- | sed 's/=$//' >"$scratch/offered"
    diff -u "$scratch/wanted" "$scratch/offered" || echo "(of $command)"
  done >"$scratch/wrong"
  empty "$scratch/wrong"
}

# offers WORD WORDS...: among what bash offers for the words
offers() {
  wanted=$1
  shift
  completes "$@" >"$scratch/offered"
  grep -qxF -- "$wanted" "$scratch/offered" || { cat "$scratch/offered"; return 1; }
}

bash_completes_values() {
  offers vm range --source = '' && offers vm range -s v &&
    offers vm range --source '' && offers CUtensorMap types --json CUt &&
    offers always prepare --progress = al &&
    offers CUtensorMap types CUt && offers vm check-plugin '' &&
    offers "$scratch" doctor --cuda = "${scratch%?}"
}

bash_completes_manifests() {
  for manifest in "$top_srcdir"/tools/manifests/*.jsonl; do
    offers "$(basename "$manifest" .jsonl)" prepare --all '' || return
  done
  offers "$scratch/said" prepare "$scratch/sai"
}

if have mandoc; then
  expect manual_has_the_commands_of_the_help manual_has_the_commands
  expect manual_shows_each_commands_options synopses_have_the_options
else
  skip manual_has_the_commands_of_the_help "no mandoc"
fi
expect manual_explains_every_option manual_explains_the_options
if have bash; then
  expect bash_completes_the_commands bash_completes_the_commands
  expect bash_completes_each_commands_options bash_completes_the_options
  expect bash_completes_values bash_completes_values
  expect bash_completes_names_of_manifests_and_files bash_completes_manifests
else
  skip bash_completes_the_commands "no bash"
fi
finish
