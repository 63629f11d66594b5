"""What the steps of a compiled module take."""

import html
import os
from typing import NamedTuple


class StepTime(NamedTuple):
    """A step of a compiled module, and what it takes in one run of the module."""

    kind: str
    """The kind of the kernel, or the op that runs by its definition."""
    ops: tuple
    """The ops that it computes, each a name, a line and a column; the last two may be `None`."""
    us: float
    """Microseconds."""
    share: float
    """The share of the time of all steps."""
    gflop_per_s: float | None
    """Thousand million operations of products a second; `None` of what computes none."""
    gb_per_s: float
    """Thousand million bytes a second."""
    limit: float | None
    """The share of the time that a perfect run would take."""
    bound_by: str | None
    """What bounds that one: `peak` or `memory`."""
    depth: int
    """How deep in regions of control flow it is."""


class Profile:
    """What each step of a compiled module takes: a table as text and in notebooks, and a trace for Perfetto."""

    def __init__(self, measured, trace):
        # Importing the package imports no more than it needs.
        import json

        own = json.loads(measured)
        self._trace = trace
        self.runs = own["runs"]
        self.us = own["run_us"]["median"]
        self.isa = own["isa"]
        self.threads = own["threads"]
        all_us = own["steps_us"] or 1.0
        self.steps = sorted((_step(step, all_us) for step in own["steps"]), key=lambda step: -step.us)

    def save(self, path):
        """Writes each run of each step as a trace, which https://ui.perfetto.dev shows."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self._trace)

    def _head(self):
        return f"{self.runs} runs on {self.isa}, {self.threads} threads: median {self.us:.1f} us"

    def _rows(self):
        for step in self.steps:
            ops = ", ".join(f"{op} {line}:{column}" if line else op for op, line, column in step.ops)
            rate = "-" if step.gflop_per_s is None else f"{step.gflop_per_s:.1f}"
            limit = "-" if step.limit is None else f"{100 * step.limit:.0f}% {step.bound_by}"
            yield (
                f"{step.us:.1f}",
                f"{100 * step.share:.1f}%",
                rate,
                f"{step.gb_per_s:.1f}",
                limit,
                "> " * step.depth + f"{step.kind}: {ops}",
            )

    def __repr__(self):
        rows = [_TITLES, *self._rows()]
        widths = [max(len(row[at]) for row in rows) for at in range(len(_TITLES) - 1)]
        lines = ["  ".join([*(word.rjust(width) for word, width in zip(row, widths)), row[-1]]) for row in rows]
        return "\n".join([self._head(), "", *lines])

    def _repr_html_(self):
        def row(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = "".join(row(cells, "td") for cells in self._rows())
        return f"<p>{html.escape(self._head())}</p><table>{row(_TITLES, 'th')}{rows}</table>"


_TITLES = ("us", "share", "GFLOP/s", "GB/s", "limit", "step")


def _step(own, all_us):
    return StepTime(
        kind=own["kind"],
        ops=tuple((op["op"], op["line"], op["column"]) for op in own["ops"]),
        us=own["us"],
        share=own["us"] / all_us,
        gflop_per_s=own["gflop_per_s"],
        gb_per_s=own["gb_per_s"],
        limit=own["limit"],
        bound_by=own["bound_by"],
        depth=own["depth"],
    )
