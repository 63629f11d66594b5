"""Profiles of compiled modules."""

import html
import os
from typing import NamedTuple


class StepTime(NamedTuple):
    """A step of a compiled module, with its time in one run of the module."""

    kind: str
    """The kind of the kernel, or the name of an op without a kernel."""
    ops: tuple
    """The ops that it computes, each as name, line and column; the last two may be `None`."""
    us: float
    """Time in microseconds."""
    share: float
    """Fraction of the time of all steps."""
    gflop_per_s: float | None
    """GFLOP/s of matrix products; `None` for steps without any."""
    gb_per_s: float
    """GB/s read and written."""
    limit: float | None
    """The time of an ideal run as a fraction of the measured time."""
    bound_by: str | None
    """The limit of an ideal run: `peak` or `memory`."""
    depth: int
    """Nesting depth in control flow."""


class Profile:
    """The time of each step of a compiled module: a table as text and in notebooks, and a trace for Perfetto."""

    def __init__(self, measured, trace):
        # Imported here, so that importing the package stays fast.
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
        """Writes a trace of all runs of all steps, for https://ui.perfetto.dev."""
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
