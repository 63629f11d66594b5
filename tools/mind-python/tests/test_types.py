"""The stubs, by `mypy --strict`, where it is installed."""

import subprocess
import sys
from pathlib import Path

import mind_opt as mo
import pytest

pytest.importorskip("mypy")

STUBS = sorted(Path(mo.__file__).parent.glob("*.pyi"))


def mypy(*arguments, folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_the_stubs_are_right(tmp_path):
    shown = mypy(*STUBS, folder=tmp_path)
    assert shown.returncode == 0, shown.stdout


def test_programs_of_users_are_checked(tmp_path):
    program = Path(__file__).with_name("typed.py")
    shown = mypy(program, folder=tmp_path)
    assert shown.returncode == 0, shown.stdout


@pytest.mark.parametrize(
    "line, found",
    [
        ("mo.load(3)", "arg-type"),
        ("mo.parse('').compile(isa='sse')", "arg-type"),
        ("mo.parse('').outputs[0].shape.append(1)", "attr-defined"),
        ("mo.Builder().input('x')", "call-arg"),
    ],
)
def test_mistakes_are_found(tmp_path, line, found):
    (tmp_path / "wrong.py").write_text(f"import mind_opt as mo\n{line}\n")
    shown = mypy("wrong.py", folder=tmp_path)
    assert shown.returncode == 1 and f"[{found}]" in shown.stdout, shown.stdout
