#!/bin/sh
# Runs run_all on the stand-in for the driver, with one module; and where no driver is found.
#
#   bench/gpu/run_all_test.sh ASSAY STAND_IN FOLDER
set -eu
export ASSAY=${1:?usage: run_all_test.sh ASSAY STAND_IN FOLDER}
stand_in=${2:?} folder=${3:?}
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "FAILED: $1" >&2; exit 1; }
rm -rf "$folder"
mkdir -p "$folder/modules"
printf 'HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT r = f32[64] exponential(x)\n}\n' >"$folder/modules/m.hlo"

status=0
ASSAY_LIBCUDA=$folder/none.so "$here/run_all" --out "$folder/none" --modules "$folder/modules" >"$folder/none.log" 2>&1 || status=$?
[ "$status" = 3 ] || fail "status $status without a driver"
grep -q 'there is no device' "$folder/none.log" || fail "it does not say that there is no device"

for library in LIBCUDA LIBCUBLASLT LIBCUDNN LIBCUSOLVER LIBCUFFT; do export "ASSAY_$library=$stand_in"; done
for stage in corpus libraries graphs; do
  "$here/run_all" --out "$folder/$stage" --modules "$folder/modules" --backend gpu:image-ir=on --only $stage >"$folder/$stage.log" 2>&1 ||
    fail "$stage: $(cat "$folder/$stage.log")"
  grep -q '^1 passed, 0 failed' "$folder/$stage/$stage.txt" || fail "$stage: $(cat "$folder/$stage/$stage.txt")"
  grep -q "^$stage 0 " "$folder/$stage/summary.txt" || fail "$stage: $(cat "$folder/$stage/summary.txt")"
done
# What is cut off counts as run and leaves what it had.
"$here/run_all" --out "$folder/cut" --backend gpu:image-ir=on --only corpus --limit 2 --modules "$here/../../conformance/corpus" >"$folder/cut.log" 2>&1 ||
  fail "a stage that is cut off: $(cat "$folder/cut.log")"
grep -qE '^corpus (124|137|0) ' "$folder/cut/summary.txt" || fail "cut off: $(cat "$folder/cut/summary.txt")"
[ -s "$folder/cut/corpus.txt" ] || fail "a stage that is cut off leaves nothing"
echo "run_all runs"
