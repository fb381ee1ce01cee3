#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Measure all peers, interleaved, and write the figures as JSON.

A round starts one process a peer. Then each cell is measured by one peer after
the other, A B C, before the next cell is, so that what is compared was measured
within a fraction of a second; the other processes sleep meanwhile. Fresh memory
is measured by a process of its own each time, in the same order.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading

BATCHES = (1, 32, 256, 4096)
RUNS = (1, 2, 3, 8, 33, 64, 100, 256, 1000, 4096, "mix")
COLD = (250, 1)
TIMEOUT_S = 120


def all_cells():
    cells = []
    for pattern in ("1t", "2t", "pc"):
        cells += [f"{pattern} {n}" for n in BATCHES]
        cells += [f"{pattern} {n} filled" for n in BATCHES]
    cells += [f"1t {n} shuffled" for n in BATCHES if n > 1]
    cells += [f"run {n}" for n in RUNS]
    return cells


class Failure(Exception):
    pass


class Process:
    """A benchmark program that answers commands."""

    def __init__(self, program):
        self.child = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, command):
        """{name: value}, or None where the answer is "cannot"."""
        watchdog = threading.Timer(TIMEOUT_S, self.child.kill)
        watchdog.start()
        answer = {}
        try:
            self.child.stdin.write(command + "\n")
            self.child.stdin.flush()
            while (line := self.child.stdout.readline().strip()) != "end":
                if line == "":
                    raise Failure(f"{command}: {self.last_words()}")
                name, _, value = line.partition(" ")
                answer[name] = value
        except BrokenPipeError:
            raise Failure(f"{command}: {self.last_words()}") from None
        finally:
            watchdog.cancel()
        return None if "cannot" in answer else answer

    def last_words(self):
        self.child.kill()
        words = self.child.stderr.read().strip().splitlines()
        return words[-1] if words else f"ended with {self.child.wait()}"

    def close(self):
        try:
            self.child.stdin.close()
            self.child.wait(TIMEOUT_S)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()
        self.child.stderr.close()


class Bench:
    def __init__(self, options):
        self.options = options
        self.programs = {}
        for program in options.programs:
            name = pathlib.Path(program).name.removeprefix("bench-")
            if re.search(options.peers, name):
                self.programs[name] = os.path.abspath(program)
        self.cells = [c for c in all_cells() if re.search(options.cells, c)]
        self.cold = [f"cold {n}" for n in COLD]
        self.cold = [c for c in self.cold if re.search(options.cells, c)]
        self.absent = dict(
            part.strip().split(": ", 1)
            for part in options.absent.split(";")
            if part.strip()
        )
        self.failed = {}
        self.facts = {}
        self.samples = {}

    def keep(self, peer, cell, round_index, answer):
        metrics = self.samples.setdefault(peer, {}).setdefault(cell, {})
        for name, value in answer.items():
            values = metrics.setdefault(name, [])
            values += [None] * (round_index - len(values))
            values.append(float(value))

    def try_to(self, peer, work):
        """What work returns; None once the peer has given up."""
        if peer in self.failed:
            return None
        try:
            return work()
        except (Failure, OSError) as failure:
            self.failed[peer] = str(failure)
            say(f"{peer} failed: {failure}")
            return None

    def run_cells(self, round_index):
        processes = {}
        for peer, program in self.programs.items():
            if process := self.try_to(peer, lambda: Process(program)):
                processes[peer] = process
        try:
            if round_index == 0:
                self.prove(processes)
            for cell in self.cells:
                for peer, process in processes.items():
                    if peer.endswith("-huge"):
                        continue
                    self.progress(round_index, cell, peer)
                    answer = self.try_to(peer, lambda: process.ask(cell))
                    if answer is not None:
                        self.keep(peer, cell, round_index, answer)
        finally:
            for process in processes.values():
                process.close()

    def prove(self, processes):
        for peer, process in processes.items():
            facts = self.try_to(peer, lambda: process.ask("facts"))
            self.try_to(peer, lambda: process.ask("check"))
            if peer not in self.failed:
                self.facts[peer] = facts

    def run_cold(self, round_index):
        for cell in self.cold:
            for peer, program in self.programs.items():
                if peer in self.failed or self.facts[peer]["cold"] == "0":
                    continue
                self.progress(round_index, cell, peer)
                process = self.try_to(peer, lambda: Process(program))
                if process is None:
                    continue
                command = cell + (" check" if round_index == 0 else "")
                answer = self.try_to(peer, lambda: process.ask(command))
                process.close()
                if answer is not None:
                    self.keep(peer, cell, round_index, answer)

    def progress(self, round_index, cell, peer):
        if sys.stderr.isatty():
            where = f"round {round_index + 1} of {self.options.rounds}"
            print(f"\r\033[K{where}: {cell}: {peer}", end="", file=sys.stderr)

    def run(self):
        for round_index in range(self.options.rounds):
            self.run_cells(round_index)
            self.run_cold(round_index)
            say(f"round {round_index + 1} of {self.options.rounds} done")

    def write(self):
        now = datetime.datetime.now()
        results = pathlib.Path(self.options.results)
        results.mkdir(parents=True, exist_ok=True)
        path = results / now.strftime("%Y-%m-%d-%H%M%S.json")
        data = {
            "machine": machine_facts(now),
            "settings": {
                "rounds": self.options.rounds,
                "window_ms": float(os.environ.get("BENCH_WINDOW_MS", 1)),
                "flags": self.options.flags,
            },
            "absent": self.absent,
            "failed": self.failed,
            "peers": self.facts,
            "samples": self.samples,
        }
        path.write_text(json.dumps(data, indent=1) + "\n")
        return path


