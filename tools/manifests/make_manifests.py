#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Make the manifests of three public models from their published shapes.

    make_manifests.py [DIR]      write them (default: where this script is)
    make_manifests.py --check    say which of those here differ; exit 1 if any

A shape is written innermost dimension first, as CUDA's tensor maps have it.
A matrix of n rows of k numbers is therefore [k, n].
"""

import json
import os
import sys

BYTES = {"uint8": 1, "float16": 2, "bfloat16": 2, "float32": 4}


def tiled(name, dtype, shape, box, **more):
    """A tensor whose box's rows are as long as the swizzle is wide."""
    row = box[0] * BYTES[dtype]
    swizzle = {128: "swizzle_128B", 64: "swizzle_64B", 32: "swizzle_32B"}
    return {"name": name, "dtype": dtype, "shape": shape, "box": box,
            "swizzle": swizzle.get(row, "none"), "l2_promotion": "l2_256B",
            **more}


def kernel(name, instances, *tensors):
    return {"kernel": name, "instances": instances, "tensors": list(tensors)}


def llama3_8b():
    """Llama 3 8B: one prefill of the whole context, weights in bfloat16.

    From its config.json: hidden 4096, feed-forward 14336, 32 layers, 32 heads
    of 128, 8 key-value heads, vocabulary 128256, context 8192.
    """
    hidden, ff, layers, heads, kv_heads = 4096, 14336, 32, 32, 8
    vocabulary, tokens, head = 128256, 8192, 128
    qkv = (heads + 2 * kv_heads) * head

    def gemm(name, instances, k, n):
        return kernel(name, instances,
                      tiled("A", "bfloat16", [k, tokens], [64, 128]),
                      tiled("B", "bfloat16", [k, n], [64, 256]),
                      tiled("D", "bfloat16", [n, tokens], [64, 128]))

    def head_view(name, count, row):
        """The heads in rows of `row` numbers: [head, tokens, heads, batch]."""
        return tiled(name, "bfloat16", [head, tokens, count, 1],
                     [64, 128, 1, 1],
                     strides=[2 * row, 2 * head, 2 * row * tokens])

    yield kernel("embedding", 1,
                 tiled("table", "bfloat16", [hidden, vocabulary], [64, 1]),
                 tiled("D", "bfloat16", [hidden, tokens], [64, 1]))
    yield gemm("qkv_proj", layers, hidden, qkv)
    yield kernel("attention", layers,
                 head_view("Q", heads, qkv), head_view("K", kv_heads, qkv),
                 head_view("V", kv_heads, qkv), head_view("O", heads, hidden))
    yield gemm("o_proj", layers, hidden, hidden)
    yield gemm("gate_up_proj", layers, hidden, 2 * ff)
    yield gemm("down_proj", layers, ff, hidden)
    yield gemm("lm_head", 1, hidden, vocabulary)


def deepseek_v3_moe():
    """The mixture of experts of DeepSeek-V3, each expert with its own maps.

    From its config.json: hidden 7168, 256 routed experts and a shared one of
    2048, in 58 of the 61 layers. Numbers are float8_e4m3, which tensor maps
    know as uint8, with one float32 scale for 128 of them.
    """
    hidden, width, experts, layers = 7168, 2048, 256, 58
    tokens = 4096  # that one expert takes at most

    def gemm(name, instances, k, n):
        return kernel(name, instances,
                      tiled("A", "uint8", [k, tokens], [128, 128]),
                      tiled("A_scale", "float32", [tokens, k // 128],
                            [128, 1]),
                      tiled("B", "uint8", [k, n], [128, 128]),
                      tiled("D", "bfloat16", [n, tokens], [64, 128]))

    yield kernel("router", layers,
                 tiled("A", "bfloat16", [hidden, tokens], [64, 128]),
                 tiled("B", "bfloat16", [hidden, experts], [64, 256]),
                 tiled("D", "float32", [experts, tokens], [32, 128]))
    yield gemm("expert_gate_up", layers * experts, hidden, 2 * width)
    yield gemm("expert_down", layers * experts, width, hidden)
    yield gemm("shared_gate_up", layers, hidden, 2 * width)
    yield gemm("shared_down", layers, width, hidden)


def convolution(name, instances, c, k, size, filter_size, stride):
    """A convolution as a matrix product: x is read through im2col."""
    batch, pad = 32, filter_size // 2
    out = size // stride
    channels = min(c, 64)
    corner = pad - (filter_size - 1)
    x = {"name": "x", "mode": "im2col", "dtype": "float16",
         "shape": [c, size, size, batch],
         "pixel_box_lower_corner": [-pad, -pad],
         "pixel_box_upper_corner": [corner, corner],
         "channels_per_pixel": channels, "pixels_per_column": 128,
         "element_strides": [1, stride, stride, 1],
         "swizzle": "swizzle_128B" if channels == 64 else "none",
         "l2_promotion": "l2_256B"}
    return kernel(name, instances, x,
                  tiled("w", "float16", [c, filter_size, filter_size, k],
                        [channels, 1, 1, min(k, 128)]),
                  tiled("y", "float16", [k, out * out * batch], [64, 128]))


def resnet50():
    """The 53 convolutions of ResNet-50 on 32 images of 224 x 224.

    From the paper's table 1, with the stride on the 3 x 3 convolution, as
    frameworks ship it. The first one's 3 channels are padded to 8: a step of
    6 bytes is none that a tensor map can have.
    """
    yield convolution("conv1", 1, 8, 64, 224, 7, 2)
    size, c = 56, 64
    for layer, (blocks, width) in enumerate(
            [(3, 64), (4, 128), (6, 256), (3, 512)], start=1):
        stride = 1 if layer == 1 else 2
        first, rest = f"layer{layer}.0", f"layer{layer}.1-{blocks - 1}"
        out, k = size // stride, 4 * width
        yield convolution(f"{first}.conv1", 1, c, width, size, 1, 1)
        yield convolution(f"{first}.conv2", 1, width, width, size, 3, stride)
        yield convolution(f"{first}.conv3", 1, width, k, out, 1, 1)
        yield convolution(f"{first}.downsample", 1, c, k, size, 1, stride)
        yield convolution(f"{rest}.conv1", blocks - 1, k, width, out, 1, 1)
        yield convolution(f"{rest}.conv2", blocks - 1, width, width, out, 3, 1)
        yield convolution(f"{rest}.conv3", blocks - 1, width, k, out, 1, 1)
        size, c = out, k


MANIFESTS = {
    "llama3-8b.jsonl": llama3_8b,
    "deepseek-v3-moe.jsonl": deepseek_v3_moe,
    "resnet50.jsonl": resnet50,
}


def text_of(model):
    return "".join(json.dumps(line) + "\n" for line in model())


def check(folder):
    different = 0
    for name, model in MANIFESTS.items():
        with open(os.path.join(folder, name), encoding="ascii") as file:
            if file.read() != text_of(model):
                print(f"{name} is not what make_manifests.py makes")
                different = 1
    return different


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    if arguments == ["--check"]:
        return check(here)
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        sys.exit(__doc__)
    folder = arguments[0] if arguments else here
    for name, model in MANIFESTS.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text_of(model))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
