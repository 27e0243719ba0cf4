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
that runs on more than one device says so: "devices": ["cpu:0", "cpu:1"] in its first message; one whose compiler takes XLA's flags and dumps its passes, "dumps_passes": true;
one that is judged by another numeric profile than "xla", "profile": NAME; one whose compiler takes StableHLO, "takes": "stablehlo", and gets that as text. Instead of an answer it may send
    {"error": "rejected" | "unsupported" | "compile crash" | "run crash" | "timeout" | "out of memory" | "sick machine",
     "message": ...}
and stay alive. A worker that dies is started again; its last request counts as a crash.

To write one: subclass nothing; pass serve() an object with the methods used below. Only for programs of several devices
compile() is also given replicas and partitions, and run() the number of devices.
"""
import ctypes, fcntl, json, os, select, signal, socket, struct, sys


class BackendError(Exception):
    """What went wrong, in one of the classes above."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def element_types(numpy, ml_dtypes):
    """Assay's names of element types and what they are in numpy, as far as this ml_dtypes has them."""
    types = {
        "pred": numpy.dtype(bool),
        "bf16": numpy.dtype(ml_dtypes.bfloat16),
        "f16": numpy.dtype("float16"),
        "f32": numpy.dtype("float32"),
        "f64": numpy.dtype("float64"),
        "c64": numpy.dtype("complex64"),
        "c128": numpy.dtype("complex128"),
    }
    for bits in (8, 16, 32, 64):
        types[f"s{bits}"] = numpy.dtype(f"int{bits}")
        types[f"u{bits}"] = numpy.dtype(f"uint{bits}")
    narrow = {"s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "f4e2m1fn": "float4_e2m1fn"}
    for name in ("e5m2", "e4m3fn", "e4m3b11fnuz", "e5m2fnuz", "e4m3fnuz", "e4m3", "e3m4", "e8m0fnu"):
        narrow[f"f8{name}"] = f"float8_{name}"
    for name, theirs in narrow.items():
        if hasattr(ml_dtypes, theirs):
            types[name] = numpy.dtype(getattr(ml_dtypes, theirs))
    return types


def mlir_type(name):
    """The name in StableHLO: i1, ui8, bf16, f8E4M3FN, complex<f32>."""
    whole = {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>", "bf16": "bf16"}
    if name in whole:
        return whole[name]
    if name[0] == "f":
        return "f" + name[1:].upper()
    return {"s": "i", "u": "ui"}[name[0]] + name[1:]


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


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def die_with(lifeline):
    """The kernel kills this process when the other end of the pipe is closed, even in the middle of a computation."""
    F_SETSIG = 10
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(0)


def serve(make_backend, prepare=None):
    """Answers until the other side closes. `make_backend()` gives the object that does the work and its `hello` dictionary.
    With the argument --fork-server and `prepare()`, which loads what can be loaded without starting a thread, it forks a
    worker per message instead."""
    die_with_parent()
    if "--fork-server" in sys.argv:
        sys.argv.remove("--fork-server")
        return serve_forks(make_backend, prepare)
    serve_requests(make_backend)


def serve_forks(make_backend, prepare):
    control = socket.socket(fileno=os.dup(0))
    os.dup2(2, 1)
    try:
        if prepare is not None:
            prepare()
        alone = len(os.listdir("/proc/self/task")) == 1 and hasattr(socket, "recv_fds")
    except Exception:
        alone = False
    try:
        control.send(b"ready" if alone else b"no")
    except BrokenPipeError:  # a campaign that ended before this was loaded
        return
    if not alone:
        return
    awake, wake = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    reports = {}
    while True:
        ready = select.select([control, awake], [], [])[0]
        if awake in ready:
            os.read(awake, 4096)
            reap(reports)
        if control not in ready:
            continue
        try:
            message, descriptors, _, _ = socket.recv_fds(control, 1, 4)
        except ConnectionResetError:  # the word "ready" may lie unread at the other end
            return
        if not message:
            return
        channel, errors, lifeline, report = descriptors
        pid = os.fork()
        if pid == 0:
            begin_worker(channel, errors, lifeline, [control.fileno(), awake, wake, report, *reports.values()])
            serve_requests(make_backend)
            os._exit(0)
        for descriptor in (channel, errors, lifeline):
            os.close(descriptor)
        try:
            os.write(report, struct.pack("<i", pid))
            reports[pid] = report
        except BrokenPipeError:  # whoever asked has been ended since, and the worker ends with its lifeline
            os.close(report)


def reap(reports):
    while reports:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        report = reports.pop(pid, None)
        if report is None:
            continue
        try:
            os.write(report, struct.pack("<id", status, usage.ru_utime + usage.ru_stime))
        except BrokenPipeError:
            pass  # nobody wants to know
        os.close(report)


def begin_worker(channel, errors, lifeline, foreign):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    die_with_parent()
    for ours, place in ((channel, 0), (channel, 1), (errors, 2)):
        os.dup2(ours, place)
    for descriptor in (channel, errors, *foreign):
        os.close(descriptor)
    die_with(lifeline)


def serve_requests(make_backend):
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
