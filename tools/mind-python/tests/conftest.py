"""What the tests share."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

RELU = "mic@2\nT0 f32 4\na x T0\nr 0\nO 1"

PRODUCT = "mic@2\nS B\nT0 f32 B 2\nT1 f32 2 2\na x T0\np w T1\nm 0 1\nr 2\nO 3"


def block(word):
    """The block of Python in docs/python.md that has a word."""
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (found,) = [own for own in blocks if word in own]
    return found


@pytest.fixture
def root():
    """The repository."""
    return ROOT


@pytest.fixture
def examples():
    """The example modules."""
    return ROOT / "examples"


@pytest.fixture
def tiny():
    """Models that are small enough for tests."""
    return ROOT / "lit_tests" / "mind-run" / "inputs"
