#!/usr/bin/env python3
"""What code without LLVM (optimized/cpu/native/direct) buys, as one table.

  bench/direct_table.py [--assay PROGRAM] [--every K] [--programs N]

Compiles every K-th module of conformance/corpus with it and with LLVM alone, interleaved, and runs a
campaign of N programs each way. Times of campaigns are those of the processor: they hold on a busy machine.
"""
import argparse, glob, json, math, os, subprocess, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WITH, WITHOUT = 'cpu', 'cpu:direct=off'


def json_lines(command):
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]
    if not lines:
        raise SystemExit(f'{" ".join(command)}: {done.stderr.strip()}')
    return lines


def bench(assay, paths):
    """By module: (milliseconds to compile, to run) of each backend."""
    rows = []
    for line in json_lines([assay, 'bench', *paths, '--backend', WITH, '--peer', WITHOUT, '--unjudged', '--no-roof',
                            '--min-time', '0.02s', '--max-time', '1s', '--compiles', '6', '--no-db', '--json']):
        if line.get('type') != 'workload':
            continue
        of = {each['backend']: each for each in line['backends'] if 'compile_seconds' in each}
        if len(of) == 2:
            rows.append([[of[name][what]['median'] * 1e3 for name in (WITH, WITHOUT)]
                         for what in ('compile_seconds', 'run_seconds')])
    return rows


def campaign(assay, backend, programs, folder):
    return json_lines([assay, 'fuzz', '--backend', backend, '--count', str(programs), '--seed', '7', '--time', '1h', '--jobs', '1',
                       '--no-triage', '--no-db', '--out', folder, '--json'])[-1]


def mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--assay', default=os.path.join(ROOT, 'build/release/bin/assay'))
    parser.add_argument('--every', type=int, default=6)
    parser.add_argument('--programs', type=int, default=2000)
    options = parser.parse_args()
    modules = sorted(glob.glob(os.path.join(ROOT, 'conformance/corpus/**/*.hlo'), recursive=True))
    rows = bench(options.assay, modules[::options.every])
    print('| what | with | LLVM alone | LLVM alone / with |')
    print('| --- | ---: | ---: | ---: |')

    def line(what, ours, theirs, digits=2):
        print(f'| {what} | {ours:.{digits}f} | {theirs:.{digits}f} | {theirs / ours:.2f} |')
    for index, what in enumerate(('compile', 'run')):
        ours, theirs = (mean([row[index][k] for row in rows]) for k in (0, 1))
        line(f'ms to {what} a module, geometric mean of {len(rows)}', ours, theirs, 4)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = (campaign(options.assay, name, options.programs, os.path.join(folder, str(k)))
                        for k, name in enumerate((WITH, WITHOUT)))
    line(f'ms of the processor per program of a campaign of {options.programs}', ours['cpu_ms_per_program'],
         theirs['cpu_ms_per_program'], 3)
    line('seconds of those programs spent on code', ours['stages']['code'], theirs['stages']['code'])


if __name__ == '__main__':
    main()
