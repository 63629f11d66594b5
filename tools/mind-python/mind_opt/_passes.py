"""Passes that are Python functions."""

import operator

from ._errors import PatchError
from ._json import type_of


class Pass:
    """A pass: a function of a `Rewriter`. It can be called as `p(module)`, or used in `Module.run_passes`.

    >>> import mind_opt as mo
    >>> @mo.Pass
    ... def neg_neg(rewriter):
    ...     "Removes pairs of negations."
    ...     for op in rewriter.ops:
    ...         inner = rewriter.defining(op.operands[0]) if op.name == "Neg" else None
    ...         if inner is not None and inner.name == "Neg":
    ...             rewriter.erase(op, instead=inner.operands[0])
    """

    def __init__(self, function, name=None):
        self.function = function
        self.name = name or function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, module):
        """Returns the module after the pass."""
        return module.run_passes(self)

    def __repr__(self):
        return f"Pass({self.name})"


class Rewriter:
    """The ops of a module, and edits of them. Edits are applied when the pass ends; if one is invalid, none is applied.

    Values are given by their numbers in Core text; an op can be given instead of its result.
    """

    def __init__(self, module):
        self.module = module
        self.edits = []
        self._ops = module.ops
        self._by_id = None
        self._users = None
        self._next = None

    @property
    def ops(self):
        """The ops of the module before the pass, in order."""
        return self._ops

    @property
    def outputs(self):
        """The output values."""
        return self.module.output_ids

    def defining(self, value):
        """Returns the op that computes a value; None for a value of a body."""
        if self._by_id is None:
            self._by_id = {result: op for op in self._ops for result in op.results}
        return self._by_id.get(_id(value))

    def users(self, value):
        """Returns the ops that read a value, in order, each once."""
        if self._users is None:
            self._users = {}
            for op in self._ops:
                for read in dict.fromkeys([*op.operands, *_captured(op)]):
                    self._users.setdefault(read, []).append(op)
        return self._users.get(_id(value), [])

    def insert(self, name, operands, *, before=None, after=None, type=None, **attributes):
        """Inserts an op, by default at the end, and returns the value that it computes."""
        if before is not None and after is not None:
            raise TypeError("an op goes before another one or after it, not both")
        new = self._fresh()
        edit = {"insert": {"id": new, **_statement(name, operands, type, attributes)}}
        if before is not None:
            edit["before"] = _id(before)
        if after is not None:
            edit["after"] = _id(after)
        self.edits.append(edit)
        return new

    def replace(self, op, name, operands, *, type=None, **attributes):
        """Replaces an op by another one. The value keeps its number and its uses."""
        statement = _statement(name, operands, type, attributes)
        self.edits.append({"replace": _id(op), "with": statement})

    def erase(self, op, instead=None):
        """Removes an op. Its uses are replaced by `instead`; without that, it must be unused."""
        edit = {"delete": _id(op)}
        if instead is not None:
            edit["instead"] = _id(instead)
        self.edits.append(edit)

    def set(self, op, **attributes):
        """Sets attributes of an op."""
        for name, value in attributes.items():
            self.edits.append({"set": _id(op), "attribute": name, "to": value})

    def set_outputs(self, values):
        """Sets the outputs."""
        self.edits.append({"outputs": [_id(value) for value in values]})

    def _fresh(self):
        if self._next is None:
            self._next = 1 + max(_numbers(self._ops), default=-1)
        self._next += 1
        return self._next - 1


def edits(module, function):
    """Returns the name of a pass and its edits of a module."""
    name = getattr(function, "name", None) or getattr(function, "__name__", repr(function))
    rewriter = Rewriter(module)
    getattr(function, "function", function)(rewriter)
    return name, rewriter.edits


def _id(value):
    number = getattr(value, "id", value)
    try:
        if isinstance(number, bool):
            raise TypeError
        return operator.index(number)
    except TypeError:
        raise PatchError(f"{value!r} is not a value: pass its number, or the op that computes it") from None


def _statement(name, operands, type, attributes):
    statement = {"op": name, "operands": [_id(value) for value in operands]}
    if type is None:
        type = type_of(attributes.get("data"))
    if attributes:
        statement["attributes"] = attributes
    if type is not None:
        statement["type"] = type
    return statement


def _captured(op):
    for body in op.bodies:
        for inner in body.ops:
            yield from inner.operands
            yield from _captured(inner)
        yield from body.outputs


def _numbers(ops):
    for op in ops:
        yield from op.results
        for body in op.bodies:
            yield from body.arguments
            yield from _numbers(body.ops)
