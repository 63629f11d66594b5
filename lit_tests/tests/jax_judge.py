"""Compares functions of JAX with the modules that are read from their StableHLO.

Usage: python jax_judge.py MIND_RUN [--engine=jit|interp] [NAME ...]

Each function is lowered with `jax.jit(f).lower(...).as_text()` and run by `mind-run` on the same arrays. Floats may differ by a
relative 2e-5 and an absolute 2e-5; all else must be equal.
"""

import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy import linalg as jsl
from jax.scipy import special

rng = np.random.RandomState(0)


def f(*shape):
    return np.asarray(rng.randn(*shape), np.float32)


def positive(*shape):
    return np.abs(f(*shape)) + np.float32(0.5)


def unit(*shape):
    return rng.uniform(-0.9, 0.9, shape).astype(np.float32)


def i(*shape, low=0, high=5):
    return np.asarray(rng.randint(low, high, shape), np.int32)


def definite(*batch):
    a = f(*batch, 4, 4)
    return (a @ a.swapaxes(-1, -2) + 4 * np.eye(4)).astype(np.float32)


def lower(*batch):
    return (np.tril(f(*batch, 4, 4)) + 3 * np.eye(4)).astype(np.float32)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def attention(q, k, v):
    return nn.softmax(q @ k.swapaxes(-1, -2) / 2.0) @ v