def say(text):
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(clear + text, file=sys.stderr, flush=True)


def read_text(path, otherwise="unknown"):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return otherwise


def processor_name():
    """x86 says it in a sentence; others in numbers that lscpu knows."""
    match = re.search(r"^model name\s*: (.*)", read_text("/proc/cpuinfo"), re.M)
    if match:
        model = re.search(r"^model\s*: (.*)", read_text("/proc/cpuinfo"), re.M)
        return f"{match[1]}, model {model[1]}" if model else match[1]
    return platform.machine()


def machine_facts(now):
    thp = read_text("/sys/kernel/mm/transparent_hugepage/enabled")
    chosen = re.search(r"\[(\w+)\]", thp)
    return {
        "date": now.strftime("%Y-%m-%d"),
        "processor": processor_name(),
        "processors": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in read_text("/proc/cpuinfo"),
        "kernel": f"{platform.system()} {platform.release()}",
        "page_bytes": os.sysconf("SC_PAGESIZE"),
        "transparent_huge_pages": chosen[1] if chosen else thp,
        "libc": " ".join(platform.libc_ver()),
    }


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="+", help="bench-NAME, one a peer")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--results", default="results", help="folder for the JSON [results]"
    )
    parser.add_argument(
        "--peers", default="", metavar="REGEX", help="only peers whose name has it"
    )
    parser.add_argument(
        "--cells",
        default="",
        metavar="REGEX",
        help='only cells whose name has it, such as "^1t 256" or "^cold"',
    )
    parser.add_argument(
        "--absent",
        default="",
        metavar="TEXT",
        help='peers that were not built: "name: reason; name: reason"',
    )
    parser.add_argument("--flags", default="", help="of the compiler, for the record")
    return parser.parse_args()


def main():
    bench = Bench(parse_options())
    if not bench.programs:
        raise SystemExit("no peer is left to measure")
    if os.getloadavg()[0] > 0.5:
        say(f"the machine is busy (load {os.getloadavg()[0]:.1f}): figures will be poor")
    try:
        bench.run()
    except KeyboardInterrupt:
        say("stopped; what was measured is kept")
    print(bench.write())


if __name__ == "__main__":
    main()
