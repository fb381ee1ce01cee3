# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""What growth costs elsewhere: cuda.core and PyTorch, for card_speed's rows.

    python3 speed_peers.py      needs a GPU, cuda.core, torch

Run it beside card_speed, on the same machine in the same hour. What is not
installed is skipped, and said so.
"""

import os
import statistics
import time

MIB = 1 << 20
ROUNDS = 15


def timed(action):
    """The result of an action, and its microseconds."""
    begin = time.perf_counter()
    result = action()
    return result, (time.perf_counter() - begin) * 1e6


def cuda_core():
    """VirtualMemoryResource.modify_allocation, from a fresh buffer each time."""
    try:
        import cuda.core as core
    except ImportError:
        print("cuda.core: not installed")
        return
    if not hasattr(core, "VirtualMemoryResource"):
        import cuda.core.experimental as core
    device = core.Device(0)
    device.set_current()
    resource = core.VirtualMemoryResource(
        device,
        config=core.VirtualMemoryResourceOptions(handle_type="posix_fd"),
    )
    for size in (2 * MIB, 64 * MIB):
        took = []
        moved = 0
        for _ in range(ROUNDS):
            buffer = resource.allocate(size)
            base = int(buffer.handle)
            grown, us = timed(lambda: resource.modify_allocation(buffer, 2 * size))
            took.append(us)
            moved += int(grown.handle) != base
            try:
                grown.close()
            except Exception as error:  # its own trouble, after what is timed
                print("cuda.core: close:", error)
        print(
            f"cuda.core modify_allocation {size // MIB:3} -> {2 * size // MIB:3} MiB"
            f" {statistics.median(took):9.2f} us   moved {moved} of {ROUNDS}"
        )


def pytorch():
    """The extension of an expandable segment, by allocating behind the last."""
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    try:
        import torch
    except ImportError:
        print("torch: not installed")
        return
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    for size in (20 * MIB, 64 * MIB):
        keep = []
        took = []
        for _ in range(64):
            block, us = timed(
                lambda: torch.empty(size, dtype=torch.uint8, device="cuda")
            )
            keep.append(block)
            took.append(us)
        ends = [block.data_ptr() + size for block in keep]
        starts = [block.data_ptr() for block in keep]
        print(
            f"torch {torch.__version__} expandable segment, {size // MIB} MiB more"
            f" {statistics.median(took):9.2f} us"
            f"   in place {starts[1:] == ends[:-1]}"
        )
        del keep
        torch.cuda.empty_cache()


if __name__ == "__main__":
    pytorch()
    cuda_core()
