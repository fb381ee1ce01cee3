#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Draw the figures of a benchmark run, as SVG.

Each family of peers is one line: at each place, its fastest way to be used. The
floor is a stack of pointers, or a ring of them between threads. The same figures
make the same picture, to the byte.
"""

import argparse
import dataclasses
import math
import sys
from xml.sax.saxutils import escape

import figures


@dataclasses.dataclass
class Line:
    name: str
    prefixes: tuple  # a peer's name, or how its name begins, with a "-" at the end
    colour: str
    width: float = 1.5
    dash: str = ""

    def has(self, peer):
        return any(
            peer == prefix or (prefix.endswith("-") and peer.startswith(prefix))
            for prefix in self.prefixes
        )


LINES = (
    Line("glibc", ("glibc",), "#8c564b"),
    Line("TBB", ("tbb",), "#9467bd"),
    Line("jemalloc", ("jemalloc-",), "#d62728"),
    Line("mimalloc", ("mimalloc-",), "#e377c2"),
    Line("tcmalloc", ("tcmalloc-",), "#2ca02c"),
    Line("DPDK mempool", ("dpdk-",), "#ff7f0e"),
    Line("ashlar", ("ashlar-shared", "ashlar-cache"), "#1f4e9c", 3.5),
    Line(
        "ashlar, unchecked",
        ("ashlar-shared-unchecked", "ashlar-cache-unchecked"),
        "#6fa8dc",
        2.5,
    ),
    Line("floor", ("floor-stack", "floor-ring"), "#777777", 1.5, "5 4"),
)


@dataclasses.dataclass
class Panel:
    title: str
    unit: str
    pattern: str  # of its cells
    axis: str
    places: tuple
    floor: str  # "": none


PANELS = (
    Panel(
        "One thread, get and put",
        "ns a slot",
        "1t",
        "slots at a time",
        (1, 32, 256, 4096),
        "floor-stack",
    ),
    Panel(
        "Producer to consumer",
        "ns a slot",
        "pc",
        "slots at a time",
        (1, 32, 256, 4096),
        "floor-ring",
    ),
    Panel(
        "n neighbours, get and put",
        "ns for all n",
        "run",
        "n",
        (1, 8, 64, 256, 1000, 4096),
        "",
    ),
)

WIDTH, HEIGHT = 1000, 390
TOP, BOTTOM = 70, 335
LEFT, PANEL, GAP = 40, 232, 44
LEGEND = LEFT + len(PANELS) * (PANEL + GAP) - GAP + 24
TEXT, PALE = "#333333", "#dddddd"

HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: BSD-2-Clause
     Copyright (c) 2026 The ashlar authors
     Drawn by bench/draw.py from {source}; not for editing. -->
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"
     viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">
<title>Nanoseconds to get and put slots of 128 bytes, aligned to 128</title>
<rect width="{width}" height="{height}" fill="white"/>"""


def text(x, y, words, anchor="start", size=12, colour=TEXT):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'font-size="{size}" fill="{colour}">{escape(words)}</text>'
    )


def rule(x1, y1, x2, y2, colour, extra=""):
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}"{extra}/>'
    )


def stroke(line):
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return f' stroke-width="{line.width:g}"{dash}'


def points_of(results, panel, line):
    """(place's number, figure), where the family was measured."""
    peers = [peer for peer in results.peers if line.has(peer)]
    if line.name == "floor":
        peers = [peer for peer in peers if peer == panel.floor]
    points = []
    for number, place in enumerate(panel.places):
        cell = f"{panel.pattern} {place}"
        best = results.lowest(peers, cell)
        if best is not None:
            points.append((number, results.figure(best, cell)))
    return points


class Scale:
    """From places and figures to where they are drawn: decades are even."""

    def __init__(self, left, places, values):
        self.left = left
        self.step = PANEL / (places - 0.4)
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)

    def x(self, number):
        return self.left + self.step * (number + 0.3)

    def y(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return BOTTOM - share * (BOTTOM - TOP)

    def decades(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def draw_frame(panel, scale):
    right = scale.left + PANEL
    out = [
        text(scale.left, TOP - 22, panel.title, size=14),
        text(scale.left, TOP - 7, panel.unit, size=11, colour="#666666"),
    ]
    for value in scale.decades():
        y = scale.y(value)
        out.append(rule(scale.left, y, right, y, PALE))
        out.append(text(scale.left - 5, y + 4, f"{value:g}", "end", 11))
    for number, place in enumerate(panel.places):
        out.append(text(scale.x(number), BOTTOM + 17, str(place), "middle", 11))
    out.append(text(scale.left + PANEL / 2, BOTTOM + 36, panel.axis, "middle"))
    return out


def draw_line(line, points, scale):
    places = [(scale.x(number), scale.y(value)) for number, value in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [
        f"<g><title>{escape(line.name)}: "
        + ", ".join(f"{value:.3g}" for _, value in points)
        + "</title>",
        f'<polyline points="{path}" fill="none" stroke="{line.colour}"'
        f"{stroke(line)}/>",
        *(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1.5 + line.width / 2:g}" '
            f'fill="{line.colour}"/>'
            for x, y in places
        ),
        "</g>",
    ]


def draw_panel(results, panel, left):
    lines = [(line, points_of(results, panel, line)) for line in LINES]
    lines = [(line, points) for line, points in lines if points]
    if not lines:
        return []
    values = [value for _, points in lines for _, value in points]
    scale = Scale(left, len(panel.places), values)
    out = draw_frame(panel, scale)
    for line, points in lines:
        out += draw_line(line, points, scale)
    return out


def draw_legend(results):
    """Those lines that are drawn anywhere."""
    out = []
    y = TOP + 10
    for line in LINES:
        if not any(points_of(results, panel, line) for panel in PANELS):
            continue
        out.append(rule(LEGEND, y, LEGEND + 26, y, line.colour, stroke(line)))
        out.append(text(LEGEND + 33, y + 4, line.name))
        y += 22
    return out


def draw(results, source):
    """The picture, as text."""
    drawn = [
        draw_panel(results, panel, LEFT + number * (PANEL + GAP))
        for number, panel in enumerate(PANELS)
    ]
    if not any(drawn):
        raise SystemExit(f"{results.path}: nothing to draw")
    out = [
        HEAD.format(width=WIDTH, height=HEIGHT, source=source),
        text(
            LEFT,
            24,
            "Nanoseconds for slots of 128 bytes, aligned to 128; less is better",
            size=15,
        ),
    ]
    for panel in drawn:
        out += panel
    return "\n".join([*out, *draw_legend(results), "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "results",
        help="a JSON file, a folder: its newest, or the Markdown file with readings",
    )
    parser.add_argument("output", help="the picture, in SVG; - for standard output")
    options = parser.parse_args()
    results = figures.read(options.results)
    picture = draw(results, results.path.name)
    if options.output == "-":
        sys.stdout.write(picture)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(picture)


if __name__ == "__main__":
    main()
