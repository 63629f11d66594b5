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


def test_a_class_for_ray(module, rows):
    from mind_opt.ray import Rows

    run = Rows(module, {"image": "data"}, keep=["id"], isa="portable")
    found = run({"data": rows, "id": numpy.arange(200)})
    assert found["classes"].tobytes() == module.compile(threads=1)(rows).tobytes()
    assert found["id"].tolist() == list(range(200))
    with pytest.raises(ValueError, match="no input `picture`; its inputs are image"):
        Rows(module, {"picture": "data"})


def test_rows_on_ray(module, rows):
    ray = pytest.importorskip("ray")
    from mind_opt.ray import Rows

    expected = module.compile(threads=1)(rows).tobytes()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        table = ray.data.from_numpy(rows)
        table = table.map_batches(Rows, fn_constructor_args=(module, {"image": "data"}), concurrency=2, batch_size=7)
        found = numpy.stack([row["classes"] for row in table.iter_rows()])
        order = numpy.lexsort(found.T)
        wanted = numpy.frombuffer(expected, "float32").reshape(found.shape)
        assert found[order].tobytes() == wanted[numpy.lexsort(wanted.T)].tobytes()
    finally:
        ray.shutdown()
