/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The plug-in "cuda": memory of CUDA devices, and host memory they can reach. */
#include "config.h"

#include "source.h"

ASHLAR_API extern const struct ashlar_plugin ashlar_plugin_v1;

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "cuda",
    .version = PACKAGE_VERSION,
    .open = cuda_open,
    .close = cuda_close,
    .reserve = cuda_reserve,
    .release = cuda_release,
    .chunk_create = cuda_chunk_create,
    .chunk_destroy = cuda_chunk_destroy,
    .map = cuda_map,
    .unmap = cuda_unmap,
    .allow = cuda_allow,
    .copy = cuda_copy,
    .scatter_load = cuda_scatter_load,
    .scatter = cuda_scatter,
    .fence_record = cuda_fence_record,
    .fence_event = cuda_fence_event,
    .fence_query = cuda_fence_query,
    .fence_drop = cuda_fence_drop,
    .encode = cuda_encode,
    .encode_many = cuda_encode_many,
    .encode_rebase = cuda_encode_rebase,
    .chunk_export = cuda_chunk_export,
    .chunk_import = cuda_chunk_import,
    .fence_capture = cuda_fence_capture,
    .fence_graph = cuda_fence_graph,
};
