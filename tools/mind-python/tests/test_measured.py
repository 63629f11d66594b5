"""Reports, profiles, programs that are kept, and schedules that are measured."""

import json

import mind_opt as mo
import pytest

numpy = pytest.importorskip("numpy")

TEXT = """%0 = Input {name=x} : tensor<f32[16, 32]>
%1 = Input {name=w, role=param} : tensor<f32[32, 32]>
%2 = MatMul (%0, %1)
%3 = Relu (%2)
%4 = Relu (%3)
outputs: %4"""

X, W = numpy.ones((16, 32), "float32"), numpy.ones((32, 32), "float32")


def test_a_report_is_a_page_and_a_few_lines(tmp_path):
    report = mo.parse(TEXT).report("canonicalize")
    assert (report.ops, report.passes, report.rewrites) == ((5, 4), [("canonicalize", True)], {"relu-relu": 1})
    assert str(report) == "5 ops -> 4 ops\ncanonicalize: changed\nrelu-relu: 1 rewrites"
    report.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page == report.html and page.startswith("<!doctype html>") and "relu-relu" in page
    # A page in a page: nothing of it may end the frame.
    (frame,) = report._repr_html_().split("<iframe")[1:]
    assert frame.count("<") == 1 and "&lt;svg" in frame
    with pytest.raises(mo.RejectedError):
        mo.parse(TEXT).report("warp")


def test_a_profile_has_the_steps_of_the_program(tmp_path):
    f = mo.parse(TEXT).compile(threads=1, isa="portable")
    for profile in [f.profile(X, w=W), f.bind(w=W).profile({"x": X})]:
        (step,) = profile.steps
        assert step.kind == "contract" and [op[0] for op in step.ops] == ["product", "relu"]
        assert step.us > 0 and step.share == 1 and step.gflop_per_s > 0
        assert (profile.isa, profile.threads) == ("portable", 1)
    assert "contract: product 4:1, relu 4:1" in str(profile)
    assert "<td>100.0%</td>" in profile._repr_html_()
    profile.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert len(trace["traceEvents"]) == profile.runs
    with pytest.raises(mo.ArrayError):
        f.profile(X)


def test_programs_are_kept_where_that_is_asked_for(tmp_path, monkeypatch):
    module = mo.parse(TEXT)
    assert module.compile(threads=1).cache_stats is None
    folder = tmp_path / "programs"
    first, second = (module.compile(threads=1, cache=folder) for _ in range(2))
    assert (first.cache_stats["found"], first.cache_stats["missed"]) == (0, 1)
    assert (second.cache_stats["found"], second.cache_stats["programs"]) == (1, 1)
    assert (first(X, w=W) == second(X, w=W)).all()
    monkeypatch.setenv("MIND_CACHE", str(tmp_path / "usual"))
    assert module.compile(threads=1, cache=True).cache_stats["folder"] == tmp_path / "usual"
    monkeypatch.setenv("MIND_CACHE", "")
    assert module.compile(threads=1, cache=True).cache_stats is None
    (tmp_path / "file").write_text("")
    with pytest.raises(mo.FileError):
        module.compile(cache=tmp_path / "file")
    with pytest.raises(TypeError, match="`cache` is True, False or a folder"):
        module.compile(cache=3.5)


def test_measured_schedules_have_the_same_bits(tmp_path):
    module = mo.parse(TEXT)
    plain, tuned = module.compile(threads=1), module.compile(threads=1, tune=6, cache=tmp_path / "programs")
    assert (plain(X, w=W) == tuned(X, w=W)).all()
    assert plain.tuned is None and len(tuned.tuned) <= 1 and tuned.cache_stats["schedules"] >= 1
    again = module.compile(threads=1, tune=6, cache=tmp_path / "programs")
    assert again.cache_stats["found"] == 1 and again.tuned == tuned.tuned
    with pytest.raises(TypeError, match="`tune` is True, False or a number"):
        module.compile(tune="much")
