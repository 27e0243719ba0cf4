"""Ops of the second opinion that move elements, by attributes or by indices. Joined after opinion_types.py."""


def broadcast(at, a):
    shape = [1] * len(at.dims)
    for i, d in enumerate(at["dimensions"]):
        shape[d] = a.shape[i]
    order = numpy.argsort(at["dimensions"]) if len(at["dimensions"]) else []
    return numpy.broadcast_to(a.transpose(order).reshape(shape) if len(order) else a, at.dims)


def pad(at, a, value):
    result = numpy.full(at.dims, value, dtype=a.dtype)
    for index in numpy.ndindex(*a.shape):
        to = [lo + i * (interior + 1) for i, (lo, _, interior) in zip(index, at["padding"])]
        if all(0 <= t < size for t, size in zip(to, at.dims)):
            result[tuple(to)] = a[index]
    return result


def starts_of(values, dims, sizes):
    """Each start clamped on its own, so that all of the slice lies inside."""
    if len(values) == 1 and numpy.ndim(values[0]) == 1:
        values = list(values[0])
    return [max(0, min(int(v), d - s)) for v, d, s in zip(values, dims, sizes)]


def dynamic_slice(at, a, *starts):
    sizes = at["dynamic_slice_sizes"]
    at_ = starts_of(starts, a.shape, sizes)
    return a[tuple(slice(b, b + s) for b, s in zip(at_, sizes))]


def dynamic_update_slice(at, a, update, *starts):
    at_ = starts_of(starts, a.shape, update.shape)
    result = a.copy()
    result[tuple(slice(b, b + s) for b, s in zip(at_, update.shape))] = update
    return result


def dynamic_reshape(at, a, *sizes):
    """Of what fills its shape: nothing here is of run-time size."""
    if [int(size) for size in sizes] != list(at.dims):
        raise Declined("an array that is not full")
    return a.reshape(at.dims)


def set_dimension_size(at, a, size):
    if int(size) != a.shape[at["dimensions"][0]]:
        raise Declined("an array that is not full")
    return a


def iota(at):
    d = at["iota_dimension"]
    shape = [1] * len(at.dims)
    shape[d] = at.dims[d]
    line = numpy.arange(at.dims[d])
    line = settle(line.astype(numpy.float64), at.kind) if is_float(at.kind) or is_complex(at.kind) else settle(line, at.kind)
    return numpy.broadcast_to(line.reshape(shape), at.dims)


def reverse(at, a):
    return numpy.flip(a, tuple(at["dimensions"]))


def index_vectors(indices, vector_dim):
    """Batch index -> vector of integers."""
    if vector_dim == indices.ndim:
        indices = indices[..., None]
    moved = numpy.moveaxis(indices, vector_dim, -1)
    for batch in numpy.ndindex(*moved.shape[:-1]):
        yield batch, [int(x) for x in moved[batch]]


def gather(at, operand, indices):
    offset_dims, sizes = at["offset_dims"], at["slice_sizes"]
    batching, index_batching = at.get("operand_batching_dims", []), at.get("start_indices_batching_dims", [])
    gone = set(at["collapsed_slice_dims"]) | set(batching)
    window_dims = [d for d in range(operand.ndim) if d not in gone]
    batch_dims = [d for d in range(len(at.dims)) if d not in offset_dims]
    positions = [d for d in range(indices.ndim) if d != at["index_vector_dim"]]
    result = numpy.empty(at.dims, operand.dtype)
    for batch, vector in index_vectors(indices, at["index_vector_dim"]):
        start = [0] * operand.ndim
        for d, v in zip(at["start_index_map"], vector):
            start[d] = max(0, min(v, operand.shape[d] - sizes[d]))
        for d, b in zip(batching, index_batching):
            start[d] = batch[positions.index(b)]
        for offset in numpy.ndindex(*(sizes[d] for d in window_dims)):
            source, to = list(start), [0] * len(at.dims)
            for d, o in zip(window_dims, offset):
                source[d] += o
            for d, o in list(zip(offset_dims, offset)) + list(zip(batch_dims, batch)):
                to[d] = o
            result[tuple(to)] = operand[tuple(source)]
    return result


def scatter(at, *values):
    count = (len(values) - 1) // 2
    operands, indices, updates = values[:count], values[count], values[count + 1:]
    window_dims = at["update_window_dims"]
    batching, index_batching = at.get("input_batching_dims", []), at.get("scatter_indices_batching_dims", [])
    gone = set(at["inserted_window_dims"]) | set(batching)
    kept = [d for d in range(operands[0].ndim) if d not in gone]
    batch_dims = [d for d in range(updates[0].ndim) if d not in window_dims]
    positions = [d for d in range(indices.ndim) if d != at["index_vector_dim"]]
    results = [o.copy() for o in operands]
    sizes = [updates[0].shape[d] for d in window_dims]
    for batch, vector in index_vectors(indices, at["index_vector_dim"]):
        start = [0] * operands[0].ndim
        for d, v in zip(at["scatter_dims_to_operand_dims"], vector):
            start[d] = v
        for d, b in zip(batching, index_batching):
            start[d] = batch[positions.index(b)]
        for offset in numpy.ndindex(*sizes):
            to, source = list(start), [0] * updates[0].ndim
            for d, o in zip(kept, offset):
                to[d] += o
            for d, o in list(zip(window_dims, offset)) + list(zip(batch_dims, batch)):
                source[d] = o
            if not all(0 <= t < s for t, s in zip(to, operands[0].shape)):
                continue
            old = [numpy.asarray(r[tuple(to)]) for r in results]
            new = as_list(at.call(0, *old, *(numpy.asarray(u[tuple(source)]) for u in updates)), count)
            for r, n in zip(results, new):
                r[tuple(to)] = n
    return tuple(results) if at.is_tuple else results[0]
