"""The page docs/python.md, the examples, and the quick start of the README."""

import doctest
import os
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("numpy")


def blocks(path):
    """The blocks of a page: their words, and their texts."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def run(text, name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    results = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF | doctest.ELLIPSIS).run(test)
    assert results.attempted > 0 and results.failed == 0


def test_the_page_is_true(root, tmp_path, monkeypatch):
    page = blocks(root / "docs" / "python.md")
    # Those of PyTorch, JAX and Dask are run with their other tests.
    assert sorted(word for word, _ in page if word != "pycon") == ["python", "python", "python", "sh", "sh"]
    folder = tmp_path / "examples"
    shutil.copytree(root / "examples", folder)
    (tmp_path / "lit_tests" / "mind-run").mkdir(parents=True)
    shutil.copytree(root / "lit_tests/mind-run/inputs", tmp_path / "lit_tests/mind-run/inputs")
    text = "".join(text for word, text in page if word == "pycon")
    run(text, "python.md", folder, monkeypatch)


def test_its_commands_are_those_of_the_repository(root):
    commands = [text.strip() for word, text in blocks(root / "docs" / "python.md") if word == "sh"]
    assert commands == ["pip install ./tools/mind-python", "tools/mind-python/test"]
    assert os.access(root / "tools/mind-python/test", os.X_OK)
    assert "tools/mind-python/test" in (root / ".ci/run").read_text()


def test_the_quick_start_is_true(root, monkeypatch):
    section = (root / "README.md").read_text().split("## From Python", 1)[1].split("\n## ", 1)[0]
    assert "pip install ./tools/mind-python" in section
    (code,) = re.findall(r"^```pycon\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    run(code, "README.md", root, monkeypatch)


@pytest.mark.parametrize("name", ["batches.py", "classify.py", "passes.py"])
def test_the_examples_run(root, name):
    shown = subprocess.run([sys.executable, root / "examples" / "python" / name], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout


def test_no_example_is_forgotten(root):
    names = {path.name for path in (root / "examples" / "python").glob("*.py")}
    page = (root / "docs" / "python.md").read_text()
    assert names == {"batches.py", "classify.py", "passes.py"}
    assert all(name in page for name in names)
