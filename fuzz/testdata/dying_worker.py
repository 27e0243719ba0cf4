"""A worker for tests that compiles anything and then, by its first argument, dies, hangs or writes garbage when it is to run it."""
import os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "backends"))
import worker_protocol as protocol


class Dying:
    hello = {"name": "dying", "version": "1", "can_run": True, "deterministic": True}
    raw = os.dup(1)  # the pipe that the answers go through

    def compile(self, number, text, flags):
        return 0.25

    def run(self, number, arrays, payload):
        if sys.argv[1] == "die":
            os._exit(1)
        if sys.argv[1] == "garbage":
            os.write(self.raw, b"\xff" * 64)
        time.sleep(1000)

    def release(self, number):
        pass


protocol.serve(Dying)
