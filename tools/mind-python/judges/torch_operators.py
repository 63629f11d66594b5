"""Compares each operator that PyTorch's exporter translates with eager mode, and writes the table of those that agree.

The samples are those of PyTorch's own tests (`op_db`): for each operator and dtype the first few. Each is compiled for values that
hide mistakes, its absolute values, and then called with others: as they are, negated, in reverse order, zeros (so that indices are
duplicates), NaN and extremes. A sample agrees if each call has the outputs of eager mode, where that has no error.

    python judges/torch_operators.py            # compares, and says how the table differs
    python judges/torch_operators.py --write    # writes mind_opt/_torch_ops.py

It needs PyTorch with `torch.testing._internal` (the package `expecttest`), and `onnx`. Exits with 1 if an operator of the table
differs from eager mode.
"""

import argparse
import itertools
import os
import pickle
import signal
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import torch
from mind_opt import _torch_export, _torch_probe
from mind_opt import torch as mind_torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

TABLE = Path(__file__).resolve().parents[1] / "mind_opt" / "_torch_ops.py"

DTYPES = "float32 int64 bool float16 bfloat16 float64 int32 uint8 int8 int16".split()

# Converting a float that is no integer of the type is undefined, and so are the results for extremes. Attention makes 0 of some NaN.
UNDEFINED = {"nn.functional.scaled_dot_product_attention"}
UNDEFINED |= {"to", "bool", "byte", "char", "int", "long", "short", "double", "float", "half", "bfloat16"}

# Which of equal elements comes first is not defined.
UNSTABLE = {"sort", "argsort", "topk", "msort", "kthvalue", "median", "mode"}

# These take seconds for each sample, draw random numbers, or have results that are not defined.
LEFT_OUT = ("empty", "new_empty", "fft.", "linalg.", "jiterator", "signal.windows", "masked.", "special.", "sparse.", "svd", "pca", "torch._scaled")


