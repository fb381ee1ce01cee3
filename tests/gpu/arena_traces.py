# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Traces of allocations, as programs on a GPU make them; the same ones each time.

    python3 arena_traces.py NAME FILE    write the trace of that name, one of
                                         training, serving, mixed

A trace is a list of lines, "a NUMBER BYTES" to allocate and "f NUMBER" to free.
Sizes are from 512 bytes to 1 GiB.
"""

import random
import sys

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30


class Trace:
    def __init__(self):
        self.lines = []
        self.count = 0

    def alloc(self, size):
        self.count += 1
        size = min(max(512, int(size)), GIB)
        self.lines.append(f"a {self.count} {size}")
        return self.count

    def free(self, *blocks):
        self.lines.extend(f"f {block}" for block in blocks)


def training(steps=6, layers=24, hidden=2048, sequence=2048, batch=4):
    """A decoder in bf16 with Adam: weights, activations kept for the backward
    pass, workspaces, gradients; sequences of several lengths."""
    luck = random.Random(1)
    trace = Trace()
    shapes = [3 * hidden**2, hidden**2, 4 * hidden**2, 4 * hidden**2]
    shapes += [hidden, hidden, 4 * hidden, 3 * hidden]
    for size in shapes * layers:
        trace.alloc(2 * size)
    for step in range(steps):
        length = sequence if step % 3 != 2 else 1536 + 16 * luck.randint(0, 7)
        tokens = length * batch
        kept = []
        for _ in range(layers):
            row = 2 * tokens * hidden
            layer = [trace.alloc(row), trace.alloc(3 * row), trace.alloc(row)]
            layer += [trace.alloc(4 * tokens), trace.alloc(4 * tokens)]
            layer.append(trace.alloc(4 * row))
            scratch = trace.alloc(4 * row)
            trace.free(trace.alloc(8 * MIB + 512 * KIB * luck.randint(0, 3)))
            layer.append(trace.alloc(8 * tokens))
            trace.free(scratch)
            kept.append(layer)
        logits = trace.alloc(2 * 32000 * tokens)
        trace.free(trace.alloc(4 * 32000 * tokens))
        gradient = trace.alloc(2 * tokens * hidden)
        trace.free(logits)
        gradients = []
        for layer in reversed(kept):
            scratch = trace.alloc(8 * tokens * hidden)
            gradients += [trace.alloc(2 * size) for size in shapes]
            next_gradient = trace.alloc(2 * tokens * hidden)
            size = luck.choice([1, 2, 4, 8, 16]) * MIB
            trace.free(trace.alloc(size + 512 * luck.randint(0, 1000)))
            trace.free(scratch, gradient, *layer)
            gradient = next_gradient
        trace.free(gradient)
        if step == 0:
            for size in shapes * layers * 2:
                trace.alloc(4 * size)
        for _ in gradients:
            trace.free(trace.alloc(16 * hidden**2))
        trace.free(*gradients)
    return trace.lines


def serving(rounds=3000):
    """A server: weights, requests of many lengths that come and go with their
    caches, which grow now and then, and activations in each round."""
    luck = random.Random(2)
    trace = Trace()
    for size in (100 * MIB, 32 * MIB, 176 * MIB, 88 * MIB, 8192, 8192) * 32:
        trace.alloc(size)
    requests = []
    for _ in range(rounds):
        fresh = 0
        if len(requests) < 64 and luck.random() < 0.3:
            fresh = int(min(32768, luck.lognormvariate(6.5, 1.2))) + 1
            caches = [
                trace.alloc(4 * KIB * fresh * luck.choice([1, 1, 2]))
                for _ in range(8)
            ]
            requests.append([caches, fresh, luck.randint(10, 400)])
        tokens = max(1, len(requests) + fresh)
        work = [trace.alloc(tokens * n) for n in (8192, 24576, 44032)]
        work += [trace.alloc(luck.choice([512, 1024, 4096, 65536])) for _ in range(6)]
        work.append(trace.alloc(max(1, len(requests)) * 128256 * 4))
        trace.free(*work)
        for request in requests:
            request[1] += 1
            request[2] -= 1
            if request[1] % 256 == 0:
                i = luck.randrange(8)
                larger = trace.alloc(4 * KIB * request[1])
                trace.free(request[0][i])
                request[0][i] = larger
        for request in [r for r in requests if r[2] <= 0]:
            trace.free(*request[0])
            requests.remove(request)
    return trace.lines


def mixed(steps=20000):
    """Anything from 512 bytes to 1 GiB, by the logarithm, in any order."""
    luck = random.Random(3)
    trace = Trace()
    live = []
    for _ in range(steps):
        if live and luck.random() < 0.5:
            i = luck.randrange(len(live))
            trace.free(live[i])
            live[i] = live[-1]
            live.pop()
        else:
            most = 30 if luck.random() < 0.3 else 24
            live.append(trace.alloc(2 ** luck.uniform(9, most)))
    return trace.lines


TRACES = {"training": training, "serving": serving, "mixed": mixed}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in TRACES:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.write("\n".join(TRACES[sys.argv[1]]()) + "\n")


if __name__ == "__main__":
    main()
