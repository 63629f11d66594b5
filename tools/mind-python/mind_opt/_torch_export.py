"""Export of PyTorch graphs to ONNX, with the exporter of `torch.jit.trace` graphs.

That exporter translates some operators incorrectly, for example `floor_divide` to a truncating division and `index_add` to a
scatter that drops duplicates. Therefore only operators that were compared with eager mode are exported: `_torch_ops.OPERATORS`.
"""

import io
import warnings

import torch

from ._torch_ops import OPERATORS
from ._torch_probe import Refused

# Nodes of a trace that are not operators: constants, lists, tuples, and sizes.
_STRUCTURE = {
    "aten::Bool",
    "aten::Float",
    "aten::Int",
    "aten::IntImplicit",
    "aten::FloatImplicit",
    "aten::ScalarImplicit",
    "aten::size",
    "prim::CallMethod",
    "prim::Constant",
    "prim::GetAttr",
    "prim::ListConstruct",
    "prim::ListUnpack",
    "prim::NumToTensor",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
}


class Lifted(torch.nn.Module):
    """A graph as a function of its inputs and of its own tensors."""

    def __init__(self, graph, numbers=None):
        super().__init__()
        # Not a submodule, because a trace would make its tensors constants.
        self.run = [_Interpreter(graph)]
        self.numbers = numbers or {}

    def forward(self, *tensors):
        run = self.run[0]
        held = len(tensors) - len(run.held)
        run.values = dict(zip(run.held, tensors[held:]))
        given = iter(tensors[:held])
        count = held + len(self.numbers)
        return run.run(*(self.numbers[at] if at in self.numbers else next(given) for at in range(count)))


class _Interpreter(torch.fx.Interpreter):
    """Runs a graph with its own tensors passed as arguments."""

    def __init__(self, graph):
        super().__init__(graph, garbage_collect_values=True)
        self.held = held(graph)
        self.values = {}

    def get_attr(self, target, args, kwargs):
        return self.values[target]

    def call_module(self, target, args, kwargs):
        raise Refused(f"it calls the module `{target}`: PyTorch 2.6 or later makes parameters inputs")


def held(graph):
    """Returns the names of a graph's own tensors."""
    return list(dict.fromkeys(node.target for node in graph.graph.nodes if node.op == "get_attr"))


def export(function, tensors):
    """Returns the bytes of an ONNX model whose inputs are `input_0`, `input_1` and so on.

    Raises `Refused` for an operator that was not compared with eager mode.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(function, tensors, check_trace=False, strict=False)
        for use in uses(traced.inlined_graph):
            check(use)
        model = io.BytesIO()
        names = [f"input_{at}" for at in range(len(tensors))]
        torch.onnx.export(
            function, tensors, model, input_names=names, dynamo=False, do_constant_folding=False
        )
    return model.getvalue()


def uses(graph):
    """Returns the operators of a trace, each as its key in `OPERATORS` and the dtypes of its operands."""
    for node in graph.nodes():
        kind = node.kind()
        if kind in _STRUCTURE:
            continue
        if list(node.blocks()):
            raise Refused(f"`{kind}` has a body")
        words = [value.toIValue() for value in node.inputs() if value.node().kind() == "prim::Constant"]
        words = [word for word in words if isinstance(word, str)]
        yield kind + "".join(f"[{word}]" for word in words), _dtypes(node)


def _dtypes(node):
    """Returns the dtypes of the operands of a node, including elements of lists and without constants."""
    found = set()
    for value in node.inputs():
        owner = value.node()
        if owner.kind() == "prim::Constant":
            continue
        values = owner.inputs() if owner.kind() == "prim::ListConstruct" else [value]
        for own in values:
            if own.type().kind() == "TensorType":
                found.add(str(own.type().dtype()).removeprefix("torch."))
    return found


def check(use):
    """Raises `Refused` for an operator that was not compared with eager mode for these dtypes."""
    key, dtypes = use
    known = OPERATORS.get(key)
    if known is None:
        raise Refused(f"`{key}` is not among the operators whose export was compared with eager mode")
    missing = sorted(dtypes - set(known.split()))
    if missing:
        raise Refused(f"`{key}` of {missing[0]} is not among the operators whose export was compared with eager mode")
