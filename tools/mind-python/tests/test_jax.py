"""Functions of JAX, and what JAX computes for them."""

import mind_opt as mo
import numpy
import pytest
from conftest import block

jax = pytest.importorskip("jax")
jax.config.update("jax_platforms", "cpu")
jnp, lax = jax.numpy, jax.lax

R = numpy.random.default_rng(7)


def draw(*shape):
    return R.standard_normal(shape).astype("float32")


def check(fn, *args, types=None, atol=1e-5):
    """Compares results of both for arguments, on a module for arrays like them and, with `types`, on one for any extents."""
    expected = [numpy.asarray(own) for own in jax.tree.leaves(jax.jit(fn)(*args))]
    leaves = [numpy.asarray(own) for own in jax.tree.leaves(args)]
    for given in [args, types]:
        if given is None:
            continue
        module = mo.from_jax(fn, *given)
        for one in [module, module.optimize()]:
            found = list(one.compile(threads=1).run(*leaves).values())
            assert len(found) == len(expected)
            for own, wanted in zip(found, expected):
                assert own.shape == wanted.shape and own.dtype == wanted.dtype
                numpy.testing.assert_allclose(own, wanted, rtol=1e-5, atol=atol)


W1, W2 = draw(8, 16), draw(16, 4)


def mlp(x):
    return jax.nn.softmax(jax.nn.gelu(x @ W1) @ W2)


def attention(x, wq, wk, wv, wo, gain):
    batch, time, width = x.shape
    normal = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain

    def heads(w):
        return (normal @ w).reshape(batch, time, 2, width // 2).transpose(0, 2, 1, 3)

    scores = jnp.einsum("bhqd,bhkd->bhqk", heads(wq), heads(wk)) / numpy.sqrt(width // 2).astype("float32")
    mask = jnp.tril(jnp.ones((time, time), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, heads(wv)).transpose(0, 2, 1, 3)
    return x + mixed.reshape(batch, time, width) @ wo


def network(x, first, second):
    numbers = ("NHWC", "HWIO", "NHWC")
    y = jax.nn.relu(lax.conv_general_dilated(x, first, (1, 1), "SAME", dimension_numbers=numbers))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    y = lax.conv_general_dilated(
        y, second, (2, 2), [(1, 0), (0, 1)], dimension_numbers=numbers, feature_group_count=2
    )
    return y.mean((1, 2))


def test_a_perceptron():
    check(mlp, draw(3, 8), types=["f32[batch, 8]"])


def test_an_attention_block():
    args = [draw(2, 5, 16), *[0.3 * draw(16, 16) for _ in range(4)], draw(16)]
    check(attention, *args, types=["f32[b, t, 16]", *args[1:]])


def test_a_network_of_convolutions():
    args = [draw(2, 8, 8, 3), draw(3, 3, 3, 4), draw(3, 3, 2, 6)]
    check(network, *args, types=["f32[batch, 8, 8, 3]", *args[1:]])


def test_loops():
    def recurrent(x, w, u):
        def step(state, row):
            state = jnp.tanh(row @ w + state @ u)
            return state, state.sum(-1)

        return lax.scan(step, jnp.zeros((x.shape[1], 6)), x)

    args = [draw(7, 2, 4), draw(4, 6), draw(6, 6)]
    check(recurrent, *args, types=["f32[7, batch, 4]", *args[1:]])
    check(lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.5), (0, x)), draw(4))
    check(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, d: d + j * x, c), x), draw(4))


def test_choices():
    for index in range(4):
        branches = [lambda x: x + 1, lambda x: x * 2, jnp.sin]
        check(lambda i, x: lax.switch(i, branches, x), numpy.int32(index), draw(4))
    for pred in [True, False]:
        check(lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: -x, x), numpy.bool_(pred), draw(4))


def test_indices():
    rows = numpy.array([[0, 3], [9, -1]], "int32")
    check(lambda table, i: table[i] * 2, draw(10, 4), rows, types=[draw(10, 4), "i32[b, t]"])
    check(lambda x, i: jnp.take(x, i, axis=0, mode="fill", fill_value=7.0), draw(10, 4), numpy.array([0, 20, 3], "int32"))
    check(jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 0), (3, 2))), draw(4, 6, 3), numpy.array([0, 2, 5, 1], "int32"))
    check(lambda x, i, u: x.at[i].add(u), draw(10, 4), numpy.array([0, 2, 2], "int32"), draw(3, 4))
    check(jax.vmap(lambda x, i, u: x.at[i].set(u)), draw(3, 6, 2), numpy.array([[1, 2], [0, 5], [3, 4]], "int32"), draw(3, 2, 2))
    check(lambda x: (jnp.sort(x), jnp.argsort(x), lax.top_k(x, 3), jnp.argmax(x, -1)), draw(2, 9))


def test_trees_and_names():
    params = {"w": draw(4, 8), "b": draw(8)}
    module = mo.from_jax(lambda p, x: {"y": jax.nn.relu(x @ p["w"] + p["b"])}, params, "f32[batch, 4]")
    assert [port.name for port in module.inputs] == ["p['b']", "p['w']", "x"]
    assert [port.name for port in module.outputs] == ["result['y']"]
    assert module.inputs[2].shape == ("batch", 4)
    fixed = mo.from_jax(lambda x: x * 2, "f32[batch, 4]", dims={"batch": 3})
    assert fixed.inputs[0].shape == (3, 4)
    x = draw(5, 4)
    (y,) = module.compile(threads=1).run(params["b"], params["w"], x).values()
    numpy.testing.assert_allclose(y, numpy.maximum(x @ params["w"] + params["b"], 0), rtol=1e-5, atol=1e-5)


def test_what_cannot_be_read_is_named():
    with pytest.raises(mo.RejectedError) as caught:
        mo.from_jax(lambda x: jnp.fft.fft(x) + jnp.linalg.eigh(x)[1], draw(4, 4))
    found = [own.message for own in caught.value.diagnostics]
    assert any("`stablehlo.fft`: complex numbers are not supported" in own for own in found)
    assert any("@lapack_ssyevd_ffi` is code outside of the text" in own for own in found)
    with pytest.raises(ValueError, match="is not a type: expected one like"):
        mo.from_jax(lambda x: x, "f32(4)")
    with pytest.raises(mo.RejectedError, match="no dimension `bach`; its open dimensions are `batch`"):
        mo.from_jax(lambda x: x * 2, "f32[batch, 4]", dims={"bach": 3})


def test_the_page_is_true():
    exec(compile(block("from_jax"), "python.md", "exec"), {})
