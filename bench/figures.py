# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""The figures of one benchmark run, and the questions asked of them.

They come from a results file, or from a Markdown file that report.py has written
the readings to: there they are rounded, and each is that of all rounds.

A results file is JSON:

    machine   what it was measured on
    settings  rounds, window_ms
    absent    {peer: why it was not built}
    failed    {peer: what it said when it gave up}
    peers     {peer: facts}
    samples   {peer: {cell: {metric: [one value a round, or null]}}}
"""

import json
import pathlib
import statistics

# The tables of cells: what a cell's name begins with, and the table's title.
TITLES = {
    "1t": "One thread, get n and put them back",
    "2t": "Two threads, each for itself: nanoseconds per slot of each thread",
    "pc": "Producer to consumer, over a ring of pointers",
    "run": "Runs: nanoseconds per run, got and put",
}


def is_floor(peer):
    return peer.startswith("floor-")


def is_ashlar(peer):
    return peer.startswith("ashlar-")


class Results:
    def __init__(self, path, lowest_round=False):
        """With lowest_round, each figure is the lowest of the rounds and not
        their median: a machine that others use disturbs upwards only."""
        self.summary = min if lowest_round else statistics.median
        self.path = pathlib.Path(path)
        if self.path.is_dir():
            files = sorted(self.path.glob("*.json"))
            if not files:
                raise SystemExit(f"{path}: no results yet; run make bench")
            self.path = files[-1]
        data = json.loads(self.path.read_text())
        self.machine = data["machine"]
        self.settings = data["settings"]
        self.absent = data["absent"]
        self.failed = data["failed"]
        self.peers = data["peers"]
        self.samples = data["samples"]

    def values(self, peer, cell, metric="ns"):
        """One a round; None where there is none, or a disturbed one.

        A disturbed window counts only where no round had an undisturbed one.
        """
        metrics = self.samples.get(peer, {}).get(cell, {})
        values = metrics.get(metric, [])
        disturbed = metrics.get("disturbed", [])
        disturbed = disturbed + [None] * (len(values) - len(disturbed))
        if None not in disturbed:
            return values
        return [v if d is None else None for v, d in zip(values, disturbed)]

    def figure(self, peer, cell, metric="ns"):
        """The median of the rounds, or None."""
        values = [v for v in self.values(peer, cell, metric) if v is not None]
        return self.summary(values) if values else None

    def spread(self, peer, cell, metric="ns"):
        values = [v for v in self.values(peer, cell, metric) if v is not None]
        return (min(values), max(values)) if values else None

    def ratio(self, peer, other, cell, metric="ns", other_cell=None):
        """The median of the rounds' ratios.

        Machines change their speed from one second to the next; within a
        round the two were measured right after each other.
        """
        if self.summary is min:
            a = self.figure(peer, cell, metric)
            b = self.figure(other, other_cell or cell, metric)
            return a / b if a is not None and b else None
        pairs = zip(
            self.values(peer, cell, metric),
            self.values(other, other_cell or cell, metric),
        )
        ratios = [a / b for a, b in pairs if a is not None and b]
        return statistics.median(ratios) if ratios else None

    def lowest(self, peers, cell, metric="ns"):
        """The peer with the lowest figure, or None."""
        figures = [(self.figure(p, cell, metric), p) for p in peers]
        known = [f for f in figures if f[0] is not None]
        return min(known)[1] if known else None

    def rivals(self):
        """Allocators of others whose slots any thread may put."""
        return [
            p
            for p, facts in self.peers.items()
            if not is_floor(p) and not is_ashlar(p) and facts["hands_over"] == "1"
        ]

    def disturbed_share(self):
        """How many of the figures are of windows in which others ran, too."""
        windows = disturbed = 0
        for cells in self.samples.values():
            for metrics in cells.values():
                windows += sum(v is not None for v in metrics.get("ns", []))
                disturbed += sum(v is not None for v in metrics.get("disturbed", []))
        return disturbed / windows if windows else 0


class Readings:
    """The figures of the cells in a Markdown file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.figures = {}
        template = None
        cells = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if line.startswith("### "):
                template = self.template(line.removeprefix("### "))
            elif template is not None and line.startswith("| "):
                peer, *texts = [text.strip() for text in line.strip("|").split("|")]
                if peer == "":
                    cells = [template.format(text) for text in texts]
                else:
                    self.keep(peer, cells, texts)
        self.peers = list(self.figures)

    @staticmethod
    def template(title):
        """The cells of a table, but for what a column's head says; or None."""
        for pattern, known in TITLES.items():
            if title == known:
                return pattern + " {}"
            if title.startswith(known + ", "):
                return pattern + " {} " + title.removeprefix(known + ", ")
        return None

    def keep(self, peer, cells, texts):
        figures = self.figures.setdefault(peer, {})
        for cell, text in zip(cells, texts):
            if text != "-":
                figures[cell] = float(text.split()[0])

    def figure(self, peer, cell):
        """The figure, or None."""
        return self.figures.get(peer, {}).get(cell)

    def lowest(self, peers, cell):
        """The peer with the lowest figure, or None."""
        known = [(f, p) for p in peers if (f := self.figure(p, cell)) is not None]
        return min(known)[1] if known else None


def read(path):
    """The figures of a Markdown file, a results file, or a folder of those."""
    return Readings(path) if str(path).endswith(".md") else Results(path)
