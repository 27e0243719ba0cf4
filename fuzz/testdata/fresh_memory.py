"""Ends with 0 if the worker for JAX, whose file is the argument, fills what the C library hands out while a program runs, and
neither before nor after that. Needs no jax: the program is a stand-in that looks at fresh memory."""
import ctypes
import sys
import types

with open(sys.argv[1]) as file:
    text = file.read()
worker = {}
exec(text[: text.index("arguments = [")], worker)

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]


def is_filled():
    """Whether fresh memory holds the fill and nothing else. The library keeps its own notes in the first bytes."""
    size, notes = 4096, 64
    block = library.malloc(size)
    seen = set(ctypes.string_at(block + notes, size - notes))
    library.free(block)
    return seen == {0xFB}


class Devices(worker["JaxDevices"]):
    """One device, without JAX. What runs on it takes and returns nothing."""

    def __init__(self):
        self.executables = {1: (None, ["device"])}
        self.fresh_memory = worker["FreshMemory"]()
        self.jax = types.SimpleNamespace(block_until_ready=lambda values: None)

    def placed(self, values, device):
        return []

    def execute(self, executable, inputs):
        self.is_filled = is_filled()
        return []


devices = Devices()
before = is_filled()
devices.run(1, [], b"")
after = is_filled()
print(before, devices.is_filled, after)
sys.exit(0 if (before, devices.is_filled, after) == (False, True, False) else 1)
