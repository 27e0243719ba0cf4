#!/bin/sh
# One part of a night that several machines share:
#
#   docs/ci/shard.sh I N OUT
#
# judges the I-th of N parts of the conformance matrix, of a campaign and, where MODULES is set, of modules, into OUT/part-I.db. The parts
# know nothing of each other; docs/ci/join.sh OUT makes one store and one report of them. ASSAY, BACKEND (cpu), TIER (ci), PROGRAMS
# (10000), SEED (1), KNOWN (a file of waivers), FILTER (in the names of cells) and MODULES change what is asked. Exit status 1: something is wrong; 2: it could not be run.
set -u
usage="usage: shard.sh I N OUT"
i=${1:?$usage} n=${2:?$usage} out=${3:?$usage}
assay=${ASSAY:-assay}
backend=${BACKEND:-cpu}
mkdir -p "$out" || exit 2
db=$out/part-$i.db
worst=0

# Runs one verb on this part.
part() {
  "$assay" "$@" --backend "$backend" --shard "$i/$n" --db "$db" ${KNOWN:+--known "$KNOWN"}
  status=$?
  [ "$status" -gt "$worst" ] && worst=$status
  return 0
}

part conform --suite matrix --tier "${TIER:-ci}" ${FILTER:+--filter "$FILTER"}
part fuzz --count "${PROGRAMS:-10000}" --seed "${SEED:-1}" --out "$out/fuzz-$i"
# A part of few modules may be empty: nothing was judged there, and the others judge the rest.
[ -n "${MODULES:-}" ] && part check "$MODULES"
exit "$worst"
