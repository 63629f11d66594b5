"""Rows with one worker process and with more: in a second, and in a second of the processors.

    python3 tools/mind-bench/processes.py [PROCESSES...]

Each worker compiles the module on one thread and runs batches of 64 rows that it is given at the start. The time is that of the
slowest worker from when all are ready; numbers of processes take turns, and the best of seven turns counts. Where other
programs run, rows in a second say how much of the machine was free, and rows in a second of the processors how much the workers
slow each other down.
"""

import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

import mind_opt as mo

SIZE, TURNS = 64, 7

PERCEPTRON = """mic@2
S B
T0 f32 B 784
T1 f32 784 512
T2 f32 512 10
a x T0
p w T1
p v T2
m 0 1
r 3
m 4 2
O 5"""


def work(module, weights, name, shape, count, pipe):
    """Runs batches each time that it is told to, and answers with when it began and ended."""
    f = module.compile(threads=1)
    f = f.bind(weights) if weights else f
    x = {name: np.ones(shape, "float32")}
    f(x)
    pipe.send(None)
    while pipe.recv():
        began, cpu = time.monotonic(), time.process_time()
        for _ in range(count):
            f(x)
        pipe.send((began, time.monotonic(), time.process_time() - cpu))


def workers(count, batches, *args):
    """Pipes to processes that are ready."""
    context = multiprocessing.get_context("spawn")
    pipes = []
    for _ in range(count):
        own, other = context.Pipe()
        context.Process(target=work, args=(*args, batches // count, other), daemon=True).start()
        pipes.append(own)
    for pipe in pipes:
        pipe.recv()
    return pipes


def once(pipes):
    """Seconds from the first start to the last end, and those of the processors."""
    for pipe in pipes:
        pipe.send(True)
    times = [pipe.recv() for pipe in pipes]
    wall = max(end for _, end, _ in times) - min(began for began, _, _ in times)
    return wall, sum(cpu for _, _, cpu in times)


def main():
    counts = [int(word) for word in sys.argv[1:]] or [1, 2]
    root = Path(__file__).resolve().parents[2]
    random = np.random.default_rng(1)
    weights = {
        "w": random.standard_normal((784, 512), dtype="float32"),
        "v": random.standard_normal((512, 10), dtype="float32"),
    }
    jobs = {
        "classifier": (8000, mo.load(root / "examples/classifier.onnx").optimize(), None, "image", (SIZE, 1, 8, 8)),
        "perceptron": (400, mo.parse(PERCEPTRON).optimize(), weights, "x", (SIZE, 784)),
    }
    for name, job in jobs.items():
        pools = {count: workers(count, *job) for count in counts}
        taken = {count: [] for count in counts}
        for _ in range(TURNS):
            for count, pipes in pools.items():
                taken[count].append(once(pipes))
        for count, times in taken.items():
            rows = job[0] // count * count * SIZE
            wall, cpu = (rows / min(column) for column in zip(*times))
            print(f"{name}: {count} processes, {wall:,.0f} rows a second, {cpu:,.0f} in a second of the processors")
        for pipes in pools.values():
            for pipe in pipes:
                pipe.send(False)


if __name__ == "__main__":
    main()
