# Sourced by tools/quickstart and tools/test: installs what is missing and builds. Debian 12, root or sudo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ASSAY_START=$SECONDS

if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; else bold= dim= plain=; fi

elapsed() {
  local s=$((SECONDS - ASSAY_START))
  printf '%d min %02d s' $((s / 60)) $((s % 60))
}
heading() { printf '\n%s== %s%s %s(%s)%s\n\n' "$bold" "$1" "$plain" "$dim" "$(elapsed)" "$plain"; }
# Shows the command as one would type it, then runs it.
show() {
  printf '%s$ %s%s\n' "$bold" "$*" "$plain"
  "$@"
}
stop() {
  echo "error: $*" >&2
  exit 2
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo > /dev/null; then sudo "$@"; else
    stop "the packages of tools/packages.txt are missing; become root or install sudo, then try again"
  fi
}

# Installs the packages of tools/packages.txt that are not there. Those marked optional may be missing from the archive.
install_packages() {
  local name optional missing=()
  while read -r name optional; do
    [ -z "$name" ] || [ "${name#\#}" != "$name" ] && continue
    dpkg-query -W -f='${Status}' "$name" 2> /dev/null | grep -q 'install ok installed' || missing+=("$name${optional:+:$optional}")
  done < tools/packages.txt
  if [ ${#missing[@]} = 0 ]; then echo "all packages of tools/packages.txt are installed"; return; fi
  echo "installing: ${missing[*]%:optional}"
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get update -qq > /dev/null || stop "apt-get update failed; is there a network?"
  local wanted=() entry
  for entry in "${missing[@]}"; do
    name=${entry%:optional}
    if [ "$name" != "$entry" ] && ! apt-cache show "$name" > /dev/null 2>&1; then continue; fi
    wanted+=("$name")
  done
  as_root apt-get install -y -qq --no-install-recommends "${wanted[@]}" > /tmp/assay-apt.log 2>&1 ||
    { tail -20 /tmp/assay-apt.log >&2; stop "apt-get install failed; the whole output is in /tmp/assay-apt.log"; }
}

# configure PRESET: with ccache and mold when they are there.
configure() {
  local options=()
  command -v ccache > /dev/null || options+=(-DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_CXX_COMPILER_LAUNCHER=)
  command -v mold > /dev/null || options+=(-DCMAKE_EXE_LINKER_FLAGS=)
  cmake --preset "$1" "${options[@]}" > "build-$1.log" 2>&1 || { cat "build-$1.log" >&2; stop "configuring the preset $1 failed"; }
  rm -f "build-$1.log"
}

# build PRESET [TARGET...]: one line of progress on a terminal, quiet otherwise; the whole output when it fails.
build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  local targets=()
  [ $# = 0 ] || targets=(--target "$@")
  if [ -t 1 ]; then
    NINJA_STATUS='[%f/%t] ' cmake --build --preset "$preset" "${targets[@]}" 2>&1 | tee "$log" |
      while IFS= read -r line; do printf '\r\033[K%.100s' "$line"; done || true
    printf '\r\033[K'
    [ -z "$(grep -m1 -E '^(FAILED|ninja: error)' "$log")" ] || { tail -60 "$log" >&2; stop "the build failed"; }
  else
    cmake --build --preset "$preset" "${targets[@]}" > "$log" 2>&1 || { tail -60 "$log" >&2; stop "the build failed"; }
  fi
  echo "built with the preset $preset on $(nproc) cores"
  rm -f "$log"
}
