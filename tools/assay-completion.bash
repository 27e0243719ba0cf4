# Completion of assay's verbs, options and files for bash:
#   source tools/assay-completion.bash
# Verbs and options are what the program's own --help lists.
_assay() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  if ((COMP_CWORD == 1)); then
    local verbs
    verbs=$("$program" --help 2>/dev/null | awk '/^(Subcommands|SUBCOMMANDS):/ {on = 1; next} on && /^  [a-z]/ {print $1}')
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
    return
  fi
  case $previous in
    --backend | --optimized) mapfile -t COMPREPLY < <(compgen -W "reference cpu xla" -- "$word"); return ;;
    --profile) mapfile -t COMPREPLY < <(compgen -W "strict xla" -- "$word"); return ;;
    --suite) mapfile -t COMPREPLY < <(compgen -W "goldens" -- "$word"); return ;;
    --defect | --only) mapfile -t COMPREPLY < <(compgen -W "$("$program" defects 2>/dev/null | awk 'NR > 1 {print $1}')" -- "$word"); return ;;
    report) mapfile -t COMPREPLY < <(compgen -W "html --help" -- "$word"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "short long canonical proto" -- "$word"); return ;;
    explain) mapfile -t COMPREPLY < <(compgen -W "--profiles $("$program" ops 2>/dev/null | awk 'NR > 1 {print $1}')" -- "$word"); return ;;
  esac
  if [[ $word == -* ]]; then
    local options
    options=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _assay assay
