#!/usr/bin/env python3
"""Measures how fast HLO text is read and written, beside XLA's own reader and writer, in one run.

  PYTHON bench/text_speed.py --program build/release/bin/text_benchmark FILE...

PYTHON is an interpreter with jaxlib (0.10 has the calls used here). The program (target text_benchmark) and jaxlib take
turns, file by file; of several rounds each keeps its best, so that other work on the machine does not count. Reading is
text to module, without verification on our side (XLA's reader verifies nothing either); writing is module to text.
"""
import argparse
import json
import subprocess
import time


def best_of(work, seconds=0.25):
    best, end, runs = float('inf'), time.perf_counter() + seconds, 0
    while runs < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('files', nargs='+')
    options = parser.parse_args()
    from jaxlib import _hlo
    import jaxlib
    best = {}

    def keep(path, key, value):
        row = best.setdefault(path, {})
        row[key] = max(row.get(key, 0), value)

    for _ in range(options.rounds):
        for path in options.files:
            ours = json.loads(subprocess.run([options.program, path], check=True, capture_output=True).stdout)
            for key in ('read_mb_per_s', 'reads_per_s', 'write_short_mb_per_s', 'write_long_mb_per_s'):
                keep(path, key, ours[key])
            best[path]['bytes'] = ours['bytes']
            text = open(path, encoding='utf-8').read()
            module = _hlo.hlo_module_from_text(text)
            seconds = best_of(lambda: _hlo.hlo_module_from_text(text))
            keep(path, 'xla_read_mb_per_s', len(text) / seconds / 1e6)
            keep(path, 'xla_reads_per_s', 1 / seconds)
            size = len(module.to_string())
            keep(path, 'xla_write_mb_per_s', size / best_of(module.to_string) / 1e6)
    if not options.json:
        print(f'jaxlib {jaxlib.__version__}; MB/s (modules/s), best of {options.rounds} rounds in turn')
    for path, row in best.items():
        if options.json:
            print(json.dumps({'file': path, **row}))
            continue
        print(f"{path.split('/')[-1]} ({row['bytes']} bytes)\n"
              f"  read  {row['read_mb_per_s']:7.1f} ({row['reads_per_s']:.0f}/s)   "
              f"XLA {row['xla_read_mb_per_s']:6.1f} ({row['xla_reads_per_s']:.0f}/s)   "
              f"{row['read_mb_per_s'] / row['xla_read_mb_per_s']:.1f}x\n"
              f"  write {row['write_long_mb_per_s']:7.1f}             XLA {row['xla_write_mb_per_s']:6.1f}   "
              f"{row['write_long_mb_per_s'] / row['xla_write_mb_per_s']:.1f}x")


if __name__ == '__main__':
    main()
