#!/usr/bin/env python3
"""Lowers the programs of JAX's own test harness to HLO modules with inputs and XLA's results.

  python conformance/jax_harness.py DIR [--per-group N] [--groups REGEX] [--seed S] [--optimized]
  assay check DIR --backend reference

Needs a Python with jax, absl-py and hypothesis; nothing of Assay. Writes NAME.hlo and NAME.npz (in0.., out0..) as
the folders of modules in conformance/ have them; --optimized adds NAME.opt.hlo, the form after XLA's passes. At most
N programs of a group (default 40), evenly spread, or with --seed drawn by chance, with other inputs. What JAX cannot
lower or run on this machine is counted by reason.
"""
import argparse
import collections
import os
import random
import re
import sys
import warnings


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('directory')
    parser.add_argument('--per-group', type=int, default=40)
    parser.add_argument('--groups', default='', help='only groups whose name matches')
    parser.add_argument('--seed', type=int, default=None, help='draw the programs of a group, and their inputs')
    parser.add_argument('--optimized', action='store_true')
    return parser.parse_args()


def stored(array):
    """As an npz holds it: bf16 and narrower types as unsigned integers of their width."""
    import numpy as np
    import ml_dtypes
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        return array.view(np.uint16)
    if array.dtype.kind not in 'biufc':
        return array.view(np.uint8)
    return array


def lower(function, arguments):
    """(module text, optimized text, kept arguments, results)"""
    import jax
    from jaxlib import _hlo
    lowered = jax.jit(function).lower(*arguments)
    module = lowered.compiler_ir('hlo').get_hlo_module()
    options = _hlo.HloPrintOptions.short_parsable()
    options.print_large_constants = True
    compiled = lowered.compile()
    leaves = jax.tree_util.tree_leaves(arguments)
    kept = sorted(getattr(compiled._executable, '_kept_var_idx', range(len(leaves))))
    results = jax.tree_util.tree_leaves(compiled(*arguments))
    return module.to_string(options), compiled.as_text(), [leaves[i] for i in kept], results


def chosen(harnesses, options, group):
    """The programs of a group that are written, numbered: evenly spread or drawn."""
    if options.seed is not None:
        drawn = random.Random(f'{options.seed} {group}')
        return list(enumerate(drawn.sample(harnesses, min(len(harnesses), options.per_group))))
    step = max(1, -(-len(harnesses) // options.per_group))
    return list(enumerate(harnesses[::step]))


def main():
    options = parse_arguments()
    os.environ.setdefault('JAX_ENABLE_X64', '1')
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    warnings.filterwarnings('ignore')
    import numpy as np
    from jax._src.internal_test_util import test_harnesses

    groups = collections.defaultdict(list)
    for harness in test_harnesses.all_harnesses:
        if re.search(options.groups, harness.group_name):
            groups[harness.group_name].append(harness)
    os.makedirs(options.directory, exist_ok=True)
    written, skipped = 0, collections.Counter()
    for group, harnesses in sorted(groups.items()):
        for number, harness in chosen(harnesses, options, group):
            rest = re.sub(r'[^A-Za-z0-9_]+', '_', harness.fullname[len(group):])[:90]
            name = os.path.join(options.directory, f'{group}__{number:03d}_{rest.strip("_")}')
            try:
                arguments = harness.dyn_args_maker(np.random.RandomState(number + 1 + 1000 * (options.seed or 0)))
                text, optimized, inputs, outputs = lower(harness.dyn_fun, tuple(arguments))
                arrays = {f'in{i}': stored(x) for i, x in enumerate(inputs)}
                arrays.update({f'out{i}': stored(x) for i, x in enumerate(outputs)})
            except Exception as error:  # whatever JAX raises: the program is not for this machine
                skipped[f'{group}: {type(error).__name__}'] += 1
                continue
            np.savez(name + '.npz', **arrays)
            with open(name + '.hlo', 'w') as file:
                file.write(text)
            if options.optimized:
                with open(name + '.opt.hlo', 'w') as file:
                    file.write(optimized)
            written += 1
        if sys.stderr.isatty():
            print(f'\r{written} modules, at {group}' + ' ' * 30, end='', file=sys.stderr)
    print(f'{written} modules written, {sum(skipped.values())} programs skipped')
    for reason, count in skipped.most_common():
        print(f'  {count} {reason}')


if __name__ == '__main__':
    main()
