"""Modules and executables in pickles, and in other processes."""

import copy
import hashlib
import multiprocessing
import pickle
import subprocess
import sys

import mind_opt as mo
import pytest
from conftest import PRODUCT

numpy = pytest.importorskip("numpy")

W = numpy.array([[1, -1], [1, 1]], "float32")
X = numpy.array([[1, 2], [3, 4]], "float32")


def test_modules_come_back(examples):
    for name in ["mlp.mic", "residual.mic", "attention.core", "classifier.onnx"]:
        module = mo.load(examples / name)
        for one in [module, module.optimize(2)]:
            again = pickle.loads(pickle.dumps(one))
            assert str(again) == str(one)
            assert [port.name for port in again.outputs] == [port.name for port in one.outputs]
            assert str(copy.deepcopy(one)) == str(one)


def test_executables_come_back(examples):
    f = mo.load(examples / "classifier.onnx").compile(threads=1)
    image = numpy.linspace(-1, 1, 64, dtype="float32").reshape(1, 1, 8, 8)
    again = pickle.loads(pickle.dumps(f))
    assert again(image).tobytes() == f(image).tobytes()
    assert list(again.run(image)) == ["classes"]
    g = mo.parse(PRODUCT).compile(threads=1, isa="portable").bind(w=W)
    again = pickle.loads(pickle.dumps(g))
    assert again(X).tobytes() == g(X).tobytes()
    assert repr(again) == repr(g) and "portable" in repr(g)


def test_another_version_says_so():
    from mind_opt import _pickle

    module = mo.parse(PRODUCT)
    for one in [module, module.compile(), module.compile().bind(w=W)]:
        data = pickle.dumps(one, protocol=2)
        assert mo.__version__.encode() in data
        other = data.replace(mo.__version__.encode(), b"9" * len(mo.__version__))
        with pytest.raises(mo.VersionError, match="this is a pickle of mind-opt 99999") as caught:
            pickle.loads(other)
        assert "install the same version" in caught.value.help
    with pytest.raises(mo.RejectedError):
        _pickle.module(mo.__version__, b"no module", [])


def sums(f, rows):
    return [f(row) for row in rows]


def digest(model, cut):
    rows = numpy.random.default_rng(1).standard_normal((192, 1, 8, 8)).astype("float32")
    parts = [rows[at : at + cut] for at in range(0, len(rows), cut)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        outputs = pool.map(model, parts)
    return hashlib.sha256(numpy.concatenate(outputs).tobytes()).hexdigest()


def test_batches_of_any_size_have_one_checksum(examples):
    model = mo.load(examples / "classifier.onnx").optimize().compile(threads=1)
    assert len({digest(model, cut) for cut in [1, 7, 64]}) == 1


def forked(f, x, queue):
    queue.put(f(x).tobytes())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_executables_run_in_forked_processes(threads):
    side = 256
    f = mo.parse(f"mic@2\nT0 f32 {side} {side}\na x T0\nm 0 0\nO 1").compile(threads=threads)
    x = numpy.ones((side, side), "float32")
    expected = f(x).tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    worker = context.Process(target=forked, args=(f, x, queue))
    worker.start()
    assert queue.get(timeout=60) == expected
    worker.join()


def test_a_pickle_is_as_large_as_the_weights():
    w = numpy.random.default_rng(1).standard_normal((300, 300)).astype("float32")
    b = mo.Builder()
    b.output(b.op("MatMul", b.input("x", "f32[B, 300]"), b.op("ConstTensor", data=w)))
    module = b.build()
    for one in [module, module.compile(threads=1)]:
        assert len(pickle.dumps(one)) < w.nbytes + 2000
    again = pickle.loads(pickle.dumps(module))
    assert again.to_text() == module.to_text() and again.constant(1).tobytes() == w.tobytes()
    assert all(op.line is None for op in again.ops)


DROPPED = """
import gc, os, sys, time
import numpy
import mind_opt as mo

f = mo.parse("mic@2\\nT0 f32 256 256\\na x T0\\nm 0 0\\nO 1").compile(threads=2)
model = mo.Model(sys.argv[1], threads=2)
x = numpy.ones((256, 256), "float32")
expected, text = f(x).tobytes(), model.generate("a cat", 2)
for what in ["run", "drop", "model", "exit"]:
    child = os.fork()
    if child == 0:
        if what == "exit":
            sys.exit(0)
        ran = (f(x).tobytes(), model.generate("a cat", 2)) == (expected, text)
        if what == "drop":
            del f
        if what == "model":
            del model
        gc.collect()
        os._exit(0 if ran else 1)
    for _ in range(1000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        status = "hangs"
    assert status == 0, (what, status)
assert f(x).tobytes() == expected
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
def test_forked_children_drop_executables_and_models(tiny):
    subprocess.run([sys.executable, "-c", DROPPED, tiny / "tiny-qwen2"], check=True, timeout=100)
