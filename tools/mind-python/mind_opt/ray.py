"""Batched evaluation of a module on Ray Data.

>>> import ray
>>> from mind_opt.ray import map_rows
>>> classes = map_rows(ray.data.from_numpy(rows), module, {"image": "data"}, concurrency=2)

`Rows` is the class of the actors, for `map_batches`: each compiles the module once, for the processor that it runs on. Ray shows
the progress; a batch of an actor that dies is run again, with the same bits.
"""

from ._rows import Runner, check_module, rows_of


class Rows:
    """The function of an actor, which adds a column for each output of `module` to a batch.

    `columns` maps inputs to columns; by default they have the same names. `keep` lists columns that are kept. Ray passes
    batches on in the order in which they finish, unless `preserve_order` is set, as by `map_rows`.
    """

    def __init__(self, module, columns=None, *, keep=(), isa=None):
        columns = columns or {}
        self.columns = {port.name: columns.get(port.name, port.name) for port in module.inputs}
        unknown = sorted(set(columns) - set(self.columns))
        if unknown:
            raise ValueError(f"the module has no input `{unknown[0]}`; its inputs are {', '.join(self.columns)}")
        check_module(module, self.columns)
        self.keep, self.run = tuple(keep), Runner(module, isa=isa)
        self.is_checked = False

    def __call__(self, batch):
        arrays = {name: batch[column] for name, column in self.columns.items()}
        if not self.is_checked and rows_of(arrays) > 1:
            self.run.check(arrays)
            self.is_checked = True
        return {**{name: batch[name] for name in self.keep}, **self.run(arrays)}


def map_rows(dataset, module, columns=None, size=64, *, keep=(), isa=None, concurrency=1, **options):
    """Returns the dataset of outputs for the rows of a dataset, in their order, computed in batches of `size` rows.

    `concurrency` is the number of actors, and `options` are others of `map_batches`.
    """
    # By default, blocks come in the order in which they finish.
    dataset.context.execution_options.preserve_order = True
    return dataset.map_batches(
        Rows,
        fn_constructor_args=(module, columns),
        fn_constructor_kwargs={"keep": keep, "isa": isa},
        batch_size=size,
        concurrency=concurrency,
        **options,
    )
