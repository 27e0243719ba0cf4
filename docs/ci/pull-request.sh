#!/bin/sh
# What a pull request to a compiler is asked, with Assay as the judge:
#
#   ASSAY=/path/assay BACKEND=cpu BASE=/path/of/the/base/assay docs/ci/pull-request.sh OUT [WORKLOADS]
#
# The goldens of the documents, a campaign with a fixed seed, and, where BASE is set, whether WORKLOADS (bench/workloads) are slower than
# on the base (any side of `assay bench --ab`). OUT then holds junit.xml, assay.sarif, report.md and ab.md. Exit status 1: something failed
# or is slower; 2: it could not be run.
set -u
out=${1:?usage: pull-request.sh OUT [WORKLOADS]}
workloads=${2:-bench/workloads}
assay=${ASSAY:-assay}
backend=${BACKEND:-cpu}
mkdir -p "$out" || exit 2
db=$out/assay.db
worst=0

# A status of 2 is worse than one of 1: nothing was judged.
note() {
  [ "$1" -gt "$worst" ] && worst=$1
  [ "$1" -eq 0 ] || echo "$2: exit status $1" >&2
}

"$assay" conform --backend "$backend" --db "$db" >"$out/conform.log"
note $? "the goldens of the documents"
"$assay" fuzz --backend "$backend" --count "${PROGRAMS:-1000}" --seed "${SEED:-1}" --db "$db" --out "$out/fuzz" >"$out/fuzz.log"
note $? "a campaign of ${PROGRAMS:-1000} programs"
if [ -n "${BASE:-}" ]; then
  "$assay" bench --ab "$BASE" "${HEAD_SIDE:-$assay}" "$workloads" --backend "$backend" --db "$db" --budget "${BUDGET:-5m}" \
    --margin "${MARGIN:-5}" --gate --markdown "$out/ab.md" >"$out/ab.log"
  note $? "a comparison with the base"
fi

for form in junit:junit.xml sarif:assay.sarif markdown:report.md; do
  "$assay" report "${form%%:*}" --db "$db" -o "$out/${form#*:}" >/dev/null
  note $? "report ${form%%:*}"
done
[ -f "$out/ab.md" ] && cat "$out/ab.md" >>"$out/report.md"
exit "$worst"
