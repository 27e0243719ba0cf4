"""A worker for tests. What it does with a module is written in the module's name: echo, crash_compile, crash_run, fatal, hang,
garbage, reject, refuse_..., grow, busy, drip, short_answer, complain, parent. "echo" returns the inputs; "busy" computes for 0.2 s before it does
so, and "complain" writes an error; "fatal" says why it dies, and then takes 0.4 s to say where; "drip" promises a gigabyte and sends
a byte now and then; "parent" puts two process ids into the inputs."""
import os, struct, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "backends"))
import worker_protocol as protocol


class Misbehaving:
    hello = {"name": "misbehaving", "version": "1", "can_run": True, "deterministic": True}

    def __init__(self):
        self.modules = {}

    def compile(self, number, text, flags):
        self.modules[number] = (text.split()[1].rstrip(","), text)
        if "crash_compile" in text:
            print("assertion failed: the test says so", file=sys.stderr, flush=True)
            os.abort()
        if "fatal" in text:
            os.write(2, b"E1125 16:21:57.1 9 a.cc:1] no reason to die\nF1125 16:21:57.664492   28886 b.cc:2] Check failed: x > 0\n")
            time.sleep(0.4)
            os.write(2, b"    @  0x7f2679e40634  somewhere()\n")
            os.abort()
        refusals = {
            "refuse_not_found": "NOT_FOUND: No registered implementation for custom call to x",
            "refuse_unimplemented": "UNIMPLEMENTED: no such thing",
            "refuse_not_supported": "INTERNAL: this form of sort is not supported",
            "refuse_by_check": "INTERNAL: RET_CHECK failure (a.cc:1) is supported: not supported",
        }
        for name, message in refusals.items():
            if name in text:
                raise protocol.BackendError("compile crash", message)
        if "reject" in text:
            raise protocol.BackendError("rejected", "the test says so")
        return 0.25

    def optimized(self, number):
        return self.modules[number][1]

    def run(self, number, arrays, payload):
        name = self.modules[number][0]
        if name == "crash_run":
            os.kill(os.getpid(), 11)
        if name == "complain":
            os.write(2, b"E1125 16:21:57.1 9 a.cc:1] it is not what it was\n")
        if name == "hang":
            time.sleep(1000)
        if name == "garbage":
            os.write(self.raw, b"\xff" * 64)
            time.sleep(1000)
        if name == "drip":
            header = b'{"seconds": 0.5, "arrays": []}'
            os.write(self.raw, struct.pack("<IQ", len(header), 1 << 30) + header)
            while True:
                os.write(self.raw, b"x")
                time.sleep(0.01)
        if name == "grow":
            self.kept = bytearray(512 << 20)
            self.kept[::4096] = b"x" * len(self.kept[::4096])
            time.sleep(1000)
        if name == "busy":
            until = time.process_time() + 0.2
            while time.process_time() < until:
                pass
        if name == "parent":
            return 0.5, arrays, [struct.pack("<i", os.getppid()) + struct.pack("<i", os.getpid()) + payload[8:]]
        if name == "short_answer":
            return 0.5, arrays, [payload[:-1]]
        return 0.5, arrays, [payload]

    def release(self, number):
        self.modules.pop(number)


# The pipe that the answers go through, for the garbage.
Misbehaving.raw = os.dup(1)
protocol.serve(Misbehaving)
