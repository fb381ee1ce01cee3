/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What it takes on a real card to encode 4,096 maps into a table and to publish
 * them, where maps are written back to memory as they are encoded, and where they
 * are left in the processor's caches; by turns in the same run. Prints medians.
 *
 *     table_speed [ROUNDS]                                      51 unless given
 *
 * It opens the source "cuda", so ASHLAR_PLUGIN_PATH has to lead to the plug-in.
 */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>

#include "support/encode_source.h"
#include "tensormap/map_table.h"

#define MAPS        4096
#define ROUNDS_MOST 1000
#define QUIET       ASHLAR_QUIET, 1

/* Rounds of one kind. */
struct series {
    const char *name;
    bool writes_back;
    bool are_different;            /* the shapes */
    double encode_ns[ROUNDS_MOST]; /* of a map */
    double publish_us[ROUNDS_MOST];
    double both_us[ROUNDS_MOST];
};

static struct series kinds[] = {
    {.name = "one shape, written back", .writes_back = true},
    {.name = "one shape, left alone"},
    {.name = "each its own, written back",
     .writes_back = true,
     .are_different = true},
    {.name = "each its own, left alone", .are_different = true},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct ashlar_source *source;
static struct ashlar_source *host;
static struct ashlar_tensormap_table *table;
static struct ashlar_tensormap_handle handles[MAPS];
static struct ashlar_spec alike[MAPS];
static struct ashlar_spec different[MAPS];
static CUstream stream;
static unsigned rounds = 51;

static void make_specs(void)
{
    size_t i;

    for (i = 0; i < MAPS; i++) {
        alike[i] = different[i] = encode_spec(i);
        different[i].dims[1] += i;
    }
}

static void start(void)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;

    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    OK(ashlar_source_open("cuda", "location=host", &host));
    stream = card_stream();
    options.max_slots = options.initial_slots = MAPS;
    options.host = host;
    OK(ashlar_tensormap_table_create(source, &options, &table));
    make_specs();
}

static void end(void)
{
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(source, UINT64_C(10000000000)));
    OK(ashlar_source_close(host));
    OK(ashlar_source_close(source));
    CU(cu.StreamDestroy(stream));
}

static void run_once(struct series *kind, unsigned round)
{
    double begin, middle, done;

    table->write_back = kind->writes_back;
    OK(ashlar_tensormap_table_lease(table, MAPS, handles));
    begin = card_now_us();
    OK(ashlar_tensormap_table_encode_many(
        table, handles, kind->are_different ? different : alike, MAPS, NULL));
    middle = card_now_us();
    OK(ashlar_tensormap_table_publish(table, handles, MAPS,
                                      (uint64_t)(uintptr_t)stream));
    CU(cu.StreamSynchronize(stream));
    done = card_now_us();
    OK(ashlar_tensormap_table_retire(table, handles, MAPS, QUIET));
    kind->encode_ns[round] = (middle - begin) * 1e3 / MAPS;
    kind->publish_us[round] = done - middle;
    kind->both_us[round] = done - begin;
}

static void print(struct series *kind)
{
    printf("%-28s %15.1f %12.1f %9.1f\n", kind->name,
           card_median(kind->encode_ns, rounds),
           card_median(kind->publish_us, rounds),
           card_median(kind->both_us, rounds));
}

START_TEST(maps_are_encoded_and_published)
{
    unsigned round;
    size_t i;

    start();
    if (!table->write_back)
        puts("# this processor cannot write lines back");
    for (i = 0; i < KINDS; i++) /* to get warm */
        run_once(&kinds[i], 0);
    for (round = 0; round < rounds; round++)
        for (i = 0; i < KINDS; i++)
            run_once(&kinds[i], round);
    puts("4096 maps into a table       encode, ns each  publish, us  both, us");
    for (i = 0; i < KINDS; i++)
        print(&kinds[i]);
    end();
}
END_TEST

int main(int argc, char **argv)
{
    return card_speed_main(argc, argv, "table_speed",
                           maps_are_encoded_and_published, &rounds,
                           ROUNDS_MOST);
}
