#!/bin/sh
# Looks for a planted slowness in a repository of twelve commits, whose build is a script: bisection over commits that do not all build,
# two commits side by side, and a series over all of them.
#
#   tools/bisect_test.sh PROGRAM FOLDER
set -u
program=$(realpath "${1:?usage: bisect_test.sh PROGRAM FOLDER}")
folder=${2:?usage: bisect_test.sh PROGRAM FOLDER}
fail() { echo "FAILED: $1" >&2; exit 1; }
rm -rf "$folder"
mkdir -p "$folder/repository" && cd "$folder/repository" || exit 2
git init -q . && git config user.email test@example.com && git config user.name test || exit 2

# Stands for a program of Assay: it answers as one does that takes so long and has so many fusions.
cat >fake.sh <<'FAKE'
case "$1 $*" in
bench*) printf '{"type":"workload","name":"m","backends":[{"backend":"cpu","kernels":%s,"run_seconds":{"median":%s},"compile_seconds":{"median":0.01},"statistics":{"code.hash":%s,"code.bytes":512}}]}\n' "$KERNELS" "$TIME" "$HASH" ;;
*--decisions*) echo '{"kind":"rewrite","rule":"trivial-reshape","taken":true}'; i=$KERNELS; while [ $i -lt 3 ]; do echo '{"kind":"kernel","rule":"loop-fusion","taken":true}'; i=$((i + 1)); done ;;
*--plan* | *--passes*) ;;
print*) echo "HloModule m" ;;
esac
FAKE
cat >build.sh <<'BUILD'
. ./settings
[ "$BREAKS" = 0 ] || { echo "error: this commit does not build" >&2; exit 1; }
{ echo '#!/bin/sh'; cat settings fake.sh; } >"$PROGRAM"
BUILD
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  time=0.0100 kernels=1 breaks=0 hash=1
  [ $i -ge 8 ] && time=0.0125 kernels=3 hash=2
  case $i in 6 | 9) breaks=1 ;; esac
  printf 'TIME=%s KERNELS=%s BREAKS=%s HASH=%s%s\n' $time $kernels $breaks $hash $((i % 2)) >settings
  git add . && git commit -q -m "commit $i" || exit 2
done
printf 'HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] exponential(x)\n}\n' >"$folder/m.hlo"
first_bad=$(git rev-parse HEAD~4)
db=$folder/assay.db

"$program" bench --bisect HEAD~11..HEAD "$folder/m.hlo" --build 'sh build.sh' --db "$db" >"$folder/bisect.txt" 2>"$folder/bisect.err" || fail "bisection: $(cat "$folder/bisect.err")"
grep -q "^first bad: $first_bad " "$folder/bisect.txt" || fail "the wrong commit: $(cat "$folder/bisect.txt")"
grep -q "^why: the rule loop-fusion no longer fires" "$folder/bisect.txt" || fail "the wrong cause: $(cat "$folder/bisect.txt")"
grep -q "skipped: .*does not build" "$folder/bisect.txt" || fail "nothing was skipped: $(cat "$folder/bisect.txt")"
[ "$(git worktree list | wc -l)" -le 2 ] || fail "more than one worktree"

# Commits of the same speed have nothing to be found between them.
"$program" bench --bisect HEAD~11..HEAD~8 "$folder/m.hlo" --build 'sh build.sh' --db "$db" >/dev/null 2>"$folder/none.err" && fail "a difference was found where there is none"
grep -q "there is nothing to find" "$folder/none.err" || fail "$(cat "$folder/none.err")"

# Two programs are no range, though their paths may have dots.
"$program" bench --bisect "$folder/../$(basename "$folder")/m.hlo" cpu "$folder/m.hlo" --db "$db" >/dev/null 2>"$folder/two.err" && fail "two sides were halved"
grep -q "bench --ab compares the two" "$folder/two.err" || fail "$(cat "$folder/two.err")"

"$program" bench --ab HEAD~11 HEAD "$folder/m.hlo" --build 'sh build.sh' --db "$db" --gate >"$folder/ab.txt" 2>&1
[ $? = 1 ] && grep -q "slower" "$folder/ab.txt" || fail "side by side: $(cat "$folder/ab.txt")"

record() { "$program" bench --record "$folder/m.hlo" --series HEAD~11..HEAD --build 'sh build.sh' --db "$db" --samples 1 --no-instructions; }
record >"$folder/series.txt" 2>"$folder/series.err"
[ $? = 1 ] && [ "$(grep -c "left out: .*does not build" "$folder/series.err")" = 2 ] || fail "series: $(cat "$folder/series.err")"
points='{"points":10}'
[ "$("$program" db query 'SELECT COUNT(*) AS points FROM points' --db "$db")" = "$points" ] || fail "not ten points"
record >/dev/null 2>&1
[ "$("$program" db query 'SELECT COUNT(*) AS points FROM points' --db "$db")" = "$points" ] || fail "points were taken twice"
short=$(git rev-parse --short=12 HEAD~4)
"$program" bench --watch --db "$db" >"$folder/watch.txt" || fail "watch"
grep -q "worse .*\.\.$short: the rule loop-fusion no longer fires" "$folder/watch.txt" || fail "watch: $(cat "$folder/watch.txt")"
echo "the planted commit was found by bisection, side by side and in the series"
