# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""PyTorch on ashlar's adapter, and arenas beside PyTorch's own allocator.

    python3 arena_torch.py --lib FOLDER --replay PROGRAM

FOLDER has libashlar.so.0, ashlar/ashlar_adapter.so and ashlar/plugins. What is
shown, each in a process of its own, since an allocator is for a whole process:

  - a small model trains for 100 steps with and without the adapter, and the
    losses are the same;
  - the traces of arena_traces.py take no more memory at their peak than
    PyTorch's caching allocator reserves for them;
  - a block allocated and freed over and over takes at most a microsecond.

Prints its readings, and writes them to $OUT/arena.json if OUT is set. The exit
status is 1 when something is wrong. Without PyTorch or a GPU it is skipped.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import arena_traces
import torch_model

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 100
MOST_NS = 1000


# --- what runs in processes of their own --------------------------------------


def use_adapter(library):
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(
        str(library), "ashlar_torch_alloc", "ashlar_torch_free"
    )
    torch.cuda.memory.change_current_allocator(allocator)


def adapter_facts(library):
    """Blocks kept, and the peak of device 0's arena."""
    adapter = ctypes.CDLL(str(library))
    adapter.ashlar_adapter_kept.restype = ctypes.c_uint64
    adapter.ashlar_adapter_arena.restype = ctypes.c_void_p
    ashlar = ctypes.CDLL("libashlar.so.0")
    stats = (ctypes.c_uint64 * 11)()
    stats[0] = ctypes.sizeof(stats)
    arena = ctypes.c_void_p(adapter.ashlar_adapter_arena(0))
    if ashlar.ashlar_arena_query(arena, stats) != 0:
        sys.exit("the adapter's arena cannot be asked")
    return {
        "kept": adapter.ashlar_adapter_kept(),
        "live": stats[1],
        "peak_bytes": stats[5],
    }


def train(library):
    """The losses of a small decoder, and who served its memory."""
    if library:
        use_adapter(library)
    import torch

    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    width, tokens = 256, 128
    layer = torch.nn.TransformerEncoderLayer(
        width, 4, 4 * width, dropout=0.0, batch_first=True
    )
    model = torch.nn.Sequential(
        torch.nn.Embedding(1000, width),
        torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False),
        torch.nn.Linear(width, 1000),
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(STEPS):
        torch.manual_seed(step)
        length = tokens - 16 * (step % 3)
        words = torch.randint(0, 1000, (16, length + 1)).cuda()
        logits = model(words[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.reshape(-1, 1000), words[:, 1:].reshape(-1)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.cuda.synchronize()
    facts = adapter_facts(library) if library else {}
    return {"losses": losses, "facts": facts}


def torch_peak(trace):
    """Bytes that PyTorch's own allocator reserves at most for a trace."""
    import torch

    live = {}
    torch.cuda.init()
    torch.cuda.reset_peak_memory_stats()
    with open(trace, encoding="ascii") as file:
        for line in file:
            verb, number, *size = line.split()
            if verb == "a":
                live[number] = torch.empty(
                    int(size[0]), dtype=torch.uint8, device="cuda"
                )
            else:
                del live[number]
    return torch.cuda.max_memory_reserved()


# --- what puts it together ----------------------------------------------------


class Report:
    def __init__(self):
        self.readings = {}
        self.count = 0
        self.wrong = 0

    def tell(self, ok, name, fact):
        self.count += 1
        self.wrong += not ok
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}: {fact}", flush=True)


def apart(*words):
    """What this program prints as JSON when it is run so."""
    command = [sys.executable, __file__, *map(str, words)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(output.stdout.splitlines()[-1])


def replay(program, *words):
    output = subprocess.run(
        [program, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True
    )
    lines = (line.split() for line in output.stdout.splitlines())
    return {name: float(value) for name, value in lines}


def compare_losses(report, library):
    plain, ours = apart("--train"), apart("--train", library)
    worst = max(abs(a - b) for a, b in zip(plain["losses"], ours["losses"]))
    first, last = ours["losses"][0], ours["losses"][-1]
    report.readings["training"] = {"worst": worst, **ours["facts"]}
    report.tell(
        worst == 0 and last < first,
        "losses_on_the_adapter_are_the_same",
        f"{STEPS} steps, {first:.4f} to {last:.4f}, differ by at most {worst:g}",
    )
    facts = ours["facts"]
    report.tell(
        facts["kept"] == 0 and facts["peak_bytes"] > 0,
        "the_adapter_served_and_freed",
        f"peak {facts['peak_bytes'] / 2**20:.0f} MiB, {facts['live']} live at the "
        f"end, {facts['kept']} could not be freed",
    )


def compare_peaks(report, program, source, folder):
    for name in arena_traces.TRACES:
        trace = folder / name
        trace.write_text("\n".join(arena_traces.TRACES[name]()) + "\n")
        model, live = torch_model.peaks(trace)
        theirs = apart("--peak", trace)
        ours = replay(program, trace, *source)
        peak = ours["peak_committed_bytes"]
        report.readings[name] = {"torch": theirs, "model": model, "live": live, **ours}
        report.tell(
            peak <= theirs,
            f"peak_of_{name}_is_no_more_than_torchs",
            f"{peak / 2**20:.0f} MiB, PyTorch {theirs / 2**20:.0f} (by the model "
            f"{model / 2**20:.0f}), live {live / 2**20:.0f}; "
            f"{ours['ns_per_call'] / 1000:.1f} us a call, "
            f"{ours['commits']:.0f} commits, {ours['releases']:.0f} releases",
        )


def compare_loop(report, program, source):
    figures = replay(program, "-", *source)
    report.readings["loop"] = figures
    for name, ns in figures.items():
        size = int(name.removeprefix("ns_"))
        report.tell(
            ns <= MOST_NS,
            f"a_block_of_{size}_bytes_is_had_and_freed_in_a_microsecond",
            f"{ns:.0f} ns",
        )


def main():
    parser = argparse.ArgumentParser(description="arenas beside PyTorch's allocator")
    parser.add_argument("--lib", type=pathlib.Path)
    parser.add_argument("--replay")
    parser.add_argument("--source", default="cuda device=0", help="NAME OPTIONS")
    parser.add_argument("--train", nargs="?", const="", help="used by itself")
    parser.add_argument("--peak", help="used by itself")
    options = parser.parse_args()
    if options.train is not None:
        print(json.dumps(train(options.train)))
        return 0
    if options.peak is not None:
        print(json.dumps(torch_peak(options.peak)))
        return 0
    try:
        import torch
    except ImportError as missing:
        print(f"1..0 # SKIP {missing}")
        return 0
    if not torch.cuda.is_available():
        print("1..0 # SKIP no GPU")
        return 0
    report = Report()
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    source = options.source.split()
    compare_losses(report, options.lib.resolve() / "ashlar" / "ashlar_adapter.so")
    with tempfile.TemporaryDirectory() as folder:
        compare_peaks(report, options.replay, source, pathlib.Path(folder))
    compare_loop(report, options.replay, source)
    print(f"1..{report.count}")
    if "OUT" in os.environ:
        path = pathlib.Path(os.environ["OUT"]) / "arena.json"
        path.write_text(json.dumps(report.readings, indent=1) + "\n")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
