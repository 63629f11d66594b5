"""`torch.compile(model, backend="mind")`: graphs of PyTorch, through its ONNX exporter, which needs the package `onnx`.

A graph that needs gradients, or that cannot be exported or read, runs in eager mode, with a warning that says why.
"""

import io
import warnings

from . import _native


def backend(graph, inputs):
    """What runs a graph of PyTorch on inputs like these: the contract of backends of `torch.compile`."""
    try:
        return _Compiled(graph, inputs)
    except Exception as reason:
        why = str(reason).partition("\n")[0]
        warnings.warn(f"mind: a graph runs in eager mode: {why}", stacklevel=2)
        return graph.forward


class _Compiled:
    """A graph whose parameters are constants as long as nothing changes them."""

    def __init__(self, graph, inputs):
        import torch

        self.graph = graph
        self.constants = {
            at: given for at, given in enumerate(inputs) if isinstance(given, torch.nn.Parameter)
        }
        self.free = [at for at in range(len(inputs)) if at not in self.constants]
        for at in self.free:
            if not isinstance(inputs[at], torch.Tensor):
                raise TypeError("its sizes are symbols: use torch.compile(..., dynamic=False)")
            if inputs[at].device.type != "cpu":
                raise TypeError(f"an input is on {inputs[at].device}")
        if torch.is_grad_enabled() and any(given.requires_grad for given in inputs):
            raise TypeError("gradients are needed: call it under torch.no_grad()")
        self.compile(inputs)

    def compile(self, inputs):
        """Compiles the graph with its parameters as they are."""
        import torch

        constants, graph = self.constants, self.graph

        class Whole(torch.nn.Module):
            """The graph as a function of its free inputs."""

            def __init__(self):
                super().__init__()
                self.own = torch.nn.ParameterList(constants.values())

            def forward(self, *free):
                free, own = iter(free), iter(self.own)
                return graph(*(next(own if at in constants else free) for at in range(len(inputs))))

        model = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            free = tuple(inputs[at].detach() for at in self.free)
            names = [f"input_{at}" for at in range(len(free))]
            torch.onnx.export(
                Whole().eval(), free, model, input_names=names, dynamo=False, do_constant_folding=False
            )
        module = _native.load(model.getvalue())
        # An input that nothing reads is none of the ONNX model.
        self.names = [port.name for port in module.inputs]
        self.run = module.optimize().compile(threads=torch.get_num_threads())
        self.versions = self.version()

    def version(self):
        """What tells whether parameters were changed."""
        return [(own.data_ptr(), own._version) for own in self.constants.values()]

    def __call__(self, *inputs):
        import torch

        now = {at: inputs[at] for at in self.constants}
        if any(own is not now[at] for at, own in self.constants.items()) or self.versions != self.version():
            self.constants = now
            self.compile(inputs)
        given = {f"input_{at}": inputs[own].detach() for at, own in enumerate(self.free)}
        outputs = self.run({name: given[name] for name in self.names})
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return tuple(torch.from_numpy(output) for output in outputs)
