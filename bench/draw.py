#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Draw the figures of a benchmark run with gnuplot.

Each family of peers is one line: at each batch size, its fastest way to be
used. The floor is a stack of pointers, or a ring of them between threads.
"""

import argparse
import pathlib
import subprocess

from figures import Results

BATCHES = (1, 32, 256, 4096)
PANELS = (("1t", "One thread"), ("pc", "Producer to consumer"))

# name, prefix of its programs, colour, gnuplot's dash type, width
LINES = (
    ("glibc", ("glibc",), "#8c564b", 1, 1.5),
    ("TBB", ("tbb",), "#9467bd", 1, 1.5),
    ("jemalloc", ("jemalloc-",), "#d62728", 1, 1.5),
    ("tcmalloc", ("tcmalloc-",), "#2ca02c", 1, 1.5),
    ("mimalloc", ("mimalloc-",), "#e377c2", 1, 1.5),
    ("DPDK mempool", ("dpdk-",), "#ff7f0e", 1, 1.5),
    ("ashlar", ("ashlar-shared", "ashlar-cache"), "#1f4e9c", 1, 4),
    (
        "ashlar, unchecked",
        ("ashlar-shared-unchecked", "ashlar-cache-unchecked"),
        "#6fa8dc",
        1,
        2.5,
    ),
    ("floor", ("floor-stack", "floor-ring"), "#777777", 2, 1.5),
)

PREAMBLE = """\
set terminal {terminal}
set output '{output}'
set multiplot layout 1,2 margins 0.07,0.77,0.13,0.85 spacing 0.035
set label 1 'Nanoseconds to get and put a slot of 128 bytes, aligned to 128; \
less is better' at screen 0.07,0.965 left font ',14'
set logscale y
set yrange [{low}:{high}]
set format y '%g'
set xrange [-0.2:3.2]
set xtics ('1' 0, '32' 1, '256' 2, '4096' 3)
set xlabel 'slots at a time'
set grid ytics lc rgb '#dddddd' lt 1
set border 3 lc rgb '#555555'
set tics nomirror
set key off
"""


def line_points(results, pattern, peers):
    points = []
    for place, n in enumerate(BATCHES):
        cell = f"{pattern} {n}"
        best = results.lowest(peers, cell)
        if best is not None:
            points.append((place, results.figure(best, cell)))
    return points


def belongs(peer, prefixes):
    return any(
        peer == prefix or (prefix.endswith("-") and peer.startswith(prefix))
        for prefix in prefixes
    )


def panel_lines(results, pattern):
    """(number of the line, points), for those that were measured."""
    lines = []
    for number, (_, prefixes, *_) in enumerate(LINES, 1):
        peers = [p for p in results.peers if belongs(p, prefixes)]
        if pattern == "pc" and "floor-ring" in peers:
            peers = ["floor-ring"]
        if pattern == "1t" and "floor-stack" in peers:
            peers = ["floor-stack"]
        points = line_points(results, pattern, peers)
        if points:
            lines.append((number, points))
    return lines


def panel_script(title, lines, with_key):
    script = [f"set title '{title}'"]
    plots = []
    for number, points in lines:
        name, _, colour, dash, width = LINES[number - 1]
        block = f"$line{number}"
        script += [f"{block} << EOD", *(f"{x} {y}" for x, y in points), "EOD"]
        plots.append(
            f"{block} with linespoints lc rgb '{colour}' dt {dash} lw {width} "
            f"pt 7 ps 0.5 title '{name}'"
        )
    if with_key:
        script.append("set key at screen 0.99,0.86 right top Left reverse spacing 1.3")
    script.append("plot " + ", \\\n  ".join(plots))
    script += ["unset label 1", "set format y ''"]
    return script


def draw(results, output):
    panels = [(title, panel_lines(results, p)) for p, title in PANELS]
    values = [y for _, lines in panels for _, points in lines for _, y in points]
    if not values:
        raise SystemExit(f"{results.path}: nothing to draw")
    terminals = {
        ".svg": "svg size 900,420 background rgb 'white' font 'sans-serif,12'",
        ".png": "pngcairo size 1350,630 font 'sans,15'",
    }
    terminal = terminals.get(pathlib.Path(output).suffix)
    if terminal is None:
        raise SystemExit(f"{output}: should end in .svg or .png")
    low = 10 ** (-1 if min(values) >= 0.1 else -2)
    high = 10 ** len(str(int(max(values))))
    script = PREAMBLE.format(terminal=terminal, output=output, low=low, high=high)
    for number, (title, lines) in enumerate(panels):
        script += "\n".join(panel_script(title, lines, number == 0)) + "\n"
    script += "unset multiplot\n"
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except FileNotFoundError:
        raise SystemExit("gnuplot was not found (Debian: gnuplot-nox)") from None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", help="a JSON file, or a folder: its newest")
    parser.add_argument("output", help="the picture: a name in .svg or .png")
    options = parser.parse_args()
    draw(Results(options.results), options.output)


if __name__ == "__main__":
    main()
