"""Ends with 0 if the worker for JAX, whose file is the argument, fills what the C library hands out while a program runs, and
nothing else."""
import ctypes
import sys

with open(sys.argv[1]) as file:
    text = file.read()
found = {"ctypes": ctypes}
exec(text[text.index("class FreshMemory") : text.index("def import_jax")], found)

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]


def seen_in_fresh_memory():
    """What stands in a block that held sevens before it was given back. The library keeps its own notes in the first bytes."""
    size, notes = 4096, 64
    block = library.malloc(size)
    ctypes.memset(block, 7, size)
    library.free(block)
    block = library.malloc(size)
    seen = set(ctypes.string_at(block + notes, size - notes))
    library.free(block)
    return seen


memory = found["FreshMemory"]()
before = seen_in_fresh_memory()
with memory:
    inside = seen_in_fresh_memory()
after = seen_in_fresh_memory()
print(before, inside, after)
sys.exit(0 if (before, inside, after) == ({7}, {0xFB}, {7}) else 1)
