"""Worker processes: the results have one checksum, however the rows are cut into batches.

An executable is pickled to each worker once, which compiles it for its machine. A pool that cuts rows by 1, by 7 and by
64 gets the same bits.
"""

import hashlib
import multiprocessing
from pathlib import Path

import numpy as np

import mind_opt as mo

MODEL = Path(__file__).parent.parent / "classifier.onnx"
ROWS = 512

classify = None


def start(executable):
    """Keeps what the worker runs."""
    global classify
    classify = executable


def work(rows):
    """The results of a batch."""
    return classify(rows)


def checksum(executable, rows, size, isa):
    """The checksum of all results, from batches of `size` rows."""
    batches = [rows[at : at + size] for at in range(0, len(rows), size)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(2, initializer=start, initargs=(executable,)) as pool:
        results = np.concatenate(list(pool.imap(work, batches, chunksize=8)))
    assert len(results) == len(rows)
    digest = hashlib.sha256(results.tobytes()).hexdigest()[:16]
    print(f"{isa}, batches of {size}: {digest}")
    return digest


if __name__ == "__main__":
    module = mo.load(MODEL).optimize()
    rows = np.random.default_rng(1).standard_normal((ROWS, 1, 8, 8)).astype("float32")
    # One thread each: there are as many workers as the machine has processors.
    widest = module.compile(threads=1)
    narrowest = module.compile(threads=1, isa="portable")
    digests = {checksum(widest, rows, size, "widest") for size in (1, 7, 64)}
    digests.add(checksum(narrowest, rows, 64, "portable"))
    assert len(digests) == 1
    print("one checksum")
