"""Batched evaluation of a module on the workers of Dask, which needs the package `distributed`.

>>> from distributed import Client, LocalCluster
>>> from mind_opt.dask import map_rows
>>> with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
...     y = map_rows(client, module, {"image": rows})["classes"]
"""

import operator

from . import _native
from ._rows import Runner, check_module, rows_of


def map_rows(client, module, arrays, size=64, *, retries=3, isa=None, progress=None):
    """Returns the outputs for the rows of `arrays` (their first dimension) in order, computed in batches of `size` rows.

    Arrays for weights of the module are bound once and not split. The module is sent to each worker once. A batch that fails, or
    whose worker dies, is run again up to `retries` times, with the same bits. `progress` is called with the number of finished
    rows and of all rows.

    Raises `RejectedError` if the output for a row depends on other rows, which is tested by running the first rows as a batch and
    separately.
    """
    import numpy
    from distributed import as_completed

    if not isinstance(module, _native.Module):
        raise TypeError(f"rows are mapped by a module, not by {type(module).__name__}")
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"`size` is {size}, expected a number of rows from 1")
    check_module(module, arrays)
    weights = {port.name: arrays[port.name] for port in module.params}
    arrays = {port.name: numpy.asarray(arrays[port.name]) for port in module.inputs}
    count = rows_of(arrays)
    # The result of a task, so that Dask recomputes it if the workers that have it are lost.
    runner = client.submit(Runner, module, weights, isa, retries=retries, pure=False)
    if count > 1:
        first = {name: array[: max(size, 2)] for name, array in arrays.items()}
        client.submit(Runner.check, runner, first, retries=retries, pure=False).result()
    futures = {}
    for start in range(0, max(count, 1), size):
        batch = {name: array[start : start + size] for name, array in arrays.items()}
        futures[client.submit(_apply, runner, batch, retries=retries, pure=False)] = start
    parts, done = {}, 0
    for future in as_completed(futures):
        start = futures.pop(future)
        parts[start] = future.result()
        done += min(size, count - start)
        if progress:
            progress(done, count)
    return {name: numpy.concatenate([parts[start][name] for start in sorted(parts)]) for name in parts[0]}


def _apply(runner, batch):
    return runner(batch)
