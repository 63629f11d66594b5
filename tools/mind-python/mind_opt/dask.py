"""Rows through a module on the workers of Dask, which needs the package `distributed`.

>>> from distributed import Client, LocalCluster
>>> from mind_opt.dask import map_rows
>>> with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
...     y = map_rows(client, module, {"image": rows})["classes"]
"""

from . import _native


class Rows:
    """What a worker runs: the module, compiled when it first has rows, for the processor that it is on."""

    def __init__(self, module, isa=None):
        self.module, self.isa, self.run = module, isa, None

    def __reduce__(self):
        return Rows, (self.module, self.isa)

    def __call__(self, arrays):
        if self.run is None:
            # One thread: a machine has as many workers as processors.
            self.run = self.module.compile(threads=1, isa=self.isa).run
        return self.run(arrays)


def map_rows(client, module, arrays, size=64, *, retries=3, isa=None, progress=None):
    """The outputs for rows, which are the first dimension of each array, in their order, from batches of `size` rows.

    The module goes to each worker once. A batch of a worker that dies, or that fails, is run again up to `retries` times,
    with the same bits. `progress` is called with the number of rows that are done, and of all.
    """
    import numpy
    from distributed import as_completed

    if not isinstance(module, _native.Module):
        raise TypeError(f"rows are mapped by a module, not by {type(module).__name__}")
    count = len(next(iter(arrays.values())))
    worker = client.scatter(Rows(module, isa), broadcast=True)
    futures = {}
    for start in range(0, count, size):
        batch = {name: array[start : start + size] for name, array in arrays.items()}
        futures[client.submit(_apply, worker, batch, retries=retries, pure=False)] = start
    parts, done = {}, 0
    for future, outputs in as_completed(futures, with_results=True):
        parts[futures[future]] = outputs
        done += len(next(iter(outputs.values())))
        if progress:
            progress(done, count)
    names = parts[0] if parts else ()
    return {name: numpy.concatenate([parts[start][name] for start in sorted(parts)]) for name in names}


def _apply(worker, batch):
    return worker(batch)
