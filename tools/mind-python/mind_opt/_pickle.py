"""Modules and executables out of pickles.

A pickle holds the module as text and what it was compiled for, so that any machine compiles it anew. Texts are those of
one version of the package.
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
    """The module of a pickle."""
    _check(version)
    return _native.restore(text, names)


def executable(version, text, names, threads, isa):
    """The executable of a pickle, compiled for this machine."""
    _check(version)
    return _native.restore(text, names).compile(threads, isa)


def bound(executable, weights):
    """The executable of a pickle with its weights."""
    return executable.bind(weights)
