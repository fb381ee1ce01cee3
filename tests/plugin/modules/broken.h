/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The plug-in of examples/plugin/memfd.c, and one thing that is wrong with it:
 *
 *     static enum ashlar_status wrong_unmap(...) { ... }
 *     BROKEN("wrong", .unmap = wrong_unmap);
 */
#ifndef ASHLAR_TESTS_PLUGIN_BROKEN_H
#define ASHLAR_TESTS_PLUGIN_BROKEN_H

#define ashlar_plugin_v1 memfd_plugin
#include "../../../examples/plugin/memfd.c"
#undef ashlar_plugin_v1

/* What comes last in an initialiser counts. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#define BROKEN(_name, ...)                                                     \
    const struct ashlar_plugin ashlar_plugin_v1 = {                            \
        .abi = ASHLAR_PLUGIN_ABI,                                              \
        .struct_size = sizeof(struct ashlar_plugin),                           \
        .version = "1",                                                        \
        .open = open_source,                                                   \
        .close = close_source,                                                 \
        .reserve = reserve,                                                    \
        .release = release,                                                    \
        .chunk_create = chunk_create,                                          \
        .chunk_destroy = chunk_destroy,                                        \
        .map = map,                                                            \
        .unmap = unmap,                                                        \
        .allow = allow,                                                        \
        .name = _name,                                                         \
        __VA_ARGS__}

#endif
