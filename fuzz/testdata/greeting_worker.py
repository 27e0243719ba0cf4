"""A worker for tests that greets, or does not, in the way that its first argument names."""
import json, os, struct, sys, time


def send(header):
    text = json.dumps(header).encode()
    os.write(1, struct.pack("<IQ", len(text), 0) + text)


way = sys.argv[1]
if way == "exits":
    print("no device here\033[31m\0", file=sys.stderr, flush=True)
    sys.exit(3)
if way == "dies":
    print("out of luck", file=sys.stderr, flush=True)
    os.abort()
if way == "mute":
    time.sleep(1000)
if way == "prints":
    os.write(1, b"Loading the model ...\n")
    time.sleep(1000)
if way == "binary":
    os.write(1, b"\xff" * 64)
    time.sleep(1000)
if way == "list":
    os.write(1, struct.pack("<IQ", 2, 0) + b"[]")
    time.sleep(1000)
if way == "other":
    send({"protocol": 2, "name": "\033[2J"})
if way == "error":
    send({"protocol": 1, "error": "sick machine", "message": "no licence\033[2J"})
if way == "escapes":
    send({"protocol": 1, "name": "n", "version": "v\033[2J\0"})
time.sleep(1000)
