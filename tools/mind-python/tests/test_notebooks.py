"""The notebooks of the examples: their cells run one after the other, without Jupyter."""

import ast
import json
from pathlib import Path

import pytest

pytest.importorskip("numpy")

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def shown(value):
    """What Jupyter shows of the value of a cell."""
    page = getattr(value, "_repr_html_", None)
    return page() if page else repr(value)


def run(path):
    """The values of the cells that end with an expression, as they are shown."""
    book = json.loads(path.read_text())
    names, values = {"__name__": "__main__"}, []
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, "notebooks are kept without outputs"
        name, code = f"{path.name}[{number}]", ast.parse("".join(cell["source"]))
        end = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, name, "exec"), names)
        if end:
            values.append(shown(eval(compile(ast.Expression(end.value), name, "eval"), names)))
    return values


def test_there_are_some():
    assert [path.stem for path in NOTEBOOKS] == ["modules", "rewrites"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    values = run(path)
    assert values and "<svg" in values[0]
    page = (FOLDER.parents[1] / "docs" / "python.md").read_text()
    assert path.name in page
