"""The worker's side of Assay's process protocol, version 1: a template for putting any compiler under test.

A worker is a program that reads requests from standard input and answers each on standard output. Assay keeps it warm, one
request at a time, and kills it when it is late. A message, either way, is

    u32 header length | u64 payload length | header (JSON, UTF-8) | payload (bytes)      integers little-endian

First the worker sends   {"protocol": 1, "name": ..., "version": ..., "can_run": true, "deterministic": true}
Then, per request:
    {"op": "compile", "id": n, "flags": {..}, "replicas": r, "partitions": p}  payload: HLO text  -> {"seconds": s}
    {"op": "optimized", "id": n}                                       -> {}, payload: HLO text
    {"op": "run", "id": n, "devices": d, "arrays": [{"type": "f32", "dims": [2]}]}  payload: the arguments
                                                                       -> {"seconds": s, "arrays": [..]}, payload: the outputs
    {"op": "release", "id": n}                                         -> {}
Arrays stand one behind the other in the payload, row-major, little-endian, one storage unit per element (pred one byte 0 or 1,
types below a byte one byte each). Outputs are the leaves of the result, depth first. With several devices, replicas times
partitions of them, all arguments of the first device come first, then those of the second, and so do the outputs. A worker
that runs on more than one device says so: "devices": ["cpu:0", "cpu:1"] in its first message. Instead of an answer it may send
    {"error": "rejected" | "unsupported" | "compile crash" | "run crash" | "timeout" | "out of memory" | "sick machine",
     "message": ...}
and stay alive. A worker that dies is started again; its last request counts as a crash.

To write one: subclass nothing; pass serve() an object with the methods used below. Only for programs of several devices
compile() is also given replicas and partitions, and run() the number of devices.
"""
import json, os, struct, sys


class BackendError(Exception):
    """What went wrong, in one of the classes above."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def open_channel():
    """Takes the two pipes for the protocol and sends everything else that is printed to standard error."""
    inbound = os.fdopen(os.dup(0), "rb")
    outbound = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return inbound, outbound


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise EOFError
    return data


def receive(stream):
    header_size, payload_size = struct.unpack("<IQ", read_exactly(stream, 12))
    header = json.loads(read_exactly(stream, header_size))
    return header, read_exactly(stream, payload_size)


def send(stream, header, chunks=()):
    text = json.dumps(header).encode()
    stream.write(struct.pack("<IQ", len(text), sum(len(c) for c in chunks)))
    stream.write(text)
    for chunk in chunks:
        stream.write(chunk)
    stream.flush()


def answer(backend, request, payload):
    """One request -> (header, chunks)."""
    op = request["op"]
    if op == "compile":
        devices = request.get("replicas", 1), request.get("partitions", 1)
        several = devices if devices != (1, 1) else ()
        return {"seconds": backend.compile(request["id"], payload.decode(), request.get("flags", {}), *several)}, ()
    if op == "optimized":
        return {}, (backend.optimized(request["id"]).encode(),)
    if op == "run":
        several = (request["devices"],) if request.get("devices", 1) != 1 else ()
        seconds, arrays, chunks = backend.run(request["id"], request["arrays"], payload, *several)
        return {"seconds": seconds, "arrays": arrays}, chunks
    if op == "release":
        backend.release(request["id"])
        return {}, ()
    raise BackendError("unsupported", f"unknown request {op!r}")


def serve(make_backend):
    """Answers until the other side closes. `make_backend()` gives the object that does the work and its `hello` dictionary."""
    inbound, outbound = open_channel()
    try:
        backend = make_backend()
    except Exception as error:
        send(outbound, {"protocol": 1, "error": "sick machine", "message": f"{type(error).__name__}: {error}"})
        return
    send(outbound, {"protocol": 1, **backend.hello})
    while True:
        try:
            request, payload = receive(inbound)
        except EOFError:
            return
        try:
            header, chunks = answer(backend, request, payload)
        except BackendError as error:
            header, chunks = {"error": error.kind, "message": str(error)}, ()
        except MemoryError:
            header, chunks = {"error": "out of memory", "message": "the worker ran out of memory"}, ()
        except Exception as error:
            kind = "run crash" if request.get("op") == "run" else "compile crash"
            header, chunks = {"error": kind, "message": f"{type(error).__name__}: {error}"}, ()
        send(outbound, header, chunks)
