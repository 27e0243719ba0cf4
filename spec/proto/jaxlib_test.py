"""Modules of jaxlib in our reader and ours in jaxlib. Optional: needs a Python with jaxlib.

  python spec/proto/jaxlib_test.py build/release/bin/assay conformance/corpus [MORE ...]

Every module goes jaxlib -> bytes -> assay -> text and assay -> bytes -> jaxlib -> text; both must be
the module that jaxlib makes of the text itself. Prints one line per difference and the counts.
"""
import glob, os, subprocess, sys, tempfile

from jaxlib import _hlo


def hlo(text):
    return _hlo.hlo_module_from_text(text)


def main():
    assay, paths = sys.argv[1], []
    for path in sys.argv[2:]:
        paths += sorted(glob.glob(os.path.join(path, '*.hlo'))) if os.path.isdir(path) else [path]
    counts = {'theirs read here': 0, 'ours read there': 0, 'different': 0, 'skipped': 0}
    for path in paths:
        with open(path) as file:
            text = file.read()
        try:
            theirs = hlo(text)
        except Exception:
            counts['skipped'] += 1  # a dialect that this jaxlib does not read
            continue
        wanted = theirs.to_string()
        with tempfile.NamedTemporaryFile(suffix='.pb') as file:
            file.write(theirs.as_serialized_hlo_module_proto())
            file.flush()
            here = subprocess.run([assay, 'print', file.name, '--format', 'long'], capture_output=True, text=True)
        ours = subprocess.run([assay, 'print', path, '--format', 'proto'], capture_output=True)
        if here.returncode != 0 or ours.returncode != 0:
            counts['different'] += 1
            print(path, here.stderr[:300], ours.stderr[:300])
            continue
        # Counts of devices are in no message: they are compared through the text.
        try:
            back = hlo(here.stdout).to_string()
            there = _hlo.HloModule.from_serialized_hlo_module_proto(ours.stdout).to_string() if hasattr(
                _hlo.HloModule, 'from_serialized_hlo_module_proto') else _hlo.XlaComputation(
                    ours.stdout).get_hlo_module().to_string()
        except Exception as error:
            counts['different'] += 1
            print(path, str(error)[:300])
            continue
        strip = lambda module: module.split('\n', 1)[1]
        counts['theirs read here'] += strip(back) == strip(wanted)
        counts['ours read there'] += strip(there) == strip(wanted)
        if strip(back) != strip(wanted) or strip(there) != strip(wanted):
            counts['different'] += 1
            other = back if strip(back) != strip(wanted) else there
            for a, b in zip(strip(wanted).split('\n'), strip(other).split('\n')):
                if a != b:
                    print(f'{path}\n  wanted {a[:200]}\n  got    {b[:200]}')
                    break
    print(counts)
    return 1 if counts['different'] else 0


if __name__ == '__main__':
    sys.exit(main())
