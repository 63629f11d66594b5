"""Rows of Ray Data through a module.

>>> import ray
>>> from mind_opt.ray import Rows
>>> images = ray.data.from_numpy(rows)
>>> classes = images.map_batches(Rows, fn_constructor_args=(module, {"image": "data"}), concurrency=2, batch_size=64)

Each actor compiles the module once, for the processor that it is on. Ray shows the progress; a batch of an actor that dies is
run again, with the same bits.
"""


class Rows:
    """What an actor runs: batches get a column for each output of `module`.

    `columns` says which column is which input; one of the same name is, if it is not given. `keep` is for columns that
    stay.
    """

    def __init__(self, module, columns=None, *, keep=(), isa=None):
        columns = columns or {}
        self.columns = {port.name: columns.get(port.name, port.name) for port in module.inputs}
        unknown = sorted(set(columns) - set(self.columns))
        if unknown:
            raise ValueError(f"the module has no input `{unknown[0]}`; its inputs are {', '.join(self.columns)}")
        # One thread: Ray has as many actors as it wants processors.
        self.keep, self.run = tuple(keep), module.compile(threads=1, isa=isa).run

    def __call__(self, batch):
        outputs = self.run({name: batch[column] for name, column in self.columns.items()})
        return {**{name: batch[name] for name in self.keep}, **outputs}