CASES = {
    # jax.numpy: elementwise
    "sin": (jnp.sin, f(3, 4)),
    "arcsin": (jnp.arcsin, unit(3, 4)),
    "arctanh": (jnp.arctanh, unit(3, 4)),
    "arccosh": (jnp.arccosh, positive(3, 4) + 1),
    "sinh": (jnp.sinh, f(3, 4)),
    "expm1": (jnp.expm1, f(3, 4)),
    "log1p": (jnp.log1p, positive(3, 4)),
    "cbrt": (jnp.cbrt, f(3, 4)),
    "hypot": (jnp.hypot, f(3), f(3)),
    "arctan2": (jnp.arctan2, f(3), f(3)),
    "floor_divide": (jnp.floor_divide, f(6), positive(6)),
    "mod": (jnp.mod, i(6, low=-9, high=9), i(6, low=1)),
    "logaddexp": (jnp.logaddexp, f(5), f(5)),
    "sign": (jnp.sign, f(5)),
    "rint": (jnp.rint, 3 * f(5)),
    "clip": (lambda x: jnp.clip(x, -0.5, 0.5), f(5)),
    "where": (lambda x: jnp.where(x > 0, x, -2 * x), f(5)),
    "nan_to_num": (jnp.nan_to_num, np.array([1, np.nan, np.inf, -np.inf], np.float32)),
    "power": (jnp.power, positive(5), f(5)),
    "bitwise": (lambda a, b: (a & b) ^ (a | b) + (a << 1), i(5), i(5)),
    "popcount": (lax.population_count, i(5, high=1000)),
    # jax.numpy: shapes and indices
    "take": (lambda x, j: jnp.take(x, j, axis=0), f(5, 3), i(4)),
    "take_along_axis": (lambda x, j: jnp.take_along_axis(x, j, axis=1), f(3, 5), i(3, 2)),
    "at_set": (lambda x, j: x.at[j].set(7.0), f(5, 3), np.array([1, 3], np.int32)),
    "at_add": (lambda x, j: x.at[j].add(7.0), f(5, 3), np.array([1, 1], np.int32)),
    "roll": (lambda x: jnp.roll(x, 2, axis=1), f(3, 5)),
    "flip": (lambda x: jnp.flip(x, 1), f(3, 5)),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 1)), mode="reflect"), f(3, 5)),
    "concatenate": (lambda a, b: jnp.concatenate([a, b], 1), f(3, 5), f(3, 2)),
    "tril": (jnp.tril, f(4, 5)),
    "eye": (lambda x: x + jnp.eye(4), f(4, 4)),
    "repeat": (lambda x: jnp.repeat(x, 3, axis=1), f(2, 3)),
    "diag": (jnp.diag, f(4)),
    "meshgrid": (lambda a, b: sum(jnp.meshgrid(a, b)), f(3), f(4)),
    "searchsorted": (jnp.searchsorted, np.sort(f(6)), f(4)),
    # reductions and sorting
    "mean_var": (lambda x: (jnp.mean(x, 0), jnp.var(x, 1)), f(4, 5)),
    "argmax": (lambda x: jnp.argmax(x, 1), f(4, 5)),
    "prod": (lambda x: jnp.prod(x, 0), f(4, 5)),
    "all_any": (lambda x: (jnp.all(x > -1, 0), jnp.any(x > 1, 1)), f(4, 5)),
    "cumsum": (lambda x: jnp.cumsum(x, 1), f(4, 5)),
    "cumprod": (lambda x: jnp.cumprod(x, 0), f(4, 5)),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), f(3, 5)),
    "sort": (lambda x: jnp.sort(x, 1), f(4, 5)),
    "argsort": (lambda x: jnp.argsort(x, 1), f(4, 5)),
    "lexsort": (lambda a, b: jnp.lexsort((a, b)), i(9, high=3), i(9, high=3)),
    "sort_two_keys": (lambda a, b, c: lax.sort((a, b, c), num_keys=2), i(9, high=3), f(9), f(9)),
    "sort_three": (lambda a, b, c: lax.sort((a, b, c), num_keys=1), f(9), f(9), i(9)),
    "median": (lambda x: jnp.median(x, 1), f(4, 5)),
    "top_k": (lambda x: lax.top_k(x, 2), f(4, 5)),
    "unique_counts": (lambda x: jnp.bincount(x, length=6), i(9)),
    # lax
    "dot_general": (lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), f(2, 3, 4), f(2, 4, 5)),
    "einsum": (lambda a, b: jnp.einsum("bij,bkj->bik", a, b), f(2, 3, 4), f(2, 5, 4)),
    "conv": (conv, f(1, 5, 5, 2), f(3, 3, 2, 4)),
    "conv_transpose": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f(1, 4, 4, 2), f(3, 3, 2, 4)),
    "depthwise": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=2), f(1, 2, 5, 5), f(4, 1, 3, 3)),
    "max_pool": (max_pool, f(1, 4, 4, 2)),
    "avg_pool": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4, f(1, 5, 5, 2)),
    "max_pool_grad": (jax.grad(lambda x: jnp.sum(max_pool(x) ** 2)), f(1, 4, 4, 2)),
    "conv_grad_input": (jax.grad(lambda x, w: jnp.sum(conv(x, w) ** 2)), f(1, 5, 5, 2), f(3, 3, 2, 4)),
    "conv_grad_filter": (jax.grad(lambda x, w: jnp.sum(conv(x, w) ** 2), argnums=1), f(1, 5, 5, 2), f(3, 3, 2, 4)),
    "while_loop": (lambda x: lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 1.5), (0, x)), f(3)),
    "fori_loop": (lambda x: lax.fori_loop(0, 5, lambda k, s: s + k, x), f(3)),
    "scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(3), x), f(5, 3)),
    "cond": (lambda p, x: lax.cond(p > 0, lambda y: y * 2, lambda y: y - 1, x), f(), f(3)),
    "switch": (lambda k, x: lax.switch(k, [jnp.sin, jnp.cos, jnp.tan], x), i(), f(3)),
    "dynamic_slice": (lambda x, k: lax.dynamic_slice(x, (k, 1), (2, 2)), f(5, 4), i()),
    "dynamic_update_slice": (lambda x, y, k: lax.dynamic_update_slice(x, y, (k, 0)), f(5, 4), f(2, 2), i()),
    "associative_scan": (lambda x: lax.associative_scan(jnp.maximum, x), f(7)),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 8, 7), f(5)),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), f(5)),
    "iota": (lambda x: x + lax.broadcasted_iota(jnp.float32, (3, 4), 1), f(3, 4)),
    "vmap_matmul": (jax.vmap(lambda a, b: a @ b), f(3, 2, 4), f(3, 4, 2)),
    # jax.nn
    "gelu": (lambda x: nn.gelu(x, approximate=False), f(5)),
    "gelu_tanh": (nn.gelu, f(5)),
    "silu": (nn.silu, f(5)),
    "softplus": (nn.softplus, f(5)),
    "elu": (nn.elu, f(5)),
    "selu": (nn.selu, f(5)),
    "relu6": (nn.relu6, 4 * f(5)),
    "hard_swish": (nn.hard_swish, 4 * f(5)),
    "log_softmax": (nn.log_softmax, f(3, 5)),
    "logsumexp": (lambda x: nn.logsumexp(x, 1), f(3, 5)),
    "one_hot": (lambda k: nn.one_hot(k, 6), i(4)),
    "standardize": (lambda x: nn.standardize(x, -1), f(3, 5)),
    "attention": (attention, f(2, 3, 4), f(2, 5, 4), f(2, 5, 4)),
    "dot_product_attention": (nn.dot_product_attention, f(1, 3, 2, 4), f(1, 5, 2, 4), f(1, 5, 2, 4)),
    # jax.scipy.special and linear algebra
    "erf": (special.erf, f(5)),
    "erfc": (special.erfc, f(5)),
    "erf_inv": (lax.erf_inv, unit(5)),
    "lgamma": (lax.lgamma, positive(5)),
    "digamma": (lax.digamma, positive(5)),
    "zeta": (special.zeta, positive(5) + 1.5, positive(5)),
    "polygamma": (lambda x: special.polygamma(1, x), positive(2)),
    "bessel_i1e": (special.i1e, f(5)),
    "square": (jnp.square, f(5)),
    "cholesky": (jnp.linalg.cholesky, definite()),
    "cholesky_batch": (jnp.linalg.cholesky, definite(3)),
    "cholesky_upper": (lambda a: jsl.cholesky(a, lower=False), definite()),
    "cholesky_indefinite": (jnp.linalg.cholesky, -definite()),
    "cholesky_grad": (jax.grad(lambda a: jnp.sum(jnp.linalg.cholesky(a))), definite()),
    "log_determinant": (lambda a: 2 * jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(a)))), definite()),
    "triangular_lower": (lambda a, b: jsl.solve_triangular(a, b, lower=True), lower(), f(4, 3)),
    "triangular_upper": (lambda a, b: jsl.solve_triangular(a.T, b, lower=False), lower(), f(4, 3)),
    "triangular_transposed": (lambda a, b: jsl.solve_triangular(a, b, trans=1, lower=True), lower(), f(4, 3)),
    "triangular_unit": (lambda a, b: jsl.solve_triangular(a, b, lower=True, unit_diagonal=True), lower(), f(4, 3)),
    "triangular_right": (lambda a, b: lax.linalg.triangular_solve(a, b, lower=True), lower(2), f(2, 3, 4)),
    "triangular_vmap": (jax.vmap(lambda a, b: jsl.solve_triangular(a, b, lower=True)), lower(3), f(3, 4)),
    "cho_factor": (lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b), definite(), f(4)),
    "cho_solve": (lambda a, b: jsl.cho_solve((a, True), b), lower(), f(4, 2)),
}