def operators():
    """The operators of PyTorch's tests, and the in-place variants of them on a copy of their first operand."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if op.name.startswith(LEFT_OUT):
            continue
        yield op, op.op, ""
        inplace = op.inplace_variant or INPLACE.get(op.name)
        if inplace is not None:
            yield op, _on_copy(inplace), "_"
        for suffix, function in ALSO.get(op.name, {}).items():
            yield op, function, suffix


F = torch.nn.functional

# In-place variants that `op_db` does not name.
INPLACE = {
    "nn.functional.relu": torch.relu_,
    "nn.functional.silu": lambda x: F.silu(x, inplace=True),
    "nn.functional.hardswish": lambda x: F.hardswish(x, inplace=True),
    "nn.functional.hardsigmoid": lambda x: F.hardsigmoid(x, inplace=True),
    "nn.functional.mish": lambda x: F.mish(x, inplace=True),
    "nn.functional.relu6": lambda x: F.relu6(x, inplace=True),
}

# Operators without tensors among their operands, and others that models use and `op_db` has with other arguments.
ALSO = {
    "abs": {
        ".arange": lambda x: x + torch.arange(x.numel()).reshape(x.shape),
        ".zeros": lambda x: x + torch.zeros(x.shape) + torch.ones(x.shape) + torch.full(x.shape, 2.0),
        ".index": lambda x: x.reshape(-1)[torch.tensor([0, 0])] if x.numel() else x + 1,
        ".type_as": lambda x: x.type_as(torch.zeros(1, dtype=torch.float64)),
        ".detach": lambda x: x.detach() + 1,
        ".contiguous": lambda x: x.reshape(1, -1).t().contiguous() + 1,
    },
    "nn.functional.adaptive_avg_pool2d": {".one": lambda x, *_, **__: F.adaptive_avg_pool2d(x, 1)},
    "nn.functional.scaled_dot_product_attention": {
        ".plain": lambda q, k, v, **_: F.scaled_dot_product_attention(q, k, v),
        ".causal": lambda q, k, v, **_: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    },
    "index_add": {".plain": lambda x, dim, index, y, **_: x.index_add(dim, index, y)},
    "nn.functional.dropout": {".eval": lambda x, *_, **__: F.dropout(x, 0.5, False) + 1},
}


def _on_copy(inplace):
    return lambda first, *args, **kwargs: inplace(first.clone(), *args, **kwargs)


def graph_of(call, sample, copies=False):
    """A graph of one call, and its tensors."""
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def run(*tensors):
        filled = list(leaves)
        for i, own in zip(at, tensors):
            filled[i] = own
        first, args, kwargs = tree_unflatten(filled, spec)
        outputs = call(first, *args, **kwargs)
        # Views of inputs run in eager mode, so copies of them are returned.
        outputs = [own for own in tree_leaves(outputs) if isinstance(own, torch.Tensor)]
        return tuple(own.clone() if copies else own for own in outputs)

    graph = torch.fx.Graph()
    inputs = [graph.placeholder(f"x{i}") for i in range(len(at))]
    graph.output(graph.call_function(run, tuple(inputs)))
    return torch.fx.GraphModule({}, graph), [leaves[i].detach() for i in at]


def variants(tensors, name):
    """Other values for the same graph of an operator."""
    yield tensors
    yield [_mapped(own, negated) for own in tensors]
    yield [own.flatten().flip(0).view(own.shape) if own.is_contiguous() else own for own in tensors]
    if name not in UNSTABLE:
        yield [torch.zeros_like(own) for own in tensors]
    if name not in UNDEFINED:
        yield [_mapped(own, specials) for own in tensors]


def _mapped(own, how):
    new = torch.empty_strided(own.shape, own.stride(), dtype=own.dtype) if 0 not in own.stride() else torch.empty_like(own)
    return new.copy_(how(own))


def benign(own):
    return own if own.dtype in (torch.bool, torch.uint8) else own.abs()


def negated(own):
    if own.dtype == torch.bool:
        return own.logical_not()
    return own if own.dtype == torch.uint8 else own.neg()


def specials(own):
    """The elements with every second one replaced."""
    if own.dtype == torch.bool:
        return own
    if own.is_floating_point():
        # No infinities, for which the order of a sum decides.
        values = [float("nan"), -0.0, 0.5, 2.5, -1.5, -2.5]
    else:
        info = torch.iinfo(own.dtype)
        # The least one divided by -1 ends the process in eager mode.
        values = [info.max, info.min + 1, -1 if info.min else 1, 0]
    flat = own.flatten().clone()
    for i in range(0, flat.numel(), 2):
        flat[i] = values[(i // 2) % len(values)]
    return flat.view(own.shape)


def outcome(run, tensors):
    """The outputs of a call on copies, or the error."""
    return outcome_of(run, [own.clone() if own.is_contiguous() else own for own in tensors])


def outcome_of(run, tensors):
    """The outputs of a call, or the error."""
    try:
        return list(run(*tensors))
    except Exception as error:
        return error


def compare(call, sample, name):
    """None for a sample that agrees, the word `refused`, or how it differs."""
    graph, tensors = graph_of(call, sample, copies=True)
    first = [_mapped(own, benign) for own in tensors]
    if isinstance(outcome(graph.forward, first), Exception):
        first = tensors
    try:
        program = mind_torch._Program(graph, first)
    except _torch_probe.Refused as why:
        return f"refused: {why}"
    except Exception as why:
        return f"refused: {str(why).partition(chr(10))[0]}"
    for values in variants(tensors, name):
        wanted = outcome(graph.forward, values)
        if isinstance(wanted, Exception):
            continue
        found = outcome(program, values)
        if isinstance(found, Exception):
            return f"differs: {type(found).__name__}: {str(found)[:80]}"
        for at, (own, expected) in enumerate(zip(found, wanted)):
            try:
                _torch_probe.check_close(f"output {at}", own, expected)
            except _torch_probe.Refused as why:
                return f"differs: {why}"
    return None


class _Everything(dict):
    def get(self, key, default=None):
        return " ".join([*DTYPES, "complex64"])


def judged(names, dtypes, count):
    """The samples of all operators: for each the operators and dtypes of its trace, and what was found."""
    plain = _torch_export.check
    _torch_export.OPERATORS = _Everything()
    for op, call, suffix in operators():
        if names and op.name not in names:
            continue
        name = op.name + suffix + (f".{op.variant_test_name}" if op.variant_test_name else "")
        seen = set()
        _torch_export.check = lambda use: (seen.add((use[0], frozenset(use[1]))), plain(use))
        # In-place variants are translated as the others are; those of activations are what models use.
        words = dtypes[:1] if suffix == "_" and op.name not in INPLACE else dtypes
        yield from apart(lambda: samples(op, call, name, words, count, seen), name)


def apart(work, name):
    """What `work` yields in a child: some samples end the process in eager mode."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as file:
            for result in work():
                pickle.dump(result, file)
                file.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                break
    status = os.waitpid(child, 0)[1]
    if status:
        yield name, "-", frozenset(), f"refused: the process ended with status {status}"


