"""Worker processes: the results have one checksum, however the rows are cut and wherever they run.

Workers on AVX2, on instructions that every processor has, and in the interpreter share the rows of a job in batches of
1, 7 and 64. One of them is killed in the middle: its batch goes to another. What was computed is kept by the hashes
of the module and of the row, so that a job that is run again computes only what is new.
"""

import hashlib
import multiprocessing
import multiprocessing.connection
import sqlite3
import sys
from pathlib import Path

import numpy as np

import mind_opt as mo

MODEL = Path(__file__).parent.parent / "classifier.onnx"
INPUT, OUTPUT = "image", "classes"

# The most rows that a worker is given at a time; it cuts them into batches.
SHARE = 448


def work(module, kind, size, pipe):
    """Answers shares of rows until there are no more."""
    if kind == "interpreter":
        run = module.interpret
    else:
        # One thread each: there are as many workers as the machine has processors.
        run = module.compile(threads=1, isa=None if kind == "widest" else kind).run
    while (share := pipe.recv()) is not None:
        start, rows = share
        batches = [rows[at : at + size] for at in range(0, len(rows), size)]
        pipe.send((start, np.concatenate([run({INPUT: batch})[OUTPUT] for batch in batches])))


class Worker:
    """A process and the share that it has."""

    def __init__(self, module, kind, size):
        context = multiprocessing.get_context("spawn")
        self.kind, self.share = kind, None
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(module, kind, size, other), daemon=True)
        self.process.start()
        other.close()

    def take(self, start, rows):
        self.share = start
        try:
            self.pipe.send((start, rows))
        except OSError:
            # It died; what waits for its results sees that.
            pass


class Results:
    """Results by the hashes of the module and of the row, in memory or in a file."""

    def __init__(self, module, path=":memory:"):
        self.key = hashlib.sha256(f"{mo.__version__}\n{module}".encode()).digest()
        self.table = sqlite3.connect(path)
        self.table.execute("create table if not exists results (key blob primary key, bytes blob)")

    def keys(self, rows):
        return [hashlib.sha256(self.key + row.tobytes()).digest() for row in rows]

    def get(self, key):
        found = self.table.execute("select bytes from results where key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0], "float32")

    def keep(self, keys, results):
        with self.table:
            pairs = [(key, result.tobytes()) for key, result in zip(keys, results)]
            self.table.executemany("insert or ignore into results values (?, ?)", pairs)


def compute(module, rows, size, kinds, victim=None):
    """The results for rows, in their order: a dict of where shares start and what they gave.

    The worker `victim` is killed when half of the rows are done; nothing is lost by it, and nothing is counted twice.
    """
    length = max(1, min(SHARE, len(rows) // 20))
    starts = list(range(0, len(rows), length))
    waiting, done, workers = starts[::-1], {}, [Worker(module, kind, size) for kind in kinds]
    while len(done) < len(starts):
        for worker in workers:
            if worker.share is None and waiting:
                start = waiting.pop()
                worker.take(start, rows[start : start + length])
        if victim is not None and 2 * len(done) >= len(starts) and workers[victim].share is not None:
            workers[victim].process.kill()
            victim = None
        ready = multiprocessing.connection.wait([own for worker in workers for own in (worker.pipe, worker.process.sentinel)])
        for worker in [own for own in workers if own.pipe in ready or own.process.sentinel in ready]:
            try:
                start, results = worker.pipe.recv()
            except (EOFError, ConnectionError):
                workers.remove(worker)
                if worker.share is not None:
                    waiting.append(worker.share)
                if not workers:
                    raise RuntimeError("every worker died")
                continue
            assert start == worker.share and start not in done
            done[start], worker.share = results, None
    assert victim is None, "the worker was busy and was killed"
    for worker in workers:
        worker.pipe.send(None)
        worker.process.join()
    results = np.concatenate([done[start] for start in sorted(done)])
    assert len(results) == len(rows)
    return results


def job(module, rows, size, kinds, kept, victim=None):
    """The results for rows, of which those that are kept are not computed; and how many were."""
    keys = kept.keys(rows)
    known = [kept.get(key) for key in keys]
    new = [at for at, own in enumerate(known) if own is None]
    if new:
        results = compute(module, rows[new], size, kinds, victim)
        kept.keep([keys[at] for at in new], results)
        for at, own in zip(new, results):
            known[at] = own
    return np.stack(known), len(new)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    module = mo.load(MODEL).optimize()
    rows = np.random.default_rng(1).standard_normal((count, 1, 8, 8)).astype("float32")
    digests, kept = set(), None
    for size in (1, 7, 64):
        kept = Results(module)
        kinds = ["widest", "portable", "interpreter"]
        results, computed = job(module, rows, size, kinds, kept, victim=0)
        digests.add(hashlib.sha256(results.tobytes()).hexdigest()[:16])
        print(f"{computed} rows in batches of {size}, with a worker killed: {sorted(digests)[-1]}")
    more = np.concatenate([rows, np.zeros((1, 1, 8, 8), "float32")])
    results, computed = job(module, more, 64, ["portable"], kept)
    digests.add(hashlib.sha256(results[:-1].tobytes()).hexdigest()[:16])
    print(f"again, with one row more: {computed} computed")
    assert len(digests) == 1 and computed == 1
    print("one checksum")
