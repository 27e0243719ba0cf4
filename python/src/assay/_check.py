"""`check`: the whole way from a function to a verdict."""
import contextlib
import dataclasses
import os
import pathlib
import re
import sys
import tempfile

import numpy

from assay import _lowering, _program
from assay._verdict import Verdict


def check(
    function,
    *args,
    profile=None,
    cut="auto",
    program=None,
    timeout=600,
    keep=None,
    static_argnums=None,
    static_argnames=None,
    **kwargs,
):
    """Runs `function(*args, **kwargs)` on the devices of this process and judges the result by derived bounds.

    A function with shard_map inside is judged as XLA's partitioner divides it, all devices in lockstep.

    function: a plain or jitted JAX function. args, kwargs: what it is called with; donated arrays stay usable.
    profile: "xla" (what XLA is licensed to do), "xla-gpu" (what it is on GPUs) or "strict" (what the text of the operations
    says). Without one it is that of the platform.
    cut: "auto" judges by cuts when the plain verdict is inconclusive, "all" always, "off" never. Cuts need XLA:CPU.
    timeout: seconds that the program assay may compute on one evaluation, compilation or run of a small function; what has more
    work to do has more. They are the work's own: what it waits for a busy machine does not count.
    keep: a folder in which module, inputs and results are left.
    Returns a Verdict, which is true if everything passed. Raises ProgramError if the program is missing or refuses.
    """
    _require("profile", profile, (None, "xla", "xla-gpu", "strict", "xla@2026-09", "xla-gpu@2026-09"))
    _require("cut", cut, ("auto", "all", "off"))
    found = _program.find_program(program)
    lowered = _lowering.lower_and_run(function, args, kwargs, static_argnums, static_argnames)
    name = _name_of(function)
    profile = profile or _profile_of(lowered.platform)
    with _folder(keep) as folder:
        path = folder / f"{name}{lowered.suffix}"
        path.write_bytes(lowered.module)
        numpy.savez(folder / f"{name}.npz", **{key: _raw(array) for key, array in lowered.arrays().items()})
        options = ["--profile", profile, "--no-db", "--timeout", f"{timeout}s"]
        # What is judged by cuts if it is big need not be judged whole before.
        whole = [] if _may_cut(cut, lowered.platform) else ["--cut", "off"]
        records = _program.run_json(found, ["check", str(path), "--backend", "none", *whole, *options])
        if _wants_cuts(records, cut, lowered.platform):
            backend = "xla" if lowered.devices == 1 else f"jax:devices={lowered.devices}"
            judged = ["--backend", backend, "--python", sys.executable, "--cut", cut]
            by_cuts = _program.run_json(found, ["check", str(path), *judged, *options])
            # What cannot be run once more has been judged as far as it can be.
            if not any(record.get("status") in ("unsupported", "rejected") for record in by_cuts):
                records = by_cuts
        kept = folder if keep is not None else None
        verdict = Verdict.from_records(records, name, profile, lowered.compiler, kept)
    if not lowered.outputs:
        verdict = dataclasses.replace(verdict, detail="the function returns no array")
    return verdict


def _profile_of(platform):
    return "xla-gpu" if platform in ("cuda", "gpu", "rocm") else "xla"


def _require(name, value, words):
    if value not in words:
        raise ValueError(f"{name}={value!r}: it is one of {', '.join(map(repr, words))}")


def _name_of(function):
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return re.sub(r"\W+", "_", getattr(function, "__name__", type(function).__name__)).strip("_") or "function"


def _may_cut(cut, platform):
    return cut != "off" and platform == "cpu"


def _wants_cuts(records, cut, platform):
    if not _may_cut(cut, platform):
        return False
    return cut == "all" or any(record.get("status") == "inconclusive" for record in records)


@contextlib.contextmanager
def _folder(keep):
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="assay-") as made:
            yield pathlib.Path(made)
    else:
        os.makedirs(keep, exist_ok=True)
        yield pathlib.Path(keep)


def _raw(array):
    """As Assay reads it: integers below a byte are those of a byte, and other types that numpy itself does not have are
    unsigned integers of their width."""
    array = numpy.asarray(array)
    if array.dtype.kind in "?biufc" and array.dtype.isbuiltin == 1:
        return array
    if array.dtype.name.startswith(("int", "uint")):
        return array.astype(numpy.int8 if array.dtype.name.startswith("int") else numpy.uint8)
    return array.view({1: numpy.uint8, 2: numpy.uint16}[array.dtype.itemsize])
