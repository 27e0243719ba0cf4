"""The table of ops of the second opinion, and the machine that runs programs. Joined last."""


# ---- Control.


def while_(at, state):
    while bool(at.call(0, state)):
        at.machine.step()
        state = at.call(1, state)
    return state


def conditional(at, selector, *arguments):
    if at.program_kind(0) == "pred":
        which = 0 if bool(selector) else 1
    else:
        which = int(selector) if 0 <= int(selector) < len(arguments) else len(arguments) - 1
    return at.call(which, arguments[which])


def alone(at, *values):
    """A collective whose only member gets what it has given."""
    if at.machine.devices != 1:
        raise Declined("several devices")
    return values if at.is_tuple else values[0]


def permute(at, *values):
    """Bits that are zero, unless the only member sends to itself."""
    sent = alone(at, *values)
    if at.get("slice_sizes", []):
        raise Declined("a permutation of slices")
    if at.get("source_target_pairs", []):
        return sent
    if any(at.kind_of(i) == "f8e8m0fnu" for i in range(len(at.shapes))):
        as_real("f8e8m0fnu", "the bits")
    return tuple(numpy.zeros_like(v) for v in values) if at.is_tuple else numpy.zeros_like(sent)


OPS = {
    "all-gather": alone, "all-reduce": alone, "all-to-all": alone, "reduce-scatter": alone,
    "collective-permute": permute,
    "broadcast": broadcast, "clamp": clamp, "compare": compare, "conditional": conditional, "convert": convert,
    "bitcast-convert": bitcast_convert, "convolution": convolution, "dot": dot, "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice, "gather": gather, "iota": iota, "map": map_, "pad": pad, "reduce": reduce,
    "reduce-precision": reduce_precision, "reduce-window": reduce_window, "reverse": reverse, "scatter": scatter,
    "scan": scan, "select-and-scatter": select_and_scatter, "sort": sort, "topk": topk, "while": while_,
    "call": lambda at, *values: at.call(0, *values),
    "concatenate": lambda at, *values: numpy.concatenate(values, at["dimensions"][0]),
    "get-tuple-element": lambda at, value: value[at["index"]],
    "tuple": lambda at, *values: tuple(values),
    "optimization-barrier": lambda at, value: value,
    "reshape": lambda at, a: a.reshape(at.dims),
    "dynamic-reshape": dynamic_reshape, "set-dimension-size": set_dimension_size,
    "get-dimension-size": lambda at, a: numpy.int32(a.shape[at["dimensions"][0]]),
    "select": lambda at, p, a, b: numpy.where(p, a, b),
    "slice": lambda at, a: a[tuple(slice(*r) for r in at["slice"])],
    "transpose": lambda at, a: a.transpose(at["dimensions"]),
    "is-finite": lambda at, a: numpy.isfinite(wide(a)),
    "popcnt": lambda at, a: settle(count(at.kind, leading=False)(a), at.kind),
    "count-leading-zeros": lambda at, a: settle(count(at.kind, leading=True)(a), at.kind),
    "shift-left": lambda at, a, b: settle(shift(at.kind, left=True)(a, b), at.kind),
    "shift-right-logical": lambda at, a, b: settle(shift(at.kind)(a, b), at.kind),
    "shift-right-arithmetic": lambda at, a, b: settle(shift(at.kind, arithmetic=True)(a, b), at.kind),
}
OPS.update({name: elementwise(name, function) for table in (UNARY, BINARY) for name, function in table.items()})
OPS.update(ALGEBRA)
POINTWISE = {*UNARY, *BINARY, "parameter", "constant", "clamp", "compare", "convert", "select", "tuple", "is-finite", "popcnt",
             "count-leading-zeros", "shift-left", "shift-right-logical", "shift-right-arithmetic"}
OPS["maximum"] = with_signed_zeros("maximum", maximum, numpy.logical_and)
OPS["minimum"] = with_signed_zeros("minimum", minimum, numpy.logical_or)


# ---- The machine.


