"""The tools that the wheel installs."""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import mind_opt as mo
import pytest

SCRIPTS = Path(sysconfig.get_path("scripts"))
TOOLS = ["mind-fmt", "mind-lsp", "mind-opt", "mind-reduce", "mind-run", "mind-translate"]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_is_a_script_and_a_module(tool):
    for command in [[SCRIPTS / tool], [sys.executable, "-m", "mind_opt", tool]]:
        shown = run(*command, "--version")
        assert shown.returncode == 0 and shown.stdout.strip() == f"{tool} {mo.__version__}"
        assert run(*command, "--no-such-flag").returncode == 2


def test_unknown_tools():
    shown = run(sys.executable, "-m", "mind_opt", "mind-what")
    assert shown.returncode != 0 and "the tools are mind-fmt" in shown.stderr


def test_the_tools_do_what_the_binaries_do(examples):
    path = examples / "residual.mic"
    shown = run(SCRIPTS / "mind-opt", "--canonicalize", "--fuse", path)
    assert shown.returncode == 0
    assert shown.stdout.rstrip() == str(mo.load(path).run_passes("canonicalize,fuse"))
    assert "note: printed as Core text" in shown.stderr
    shown = run(SCRIPTS / "mind-opt", "-", input="mic@2\nT0 f32 4\na x T0\nm 0\nO 1")
    assert shown.returncode == 1 and shown.stdout == ""
    with pytest.raises(mo.RejectedError) as caught:
        mo.parse("mic@2\nT0 f32 4\na x T0\nm 0\nO 1", name="<stdin>")
    assert str(caught.value) in shown.stderr


def test_the_same_bits_as_mind_run(examples, tmp_path):
    numpy = pytest.importorskip("numpy")
    model = examples / "classifier.onnx"
    image = numpy.random.default_rng(3).standard_normal((5, 1, 8, 8)).astype("float32")
    numpy.savez(tmp_path / "in.npz", image=image)
    shown = run(SCRIPTS / "mind-run", model, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert shown.returncode == 0, shown.stderr
    (expected,) = numpy.load(tmp_path / "out.npz").values()
    for level in range(4):
        y = mo.load(model).optimize(level).compile()(image)
        assert y.tobytes() == expected.tobytes(), level


def test_a_reducer_runs_itself_again(tmp_path):
    path = tmp_path / "m.mic2"
    path.write_text("mic@2\nT0 f32 4\na x T0\nr 0\nth 1\nr 2\nO 3")
    shown = run(SCRIPTS / "mind-reduce", "--test", "grep -q '^th'", path, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("\n") < path.read_text().count("\n")
    # Whether passes crash shows in a process of its own, which has to answer.
    shown = run(SCRIPTS / "mind-reduce", "--test", "@crash", path)
    assert shown.returncode == 1 and "`@crash` does not hold for it" in shown.stderr


def test_the_language_server_answers():
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    message = f"Content-Length: {len(body)}\r\n\r\n{body}"
    shown = run(SCRIPTS / "mind-lsp", input=message, timeout=60)
    assert re.search(r'"capabilities"', shown.stdout)
