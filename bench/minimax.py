"""Derives the coefficients of the compiler's f64 functions (optimized/runtime/functions/formulas.h):
minimax polynomials by Remez exchange in decimal arithmetic. Prints each with its largest error."""

import decimal
import math
import sys
from decimal import Decimal as D

decimal.getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")


def sine(x):
    """The sine of a small number, by its series."""
    term, total, k = x, x, 1
    while abs(term) > D(10) ** -70:
        term *= -x * x / ((2 * k) * (2 * k + 1))
        total += term
        k += 1
    return total


def cosine(x):
    term, total, k = D(1), D(1), 1
    while abs(term) > D(10) ** -70:
        term *= -x * x / ((2 * k - 1) * (2 * k))
        total += term
        k += 1
    return total


def erf(x):
    term, total, k = x, x, 1
    while abs(term) > D(10) ** -70:
        term *= -x * x / k
        total += term / (2 * k + 1)
        k += 1
    return total * 2 / PI.sqrt()


def arctangent(x):
    """The arc tangent, its argument halved thrice before the series."""
    for _ in range(3):
        x = x / (1 + (1 + x * x).sqrt())
    power, total, k = x, x, 1
    while abs(power) > D(10) ** -70:
        power *= -x * x
        total += power / (2 * k + 1)
        k += 1
    return 8 * total


def arcsine(x):
    return arctangent(x / (1 - x * x).sqrt())


def series(ratio, first):
    """sum of first(k) ratio^k."""
    total, power, k = D(0), D(1), 0
    while abs(power) > D(10) ** -70:
        total += first(k) * power
        power *= ratio
        k += 1
    return total


def exp_series(r):
    """(e^r - 1 - r) / r^2."""
    total, term, k = D(0), D(1) / 2, 2
    while abs(term) > D(10) ** -70 or k == 2:
        total += term
        k += 1
        term *= r / k
    return total


def sine_rest(z):
    """(sin r - r) / r^3 for r^2 = z."""
    total, term, k = D(0), D(-1) / 6, 1
    while abs(term) > D(10) ** -70 or k == 1:
        total += term
        k += 1
        term *= -z / ((2 * k) * (2 * k + 1))
    return total


def cosine_rest(z):
    """(cos r - 1 + r^2 / 2) / r^4 for r^2 = z."""
    total, term, k = D(0), D(1) / 24, 2
    while abs(term) > D(10) ** -70 or k == 2:
        total += term
        k += 1
        term *= -z / ((2 * k - 1) * (2 * k))
    return total


def erf_rest(z):
    """erf(x) / x - 1 for x^2 = z."""
    if z == 0:
        return 2 / PI.sqrt() - 1
    x = z.sqrt()
    return erf(x) / x - 1


def arctangent_rest(z):
    """(atan(x) - x) / x^3 for x^2 = z."""
    if z < D("0.001"):
        return series(-z, lambda k: D(-1) / (2 * k + 3))
    x = z.sqrt()
    return (arctangent(x) - x) / (x * z)


def arcsine_rest(z):
    """(asin(x) - x) / x^3 for x^2 = z."""
    if z < D("0.001"):
        total, c, k, power = D(0), D(1) / 2, 1, D(1)
        while abs(power) > D(10) ** -70:
            total += c / (2 * k + 1) * power
            c *= D(2 * k + 1) / (2 * k + 2)
            power *= z
            k += 1
        return total
    x = z.sqrt()
    return (arcsine(x) - x) / (x * z)


def solve(rows, right):
    """Gaussian elimination with row pivots."""
    n = len(rows)
    rows = [row + [value] for row, value in zip(rows, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    result = [D(0)] * n
    for i in reversed(range(n)):
        known = sum((rows[i][k] * result[k] for k in range(i + 1, n)), D(0))
        result[i] = (rows[i][n] - known) / rows[i][i]
    return result


def evaluate(coefficients, x):
    total = D(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(f, weight, low, high, count):
    """`count` coefficients of the polynomial whose weighted error from low to high is smallest."""
    middle, half = (D(low) + D(high)) / 2, (D(high) - D(low)) / 2
    grid = [middle - half * D(math.cos(math.pi * k / 1200)) for k in range(1201)]
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    points = [round(1200 * k / count) for k in range(count + 1)]
    for _ in range(30):
        rows, right = [], []
        for sign, k in enumerate(points):
            powers = [D(1)]
            while len(powers) < count:
                powers.append(powers[-1] * grid[k])
            rows.append(powers + [(-1) ** sign / max(weights[k], D("1e-40"))])
            right.append(values[k])
        *coefficients, level = solve(rows, right)
        errors = [
            w * (evaluate(coefficients, x) - v) for x, v, w in zip(grid, values, weights)
        ]
        runs = []
        for k, error in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[runs[-1]]):
                    runs[-1] = k
            else:
                runs.append(k)
        while len(runs) > count + 1:
            if abs(errors[runs[0]]) < abs(errors[runs[-1]]):
                runs.pop(0)
            else:
                runs.pop()
        if len(runs) < count + 1:
            break
        worst = max(abs(e) for e in errors)
        points = runs
        if worst < abs(level) * D("1.02"):
            break
    rounded = [D(float(c)) for c in coefficients]
    errors = [
        abs(w * (evaluate(rounded, x) - v)) for x, v, w in zip(grid, values, weights)
    ]
    return rounded, max(errors)


HALF_LOG_2 = D(2).ln() / 2 + D("0.001")
S2 = ((D(2).sqrt() - 1) / (D(2).sqrt() + 1)) ** 2 + D("0.00001")
QUARTER_PI2 = (PI / 4 + D("0.001")) ** 2

# Name, function, weight of its error, interval, number of coefficients.
JOBS = [
    ("Exp", exp_series, lambda r: max(abs(r), D("0.05")), -HALF_LOG_2, HALF_LOG_2, 11),
    ("Log", lambda z: series(z, lambda k: D(2) / (2 * k + 3)), lambda z: z, 0, S2, 7),
    ("PowerLog", lambda z: series(z, lambda k: D(2) / (2 * k + 5)), lambda z: z * z, 0, S2, 7),
    ("Sine", sine_rest, lambda z: z, 0, QUARTER_PI2, 6),
    ("Cosine", cosine_rest, lambda z: z * z, 0, QUARTER_PI2, 6),
    ("ErfSmall", erf_rest, lambda z: D(1), 0, 1, 13),
    ("LogComplement", lambda t: (1 - erf(1 + t)).ln(), lambda t: 1 - erf(1 + t), 0, 5, 19),
    ("CubeRoot", lambda t: ((1 + t).ln() / 3).exp(), lambda t: D(1), D("-0.2929"), D("0.4143"), 6),
    ("ArcTangent", arctangent_rest, lambda z: z, 0, 1, 20),
    ("ArcSine", arcsine_rest, lambda z: z, 0, D("0.25"), 12),
]


def main():
    for name, f, weight, low, high, count in JOBS:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        coefficients, error = remez(f, weight, low, high, count)
        print(f"// {name}: 2^{float(error.ln() / D(2).ln()):.1f}")
        print(", ".join(repr(float(c)) for c in coefficients) + "\n")
    constants = {"ln 2": D(2).ln(), "pi / 2": PI / 2, "2 / 3": D(2) / 3, "1 / ln 2": 1 / D(2).ln()}
    constants["cube root of 2"] = (D(2).ln() / 3).exp()
    for name, rest in constants.items():
        parts = []
        for _ in range(3):
            parts.append(float(rest))
            rest -= D(parts[-1])
        print(f"{name}:", *map(repr, parts))


if __name__ == "__main__":
    main()
