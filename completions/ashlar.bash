# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Completion of the program ashlar in bash. Commands, options and names are asked
# of the program itself, so that they are always its own.

# The commands, as --help lists them.
_ashlar_commands() {
  "$1" --help 2>/dev/null |
    sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p'
}

# The long options of a command, or of none; with = where a value follows.
_ashlar_options() {
  # shellcheck disable=SC2086 # no command is no word
  "$1" ${2-} --help 2>/dev/null |
    sed -n 's/^  \(-., \|    \)\(--[a-z-]*\)\(=\{0,1\}\).*/\2\3/p'
}

# What may follow an option, or be the command's argument, a line each.
_ashlar_values() {
  case $2 in
    --source | -s) "$1" sources --no-open 2>/dev/null |
      sed -n '2,/^$/s/^\([a-z0-9_]*\) .*/\1/p' ;;
    --progress) printf '%s\n' auto always never ;;
    manifest) "$1" prepare --help 2>/dev/null | tr '\n' ' ' |
      sed -n 's/.*came with ashlar: \([a-z0-9, -]*\)\..*/\1/p' |
      tr -s ', ' '\n' ;;
    type) "$1" types --json 2>/dev/null |
      sed -n 's/^      "name": "\([^" ]*\)".*/\1/p' ;;
    command) _ashlar_commands "$1" ;;
  esac
}

# _ashlar_reply GENERATOR WORD: compgen's words, one each
_ashlar_reply() {
  local IFS=$'\n'
  # shellcheck disable=SC2207 # split at newlines, as asked
  COMPREPLY+=($(compgen "${@:1:$#-1}" -- "${!#}"))
}

_ashlar_value_of() {
  case $2 in
    --cuda | -c) _ashlar_reply -d "$3" ;;
    *) _ashlar_reply -W "$(_ashlar_values "$1" "$2")" "$3" ;;
  esac
}

# The arguments of a command that are no options.
_ashlar_arguments() {
  case $2 in
    prepare) _ashlar_reply -f -W "$(_ashlar_values "$1" manifest)" "$3" ;;
    types) _ashlar_reply -W "$(_ashlar_values "$1" type)" "$3" ;;
    check-plugin) _ashlar_reply -f -W "$(_ashlar_values "$1" --source)" "$3" ;;
    help) _ashlar_reply -W "$(_ashlar_values "$1" command)" "$3" ;;
  esac
}

_ashlar() {
  local program=$1 word=${COMP_WORDS[COMP_CWORD]} command='' option=''
  local previous=${COMP_WORDS[COMP_CWORD - 1]} i

  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -* | =) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  # --option=value comes as three words.
  if [ "$word" = = ]; then
    option=$previous word=''
  elif [ "$previous" = = ]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $previous == -* ]]; then
    option=$previous
  fi
  if [ -n "$option" ] && [ -n "$command" ]; then
    _ashlar_value_of "$program" "$option" "$word"
    [ ${#COMPREPLY[@]} -eq 0 ] || return
  fi
  if [[ $word == -* ]]; then
    _ashlar_reply -W "$(_ashlar_options "$program" "$command")" "$word"
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
  elif [ -z "$command" ]; then
    _ashlar_reply -W "$(_ashlar_commands "$program")" "$word"
  else
    _ashlar_arguments "$program" "$command" "$word"
  fi
}

complete -o filenames -F _ashlar ashlar