def text(function, arguments):
    return jax.jit(function).lower(*arguments).as_text()


def judge(binary, engine, name, folder):
    function, *arguments = CASES[name]
    path = os.path.join(folder, name + ".stablehlo")
    try:
        lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=(os.environ.get("JAX_JUDGE_PLATFORM", "cpu"),)).as_text()
    except Exception:
        lowered = text(function, arguments)
    with open(path, "w") as file:
        file.write(lowered)
    wanted = [np.asarray(own) for own in jax.tree_util.tree_leaves(jax.jit(function)(*arguments))]
    main = lowered[lowered.index("@main") :]
    names = []
    for part in main[: main.index("->")].split("%")[1:]:
        names.append(part.split(":")[0].strip())
    labels = {}
    for own, array in zip(names, arguments):
        labels[own] = array
    np.savez(os.path.join(folder, "in.npz"), **labels)
    outputs = os.path.join(folder, "out.npz")
    command = [binary, path, "--inputs", os.path.join(folder, "in.npz"), "--outputs", outputs, "--engine=" + engine]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "refused: " + " | ".join(done.stderr.strip().splitlines()[:2])
    found = np.load(outputs)
    found = [found[key] for key in found.files]
    if len(found) != len(wanted):
        return f"{len(found)} outputs, expected {len(wanted)}"
    for own, other in zip(found, wanted):
        if own.shape != other.shape:
            return f"shape {own.shape}, expected {other.shape}"
        is_float = np.issubdtype(other.dtype, np.floating)
        same = np.allclose(own, other, 2e-5, 2e-5, equal_nan=True) if is_float else (own == other).all()
        if not same:
            return f"values differ: {own.ravel()[:4]}, expected {other.ravel()[:4]}"
    return None


def main():
    options = [own for own in sys.argv[2:] if own.startswith("--")]
    names = [own for own in sys.argv[2:] if not own.startswith("--")] or list(CASES)
    engine = next((own.split("=")[1] for own in options if own.startswith("--engine=")), "jit")
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = os.environ.get("JAX_JUDGE_FOLDER", folder)
        for name in names:
            why = judge(sys.argv[1], engine, name, folder)
            passed += why is None
            if why is not None:
                print(f"{name}: {why}")
    print(f"{passed} of {len(names)} functions agree")
    return 0 if passed == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
