"""Rows on the workers of Dask and Ray."""

import mind_opt as mo
import numpy
import pytest
from conftest import block


@pytest.fixture
def module(examples):
    return mo.load(examples / "classifier.onnx").optimize()


@pytest.fixture
def rows():
    return numpy.random.default_rng(1).standard_normal((200, 1, 8, 8)).astype("float32")


def test_rows_on_dask(module, rows):
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster
    from mind_opt.dask import map_rows

    expected = module.compile(threads=1)(rows).tobytes()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for size, isa in [(7, None), (64, "portable")]:
            seen = []
            found = map_rows(client, module, {"image": rows}, size, isa=isa, progress=lambda *own: seen.append(own))
            assert list(found) == ["classes"] and found["classes"].tobytes() == expected
            assert seen[-1] == (200, 200) and len(seen) == -(-200 // size)
        with pytest.raises(mo.ArrayError):
            map_rows(client, module, {"picture": rows}, retries=0)
        with pytest.raises(TypeError, match="mapped by a module"):
            map_rows(client, len, {"image": rows})


@pytest.fixture
def dask():
    """A cluster of one worker."""
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def text(body, outputs, shape="B, 2"):
    return mo.parse(f"%0 = Input {{name=x}} : tensor<f32[{shape}]>\n{body}\noutputs: {outputs}")


def test_modules_are_mapped_again_and_again(dask):
    from mind_opt.dask import map_rows

    x = numpy.random.default_rng(1).standard_normal((9, 2)).astype("float32")
    one, other = text("%1 = Relu (%0)", "%1"), text("%1 = Neg (%0)", "%1, %0")
    for _ in range(3):
        assert map_rows(dask, one, {"x": x}, 4)["%1"].tolist() == numpy.maximum(x, 0).tolist()
        assert map_rows(dask, other, {"x": x}, 4)["%1"].tolist() == (-x).tolist()


def test_any_number_of_rows(dask):
    from mind_opt.dask import map_rows

    module = text("%1 = Relu (%0)", "%1")
    for count in [0, 1, 2, 5]:
        x = numpy.full((count, 2), -1, "float32")
        seen = []
        for size in [1, 2, numpy.int64(3), 64]:
            found = map_rows(dask, module, {"x": x}, size, progress=lambda *own: seen.append(own))
            assert found["%1"].shape == (count, 2) and found["%1"].dtype == numpy.float32
            assert seen[-1] == (count, count)


def test_weights_are_bound_once(dask):
    from mind_opt.dask import map_rows

    module = mo.parse("mic@2\nS B\nT0 f32 B 2\nT1 f32 2 2\na x T0\np w T1\nm 0 1\nO 2")
    x, w = numpy.ones((5, 2), "float32"), numpy.array([[1, -1], [1, 1]], "float32")
    assert map_rows(dask, module, {"x": x, "w": w}, 2)["%2"].tolist() == [[2, 0]] * 5


def test_wrong_rows_are_refused_before_anything_runs():
    from mind_opt.dask import map_rows

    pytest.importorskip("distributed")
    two = mo.parse("mic@2\nS B\nT0 f32 B 2\na x T0\na y T0\n+ 0 1\nO 2")
    x = numpy.zeros((64, 2), "float32")
    cases = [
        (two, {"x": x, "y": numpy.zeros((128, 2), "float32")}, 64, mo.ArrayError, "`y` has 128 rows, expected 64 as `x` has"),
        (two, {"x": x}, 64, mo.ArrayError, "no array is given for `y`"),
        (two, {"x": x, "z": x, "y": x}, 64, mo.ArrayError, "no input `z`"),
        (two, {"x": x, "y": numpy.float32(1)}, 64, mo.ArrayError, "`y` is a scalar"),
        (two, {}, 64, mo.ArrayError, "no array is given for `x`"),
        (two, {"x": x, "y": x}, -1, ValueError, "`size` is -1, expected a number of rows from 1"),
        (two, {"x": x, "y": x}, 0, ValueError, "`size` is 0"),
        (two, {"x": x, "y": x}, 2.5, TypeError, "float"),
        (text("%1 = Sum (%0) {axes=[0, 1]}", "%1"), {"x": x}, 64, mo.RejectedError, "the output `%1` is a scalar"),
        (text("%1 = Relu (%0)", "%1", shape="8, 2"), {"x": x}, 64, mo.RejectedError, "first dimension that is open"),
        (text("%1 = Relu (%0)", "%1", shape=""), {"x": x}, 64, mo.RejectedError, "the input `x` is a scalar"),
    ]
    for module, arrays, size, kind, message in cases:
        with pytest.raises(kind, match=message):
            map_rows(None, module, arrays, size)


# Modules whose output for a row depends on the other rows of its batch.
DEPENDENT = {
    "mean": "%1 = Mean (%0) {axes=[0], keepdims=true}\n%2 = Sub (%0, %1)",
    "softmax": "%2 = Softmax (%0) {axis=0}",
    "cumulative sum": "%2 = Cumulative (%0) {axis=0}",
    "reverse": "%2 = Reverse (%0) {axes=[0]}",
    "rows that are stacked": "%2 = Concat (%0, %0) {axis=0}",
    "transposed": "%2 = Transpose (%0) {permutation=[1, 0]}",
}


@pytest.mark.parametrize("name", DEPENDENT)
@pytest.mark.parametrize("values", ["equal", "drawn"])
def test_modules_that_mix_rows_are_refused(name, values):
    from mind_opt._rows import Runner

    x = numpy.ones((8, 2), "float32")
    if values == "drawn":
        x = numpy.random.default_rng(1).standard_normal((8, 2)).astype("float32")
    with pytest.raises(mo.RejectedError, match="does not treat rows independently"):
        Runner(text(DEPENDENT[name], "%2")).check({"x": x})


def test_a_module_that_mixes_rows_is_refused_on_dask(dask):
    from mind_opt.dask import map_rows

    with pytest.raises(mo.RejectedError, match="does not treat rows independently"):
        map_rows(dask, text(DEPENDENT["mean"], "%2"), {"x": numpy.ones((8, 2), "float32")}, 4)


def test_the_page_is_true(examples, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.chdir(examples)
    exec(compile(block("map_rows"), "python.md", "exec"), {"__name__": "__main__"})


def test_a_worker_of_dask_that_dies_loses_nothing(module, rows):
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster
    from mind_opt.dask import map_rows

    expected = module.compile(threads=1)(rows).tobytes()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        killed = []

        def kill(done, _):
            if done >= 20 and not killed:
                killed.append(next(iter(cluster.workers.values())))
                client.run(lambda: __import__("os")._exit(1), workers=[killed[0].worker_address], on_error="ignore")

        found = map_rows(client, module, {"image": rows}, 1, progress=kill)
        assert killed and found["classes"].tobytes() == expected


def test_the_only_worker_of_dask_may_die(module, rows):
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster
    from mind_opt.dask import map_rows

    expected = module.compile(threads=1)(rows).tobytes()
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        died = []

        def kill(done, _):
            if done >= 20 and not died:
                died.append(True)
                client.run(lambda: __import__("os")._exit(1), on_error="ignore")

        found = map_rows(client, module, {"image": rows}, 1, progress=kill)
        assert died and found["classes"].tobytes() == expected


def test_a_class_for_ray(module, rows):
    from mind_opt.ray import Rows

    run = Rows(module, {"image": "data"}, keep=["id"], isa="portable")
    found = run({"data": rows, "id": numpy.arange(200)})
    assert found["classes"].tobytes() == module.compile(threads=1)(rows).tobytes()
    assert found["id"].tolist() == list(range(200))
    with pytest.raises(ValueError, match="no input `picture`; its inputs are image"):
        Rows(module, {"picture": "data"})


def test_a_class_for_ray_checks_rows():
    from mind_opt.ray import Rows

    with pytest.raises(mo.RejectedError, match="does not treat rows independently"):
        Rows(text(DEPENDENT["mean"], "%2"))({"x": numpy.ones((8, 2), "float32")})
    with pytest.raises(mo.RejectedError, match="the output `%1` is a scalar"):
        Rows(text("%1 = Sum (%0) {axes=[0, 1]}", "%1"))


def test_rows_on_ray(module, rows):
    ray = pytest.importorskip("ray")
    from mind_opt.ray import Rows, map_rows

    def late(batch):
        # The first blocks take the longest.
        import time

        number = int(numpy.flatnonzero((rows[::20] == batch["data"][0]).all((1, 2, 3)))[0])
        time.sleep(0.1 * (10 - number))
        return {**batch, "id": numpy.full(len(batch["data"]), number)}

    expected = module.compile(threads=1)(rows).tobytes()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        table = ray.data.from_numpy(rows)
        table = table.map_batches(Rows, fn_constructor_args=(module, {"image": "data"}), concurrency=2, batch_size=7)
        found = numpy.stack([row["classes"] for row in table.iter_rows()])
        order = numpy.lexsort(found.T)
        wanted = numpy.frombuffer(expected, "float32").reshape(found.shape)
        assert found[order].tobytes() == wanted[numpy.lexsort(wanted.T)].tobytes()
        # Blocks that are done at different times stay in order.
        table = ray.data.from_numpy([rows[at : at + 20] for at in range(0, 200, 20)])
        table = table.map_batches(late, batch_size=20)
        table = map_rows(table, module, {"image": "data"}, 20, keep=["id"], concurrency=2)
        found = list(table.iter_rows())
        assert [row["id"] for row in found] == [at // 20 for at in range(200)]
        assert numpy.stack([row["classes"] for row in found]).tobytes() == expected
    finally:
        ray.shutdown()
