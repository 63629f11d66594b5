"""The package itself: what it offers, what its stubs say, how long its import takes."""

import ast
import doctest
import importlib
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import mind_opt as mo
import pytest

FOLDER = Path(mo.__file__).parent


def declared():
    """The classes and functions of the stubs."""
    tree = ast.parse((FOLDER / "__init__.pyi").read_text())
    kinds = (ast.ClassDef, ast.FunctionDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")}


def test_the_stubs_say_what_there_is():
    names = set(mo.__all__) - {"__version__"}
    assert names == set(declared())
    assert (FOLDER / "py.typed").exists()


@pytest.mark.parametrize("name", sorted(set(mo.__all__) - {"__version__"}))
def test_the_stub_of_a_class_is_complete(name):
    node, own = declared()[name], getattr(mo, name)
    if isinstance(node, ast.FunctionDef):
        assert parameters(node) == list(inspect.signature(own).parameters)
        return
    members = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    fields = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
    listed = set(members) | fields
    public = {each for each in vars(own) if not each.startswith("_")}
    special = {each for each in listed if each.startswith("__")}
    assert public - listed == set(), "the stub lacks these"
    assert {each for each in members if each not in special} - public == set(), "the class lacks these"
    for each, node in members.items():
        found = inspect.getattr_static(own, each, None)
        is_property = any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)
        if each in special or is_property or found is None:
            continue
        signature = inspect.signature(getattr(own, each))
        assert parameters(node) == list(signature.parameters), each


def parameters(node):
    own = node.args
    names = [each.arg for each in [*own.posonlyargs, *own.args]]
    names += [own.vararg.arg] if own.vararg else []
    names += [each.arg for each in own.kwonlyargs]
    return names + ([own.kwarg.arg] if own.kwarg else [])


def test_everything_is_documented():
    for name in mo.__all__:
        own = getattr(mo, name)
        if name == "__version__":
            continue
        assert own.__doc__, name
        for each, member in vars(own).items() if inspect.isclass(own) else []:
            if not each.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)):
                if not issubclass(own, tuple):
                    assert member.__doc__, f"{name}.{each}"


@pytest.mark.parametrize("name", ["mind_opt", "mind_opt._passes", "mind_opt._builder"])
def test_the_examples_in_the_code(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0 and failed == 0


def test_nothing_large_is_imported():
    code = "import sys, mind_opt; print([name for name in ('numpy', 'json', 'asyncio', 'ml_dtypes') if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(FOLDER.parent)!r}); {code}"], capture_output=True, text=True)
    assert shown.stdout.strip() == "[]", shown.stderr


def test_the_package_has_its_licenses(root):
    from importlib.metadata import metadata

    own = metadata("mind-opt")
    assert own["License-Expression"] == "Apache-2.0 OR MIT"
    assert set(own.get_all("License-File")) == {"LICENSE-APACHE", "LICENSE-MIT", "THIRD_PARTY_NOTICES.txt"}
    notices = (root / "tools" / "mind-python" / "THIRD_PARTY_NOTICES.txt").read_text("utf-8")
    for crate in ["pyo3 ", "bytemuck ", "half "]:
        assert f"\n{crate}" in notices


def test_the_notices_are_those_of_the_crates(root):
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    script = root / "tools" / "mind-python" / "notices.py"
    shown = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr
