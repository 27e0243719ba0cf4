#!/bin/sh
# A night on a cluster with Slurm: N parts as a job array, and one job that joins them when all have ended, however they did.
#
#   docs/ci/slurm.sh N OUT [options of sbatch for the parts, such as --time=2:00:00 --cpus-per-task=4]
#
# OUT has to be a folder that all machines see. Prints the number of the last job; `sbatch --wait` is used where WAIT is set. What
# shard.sh reads from the environment (BACKEND, TIER, PROGRAMS, SEED, KNOWN, MODULES, ASSAY) is passed on.
set -eu
n=${1:?usage: slurm.sh N OUT [OPTION...]}
out=${2:?usage: slurm.sh N OUT [OPTION...]}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
parts=$(sbatch --parsable --array="1-$n" --job-name=assay --output="$out/part-%a.log" --export=ALL "$@" \
  --wrap "exec sh '$here/shard.sh' \"\$SLURM_ARRAY_TASK_ID\" $n '$out'")
exec sbatch --parsable ${WAIT:+--wait} --dependency="afterany:${parts%%;*}" --job-name=assay-join --output="$out/join.log" --export=ALL \
  --wrap "exec sh '$here/join.sh' '$out' $n"
