"""Detection of side effects of a PyTorch graph, by running it once on copies of its inputs.

The compiled program is a pure function of its inputs that returns new arrays. A graph is one too unless it writes to its inputs,
draws random numbers, returns views of its inputs, or reads values of tensors while it runs.
"""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# These operators update running statistics, although their schemas do not declare it.
_UNDECLARED = {
    "aten::native_batch_norm": ("running_mean", "running_var"),
    "aten::cudnn_batch_norm": ("running_mean", "running_var"),
    "aten::miopen_batch_norm": ("running_mean", "running_var"),
}


class Refused(Exception):
    """Why a graph runs in eager mode."""


def probe(function, tensors, names):
    """Returns the outputs of `function` for copies of `tensors`.

    Raises `Refused` if the graph is not a function of its inputs. `tensors` are never written.
    """
    copies = _copies(tensors)
    watch = _Watch({copy.untyped_storage()._cdata: name for copy, name in zip(copies, names)})
    with watch:
        outputs = function(*copies)
    for copy, own, name in zip(copies, tensors, names):
        # An operator may write without declaring it.
        if not _same_bits(copy, own):
            raise Refused(f"it changes {name}")
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    _check_outputs(outputs, watch)
    return outputs


def _copies(tensors):
    """Returns copies of tensors that share memory if the tensors do."""
    storages, copies = {}, []
    for own in tensors:
        storage = own.untyped_storage()
        if storage._cdata not in storages:
            storages[storage._cdata] = storage.clone()
        new = torch.empty(0, dtype=own.dtype)
        copies.append(new.set_(storages[storage._cdata], own.storage_offset(), own.size(), own.stride()))
    return copies


def _bytes(tensor):
    return torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())


def _same_bits(one, other):
    return torch.equal(_bytes(one), _bytes(other))


def _check_outputs(outputs, watch):
    seen = set()
    for at, output in enumerate(outputs):
        if not isinstance(output, torch.Tensor):
            raise Refused(f"output {at} is not a tensor but {type(output).__name__}")
        if type(output) is not torch.Tensor or output.layout != torch.strided:
            raise Refused(f"output {at} is a {type(output).__name__} of layout {output.layout}, expected a strided Tensor")
        if output.requires_grad:
            raise Refused(f"output {at} needs gradients: call it under torch.no_grad()")
        storage = output.untyped_storage()._cdata
        if storage in watch.outer:
            raise Refused(f"output {at} shares the memory of {watch.outer[storage]}")
        if storage in seen:
            raise Refused(f"output {at} shares the memory of another output")
        seen.add(storage)


class _Watch(TorchDispatchMode):
    """Refuses operators with effects that the exported graph would not reproduce."""

    def __init__(self, outer):
        super().__init__()
        self.outer = outer
        # Storages of intermediate results with views. The references prevent reuse of their addresses.
        self.viewed = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        schema = function._schema
        self._check_tags(function, args, kwargs)
        for argument, value in _arguments(schema, args, kwargs):
            if argument.alias_info is not None and argument.alias_info.is_write:
                self._check_write(function, argument, value)
            elif value is not None and argument.name in _UNDECLARED.get(schema.name, ()) and _trains(schema, args, kwargs):
                self._check_write(function, argument, value)
        results = function(*args, **kwargs)
        if any(own.alias_info is not None and not own.alias_info.is_write for own in schema.returns):
            for result in tree_leaves(results):
                if isinstance(result, torch.Tensor):
                    storage = result.untyped_storage()
                    self.viewed[storage._cdata] = StorageWeakRef(storage)
        return results

    @staticmethod
    def _check_tags(function, args, kwargs):
        if torch.Tag.nondeterministic_seeded in function.tags and not _drops_nothing(function, args, kwargs):
            raise Refused(f"{function} draws random numbers")
        if torch.Tag.data_dependent_output in function.tags:
            raise Refused(f"{function} reads the value of a tensor")
        if torch.Tag.dynamic_output_shape in function.tags and not _is_by_numbers(function, args, kwargs):
            raise Refused(f"the shape of what {function} computes depends on values")

    def _check_write(self, function, argument, value):
        for tensor in tree_leaves(value):
            if not isinstance(tensor, torch.Tensor):
                continue
            storage = tensor.untyped_storage()._cdata
            if storage in self.outer:
                raise Refused(f"{function} changes {self.outer[storage]}")
            if storage in self.viewed:
                raise Refused(f"{function} changes a tensor that has views")
            if argument.is_out:
                raise Refused(f"{function} writes to `out=`")


def _arguments(schema, args, kwargs):
    """Yields the arguments of a schema with their values."""
    for at, argument in enumerate(schema.arguments):
        if at < len(args) and not argument.kwarg_only:
            yield argument, args[at]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


def _drops_nothing(function, args, kwargs):
    """Returns whether an operator has a dropout of 0, because attention has the random tag even then."""
    given = [value for own, value in _arguments(function._schema, args, kwargs) if own.name == "dropout_p"]
    return any(own.name == "dropout_p" for own in function._schema.arguments) and not any(given)


def _is_by_numbers(function, args, kwargs):
    """Returns whether an operator indexes by integers. Only boolean masks give data-dependent shapes."""
    given = [value for own, value in _arguments(function._schema, args, kwargs) if own.name == "indices"]
    indices = [own for own in tree_leaves(given) if isinstance(own, torch.Tensor)]
    is_index = function._schema.name == "aten::index"
    return is_index and all(own.dtype not in (torch.bool, torch.uint8) for own in indices)


def _trains(schema, args, kwargs):
    """Returns whether a batch normalisation updates its statistics."""
    return any(value for argument, value in _arguments(schema, args, kwargs) if argument.name in ("training", "train"))


# Tolerances relative to each element of eager mode, and relative to the largest one.
_TOLERANCES = {
    torch.float64: (1e-9, 1e-10),
    torch.float32: (1e-4, 2e-5),
    torch.float16: (1e-2, 4e-3),
    torch.bfloat16: (4e-2, 3e-2),
}


def check_close(name, found, expected):
    """Raises `Refused` for a result that differs from that of eager mode.

    Floats may differ by rounding, because sums have another order; other dtypes must be equal.
    """
    if found.dtype != expected.dtype or found.size() != expected.size():
        shapes = f"{found.dtype}{list(found.size())}, and {expected.dtype}{list(expected.size())} in eager mode"
        raise Refused(f"{name} is {shapes}")
    if expected.dtype not in _TOLERANCES:
        wrong = found != expected
    else:
        share, of_largest = _TOLERANCES[expected.dtype]
        one, other = found.double(), expected.double()
        finite = other.abs()[other.isfinite()]
        largest = finite.max() if finite.numel() else 0.0
        bound = share * other.abs() + of_largest * largest
        near = ((one - other).abs() <= bound) & other.isfinite()
        wrong = ~(near | (one == other) | (one.isnan() & other.isnan()))
    if wrong.any():
        at = tuple(wrong.nonzero()[0].tolist())
        values = f"{found[at].item()}, and {expected[at].item()} in eager mode"
        raise Refused(f"{name} is {values} at {list(at)}, and differs in {int(wrong.sum())} of {wrong.numel()} elements")
