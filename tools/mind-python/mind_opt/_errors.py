"""Exceptions and their diagnostics."""

from collections import namedtuple


# Classes of `typing` would double the import time.
Place = namedtuple("Place", ["file", "line", "column"])
Place.__doc__ = """A source location. `line` and `column` count from 1, and are None for a whole file."""

Diagnostic = namedtuple("Diagnostic", ["severity", "code", "message", "place", "help", "notes"])
Diagnostic.__doc__ = """A diagnostic about a text or module; `notes` is a tuple of strings."""


class MindError(Exception):
    """The base class of errors of this package. Its text is that of the tools.

    `code` is the stable code of the first error, for example `E2007`, `place` its location, `help` its help, and
    `diagnostics` has all diagnostics; each is None, or an empty list, if there is none.
    """

    def __init__(self, message, code=None, place=None, help=None, diagnostics=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.place = place
        self.help = help
        self.diagnostics = diagnostics or []

    def __str__(self):
        if self.help is None or self.help in self.message:
            return self.message
        return f"{self.message}\n  = help: {self.help}"

    def __reduce__(self):
        fields = (self.message, self.code, self.place, self.help, self.diagnostics)
        return type(self), fields


class RejectedError(MindError, ValueError):
    """A module, rule file, pipeline or type is invalid."""


class FileError(MindError, OSError):
    """A file could not be read or written."""


class FileNotFound(FileError, FileNotFoundError):
    """A file does not exist."""


class OpError(MindError, ValueError):
    """Operands or attributes are invalid for an op."""


class CompileError(MindError, RuntimeError):
    """A module cannot be compiled, for these extents or for any."""


class ArrayError(MindError, ValueError):
    """Arrays are missing or do not fit."""


class RunError(MindError, RuntimeError):
    """A run failed: an index out of bounds, an integer division by 0 or overflow, out of memory."""


class PatchError(MindError, ValueError):
    """Edits cannot be applied; the module is unchanged."""


class ModelError(MindError, RuntimeError):
    """A model cannot be used, compiled or run."""


class VersionError(MindError, RuntimeError):
    """A pickle of another version."""
