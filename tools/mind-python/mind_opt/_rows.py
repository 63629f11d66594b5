"""Batched evaluation of a module. Rows are the first dimension of every input and output."""

import threading

from ._errors import ArrayError, RejectedError

# The maximal number of rows that are also run one by one and compared with a batch.
_CHECKED = 16


class Runner:
    """A module that is compiled at its first batch, for the processor that it runs on."""

    def __init__(self, module, weights=None, isa=None):
        self.module, self.weights, self.isa = module, weights or {}, isa
        self.run = None
        self.lock = threading.Lock()

    def __reduce__(self):
        return Runner, (self.module, self.weights, self.isa)

    def __call__(self, arrays):
        """Returns the outputs for a batch, by name."""
        with self.lock:
            if self.run is None:
                # One thread, because a machine has as many workers as processors.
                compiled = self.module.compile(threads=1, isa=self.isa)
                self.run = (compiled.bind(self.weights) if self.weights else compiled).run
        count = rows_of(arrays)
        outputs = self.run(arrays)
        for name, output in outputs.items():
            if len(output.shape) == 0 or output.shape[0] != count:
                raise _dependent(f"`{name}` is {list(output.shape)} for {count} rows")
        return outputs

    def check(self, arrays):
        """Raises `RejectedError` unless a batch has the outputs of its separate rows, for these arrays and for scaled ones.

        The second time each row of floats is scaled by another factor, because with equal rows a mean over the batch is not
        detected.
        """
        arrays = {name: array[:_CHECKED] for name, array in arrays.items()}
        for batch in (arrays, _scaled(arrays)):
            whole = self(batch)
            for at in range(rows_of(batch)):
                alone = self({name: array[at : at + 1] for name, array in batch.items()})
                for name, output in whole.items():
                    if output[at : at + 1].tobytes() != alone[name].tobytes():
                        raise _dependent(f"row {at} of `{name}` depends on the other rows of its batch")


def check_module(module, names):
    """Raises an exception unless `module` has inputs of these names and all outputs have rows."""
    known = [port.name for port in [*module.inputs, *module.params]]
    for name in names:
        if name not in known:
            raise ArrayError(f"the module has no input `{name}`", help=f"its inputs are {', '.join(known)}")
    for name in known:
        if name not in names:
            raise ArrayError(f"no array is given for `{name}`")
    if not module.inputs:
        raise RejectedError("the module has no inputs, so there are no rows")
    for port in module.inputs:
        if not port.shape:
            raise _dependent(f"the input `{port.name}` is a scalar")
        if isinstance(port.shape[0], int):
            raise RejectedError(
                f"the input `{port.name}` is {port.type}, expected a first dimension that is open",
                help="read the model without an extent for its batch, or run it on whole batches",
            )
    for port in module.outputs:
        if not port.shape:
            raise _dependent(f"the output `{port.name}` is a scalar")


def rows_of(arrays):
    """Returns the number of rows, which must be the same for all arrays."""
    count, first = None, None
    for name, array in arrays.items():
        if len(array.shape) == 0:
            raise ArrayError(f"`{name}` is a scalar, expected rows as its first dimension")
        if count is None:
            count, first = array.shape[0], name
        elif array.shape[0] != count:
            raise ArrayError(f"`{name}` has {array.shape[0]} rows, expected {count} as `{first}` has")
    return count


def _dependent(what):
    return RejectedError(
        f"the module does not treat rows independently: {what}", help="run it on whole batches, by `compile()`"
    )


def _scaled(arrays):
    import numpy

    draw = numpy.random.default_rng(1)

    def scaled(array):
        if numpy.dtype(array.dtype).kind not in "fV":
            return array
        factors = draw.uniform(0.5, 1.5, (array.shape[0],) + (1,) * (len(array.shape) - 1))
        return (array * factors).astype(array.dtype)

    return {name: scaled(array) for name, array in arrays.items()}
