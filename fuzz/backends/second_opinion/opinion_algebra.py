"""Normalizations, transforms and linear algebra of the second opinion. Joined after opinion_types.py."""


# ---- Batch normalization, by the formulas of the operation semantics, in float64.


def along_feature(at, rank):
    """Reshapes what has one value per feature to be broadcast over an operand; and the dimensions that are averaged over."""
    feature = at["feature_index"]
    others = tuple(d for d in range(rank) if d != feature)
    return lambda v: v.reshape([-1 if d == feature else 1 for d in range(rank)]), others


def batch_norm_inference(at, x, scale, offset, mean, variance):
    spread, _ = along_feature(at, x.ndim)
    x, scale, offset, mean, variance = (wide(v) for v in (x, scale, offset, mean, variance))
    return settle((x - spread(mean)) / numpy.sqrt(spread(variance) + at["epsilon"]) * spread(scale) + spread(offset), at.kind)


def batch_norm_training(at, x, scale, offset):
    spread, others = along_feature(at, x.ndim)
    x, scale, offset = wide(x), wide(scale), wide(offset)
    mean = x.mean(axis=others)
    variance = ((x - spread(mean)) ** 2).mean(axis=others)
    normal = (x - spread(mean)) / numpy.sqrt(spread(variance) + at["epsilon"])
    return tuple(settle(v, at.kind_of(i)) for i, v in enumerate((normal * spread(scale) + spread(offset), mean, variance)))


def batch_norm_grad(at, x, scale, mean, variance, grad):
    spread, others = along_feature(at, x.ndim)
    x, scale, mean, variance, grad = (wide(v) for v in (x, scale, mean, variance, grad))
    deviation = numpy.sqrt(spread(variance) + at["epsilon"])
    centred, count = x - spread(mean), max(1, x.size // max(1, len(scale)))
    by_scale = (grad * centred / deviation).sum(axis=others)
    by_offset = grad.sum(axis=others)
    along = spread((grad * centred).sum(axis=others)) / (spread(variance) + at["epsilon"])
    by_x = spread(scale) / deviation / count * (count * grad - spread(by_offset) - centred * along)
    return tuple(settle(v, at.kind_of(i)) for i, v in enumerate((by_x, by_scale, by_offset)))


# ---- Transforms and linear algebra.


def fft(at, x):
    lengths, kind = at["fft_length"], at["fft_type"]
    if 0 in lengths or x.size == 0:
        raise Declined("an empty transform")
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    x = wide(x)
    if kind in ("FFT", "IFFT"):
        return settle((numpy.fft.fftn if kind == "FFT" else numpy.fft.ifftn)(x, axes=axes), at.kind)
    if kind == "RFFT":
        return settle(numpy.fft.rfftn(x, axes=axes), at.kind)
    return settle(numpy.fft.irfftn(x, s=lengths, axes=axes), at.kind)


def triangular_solve(at, a, b):
    """By substitution: row by row, from the corner where one unknown is left."""
    is_left, is_lower, kind = at.get("left_side", False), at.get("lower", False), at.get("transpose_a", "NO_TRANSPOSE")
    a, b = wide(a), wide(b)
    a = numpy.tril(a) if is_lower else numpy.triu(a)
    if kind != "NO_TRANSPOSE":
        a, is_lower = numpy.swapaxes(a, -1, -2), not is_lower
    if kind == "ADJOINT":
        a = numpy.conj(a)
    if not is_left:  # x a = b is a^T x^T = b^T
        a, b, is_lower = numpy.swapaxes(a, -1, -2), numpy.swapaxes(b, -1, -2), not is_lower
    n = a.shape[-1]
    x = numpy.zeros_like(b)
    for i in range(n) if is_lower else reversed(range(n)):
        known = range(i) if is_lower else range(i + 1, n)
        rest = b[..., i, :].copy()
        for k in known:
            rest = rest - a[..., i, k, None] * x[..., k, :]
        x[..., i, :] = rest if at.get("unit_diagonal", False) else rest / a[..., i, i, None]
    return settle(x if is_left else numpy.swapaxes(x, -1, -2), at.kind)


def cholesky(at, a):
    a = wide(a)
    if not at.get("lower", False):
        a = numpy.conj(numpy.swapaxes(a, -1, -2))
    a = numpy.tril(a)
    lower = numpy.zeros_like(a)
    for j in range(a.shape[-1]):
        row = lower[..., j, :j]
        pivot = (a[..., j, j] - (row * numpy.conj(row)).sum(axis=-1)).real
        lower[..., j, j] = numpy.sqrt(numpy.where(pivot > 0, pivot, numpy.nan))
        for i in range(j + 1, a.shape[-1]):
            lower[..., i, j] = (a[..., i, j] - (lower[..., i, :j] * numpy.conj(row)).sum(axis=-1)) / lower[..., j, j]
    failed = numpy.isnan(lower).any(axis=(-1, -2), keepdims=True)
    lower = numpy.where(failed, numpy.nan, lower)
    return settle(lower if at.get("lower", False) else numpy.conj(numpy.swapaxes(lower, -1, -2)), at.kind)


ALGEBRA = {"batch-norm-inference": batch_norm_inference, "batch-norm-training": batch_norm_training, "batch-norm-grad": batch_norm_grad,
           "fft": fft, "triangular-solve": triangular_solve, "cholesky": cholesky}
