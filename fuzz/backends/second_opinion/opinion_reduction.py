"""Ops of the second opinion that call a scalar computation, and contractions. Joined after opinion_types.py."""


def fold_many(at, operands, inits, groups):
    """`groups`: for each result element the indices that are combined into it, in ascending order."""
    count = len(operands)
    results = [numpy.empty(at.dims_of(i), storage(at.kind_of(i))) for i in range(count)]
    for to, indices in groups:
        total = list(inits)
        for index in indices:
            values = [numpy.asarray(o[index]) if index is not None else i for o, i in zip(operands, inits)]
            total = as_list(at.call(0, *total, *values), count)
        for result, value in zip(results, total):
            result[to] = value
    return tuple(results) if at.is_tuple else results[0]


def is_pointwise(at):
    """Whether the computation makes of each element what it makes of it alone, so that it may have all of them at once."""
    return all(i["op"] in POINTWISE for i in at.callee(0)["instructions"])


def fold_together(at, inits, shape, steps):
    """All result elements at once. `steps` has, in ascending order, what is combined into each of them."""
    count = len(inits)
    total = [numpy.full(shape, init, storage(at.kind_of(i))) for i, init in enumerate(inits)]
    for values in steps:
        at.machine.steps += total[0].size >> 10
        total = [numpy.broadcast_to(v, shape) for v in as_list(at.call(0, *total, *values), count)]
    results = tuple(numpy.array(t, storage(at.kind_of(i))) for i, t in enumerate(total))
    return results if at.is_tuple else results[0]


def as_list(value, count):
    return list(value) if isinstance(value, tuple) else [value] * (count == 1)


def has_no_order(at):
    """Whether the computation combines its two parameters by one op whose order changes no bit."""
    computation = at.callee(0)
    parameters = {i["id"] for i in computation["instructions"] if i["op"] == "parameter"}
    others = [i for i in computation["instructions"] if i["id"] not in parameters]
    if len(others) != 1 or len(parameters) != 2 or set(others[0]["operands"]) != parameters:
        return False
    name, kind = others[0]["op"], others[0]["shape"][0]
    return name in ("maximum", "minimum", "and", "or", "xor") or (name in ("add", "multiply") and is_integer(kind))


def lines(operand, over, kept):
    """What is reduced together is in one column, of which there may be none, or without rows."""
    count = int(numpy.prod([operand.shape[d] for d in over]))
    return operand.transpose(over + kept).reshape([count] + [operand.shape[d] for d in kept])


def reduce_in_halves(at, operand, init, over, kept):
    """All lines at once: big arrays take as many calls as their length has bits."""
    shape = tuple(operand.shape[d] for d in kept)
    rows = lines(operand, over, kept)
    while len(rows) > 1:
        middle = len(rows) // 2
        rows = numpy.concatenate([at.call(0, rows[:middle], rows[middle:2 * middle]), rows[2 * middle:]])
    total = numpy.full(shape, init, operand.dtype)
    return at.call(0, total, rows[0]) if len(rows) else total


def reduce(at, *values):
    half = len(values) // 2
    operands, inits = values[:half], values[half:]
    over = list(at["dimensions"])
    kept = [d for d in range(operands[0].ndim) if d not in over]
    if half == 1 and operands[0].size > 0 and has_no_order(at):
        return reduce_in_halves(at, operands[0], inits[0], over, kept)
    if is_pointwise(at):
        shape = tuple(operands[0].shape[d] for d in kept)
        rows = [lines(o, over, kept) for o in operands]
        return fold_together(at, inits, shape, zip(*rows))

    def groups():
        for to in numpy.ndindex(*(operands[0].shape[d] for d in kept)):
            def indices():
                for inner in numpy.ndindex(*(operands[0].shape[d] for d in over)):
                    index = [0] * operands[0].ndim
                    for d, i in list(zip(kept, to)) + list(zip(over, inner)):
                        index[d] = i
                    yield tuple(index)
            yield to, indices()

    return fold_many(at, operands, inits, groups())


