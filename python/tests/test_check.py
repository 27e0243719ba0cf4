"""Functions of several kinds, right and wrong, as a user would check them. Needs jax and the program."""
import functools

import numpy
import pytest

jax = pytest.importorskip("jax")
if hasattr(jax.config, "jax_num_cpu_devices"):
    jax.config.update("jax_num_cpu_devices", 4)
import jax.numpy as jnp  # noqa: E402

import assay  # noqa: E402


def test_plain_function():
    verdict = assay.check(lambda x: jnp.tanh(x) * 2, jnp.linspace(-3, 3, 17))
    assert verdict, str(verdict)
    assert verdict.elements == 17 and "XLA:CPU of jaxlib" in str(verdict)


def test_jitted_function_with_static_dropped_and_donated_arguments():
    @functools.partial(jax.jit, static_argnums=(1,), donate_argnums=(0,))
    def step(x, n, unused, rate=0.5):
        return {"a": x * n + rate, "b": jnp.argmax(x)}

    x = jnp.arange(6.0).reshape(2, 3)
    assert assay.check(step, x, 3, jnp.zeros(4), rate=0.25)
    assert float(x[1, 2]) == 5.0  # the user's array was not given away


def test_static_arguments_by_name():
    by_name = functools.partial(jax.jit, static_argnames=("mode",))

    @by_name
    def either(x, mode):
        return x.sum() if mode == "sum" else x

    assert assay.check(either, jnp.arange(3.0), mode="sum").elements == 1
    assert assay.check(either, jnp.arange(3.0), "none").elements == 3


def test_words_that_are_not_known():
    with pytest.raises(ValueError, match="'strict'"):
        assay.check(jnp.sin, jnp.zeros(2), profile="stict")
    with pytest.raises(ValueError, match="'auto'"):
        assay.check(jnp.sin, jnp.zeros(2), cut="always")


def test_the_profile_is_that_of_the_platform():
    divide = lambda x: x / 3.0  # noqa: E731
    assert assay.check(divide, jnp.ones(3)).profile == "xla"
    assert assay.check(divide, jnp.ones(3), profile="xla-gpu").profile == "xla-gpu"
    from assay import _check

    assert [_check._profile_of(p) for p in ("cpu", "tpu", "gpu", "cuda")] == ["xla", "xla", "xla-gpu", "xla-gpu"]


def test_functions_without_results():
    verdict = assay.check(lambda x: None, jnp.zeros(2))
    assert not verdict and verdict.status == "nothing to judge" and "returns no array" in str(verdict)


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_integers_below_a_byte(name):
    narrow = getattr(jnp, name)
    x = jnp.arange(-2 if name.startswith("int") else 0, 2).astype(narrow)
    assert assay.check(lambda v: (v, v.astype(jnp.int32) * 3, v + v), x)


def test_bfloat16_and_narrow_types():
    x = jnp.linspace(-2, 2, 33).astype(jnp.bfloat16)
    assert assay.check(lambda v: (v * v, v.astype(jnp.float8_e4m3fn), v > 0), x)


def test_scan_and_keys():
    def walk(key, start):
        def body(carry, step):
            return carry * 0.5 + step, carry

        return jax.lax.scan(body, start, jax.random.uniform(key, (5,)))

    assert assay.check(walk, jax.random.key(3), jnp.float32(1.0))


def test_numpy_arguments_and_python_scalars():
    assert assay.check(lambda x, s: x @ x.T + s, numpy.eye(3, dtype=numpy.float32), 2.0)


def test_a_wrong_answer_fails(tmp_path, monkeypatch):
    from assay import _lowering

    right = _lowering.lower_and_run

    def bent(*arguments):
        lowered = right(*arguments)
        lowered.outputs[0] = lowered.outputs[0] + numpy.float32(1e-3)
        return lowered

    monkeypatch.setattr(_lowering, "lower_and_run", bent)
    verdict = assay.check(jnp.sin, jnp.linspace(0, 1, 5), keep=tmp_path)
    assert verdict.failed and not verdict and verdict.wrong == 5
    assert "allowed" in str(verdict) and "<pre>" in verdict._repr_html_()
    # As `assay check FOLDER` looks for them.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sin.hlo.pb", "sin.npz"]


