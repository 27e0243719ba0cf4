"""Is what JAX computed right? `assay.check(f, *args)` asks the oracle of the program `assay`."""
from assay._check import check
from assay._program import ProgramError, find_program
from assay._verdict import Verdict

__all__ = ["ProgramError", "Verdict", "check", "find_program"]
__version__ = "0.1.0"