def places(window, shape, out):
    """(window index, operand index or None) under an output index."""
    for inside in numpy.ndindex(*(w["size"] for w in window)):
        index = []
        for o, i, w, size in zip(out, inside, window, shape):
            at_ = o * w["stride"] + i * w["window_dilation"] - w["low"]
            index.append(at_ // w["base_dilation"] if at_ % w["base_dilation"] == 0 and 0 <= at_ // w["base_dilation"] < size else None)
        yield inside, (None if None in index else tuple(index))


def places_together(window, operands, inits, out):
    """For each window index the elements under it of all outputs, and the initial values where there is none."""
    for inside in numpy.ndindex(*(w["size"] for w in window)):
        indices, is_there = [], numpy.ones((1,) * len(out), bool)
        for d, (o, i, w, size) in enumerate(zip(out, inside, window, operands[0].shape)):
            at_ = numpy.arange(o) * w["stride"] + i * w["window_dilation"] - w["low"]
            index = at_ // w["base_dilation"]
            is_in = (at_ % w["base_dilation"] == 0) & (0 <= index) & (index < size)
            is_there = is_there & is_in.reshape([-1 if k == d else 1 for k in range(len(out))])
            indices.append(numpy.where(is_in, index, 0))
        yield [numpy.where(is_there, o[numpy.ix_(*indices)], i) for o, i in zip(operands, inits)]


def reduce_window(at, *values):
    half = len(values) // 2
    operands, inits = values[:half], values[half:]
    out_dims = at.dims_of(0)
    if is_pointwise(at) and operands[0].size > 0:
        return fold_together(at, inits, out_dims, places_together(at["window"], operands, inits, out_dims))
    groups = ((o, (p for _, p in places(at["window"], operands[0].shape, o))) for o in numpy.ndindex(*out_dims))
    return fold_many(at, operands, inits, groups)


def map_(at, *values):
    if is_pointwise(at):
        return numpy.array(numpy.broadcast_to(at.call(0, *values), at.dims), storage(at.kind))
    result = numpy.empty(at.dims, storage(at.kind))
    for index in numpy.ndindex(*at.dims):
        result[index] = at.call(0, *(numpy.asarray(v[index]) for v in values))
    return result


def scan(at, *values):
    """Step by step along a dimension: the computation has a piece of each input, and the carries."""
    carries, d = at["num_carries"], at["dimensions"][0]
    inputs, state = values[:len(values) - carries], values[len(values) - carries:]
    outputs = [[] for _ in range(len(at.shapes) - carries)]
    steps = range(inputs[0].shape[d])
    for i in reversed(steps) if at.get("is_reverse", False) else steps:
        results = at.call(0, *(numpy.take(v, i, axis=d) for v in inputs), *state)
        results = results if isinstance(results, tuple) else (results,)
        state = results[len(outputs):]
        for pieces, piece in zip(outputs, results):
            pieces.insert(0, piece) if at.get("is_reverse", False) else pieces.append(piece)
    stacked = [numpy.stack(pieces, axis=d) if pieces else numpy.empty(at.dims_of(i), storage(at.kind_of(i)))
               for i, pieces in enumerate(outputs)]
    results = (*stacked, *state)
    return results if at.is_tuple else results[0]


def ranks(kind, a):
    """Integers in the order of the values, of floats in the total order; equal values have one."""
    if is_float(kind):
        a = total_order(a, kind)
    return numpy.unique(a, return_inverse=True)[1].reshape(a.shape)


def topk(at, a):
    rank = ranks(at.program_kind(0), a)
    order = numpy.argsort(-rank if at.get("largest", True) else rank, axis=-1, kind="stable")[..., :at["k"]]
    return numpy.take_along_axis(a, order, axis=-1), order.astype(numpy.int32)


def sort(at, *values):
    d = at["dimensions"][0]
    results = [v.copy() for v in values]
    for line in numpy.ndindex(*(s for i, s in enumerate(values[0].shape) if i != d)):
        where = [tuple(line[:d]) + (k,) + tuple(line[d:]) for k in range(values[0].shape[d])]

        def less(i, j):
            pairs = [numpy.asarray(v[where[k]]) for v in values for k in (i, j)]
            return bool(at.call(0, *pairs))

        order = sorted(range(len(where)), key=functools.cmp_to_key(lambda i, j: -1 if less(i, j) else 1 if less(j, i) else 0))
        for result, value in zip(results, values):
            for to, source in zip(where, order):
                result[to] = value[where[source]]
    return tuple(results) if at.is_tuple else results[0]


def select_and_scatter(at, operand, source, init):
    result = numpy.full(at.dims, init, dtype=operand.dtype)
    for out in numpy.ndindex(*source.shape):
        best = None
        for _, index in places(at["window"], operand.shape, out):
            if index is None:
                continue
            if best is None or not bool(at.call(0, numpy.asarray(operand[best]), numpy.asarray(operand[index]))):
                best = index
        if best is not None:
            result[best] = at.call(1, numpy.asarray(result[best]), numpy.asarray(source[out]))
    return result


# ---- Contractions.


def dot(at, a, b):
    lb, rb = at.get("lhs_batch_dims", []), at.get("rhs_batch_dims", [])
    lc, rc = at.get("lhs_contracting_dims", []), at.get("rhs_contracting_dims", [])
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    left, right = [next(letters) for _ in range(a.ndim)], [None] * b.ndim
    for x, y in list(zip(lb, rb)) + list(zip(lc, rc)):
        right[y] = left[x]
    right = [r or next(letters) for r in right]
    out = [left[d] for d in lb] + [left[d] for d in range(a.ndim) if d not in list(lb) + list(lc)]
    out += [right[d] for d in range(b.ndim) if d not in list(rb) + list(rc)]
    return settle(numpy.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", product_of(a, at), product_of(b, at)), at.kind)


def product_of(value, at):
    """Products of integers are computed in the type of the result, modulo its size."""
    return settle(wide(value), at.kind) if is_integer(at.kind) else wide(value)


def convolution(at, a, b):
    labels, window = at["dim_labels"], at.get("window", [])
    groups, batch_groups = at.get("feature_group_count", 1), at.get("batch_group_count", 1)
    wide_a, wide_b = product_of(a, at), product_of(b, at)
    spatial = [a.shape[d] for d in labels["input_spatial"]]
    outputs = b.shape[labels["kernel_output_feature"]]
    inputs = b.shape[labels["kernel_input_feature"]]
    per_batch = a.shape[labels["input_batch"]] // batch_groups
    result = numpy.zeros(at.dims, wide_a.dtype)
    for out in numpy.ndindex(*at.dims):
        feature, n = out[labels["output_feature"]], out[labels["output_batch"]]
        place = tuple(out[d] for d in labels["output_spatial"])
        total = wide_a.dtype.type(0)
        for inside, index in places(window, spatial, place):
            if index is None:
                continue
            for i in range(inputs):
                source, kernel = [0] * a.ndim, [0] * b.ndim
                source[labels["input_batch"]] = n + (feature // (outputs // batch_groups)) * per_batch
                source[labels["input_feature"]] = i + (feature // (outputs // groups)) * inputs
                kernel[labels["kernel_input_feature"]], kernel[labels["kernel_output_feature"]] = i, feature
                for d, x in zip(labels["input_spatial"], index):
                    source[d] = x
                for d, x, w in zip(labels["kernel_spatial"], inside, window):
                    kernel[d] = w["size"] - 1 - x if w["reversal"] else x
                total = total + wide_a[tuple(source)] * wide_b[tuple(kernel)]
        result[out] = total
    return settle(result, at.kind)