class Site:
    """One instruction with the values of its operands."""

    def __init__(self, machine, instruction, kinds, values):
        self.machine, self.instruction, self.kinds, self.values = machine, instruction, kinds, values
        shape = instruction["shape"]
        self.is_tuple = isinstance(shape, dict)
        self.shapes = shape["tuple"] if self.is_tuple else [shape]
        self.kind = None if self.is_tuple else shape[0]
        self.dims = None if self.is_tuple else tuple(shape[1])

    def kind_of(self, i):
        return self.shapes[i][0]

    def dims_of(self, i):
        return tuple(self.shapes[i][1])

    def program_kind(self, operand):
        return self.kinds[operand]

    def __getitem__(self, name):
        return self.instruction["attributes"][name]

    def get(self, name, otherwise):
        return self.instruction["attributes"].get(name, otherwise)

    def callee(self, which):
        return self.machine.computations[self.instruction["callees"][which]]

    def call(self, which, *values):
        return self.machine.run(self.instruction["callees"][which], values)


class Machine:
    def __init__(self, computations, devices):
        self.computations, self.devices, self.steps = computations, devices, 0

    def step(self):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Declined("too many steps")

    def run(self, name, arguments):
        computation, values, kinds = self.computations[name], {}, {}
        for instruction in computation["instructions"]:
            self.step()
            values[instruction["id"]] = self.evaluate(instruction, arguments, values, kinds)
            shape = instruction["shape"]
            kinds[instruction["id"]] = None if isinstance(shape, dict) else shape[0]
        return values[computation["root"]]

    def evaluate(self, instruction, arguments, values, kinds):
        op, shape = instruction["op"], instruction["shape"]
        if op == "parameter":
            return arguments[instruction["attributes"]["parameter_number"]]
        if op == "constant":
            return decode(instruction["literal"], shape)
        if op not in OPS:
            raise Declined(f"no row for {op}")
        operands = instruction["operands"]
        site = Site(self, instruction, [kinds[o] for o in operands], [values[o] for o in operands])
        if not site.is_tuple and int(numpy.prod(site.dims, dtype=object)) > MOST_ELEMENTS:
            raise Declined("too many elements")
        value = OPS[op](site, *site.values)
        return value if isinstance(value, tuple) else numpy.asarray(value)


def decode(text, shape):
    literal = numpy.frombuffer(bytes.fromhex(text), written(shape[0])).reshape(shape[1])
    return literal.astype(storage(shape[0]))


def in_digits(value):
    """The parts of each element as decimal numbers, complex ones one after the other."""
    if value.dtype.kind in "iub":
        return [str(int(x)) for x in value.flat]
    parts = numpy.stack([value.real, value.imag], axis=-1) if value.dtype.kind == "c" else value
    return [numpy.format_float_scientific(x, precision=21, unique=False) for x in parts.flat]


def leaves(value, shape):
    if isinstance(shape, dict):
        return list(itertools.chain.from_iterable(leaves(v, s) for v, s in zip(value, shape["tuple"])))
    settled = numpy.ascontiguousarray(settle(value, shape[0])).reshape(shape[1])
    return [(shape, in_digits(settled) if Numbers.are_real else settled.tobytes().hex())]


def opinion_of(program):
    """The leaves of the result, as [shape, bytes] or, of real numbers, as [shape, digits]; or why there is no opinion."""
    entry = program["computations"][program["entry"]]
    shapes = {i["id"]: i["shape"] for i in entry["instructions"]}
    parameters = {i["attributes"]["parameter_number"]: i["shape"] for i in entry["instructions"] if i["op"] == "parameter"}
    def outputs():
        inputs = [decode(text, parameters[k]) for k, text in enumerate(program["inputs"])]
        result = Machine(program["computations"], program["devices"]).run(program["entry"], inputs)
        return leaves(result, shapes[entry["root"]])

    try:
        with numpy.errstate(all="ignore"):
            if not program.get("reals", False):
                return {"outputs": outputs()}
            Numbers.become_real()
            exact = outputs()
            Numbers.have_digits = True
            return {"outputs": exact, "rounded": outputs()}
    except Declined as why:
        return {"declined": str(why)}
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        return {"declined": f"{type(error).__name__}: {error}"}


def give_opinion(text):
    """Prints the opinion on a program as one JSON object."""
    print(json.dumps(opinion_of(json.loads(text))))
