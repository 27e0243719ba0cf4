#!/bin/sh
# Tries the recipes for several machines: the parts one after another, by GNU parallel, and by Slurm, each against the whole.
#
#   docs/ci/night_test.sh PROGRAM FOLDER
#
# What is not installed is not tried, and is said so; Slurm counts as there where its controller answers, or where this is run by root and
# slurmctld, slurmd and munged are installed: then a cluster of this one machine is started for the test. Exit status 77: only the parts
# one after another were tried.
set -u
program=${1:?usage: night_test.sh PROGRAM FOLDER}
folder=${2:?usage: night_test.sh PROGRAM FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder" || exit 2
folder=$(cd "$folder" && pwd)
export ASSAY="$program" BACKEND=reference TIER=smoke PROGRAMS=20 SEED=3 FILTER=/s8/
tried=0
skipped=
fail() { echo "FAILED: $1" >&2; stop; exit 1; }
stop() { :; }

# The verdicts of a joined night.
verdicts() {
  "$program" db query "SELECT COUNT(*) AS cases, COUNT(DISTINCT name) AS names FROM cases" --db "$1/assay.db"
  "$program" db query "SELECT SUM(json_extract(summary, '\$.programs')) AS programs FROM runs WHERE verb = 'fuzz'" --db "$1/assay.db"
}

for i in 1 2 3; do sh "$here/shard.sh" $i 3 "$folder/plain" >"$folder/plain-$i.log" 2>&1 || fail "part $i: $(tail -3 "$folder/plain-$i.log")"; done
sh "$here/join.sh" "$folder/plain" 3 || fail "joining"
want=$(verdicts "$folder/plain")
case $want in *'"programs":20'*) ;; *) fail "not every program once: $want" ;; esac
[ -f "$folder/plain/report/index.html" ] || fail "no site"
sh "$here/join.sh" "$folder/plain" 4 2>/dev/null && fail "a missing part was not seen"

if command -v parallel >/dev/null; then
  tried=1
  parallel --will-cite -j 2 sh "$here/shard.sh" {} 3 "$folder/parallel" ::: 1 2 3 >"$folder/parallel.log" 2>&1 || fail "parallel"
  sh "$here/join.sh" "$folder/parallel" 3 || fail "joining what parallel made"
  [ "$(verdicts "$folder/parallel")" = "$want" ] || fail "parallel: $(verdicts "$folder/parallel"), not $want"
  echo "GNU parallel: the same as one after another"
else
  skipped="$skipped GNU-parallel"
fi

# A cluster of this machine alone, in the folder.
start_slurm() {
  [ "$(id -u)" = 0 ] && command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null || return 1
  cluster=$folder/cluster
  mkdir -p "$cluster/state" "$cluster/spool"
  dd if=/dev/urandom of="$cluster/munge.key" bs=128 count=1 2>/dev/null
  chmod 600 "$cluster/munge.key"
  munged --force --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" --pid-file="$cluster/munge.pid" \
    --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed" || return 1
  host=$(hostname -s)
  cat >"$cluster/slurm.conf" <<CONF
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=27817
SlurmdPort=27818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/ctld.pid
SlurmdPidFile=$cluster/d.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=batch_sched_delay=1,sched_interval=2
SelectType=select/cons_tres
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=NO
CONF
  export SLURM_CONF="$cluster/slurm.conf"
  slurmctld -L "$cluster/ctld.log" || return 1
  slurmd -L "$cluster/d.log" || return 1
  stop() {
    for pid in ctld d munge; do [ -f "$cluster/$pid.pid" ] && kill "$(cat "$cluster/$pid.pid")" 2>/dev/null; done
  }
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    sinfo -h -o %T 2>/dev/null | grep -q idle && return 0
    sleep 1
  done
  return 1
}

if sinfo >/dev/null 2>&1 || start_slurm; then
  tried=1
  WAIT=1 sh "$here/slurm.sh" 3 "$folder/slurm" >"$folder/slurm.log" 2>&1 || fail "slurm: $(cat "$folder/slurm.log" "$folder/slurm/join.log")"
  [ "$(verdicts "$folder/slurm")" = "$want" ] || fail "slurm: $(verdicts "$folder/slurm"), not $want"
  stop
  echo "Slurm: the same as one after another"
else
  stop
  skipped="$skipped Slurm"
fi
[ -z "$skipped" ] || echo "not tried, because not there:$skipped"
[ "$tried" = 1 ] || exit 77
