#!/bin/sh
# Tries what tools/night makes of its parts' ends: a program that only ends as it is told stands for Assay.
#
#   tools/night_test.sh FOLDER
set -u
folder=${1:?usage: night_test.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder" || exit 2
fail() { echo "FAILED: $1" >&2; exit 1; }

cat >"$folder/assay" <<'FAKE'
#!/bin/sh
echo "$*" >>"$CALLS"
case "$1 $*" in
db*) echo "{\"n\":$WRONG}" ;;
report*markdown*) while [ "$1" != -o ]; do shift; done; echo "the morning" >"$2" ;;
report*) ;;
conform*) [ "$CONFORM" != late ] || { trap 'exit 130' INT; while :; do sleep 0.1; done; }; [ "$CONFORM" != dies ] || kill -SEGV $$; exit "$CONFORM" ;;
fuzz*) exit "$FUZZ" ;;
*--watch*) while [ "$1" != --markdown ]; do shift; done; [ "$WATCH" = 2 ] || echo "table of the series" >"$2"; exit "$WATCH" ;;
esac
FAKE
chmod +x "$folder/assay"
: >"$folder/index.html"

# night EXIT WORDS CONFORM FUZZ WATCH WRONG: the exit status and a line of what is said, of a night whose parts end so.
night() {
  CALLS="$folder/calls" CONFORM=$3 FUZZ=$4 WATCH=$5 WRONG=$6 ASSAY="$folder/assay" BACKENDS=reference PICTURES= sh "$here/night" "$folder/out" 0.05 >"$folder/said.txt" 2>&1
  got=$?
  [ "$got" = "$1" ] || fail "exit status $got, not $1, of $*: $(cat "$folder/said.txt")"
  grep -q -- "$2" "$folder/said.txt" || fail "'$2' is not said of $*: $(cat "$folder/said.txt")"
}
night 0 "campaign: nothing wrong" 0 0 0 0
grep -q "table of the series" "$folder/out/morning.md" || fail "the morning's page lacks the series"
night 1 "conform-reference: something is wrong" 1 0 0 1
night 1 "campaign: something is wrong" 0 1 0 0
night 1 "performance: something is wrong" 0 0 1 0
night 0 "ended early, so that not all was looked at: conform-reference" late 0 0 0
night 1 'wrong: {"n":3}' late 0 0 3
night 2 "conform-reference: could not be run (status 2)" 2 1 0 0
night 2 "could not be run (status 139)" dies 0 0 0
night 2 "performance: could not be run" 0 0 2 0
grep -q "table of the series" "$folder/out/morning.md" && fail "the table of an earlier night is shown"
echo "nights end as their parts did"
