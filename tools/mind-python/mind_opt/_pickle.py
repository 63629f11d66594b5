"""Unpickling of modules and executables.

A pickle contains the module as text and its compile options, so that it can be compiled again on any machine. It can be read
only by the same version of the package, because the text may change between versions.
"""

from . import _native
from ._errors import VersionError


def _check(version):
    if version != _native.VERSION:
        raise VersionError(
            f"this is a pickle of mind-opt {version}, and mind-opt {_native.VERSION} is installed",
            help="install the same version on every machine, or save modules as files",
        )


def module(version, text, names):
    """Returns the module of a pickle."""
    _check(version)
    return _native.restore(text, names)


def executable(version, text, names, threads, isa):
    """Returns the executable of a pickle, compiled for this machine."""
    _check(version)
    return _native.restore(text, names).compile(threads, isa)


def bound(executable, weights):
    """Returns the executable of a pickle with its weights."""
    return executable.bind(weights)
