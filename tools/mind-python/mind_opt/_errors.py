"""Exceptions, and the findings in them."""

from collections import namedtuple


# Classes of `typing` would make the import take twice as long.
Place = namedtuple("Place", ["file", "line", "column"])
Place.__doc__ = """Where something was found. `line` and `column` count from 1, and are None for a whole file."""

Diagnostic = namedtuple("Diagnostic", ["severity", "code", "message", "place", "help", "notes"])
Diagnostic.__doc__ = """A finding about a text or module; `notes` is a tuple of texts."""


class MindError(Exception):
    """Why a call of this package failed. Its text is what the tools print.

    `code` is the stable code of the first error (`E2007`), `place` where it was found, `help` the way out, and
    `diagnostics` all findings; each is None, or an empty list, where there is none.
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
    """A module, rule file, pipeline or type was refused."""


class FileError(MindError, OSError):
    """A file could not be read or written."""


class FileNotFound(FileError, FileNotFoundError):
    """A file that is not there."""


class OpError(MindError, ValueError):
    """Operands or attributes that an op does not take."""


class CompileError(MindError, RuntimeError):
    """A module that cannot be compiled, for these extents or for any."""


class ArrayError(MindError, ValueError):
    """Arrays that are missing or do not fit."""


class RunError(MindError, RuntimeError):
    """A run that stopped: an index out of bounds, an integer division without result, no memory."""


class PatchError(MindError, ValueError):
    """Edits that cannot be made; the module is as it was."""


class ModelError(MindError, RuntimeError):
    """A model that cannot be used, made or run."""


class VersionError(MindError, RuntimeError):
    """A pickle of another version."""
