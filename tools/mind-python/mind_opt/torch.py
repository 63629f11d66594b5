"""`torch.compile(model, backend="mind")`: graphs of PyTorch, through its ONNX exporter, which needs the package `onnx`.

A graph runs in eager mode, with a warning that gives the reason, if it is not a function of its inputs (it writes to an input, a
buffer or an attribute, draws random numbers, or returns a view of an input), if it needs gradients, if one of its operators was not
compared with eager mode, or if its first outputs differ from those of eager mode.
"""

import threading
import warnings

from . import _native
from ._errors import MindError

# The maximal number of input layouts for which a graph with symbolic sizes is compiled.
_MOST_LAYOUTS = 8


def backend(graph, inputs):
    """Returns the function that runs a PyTorch graph, as `torch.compile` requires of backends."""
    return _Graph(graph)


class _Graph:
    """A graph that is compiled for the inputs of its first call, and for other layouts if it has symbolic sizes."""

    def __init__(self, graph):
        self.graph = graph
        self.programs = {}
        self.lock = threading.Lock()

    def __call__(self, *inputs):
        key = _layout(inputs)
        program = self.programs.get(key)
        if program is None:
            with self.lock:
                program = self.programs.get(key)
                if program is None:
                    program = self.programs[key] = self.compiled(inputs)
        return program(*inputs)

    def compiled(self, inputs):
        """Returns the function for inputs of one layout: a program, or the graph itself."""
        try:
            if len(self.programs) >= _MOST_LAYOUTS:
                raise TypeError(f"it was compiled for {_MOST_LAYOUTS} layouts of inputs already")
            import torch

            # Probing the graph must not advance the caller's random number generator.
            with torch.random.fork_rng(devices=[]):
                return _Program(self.graph, inputs)
        except Exception as reason:
            _warn(reason)
            return self.graph.forward


def _warn(reason):
    why = str(reason).strip().partition("\n")[0] or type(reason).__name__
    warnings.warn(f"mind: a graph runs in eager mode: {why}", stacklevel=4)


def _layout(inputs):
    """Returns the key of a program. A graph without symbols has only one, because PyTorch recompiles it for other layouts."""
    if all(hasattr(own, "shape") for own in inputs):
        return None
    return tuple((own.shape, own.stride()) if hasattr(own, "shape") else own for own in inputs)


class _Program:
    """A compiled graph with the results of eager mode.

    Parameters and buffers are read in place in each call, like inputs, because changes cannot be detected: `.data` and numpy
    arrays that share their memory do not update version counters, and comparing their bytes takes longer than a product that
    reads them.
    """

    def __init__(self, graph, inputs):
        # Imported here, because importing PyTorch takes seconds and the package can be used without it.
        import torch

        from . import _torch_export, _torch_probe

        self.graph = graph
        self.numbers = {at: own for at, own in enumerate(inputs) if isinstance(own, int)}
        self.held = _torch_export.held(graph)
        tensors, names = self.tensors(inputs), self.names(inputs)
        _check_inputs(torch, tensors, names)
        function = _torch_export.Lifted(graph, self.numbers).eval()
        expected = _torch_probe.probe(function, tensors, names)
        model = _torch_export.export(function, tuple(own.detach() for own in tensors))
        module = _with_nan(_native.load(model))
        # Unused inputs are not in the ONNX model.
        self.inputs = [(port.name, _number(port)) for port in module.inputs]
        self.run = module.optimize().compile(threads=torch.get_num_threads()).bind()
        self.outputs = [_Output(own) for own in expected]
        found = self.computed(tensors)
        for at, (own, wanted) in enumerate(zip(found, expected, strict=True)):
            _torch_probe.check_close(f"output {at}", own, wanted)

    def tensors(self, inputs):
        """Returns the tensors that a call reads: the inputs, followed by those of the graph."""
        import torch

        given = [own for at, own in enumerate(inputs) if at not in self.numbers]
        held = [_attribute(self.graph, name) for name in self.held]
        for own in [*given, *held]:
            if not isinstance(own, torch.Tensor):
                raise TypeError(f"it takes a {type(own).__name__}, expected tensors and sizes")
        return [*given, *held]

    def names(self, inputs):
        """Returns the names of the tensors of a call for messages."""
        nodes = [node for node in self.graph.graph.nodes if node.op == "placeholder"]
        names = []
        for at, (node, own) in enumerate(zip(nodes, inputs, strict=True)):
            if at not in self.numbers:
                # PyTorch marks the parameters and buffers of modules; other inputs are those of the call.
                is_attribute = getattr(own, "_dynamo_static_input_type", None) is not None
                names.append(f"the {'attribute' if is_attribute else 'input'} `{node.name}`")
        return [*names, *(f"the constant `{name}`" for name in self.held)]

    def computed(self, tensors):
        """Returns the outputs for the tensors of a call."""
        arrays = self.run._arrays({name: tensors[at].detach() for name, at in self.inputs})
        return [output.tensor(array) for output, array in zip(self.outputs, arrays, strict=True)]

    def __call__(self, *inputs):
        try:
            return tuple(self.computed(self.tensors(inputs)))
        except MindError as reason:
            # Eager mode raises its own error, or succeeds where the compiled program cannot.
            _warn(reason)
            return self.graph(*inputs)


class _Output:
    """The layout of an output in eager mode, on which the code after the graph may rely."""

    def __init__(self, tensor):
        self.size, self.stride, self.dtype = tensor.size(), tensor.stride(), tensor.dtype
        self.is_contiguous = tensor.is_contiguous()
        if any(stride == 0 and size > 1 for size, stride in zip(self.size, self.stride)):
            raise TypeError("an output is expanded: elements of it share memory")

    def tensor(self, array):
        """Returns the output of a run as a tensor."""
        import torch

        own = torch.from_dlpack(array)
        if own.dtype != self.dtype or own.size() != self.size:
            raise MindError(f"an output is {own.dtype}{list(own.size())}, expected {self.dtype}{list(self.size)}")
        if self.is_contiguous:
            return own
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype).copy_(own)


def _check_inputs(torch, tensors, names):
    needs_gradients = torch.is_grad_enabled() and any(own.requires_grad for own in tensors)
    if needs_gradients:
        raise TypeError("gradients are needed: call it under torch.no_grad()")
    for own, name in zip(tensors, names):
        if type(own) not in (torch.Tensor, torch.nn.Parameter):
            raise TypeError(f"{name} is a {type(own).__name__}, expected a Tensor")
        if own.device.type != "cpu":
            raise TypeError(f"{name} is on {own.device}, expected the CPU")
        if own.layout != torch.strided or own.is_quantized or own.is_complex() or own.is_neg():
            raise TypeError(f"{name} is {own.dtype} of layout {own.layout}, expected strided real elements")


def _with_nan(module):
    """Returns the module with `Maximum(x, 0)` instead of each `Relu`, because ReLU of NaN is NaN in PyTorch, and 0 in `Relu`."""
    edits, new = [], 1 + max((result for op in module.ops for result in op.results), default=0)
    for op in module.ops:
        if op.name == "Relu":
            zero = {"id": new, "op": "ConstTensor", "attributes": {"data": [0]}, "type": f"{op.dtype}[]"}
            edits.append({"insert": zero, "before": op.id})
            edits.append({"replace": op.id, "with": {"op": "Maximum", "operands": [op.operands[0], new]}})
            new += 1
    return module.patch(edits) if edits else module


def _number(port):
    return int(port.name.removeprefix("input_"))


def _attribute(graph, path):
    own = graph
    for name in path.split("."):
        own = getattr(own, name)
    return own
