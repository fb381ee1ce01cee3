# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""What PyTorch's caching allocator would reserve for a trace, at most.

    python3 torch_model.py FILE     print bytes: the most reserved, the most live

A model of what decides that in c10/cuda/CUDACachingAllocator.cpp, on one stream,
with its default settings and memory enough: sizes are rounded up to 512 bytes;
those up to 1 MiB are cut from segments of 2 MiB, those below 10 MiB from
segments of 20 MiB, larger ones from segments of their size in 2 MiB; the
smallest free block that fits is taken, and split if the rest is worth it;
neighbours are joined when they are freed; and nothing is given back.
tests/gpu/arena_torch.py holds it against the real one.
"""

import bisect
import sys

MIB = 1 << 20
ROUND = 512


class Block:
    def __init__(self, address, size, small):
        self.address = address
        self.size = size
        self.small = small
        self.free = False
        self.before = None
        self.behind = None


class Model:
    def __init__(self):
        self.pools = {True: [], False: []}  # (size, address), sorted
        self.blocks = {}  # by address
        self.live = {}  # by number
        self.segments = 0
        self.reserved = 0
        self.peak = 0

    def put(self, block):
        block.free = True
        self.blocks[block.address] = block
        bisect.insort(self.pools[block.small], (block.size, block.address))

    def take(self, block):
        block.free = False
        pool = self.pools[block.small]
        pool.pop(bisect.bisect_left(pool, (block.size, block.address)))

    def find(self, size, small):
        pool = self.pools[small]
        i = bisect.bisect_left(pool, (size, 0))
        if i < len(pool):
            block = self.blocks[pool[i][1]]
            self.take(block)
            return block
        if small:
            segment = 2 * MIB
        elif size < 10 * MIB:
            segment = 20 * MIB
        else:
            segment = -(-size // (2 * MIB)) * 2 * MIB
        self.segments += 1
        self.reserved += segment
        self.peak = max(self.peak, self.reserved)
        return Block(self.segments << 44, segment, small)

    def alloc(self, number, size):
        size = -(-size // ROUND) * ROUND
        small = size <= MIB
        block = self.find(size, small)
        rest = block.size - size
        if rest >= ROUND if small else rest > MIB:
            other = Block(block.address + size, rest, small)
            other.before, other.behind = block, block.behind
            if other.behind:
                other.behind.before = other
            block.behind, block.size = other, size
            self.put(other)
        self.live[number] = block

    def join(self, first, second):
        first.size += second.size
        first.behind = second.behind
        if second.behind:
            second.behind.before = first
        return first

    def release(self, number):
        block = self.live.pop(number)
        if block.behind and block.behind.free:
            self.take(block.behind)
            block = self.join(block, block.behind)
        if block.before and block.before.free:
            self.take(block.before)
            block = self.join(block.before, block)
        self.put(block)


def peaks(path):
    """(reserved, live), in bytes."""
    model, sizes = Model(), {}
    live = most = 0
    with open(path, encoding="ascii") as file:
        for line in file:
            verb, number, *size = line.split()
            if verb == "a":
                sizes[number] = int(size[0])
                model.alloc(number, sizes[number])
                live += sizes[number]
                most = max(most, live)
            else:
                model.release(number)
                live -= sizes[number]
    return model.peak, most


if __name__ == "__main__":
    print(*peaks(sys.argv[1]))
