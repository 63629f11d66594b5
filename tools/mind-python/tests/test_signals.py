"""Ctrl-C during a call: `KeyboardInterrupt` comes soon, and what was called works again."""

import os
import signal
import subprocess
import sys
import threading
import time

import mind_opt as mo
import pytest

numpy = pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")


def interrupted(call, after=0.2):
    """How long a call takes to end by Ctrl-C."""
    timer = threading.Timer(after, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    started = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            # It was too fast: the signal comes here.
            time.sleep(5)
    finally:
        timer.cancel()
    return time.perf_counter() - started - after


def products(side, count):
    lines = [f"mic@2\nT0 f32 {side} {side}\na x T0"] + [f"m {at} {at}" for at in range(count)]
    return mo.parse("\n".join([*lines, f"O {count}"]))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_stops(threads):
    f = products(700, 400).compile(threads=threads)
    x = numpy.zeros((700, 700), "float32")
    assert interrupted(lambda: f(x)) < 1
    small = products(3, 1).compile(threads=threads)
    assert small(numpy.ones((3, 3), "float32")).tolist() == [[3.0] * 3] * 3


def test_one_large_kernel_stops():
    side = 4096
    f = products(side, 1).compile(threads=1)
    x = numpy.zeros((side, side), "float32")
    assert interrupted(lambda: f(x)) < 1


def test_a_loop_stops():
    f = mo.parse(
        "%0 = Input {name=x} : tensor<f32[]>\n"
        "%1 = While (%0) {carried=1} {\n"
        "  args: %2\n  %3 = ConstTensor {data=[1.0], dtype=f32, shape=[]} : tensor<f32[]>\n"
        "  %4 = Compare (%2, %3) {direction=lt}\n  yield: %4\n} {\n"
        "  args: %5\n  %6 = Neg (%5)\n  %7 = Neg (%6)\n  yield: %7\n}\n"
        "outputs: %1"
    ).compile(threads=1)
    assert f(numpy.float32(2)).tolist() == 2
    assert interrupted(lambda: f(numpy.float32(0))) < 1


@pytest.mark.parametrize("name", ["interpret", "equal_bits"])
def test_what_does_not_stop_is_left(name):
    module = products(300, 20)
    x = numpy.zeros((300, 300), "float32")
    calls = {"interpret": lambda: module.interpret({"x": x}), "equal_bits": lambda: module.equal_bits(module)}
    assert interrupted(calls[name], 0.05) < 1


def test_generating_stops(tiny):
    model = mo.Model(tiny / "tiny-qwen2", threads=1)
    assert interrupted(lambda: [model.generate("a cat", 20) for _ in range(100_000)]) < 1
    assert isinstance(model.generate("a cat", 2), str)


HANDLED = """
import os, signal, threading
import numpy, mind_opt as mo
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
lines = ["mic@2\\nT0 f32 512 512\\na x T0"] + [f"m {at} {at}" for at in range(60)]
f = mo.parse("\\n".join([*lines, "O 60"])).compile(threads=1)
x = numpy.eye(512, dtype="float32")
signal.setitimer(signal.ITIMER_REAL, 0.06, 0.06)
y = f(x)
signal.setitimer(signal.ITIMER_REAL, 0)
assert (y == x).all() and seen, seen
"""


def test_handlers_that_raise_nothing_run_meanwhile():
    subprocess.run([sys.executable, "-c", HANDLED], check=True)
