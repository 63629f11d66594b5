"""Building modules op by op."""

from . import _native
from ._passes import _id, _statement


class Builder:
    """A module under construction: first inputs, then ops, then outputs.

    >>> import mind_opt as mo
    >>> b = mo.Builder()
    >>> x = b.input("x", "f32[B, 784]")
    >>> w = b.param("w", "f32[784, 10]")
    >>> b.output(b.op("Relu", b.op("MatMul", x, w)))
    >>> b.build()
    Module(x: f32[B, 784] -> %3: f32[B, 10]; 4 ops)
    """

    def __init__(self):
        self._ports = []
        self._edits = []
        self._outputs = []
        self._next = 0

    def input(self, name, type):
        """Adds an input of a type, for example `f32[B, 784]`, and returns its value."""
        return self._port(name, type, False)

    def param(self, name, type):
        """Adds a weight, an array that is bound once, and returns its value."""
        return self._port(name, type, True)

    def _port(self, name, type, is_param):
        if self._edits:
            raise TypeError("inputs and weights come before ops")
        if any(known == name for known, _, _ in self._ports):
            raise ValueError(f"there is an input or weight `{name}` already")
        self._ports.append((name, type, is_param))
        self._next += 1
        return self._next - 1

    def op(self, name, *operands, type=None, **attributes):
        """Adds an op by its name in Core text, and returns the value that it computes."""
        new = self._next
        self._next += 1
        statement = _statement(name, operands, type, attributes)
        self._edits.append({"insert": {"id": new, **statement}})
        return new

    def output(self, *values):
        """Appends values to the outputs."""
        self._outputs.extend(_id(value) for value in values)

    def build(self):
        """Returns the verified module."""
        edits = [*self._edits, {"outputs": self._outputs}]
        return _native.interface(self._ports).patch(edits)
