"""Reports of pipelines."""

import html
import os
from collections import Counter


class Report:
    """The effect of a pipeline on a module: a page, which notebooks show, and a few lines of text."""

    def __init__(self, page, ops, passes, rewrites):
        self.html = page
        self.ops = tuple(ops)
        self.passes = passes
        self.rewrites = dict(Counter(rewrites).most_common())

    def save(self, path):
        """Writes the page to a file."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self):
        before, after = self.ops
        lines = [f"{before} ops -> {after} ops"]
        lines += [f"{name}: {'changed' if changed else 'unchanged'}" for name, changed in self.passes]
        lines += [f"{rule}: {count} rewrites" for rule, count in self.rewrites.items()]
        return "\n".join(lines)

    def _repr_html_(self):
        page = html.escape(self.html)
        return f'<iframe style="border:0;height:40em;width:100%" srcdoc="{page}"></iframe>'
