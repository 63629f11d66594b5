"""Runs the in-place and `out=` variants of PyTorch's own tests by the backend, three calls each, against eager mode.

For each operator of `op_db` that has one, and each of two dtypes: the variant on an input, on a view of an input, and on what the
graph has computed; with `out=`, into an input. After each call the outputs, the inputs and what shares memory with what must be
those of eager mode.

    python judges/torch_inplace.py [NAME ...]

Needs what `torch_operators.py` needs. Exits with 1 if a program differs.
"""

import argparse
import copy
import sys
import warnings
from collections import Counter

import torch
import torch_operators as operators
from mind_opt import torch as mind_torch
from torch.testing._internal.common_methods_invocations import op_db

CALLS = 3


def programs(op):
    """The programs of an operator, each with its name."""
    inplace = op.inplace_variant
    if inplace is not None:
        yield "input", inplace
        yield "view", lambda x, *args, **kwargs: (inplace(x[:], *args, **kwargs), x + 0)
        yield "computed", lambda x, *args, **kwargs: inplace(x.clone(), *args, **kwargs)
    if op.supports_out:

        def into(x, *args, **kwargs):
            out = kwargs.pop("target")
            return op.op(x, *args, **kwargs, out=out), out + 0

        yield "out", into


def sharing(outputs, inputs):
    storage = lambda own: own.untyped_storage().data_ptr() if own.numel() else None
    return [[storage(one) == storage(other) for other in [*inputs, *outputs]] for one in outputs]


def same(found, expected):
    return all(
        own.dtype == wanted.dtype
        and own.shape == wanted.shape
        and torch.allclose(own.double(), wanted.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
        for own, wanted in zip(found, expected, strict=True)
    )


def compare(call, sample):
    """`agrees`, `agrees in eager mode`, `invalid` where eager mode raises, or how it differs."""
    graph, tensors = operators.graph_of(call, sample)
    ours = [[own.clone() for own in tensors] for _ in range(2)]
    backend = mind_torch.backend(graph, ours[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(CALLS):
            torch.manual_seed(number)
            wanted = operators.outcome_of(graph.forward, ours[0])
            torch.manual_seed(number)
            found = operators.outcome_of(backend, ours[1])
            if isinstance(wanted, Exception) or isinstance(found, Exception):
                if isinstance(wanted, Exception) != isinstance(found, Exception):
                    return f"call {number}: {found!r}, and {wanted!r} in eager mode"
                return "invalid"
            if not same(found, wanted):
                return f"call {number}: other outputs"
            if not same(ours[1], ours[0]):
                return f"call {number}: other inputs"
            if sharing(found, ours[1]) != sharing(wanted, ours[0]):
                return f"call {number}: memory is shared otherwise"
    return "agrees in eager mode" if any("eager mode" in str(own.message) for own in caught) else "agrees"


def judged(op, dtype):
    sample = next(iter(op.sample_inputs("cpu", dtype, requires_grad=False)), None)
    if sample is None or not isinstance(sample.input, torch.Tensor):
        return
    for name, call in programs(op):
        own = copy.copy(sample)
        if name == "out":
            expected = op.op(sample.input, *sample.args, **sample.kwargs)
            if not isinstance(expected, torch.Tensor):
                continue
            own.kwargs = {**sample.kwargs, "target": torch.empty_like(expected)}
        yield name, compare(call, own)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="operators of `op_db`; all of them without any")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    counts, wrong = Counter(), []
    for op in op_db:
        if (args.names and op.name not in args.names) or op.name.startswith(operators.LEFT_OUT):
            continue
        for dtype in (torch.float32, torch.int64):
            if dtype not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(1)
            work = lambda op=op, dtype=dtype: judged(op, dtype)
            for name, found, *rest in operators.apart(work, op.name):
                if rest:
                    found = "invalid"
                if found not in ("agrees", "agrees in eager mode", "invalid"):
                    wrong.append(f"{op.name} {name} {dtype}: {found}")
                    print(wrong[-1], flush=True)
                    found = "differs"
                counts[found] += 1
    total = sum(counts.values())
    print(
        f"{total} programs: {counts['agrees']} compiled and {counts['agrees in eager mode']} in eager mode agree, "
        f"{counts['invalid']} are errors in both, {counts['differs']} differ"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
