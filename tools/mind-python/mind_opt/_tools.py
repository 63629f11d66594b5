"""The command-line tools."""

import signal
import sys

from . import _native

TOOLS = ["mind-fmt", "mind-lsp", "mind-opt", "mind-reduce", "mind-run", "mind-translate"]


def run(tool, args):
    """Runs a tool on the streams of this process, and returns its exit code."""
    # Restores the default interrupt handling, because the tools clean up after themselves.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_tool(tool, args, [sys.executable, "-m", "mind_opt", tool])


def fmt():
    """`mind-fmt`"""
    sys.exit(run("mind-fmt", sys.argv[1:]))


def lsp():
    """`mind-lsp`"""
    sys.exit(run("mind-lsp", sys.argv[1:]))


def opt():
    """`mind-opt`"""
    sys.exit(run("mind-opt", sys.argv[1:]))


def reduce():
    """`mind-reduce`"""
    sys.exit(run("mind-reduce", sys.argv[1:]))


def mind_run():
    """`mind-run`"""
    sys.exit(run("mind-run", sys.argv[1:]))


def translate():
    """`mind-translate`"""
    sys.exit(run("mind-translate", sys.argv[1:]))