def samples(op, call, name, dtypes, count, seen):
    for word in dtypes:
        dtype = getattr(torch, word)
        if dtype not in op.supported_dtypes("cpu"):
            continue
        try:
            drawn = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), count))
        except Exception:
            continue
        tried = []
        for sample in drawn:
            seen.clear()
            signal.alarm(60)
            try:
                found = compare(call, sample, op.name)
            except TimeoutError:
                found = "refused: it takes more than a minute"
            finally:
                signal.alarm(0)
            tried.append(found)
            yield name, word, frozenset(seen), found
        if all(found and found.startswith("refused") for found in tried):
            # Other dtypes would be, too.
            return


def table_of(results):
    """The dtypes of each operator for which every sample agrees, and the samples that differ by operator and dtype."""
    agreed, single, mixed = Counter(), defaultdict(list), []
    for name, word, seen, found in results:
        uses = {(key, dtype) for key, dtypes in seen for dtype in dtypes or {"float32"}}
        if found is not None and len({key for key, _ in uses}) > 1:
            # Each sample has it, for copies of what it returns.
            uses = {use for use in uses if use[0] != "aten::clone"}
        if found is None:
            agreed.update(uses)
        elif found.startswith("differs"):
            if len({key for key, _ in uses}) == 1:
                for use in uses:
                    single[use].append(f"{name} {word}: {found}")
            else:
                mixed.append((uses, f"{name} {word}: {found}"))
    unexplained = []
    for uses, what in mixed:
        # One of the operators of a trace is wrong: those that agree alone elsewhere are not.
        wrong = {use for use in uses if use in single or use not in agreed}
        for use in wrong:
            single[use].append(what)
        if not wrong:
            unexplained.append((uses, what))
    for uses, what in unexplained:
        # The one that agrees in the fewest samples.
        if uses:
            single[min(uses, key=lambda use: (agreed[use], use))].append(what)
    table = defaultdict(set)
    for key, dtype in agreed:
        if (key, dtype) not in single:
            table[key].add(dtype)
    return table, single, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="operators of `op_db`; all of them without any")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--count", type=int, default=10, help="samples for each operator and dtype")
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--show", action="store_true", help="print each sample that differs")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    known = dict(_torch_export.OPERATORS)
    results = []
    try:
        for result in judged(set(args.names), args.dtypes.split(","), args.count):
            results.append(result)
            if args.show and result[3] is not None:
                print(*result[:2], result[3], flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    table, single, unexplained = table_of(results)
    for uses, what in unexplained:
        print("not explained by one operator:", sorted({key for key, _ in uses}), what)
    counts = Counter("agree" if found is None else found.partition(":")[0] for *_, found in results)
    print(f"{len(results)} samples: {counts['agree']} agree, {counts['differs']} differ, {counts['refused']} refused")
    wrong = [(key, dtype) for key, dtype in single if dtype in known.get(key, "").split()]
    for key, dtype in sorted(wrong):
        print(f"{key} of {dtype} is in the table: {single[key, dtype][0]}")
    if args.write:
        # A run of some operators leaves the others as they are.
        kept = {key: set(dtypes.split()) for key, dtypes in known.items()} if args.names else {}
        for key, dtypes in table.items():
            kept[key] = kept.get(key, set()) | dtypes
        write({key: {own for own in dtypes if (key, own) not in single} for key, dtypes in kept.items()})
    print(f"{len(table)} operators agree, {sum(map(len, table.values()))} with their dtypes; {len(wrong)} of the table differ")
    return 1 if wrong and not args.write else 0


def write(table):
    lines = [
        '"""The operators of traces whose export was compared with eager mode, and the dtypes of their operands.',
        "",
        f"Made by `judges/torch_operators.py --write` with PyTorch {torch.__version__.partition('+')[0]}.",
        '"""',
        "",
        "OPERATORS = {",
    ]
    for key in sorted(table):
        dtypes = " ".join(dtype for dtype in DTYPES if dtype in table[key])
        if dtypes:
            lines.append(f'    "{key}": "{dtypes}",')
    TABLE.write_text("\n".join([*lines, "}", ""]))


if __name__ == "__main__":
    sys.exit(main())
