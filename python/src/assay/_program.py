"""Finds the program `assay` and runs it."""
import json
import os
import pathlib
import shutil
import subprocess


class ProgramError(RuntimeError):
    """The program `assay` was not found, or it refused what it was given."""


_REMEDY = (
    "Build it in the repository of Assay with `tools/quickstart`, then put build/release/bin on the PATH, "
    "set ASSAY_PROGRAM to the file, or give check(..., program=FILE)."
)


def find_program(program=None):
    """The path of the program: what was named, else $ASSAY_PROGRAM, the PATH, and build folders at or above here."""
    named = program or os.environ.get("ASSAY_PROGRAM")
    if named:
        found = shutil.which(str(named))
        if found is None:
            raise ProgramError(f"{named!r} is not a program that can be run. {_REMEDY}")
        return found
    found = shutil.which("assay")
    if found is not None:
        return found
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents):
        built = sorted(folder.glob("build/*/bin/assay"), key=lambda path: path.stat().st_mtime)
        if built:
            return str(built[-1])
    raise ProgramError(f"the program `assay` was not found. {_REMEDY}")


def run_json(program, arguments):
    """Runs a verb with --json; the objects that it printed, one per line. It limits its own time (--timeout). Exit status 2
    without any object is an error."""
    command = [program, *arguments, "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise ProgramError(f"{program} cannot be run: {error}. {_REMEDY}") from error
    objects = []
    for line in done.stdout.splitlines():
        try:
            objects.append(json.loads(line))
        except ValueError as error:
            raise ProgramError(f"{' '.join(command)} printed what is not JSON: {line[:200]}") from error
    if done.returncode not in (0, 1) and not objects:
        raise ProgramError(f"{' '.join(command)} ended with exit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return objects
