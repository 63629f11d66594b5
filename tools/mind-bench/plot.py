#!/usr/bin/env python3
"""Draws what `peers.py --json` wrote, and prints it as a table in Markdown.

    python3 tools/mind-bench/plot.py one.json two.json --svg docs/speed.svg

Each workload is a line with a dot for each file: how many times as fast as the fastest of the others, on a scale of
powers of two. To the right of 1, ours is faster.
"""

import argparse
import json
import math
import statistics
from html import escape

NAMES = {"ours": "ours", "ort": "ORT", "openvino": "OpenVINO", "jax": "JAX", "numpy": "NumPy"}
# A color for each file, told apart by those who see red and green as one, on white and on black.
COLORS = ["#2f7ed8", "#e08a00", "#3a9d6a", "#b0509a"]
LEFT, WIDTH, LINE, TOP, BOTTOM = 170, 470, 15, 44, 22


def medians(report):
    """For each workload the medians, by name."""
    rows = {}
    for row in report["rows"]:
        rows[row["name"]] = {who: statistics.median(times) for who, times in row["us"].items()}
    return rows


def lead(row):
    """How many times as fast ours is as the fastest of the others; `None` without others."""
    others = [time for who, time in row.items() if who != "ours"]
    return min(others) / row["ours"] if others else None


def mean(ratios):
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def number(time):
    """A time with three digits."""
    if time >= 100:
        return f"{time:,.0f}".replace(",", " ")
    return f"{time:.1f}"


def table(reports):
    """The figures in Markdown, and what a call costs each below them."""
    peers = [who for who in NAMES if who != "ours" and any(who in row for own in reports for row in own[1].values())]
    head = ["workload"]
    for report, _ in reports:
        head += [f"ours, {threads(report)}", *[NAMES[who] for who in peers], "lead"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    names = [name for name in reports[0][1] if name != "call"]
    for name in names:
        cells = [f"`{name}`"]
        for _, rows in reports:
            row = rows.get(name, {})
            cells += [number(row[who]) if who in row else "" for who in ["ours", *peers]]
            ratio = lead(row) if row else None
            cells.append(f"{ratio:.2f}" if ratio else "")
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    for report, rows in reports:
        calls = ", ".join(f"{NAMES[who]} {number(time)}" for who, time in rows.get("call", {}).items())
        leads = [(row["ours"], lead(row)) for name, row in rows.items() if name != "call" and lead(row)]
        long = [ratio for time, ratio in leads if time > 100]
        first = sum(ratio >= 1 for _, ratio in leads)
        lines.append(
            f"{threads(report)}: first in {first} of {len(leads)} rows, geometric mean of the lead "
            f"{mean([ratio for _, ratio in leads]):.2f}, of {len(long)} rows above 100 us {mean(long):.2f}; "
            f"a call takes {calls} us."
        )
    return "\n".join(lines)


def threads(report):
    """The number of threads in words."""
    return "1 thread" if report["threads"] == 1 else f"{report['threads']} threads"


def svg(reports):
    """The drawing."""
    names = [name for name, row in reports[0][1].items() if name != "call" and lead(row)]
    ratios = [lead(rows[name]) for _, rows in reports for name in names if name in rows and lead(rows[name])]
    low = math.floor(math.log2(min(ratios)))
    high = math.ceil(math.log2(max(ratios)))
    height = TOP + LINE * len(names) + BOTTOM

    def across(ratio):
        return LEFT + (math.log2(ratio) - low) / (high - low) * WIDTH

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{height}" '
        f'viewBox="0 0 {LEFT + WIDTH + 30} {height}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    machine = escape(reports[0][0]["processor"])
    out.append(f'<text x="{LEFT}" y="14" fill="#222">times as fast as the fastest of the others, {machine}</text>')
    place = LEFT
    for (report, _), color in zip(reports, COLORS):
        out.append(f'<circle cx="{place + 4}" cy="27" r="4" fill="{color}"/>')
        out.append(f'<text x="{place + 12}" y="31" fill="#222">{threads(report)}</text>')
        place += 90
    for power in range(low, high + 1):
        x, ratio = across(2.0**power), 2.0**power
        color = "#222" if power == 0 else "#ddd"
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - BOTTOM}" stroke="{color}"/>')
        text = f"{ratio:g}" if power >= 0 else f"1/{1 / ratio:g}"
        out.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle" fill="#222">{text}</text>')
    for at, name in enumerate(names):
        y = TOP + LINE * at + LINE / 2
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#222">{escape(name)}</text>')
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#f0f0f0"/>')
        for (_, rows), color in zip(reports, COLORS):
            if ratio := lead(rows.get(name, {"ours": 1})):
                out.append(f'<circle cx="{across(ratio):.1f}" cy="{y:.1f}" r="4" fill="{color}" fill-opacity="0.8"/>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", help="what `peers.py --json` wrote, a file for each number of threads")
    parser.add_argument("--svg", metavar="FILE", help="where the drawing goes")
    args = parser.parse_args()
    reports = []
    for path in args.reports:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        reports.append((report, medians(report)))
    print(table(reports))
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(svg(reports))


if __name__ == "__main__":
    main()
