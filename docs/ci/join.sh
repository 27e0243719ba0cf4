#!/bin/sh
# Joins what the parts of docs/ci/shard.sh found: OUT/part-*.db become OUT/assay.db, and OUT/report is the site about it, OUT/report.md
# the page for a comment. Exit status 1: a part is missing of the N (where N is given), or something is wrong; 2: it could not be run.
#
#   docs/ci/join.sh OUT [N]
set -u
out=${1:?usage: join.sh OUT [N]}
n=${2:-0}
assay=${ASSAY:-assay}
parts=0
for part in "$out"/part-*.db; do
  [ -f "$part" ] || continue
  "$assay" db merge "$part" --db "$out/assay.db" || exit 2
  parts=$((parts + 1))
done
[ "$parts" -gt 0 ] || { echo "no part in $out" >&2; exit 2; }
"$assay" report html --db "$out/assay.db" -o "$out/report" || exit 2
"$assay" report markdown --db "$out/assay.db" -o "$out/report.md" || exit 2
if [ "$n" -gt 0 ] && [ "$parts" -ne "$n" ]; then
  echo "$parts of $n parts are there" >&2
  exit 1
fi
wrong=$("$assay" db query "SELECT COUNT(*) AS n FROM cases WHERE status IN ('failed', 'crashed', 'timed out', 'rejected')" --db "$out/assay.db")
case $wrong in *'"n":0'*) exit 0 ;; *) echo "wrong: $wrong" >&2; exit 1 ;; esac
