"""Threads: the interpreter is free while the compiler works, and calls do not disturb each other."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import mind_opt as mo
import pytest
from conftest import PRODUCT

numpy = pytest.importorskip("numpy")


def test_one_executable_serves_many_threads():
    w = numpy.array([[1, -1], [1, 1]], "float32")
    f = mo.parse(PRODUCT).compile(threads=1)
    g = f.bind(w=w)

    def call(at):
        # Extents are compiled for when arrays first have them, in whichever thread that is.
        rows = at % 7
        x = numpy.full((rows, 2), at, "float32")
        return all((one == numpy.maximum(x @ w, 0)).all() for one in [g(x), f(x, w)])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(400)))


def test_modules_are_used_by_many_threads():
    module = mo.parse(PRODUCT)

    def work(at):
        other = module.optimize(at % 4)
        return module.equal_bits(other, at) and other.diff(module) is not None

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


def test_the_interpreter_is_free_during_a_run():
    side = 900
    f = mo.parse(f"mic@2\nT0 f32 {side} {side}\na x T0\nm 0 0\nm 1 1\nm 2 2\nm 3 3\nO 4").compile(threads=1)
    x = numpy.zeros((side, side), "float32")
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    started = time.perf_counter()
    f(x)
    ended = time.perf_counter()
    done.set()
    ticker.join()
    # A call that held the interpreter would let no other thread run.
    assert any(started < at < ended for at in ticks)