def test_convolutions():
    def layer(x, kernel):
        return jax.nn.relu(jax.lax.conv(x, kernel, (1, 1), "SAME"))

    image, kernel = jnp.linspace(-1, 1, 36).reshape(1, 1, 6, 6), jnp.linspace(-1, 2, 18).reshape(2, 1, 3, 3)
    assert assay.check(layer, image, kernel)
    assert assay.check(jax.grad(lambda *a: layer(*a).sum(), argnums=(0, 1)), image, kernel)


def test_shard_map_is_judged_device_by_device():
    from jax.sharding import PartitionSpec

    devices = jax.devices()
    mesh = jax.sharding.Mesh(numpy.array(devices), ("d",))
    parts = PartitionSpec("d")

    def rows(x, w, unused):
        return jax.lax.psum(x @ w, "d"), x * 2

    mapped = jax.shard_map(rows, mesh=mesh, in_specs=(parts, PartitionSpec(), PartitionSpec()), out_specs=(PartitionSpec(), parts))
    x = jnp.arange(4.0 * len(devices)).reshape(2 * len(devices), 2)
    verdict = assay.check(mapped, x, jnp.ones((2, 3)), jnp.zeros(5))
    assert verdict, str(verdict)
    assert verdict.elements == len(devices) * 6 + x.size
    assert (f"on {len(devices)} devices" in str(verdict)) == (len(devices) > 1)


def test_sharded_arguments():
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("d",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    x = jax.device_put(jnp.arange(8.0 * len(jax.devices())).reshape(-1, 4), split)
    assert assay.check(lambda x: (x * 2).sum(0), x)


def test_deep_functions_are_judged_stretch_by_stretch():
    w = jax.random.normal(jax.random.PRNGKey(0), (8, 8))

    def deep(w, x):
        return jax.lax.scan(lambda c, _: (jnp.sin(c @ w) * 3, None), x, None, length=40)[0]

    verdict = assay.check(deep, w, jnp.ones((2, 8)))
    assert verdict and verdict.cuts, str(verdict)
    assert "stretch by stretch" in str(verdict)


def test_deep_functions_on_several_devices_are_judged_stretch_by_stretch():
    from jax.sharding import PartitionSpec

    mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("d",))

    def deep(w, x):
        def step(c, _):
            return jnp.sin(jax.lax.pmean(c @ w, "d") + c @ w) * 3, None

        return jax.lax.scan(step, x, None, length=40)[0]

    parts = PartitionSpec("d")
    mapped = jax.shard_map(deep, mesh=mesh, in_specs=(PartitionSpec(), parts), out_specs=parts, check_vma=False)
    verdict = assay.check(mapped, jax.random.normal(jax.random.PRNGKey(0), (8, 8)), jnp.ones((2 * len(jax.devices()), 8)))
    assert verdict and verdict.cuts, str(verdict)


def test_callbacks_are_explained():
    def printing(x):
        jax.debug.print("{}", x)
        return x + 1

    verdict = assay.check(printing, jnp.zeros(2))
    assert verdict.status == "unsupported" and "check it without the callback" in str(verdict)


def test_names_of_partial_functions():
    verdict = assay.check(functools.partial(jnp.sum, axis=0), jnp.ones((2, 2)))
    assert verdict.name == "sum"


def test_program_that_is_not_there():
    with pytest.raises(assay.ProgramError, match="tools/quickstart"):
        assay.check(jnp.sin, jnp.zeros(2), program="/nonexistent/assay")


def test_fixture(assay_check):
    assay_check(jnp.cumsum, jnp.arange(5))


def test_fixture_fails_the_test(assay_check, monkeypatch):
    from assay import _lowering

    right = _lowering.lower_and_run

    def bent(*arguments):
        lowered = right(*arguments)
        lowered.outputs[0] = lowered.outputs[0] + 1
        return lowered

    monkeypatch.setattr(_lowering, "lower_and_run", bent)
    with pytest.raises(pytest.fail.Exception, match="failed: "):
        assay_check(jnp.cumsum, jnp.arange(5))


def test_the_timeout_is_what_the_program_gets(monkeypatch):
    from assay import _program

    seen = []
    run_json = _program.run_json
    monkeypatch.setattr(_program, "run_json", lambda program, arguments: seen.append(arguments) or run_json(program, arguments))
    assert assay.check(jnp.sin, jnp.ones(3), timeout=77, cut="all")
    assert len(seen) == 2
    assert all(arguments[arguments.index("--timeout") + 1] == "77s" for arguments in seen)
