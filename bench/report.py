#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Print the figures of a benchmark run: where ashlar stands, then all of them.

The first table has a row for each goal: nanoseconds for get and put of one slot
together (of one run, in the row of runs), medians over the rounds. "= 0.75 x" is
the median of the rounds' ratios to what the goal is a multiple of.
"""

import argparse
import dataclasses
import re
import sys

import figures
from figures import Results

DPDK = ("dpdk-lcore", "dpdk-user")
BATCHES = (1, 32, 256, 4096)


@dataclasses.dataclass
class Row:
    """A goal: ashlar's figure is to be at most so many times the base's."""

    title: str
    cell: str
    floor: str
    base: str  # "DPDK", or a peer's name
    checked: float  # at most so many times
    unchecked: float = None
    ashlar: str = "ashlar-shared"
    metric: str = "ns"
    base_cell: str = None  # where it is another


CALL, INLINE, RING = "floor-call", "floor-stack", "floor-ring"
ROWS = (
    Row("1 thread, n = 1, call", "1t 1", CALL, "DPDK", 1.35, 1.0),
    Row("1 thread, n = 1, inline", "1t 1", INLINE, INLINE, 1.7, 1.3, "ashlar-cache"),
    Row("1 thread, n = 32", "1t 32", INLINE, "DPDK", 1.6, 1.0),
    Row("1 thread, n = 256", "1t 256", INLINE, "DPDK", 1.0, 0.4),
    Row(
        "1 thread, n = 256, shuffled",
        "1t 256 shuffled",
        INLINE,
        "DPDK",
        8.0,
        base_cell="1t 256",
    ),
    Row("1 thread, n = 4096", "1t 4096", INLINE, "DPDK", 1.0, 0.5),
    Row("producer to consumer, n = 1", "pc 1", RING, "DPDK", 0.9, 0.8),
    Row("producer to consumer, n = 256", "pc 256", RING, "DPDK", 1.2, 0.9),
    Row(
        "10^6 slots cold, small pages",
        "cold 250",
        "floor-bump",
        "floor-bump",
        1.1,
        metric="total_ns",
    ),
    Row(
        "10^6 slots cold, huge pages",
        "cold 250",
        "floor-bump-huge",
        "floor-bump-huge",
        1.1,
        ashlar="ashlar-huge",
        metric="total_ns",
    ),
)
# peer, nanoseconds, nanoseconds per slot
RUN_LIMITS = (
    ("ashlar-shared", 60, 0.05, "60 + 0.05 n"),
    ("ashlar-shared-unchecked", 40, 0, "40"),
)
MEAN_RUN = 2048  # of "run mix"


def number(value):
    if value is None:
        return "-"
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def verdict(value, limit):
    if value is None or limit is None:
        return "-"
    return "reached" if value <= limit else "NOT"


class Goals:
    """The rows of the first table."""

    HEAD = (
        "",
        "floor",
        "best peer",
        "DPDK",
        "checked",
        "to reach",
        "",
        "unchecked",
        "to reach",
        "",
    )

    def __init__(self, results):
        self.results = results

    def peer_text(self, peer, cell, metric):
        if peer is None:
            return "-"
        return f"{number(self.results.figure(peer, cell, metric))} {peer}"

    def speed(self, row):
        r = self.results
        cell, metric = row.cell, row.metric
        dpdk = r.lowest(DPDK, row.base_cell or cell, metric)
        base = dpdk if row.base == "DPDK" else row.base
        of = "DPDK" if row.base == "DPDK" else "floor"
        line = [
            row.title,
            number(r.figure(row.floor, cell, metric)),
            self.peer_text(r.lowest(r.rivals(), cell, metric), cell, metric),
            number(r.figure(dpdk, row.base_cell or cell, metric)),
        ]
        for peer, limit in (
            (row.ashlar, row.checked),
            (row.ashlar + "-unchecked", row.unchecked),
        ):
            ratio = r.ratio(peer, base, cell, metric, row.base_cell)
            figure = number(r.figure(peer, cell, metric))
            if ratio is not None:
                figure += f" = {ratio:.2f} x"
            goal = "-" if limit is None else f"{limit:g} x {of}"
            line += [figure, goal, verdict(ratio, limit)]
        return line

    def runs(self):
        """The length that comes nearest to its limit, or exceeds it most."""
        r = self.results
        line = ["a run of n, returned length", "-", "-", "-"]
        for peer, fixed, per_slot, goal in RUN_LIMITS:
            shares = []
            for cell in r.samples.get(peer, {}):
                if match := re.fullmatch(r"run (\d+|mix)", cell):
                    n = MEAN_RUN if match[1] == "mix" else int(match[1])
                    ns = r.figure(peer, cell)
                    shares.append((ns / (fixed + per_slot * n), cell, ns))
            if shares:
                share, cell, ns = max(shares)
                line += [f"{number(ns)} ({cell})", goal, verdict(share, 1)]
            else:
                line += ["-", goal, "-"]
        return line

    def resident(self, title, ashlar, floor, limit):
        r = self.results
        figure = ("cold 250", "live_bytes")
        value = r.figure(ashlar, *figure)
        return [
            title,
            number(r.figure(floor, *figure)),
            self.peer_text(r.lowest(r.rivals(), *figure), *figure),
            number(r.figure(r.lowest(DPDK, *figure), *figure)),
            "-" if value is None else f"{value:.2f}",
            f"{limit:g}",
            verdict(value, limit),
            "-",
            "-",
            "-",
        ]

    def trim(self):
        line = ["trim: wholly free pages given back", "-", "-", "-"]
        for peer in ("ashlar-shared", "ashlar-shared-unchecked"):
            share = self.results.figure(peer, "cold 250", "trim_share")
            figure = "-" if share is None else f"{share:.1%}"
            reached = verdict(share and -share, -0.95)
            line += [figure, "95%", reached]
        return line

    def beside(self, n):
        line = [f"2 threads, n = {n}, each for itself", "-", "-", "-"]
        for peer in ("ashlar-shared", "ashlar-shared-unchecked"):
            ratio = self.results.ratio(
                peer, peer, f"2t {n}", other_cell=f"1t {n}"
            )
            figure = number(self.results.figure(peer, f"2t {n}"))
            if ratio is not None:
                figure += f" = {ratio:.2f} x"
            line += [figure, "1.15 x 1 thread", verdict(ratio, 1.15)]
        return line

    def lines(self):
        lines = [self.speed(row) for row in ROWS]
        lines.insert(8, self.runs())
        lines += [
            self.resident(
                "bytes a slot, small pages", "ashlar-shared", "floor-bump", 130
            ),
            self.resident(
                "bytes a slot, huge pages", "ashlar-huge", "floor-bump-huge", 132
            ),
            self.trim(),
        ]
        lines += [self.beside(n) for n in BATCHES]
        # a row that nothing was measured for is left out
        return [self.HEAD] + [
            line for line in lines if set(line[1:5] + line[7:8]) != {"-"}
        ]


COLD_METRICS = (
    ("create_ns", "create"),
    ("get_ns", "get"),
    ("touch_ns", "touch"),
    ("total_ns", "sum"),
    ("put_ns", "put"),
    ("get_again_ns", "get again"),
    ("touch_again_ns", "touch again"),
    ("live_bytes", "bytes live"),
    ("huge_bytes", "in huge pages"),
    ("free_bytes", "bytes when free"),
    ("trim_ns", "trim"),
    ("trim_share", "trimmed share"),
    ("trimmed_bytes", "bytes after trim"),
)


def with_spread(results, peer, cell):
    figure = results.figure(peer, cell)
    if figure is None:
        return "-"
    low, high = results.spread(peer, cell)
    return f"{number(figure)} ({number(low)}..{number(high)})"


def cell_tables(results):
    """(title, lines) for each pattern."""
    tables = []
    cells = []
    for peer_cells in results.samples.values():
        cells += [c for c in peer_cells if c not in cells]
    for pattern, title in figures.TITLES.items():
        for extra in ("", " filled", " shuffled"):
            columns = [
                c for c in cells if re.fullmatch(rf"{pattern} (\d+|mix){extra}", c)
            ]
            if not columns:
                continue
            lines = [["", *(c.split()[1] for c in columns)]]
            for peer in results.peers:
                texts = [with_spread(results, peer, c) for c in columns]
                if set(texts) != {"-"}:
                    lines.append([peer, *texts])
            tables.append((title + (f",{extra}" if extra else ""), lines))
    return tables


def cold_tables(results):
    tables = []
    for n in (250, 1):
        lines = [["", *(name for _, name in COLD_METRICS)]]
        for peer in results.peers:
            if results.values(peer, f"cold {n}", "total_ns"):
                lines.append(
                    [peer]
                    + [
                        number(results.figure(peer, f"cold {n}", metric))
                        for metric, _ in COLD_METRICS
                    ]
                )
        if len(lines) > 1:
            tables.append((f"A million fresh slots, {n} at a time", lines))
    return tables


def facts_lines(results):
    machine, settings = results.machine, results.settings
    ashlar = [f for p, f in results.peers.items() if figures.is_ashlar(p)]
    anyone = ashlar[0] if ashlar else next(iter(results.peers.values()), {})
    lines = [
        f"date: {machine['date']}",
        f"processor: {machine['processor']}; {machine['processors']} of them"
        + (", virtual" if machine["virtual"] else ""),
        f"kernel: {machine['kernel']}; pages of {machine['page_bytes']} bytes; "
        f"transparent huge pages: {machine['transparent_huge_pages']}",
        f"C library: {machine['libc']}",
        f"compiler: {anyone.get('compiler', 'unknown')}; {settings['flags']}",
        f"rounds: {settings['rounds']}; windows of {settings['window_ms']:g} ms; "
        f"{results.disturbed_share():.1%} of the figures disturbed; "
        + ("medians" if results.summary is not min else "lowest of the rounds"),
    ]
    versions = {
        re.sub("-.*", "", p): f["version"].split("-")[0]
        for p, f in results.peers.items()
        if f["version"]
    }
    if anyone.get("share_core") == "1":
        lines.append(
            "the two processors are threads of one core, and slow each other down"
        )
    lines.append("versions: " + ", ".join(f"{p} {v}" for p, v in versions.items()))
    if any(f["optimized"] == "0" for f in results.peers.values()):
        lines.append("compiled without optimization: these figures mean nothing")
    lines += [f"skipped: {p}: {why}" for p, why in results.absent.items()]
    lines += [f"failed: {p}: {why}" for p, why in results.failed.items()]
    return lines


def plain(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]


def markdown(lines):
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    rule = "|" + "---|" * len(lines[0])
    return [rows[0], rule, *rows[1:]]


def whole_report(results, as_markdown, everything):
    layout = markdown if as_markdown else plain
    heading = "### " if as_markdown else ""
    out = []
    if as_markdown:
        out += [f"- {line}" for line in facts_lines(results)]
    else:
        out += facts_lines(results)
    tables = [("Goals", Goals(results).lines())]
    if everything:
        tables += cell_tables(results) + cold_tables(results)
    for title, lines in tables:
        out += ["", heading + title, "", *layout(lines)]
    return "\n".join(out) + "\n"


def update(path, text):
    """Replace what stands between the marks."""
    begin, end = "<!-- readings: begin -->\n", "<!-- readings: end -->\n"
    with open(path, encoding="utf-8") as file:
        old = file.read()
    before, found, rest = old.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f"{path}: no {begin.strip()} and {end.strip()}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + "\n" + text + "\n" + end + after)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", help="a JSON file, or a folder: its newest")
    parser.add_argument(
        "--all", action="store_true", help="every figure, not only goals"
    )
    parser.add_argument(
        "--lowest",
        action="store_true",
        help="the lowest of the rounds, not their median: for a busy machine",
    )
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument(
        "--update", metavar="FILE", help="replace the readings in a Markdown file"
    )
    options = parser.parse_args()
    results = Results(options.results, options.lowest)
    if options.update:
        update(options.update, whole_report(results, True, True))
    else:
        sys.stdout.write(whole_report(results, options.markdown, options.all))


if __name__ == "__main__":
    main()
