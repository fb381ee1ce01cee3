/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Tensor maps in C++, their cache and their tables, on a plug-in that encodes.
 */
#include <ashlar.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "support/pools.h"
}
#include "cxx/tiles.hpp"
#include "support/cuda12_tensormap.h"

static ashlar::source open_device()
{
    std::string folder(std::getenv("top_builddir"));

    folder += "/tests/plugin/modules/.libs";
    ck_assert_int_eq(setenv("ASHLAR_PLUGIN_PATH", folder.c_str(), 1), 0);
    return ashlar::source("device");
}

/* What the plug-in writes: the address and the dims. */
static bool is_map_of(const CUtensorMap &map, const ashlar_spec &spec)
{
    return map.opaque[0] == spec.address &&
           std::memcmp(map.opaque + 1, spec.dims, sizeof(spec.dims)) == 0;
}

/* --- encode --------------------------------------------------------------- */

START_TEST(a_map_is_encoded_into_a_slot_or_where_it_is_told)
{
    ashlar::source device = open_device();
    ashlar::pool<CUtensorMap> pool;

    {
        auto slot = ashlar::encode(device, pool, tile(3));
        auto run = pool.get_run(2);

        REQUIRE(is_map_of(*slot, tile(3).build()));
        ashlar::encode(device, tile(4), run[1]);
        REQUIRE(is_map_of(run[1], tile(4).build()));
        ashlar::rebase(device, run[1], tensor + 64);
        REQUIRE(run[1].opaque[0] == tensor + 64);
    }
    REQUIRE(pool.stats().live_slots == 0);
}
END_TEST

static std::vector<ashlar::spec> many(std::size_t n)
{
    std::vector<ashlar::spec> specs;

    for (std::size_t i = 0; i < n; i++)
        specs.push_back(tile(i));
    return specs;
}

START_TEST(many_are_encoded_into_slots_or_a_run)
{
    ashlar::source device = open_device();
    ashlar::pool<CUtensorMap> pool;
    auto specs = many(50);
    const ashlar_spec plain[2] = {specs[1], specs[2]};
    auto batch = ashlar::encode_many(device, pool, specs);
    auto run = ashlar::encode_run(device, pool, specs);
    auto two = ashlar::encode_many(device, pool, plain);

    REQUIRE(batch.size() == 50 && run.size() == 50 && two.size() == 2);
    for (std::size_t i = 0; i < 50; i++)
        REQUIRE(is_map_of(batch[i], specs[i]) && is_map_of(run[i], specs[i]));
    REQUIRE(is_map_of(two[1], specs[2]));
    REQUIRE(ashlar::encode_many(device, pool, many(0)).empty());
}
END_TEST

/* The culprit's index, and all that is wrong with it. */
template <typename Call> static void accuses(Call call, std::size_t culprit)
{
    bool thrown = false;

    try {
        call();
    } catch (const ashlar::spec_error &error) {
        thrown = true;
        REQUIRE(error.culprit() == culprit && error.findings().errors() >= 2);
        REQUIRE(std::strchr(error.what(), '\n') != nullptr);
    }
    REQUIRE(thrown);
}

START_TEST(the_spec_that_is_refused_is_named_and_no_slot_is_kept)
{
    ashlar::source device = open_device();
    ashlar::pool<CUtensorMap> pool;
    auto specs = many(9);
    std::size_t culprit = 99;

    specs[7].rank = 9;
    specs[7].address = 8;
    accuses([&] { (void)ashlar::encode(device, pool, specs[7]); }, 0);
    accuses([&] { (void)ashlar::encode_many(device, pool, specs); }, 7);
    accuses([&] { (void)ashlar::encode_run(device, pool, specs); }, 7);
    REQUIRE(!ashlar::encode(std::nothrow, device, pool, specs[7]));
    REQUIRE(!ashlar::encode_many(std::nothrow, device, pool, specs, &culprit));
    REQUIRE(culprit == 7);
    culprit = 99;
    REQUIRE(!ashlar::encode_run(std::nothrow, device, pool, specs, &culprit));
    REQUIRE(culprit == 7 && pool.stats().live_slots == 0);
}
END_TEST

/* The status of what is no fault of a spec. */
template <typename Call> static enum ashlar_status plain_error(Call call)
{
    try {
        call();
    } catch (const ashlar::spec_error &) {
        return ASHLAR_OK;
    } catch (const ashlar::error &error) {
        return error.status();
    }
    return ASHLAR_OK;
}

START_TEST(what_is_no_fault_of_a_spec_is_told_as_it_is)
{
    ashlar::source device = open_device();
    ashlar::source host("vm");
    ashlar::pool_options options;
    options.max_slots = 3;
    ashlar::pool<CUtensorMap> pool(options);
    auto specs = many(4);
    std::size_t culprit = 0;

    REQUIRE(plain_error([&] { (void)ashlar::encode(host, pool, specs[0]); }) ==
            ASHLAR_ERR_UNSUPPORTED);
    REQUIRE(plain_error([&] {
                (void)ashlar::encode_many(device, pool, specs);
            }) == ASHLAR_ERR_LIMIT);
    REQUIRE(!ashlar::encode_many(std::nothrow, device, pool, specs, &culprit));
    REQUIRE(culprit == 4);
    REQUIRE(plain_error([&] {
                auto slot = ashlar::encode(device, pool, specs[0]);

                ashlar::rebase(host, *slot, tensor);
            }) == ASHLAR_ERR_UNSUPPORTED);
    REQUIRE(pool.stats().live_slots == 0);
}
END_TEST

START_TEST(threads_encode_one_batch_together)
{
    ashlar::source device = open_device();
    ashlar::pool<CUtensorMap> pool;
    auto specs = many(1000);
    ashlar::encoding<CUtensorMap> begun(device, pool, specs);
    ashlar::encoding<CUtensorMap> job(std::move(begun));
    std::vector<std::thread> threads;

    REQUIRE(!begun && job);
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] { job.work(); });
    for (std::thread &thread : threads)
        thread.join();
    auto maps = job.finish();
    REQUIRE(!job && maps.size() == 1000);
    for (std::size_t i = 0; i < 1000; i++)
        REQUIRE(is_map_of(maps[i], specs[i]));
}
END_TEST

START_TEST(a_batch_that_is_not_finished_or_refused_keeps_no_slot)
{
    ashlar::source device = open_device();
    ashlar::pool<CUtensorMap> pool;
    auto specs = many(100);
    std::size_t culprit = 0;

    {
        ashlar::encoding<CUtensorMap> dropped(device, pool, specs);
    }
    specs[60].rank = 0;
    specs[60].address = 8;
    accuses(
        [&] {
            ashlar::encoding<CUtensorMap> job(device, pool, specs);

            (void)job.finish();
        },
        60);
    ashlar::encoding<CUtensorMap> job(std::nothrow, device, pool, specs);
    REQUIRE(job.work(std::nothrow) == ASHLAR_ERR_INVALID);
    REQUIRE(!job.finish(std::nothrow, &culprit) && culprit == 60);
    REQUIRE(pool.stats().live_slots == 0);
}
END_TEST

/* --- the cache ------------------------------------------------------------ */

START_TEST(a_spec_leads_to_one_map_that_is_held)
{
    ashlar::source device = open_device();
    ashlar::tensormap_cache<CUtensorMap> cache(device);

    {
        auto first = cache.get(tile(1));
        auto again = cache.get(tile(1));
        auto other = cache.get(tile(1), 7);
        ashlar::held_map<CUtensorMap> moved(std::move(first));

        REQUIRE(!first && moved.get() == again.get());
        REQUIRE(other.get() != again.get());
        REQUIRE(is_map_of(*again, tile(1).build()));
        REQUIRE(again->opaque[0] == tensor + 4096);
        moved = std::move(other);
        REQUIRE(cache.stats().held == 2);
        REQUIRE(moved.put() == ASHLAR_OK && !moved && cache.stats().held == 1);
        REQUIRE(moved.put() == ASHLAR_OK);
        const CUtensorMap *mine = again.release();
        REQUIRE(!again && cache.stats().held == 1);
        ashlar::held_map<CUtensorMap> back(cache.handle(), mine);
    }
    REQUIRE(cache.stats().held == 0 && cache.stats().maps == 2);
    REQUIRE(cache.stats().hits == 1 && cache.stats().misses == 2);
    REQUIRE(cache.invalidate(tensor, 1 << 20) == 2);
    cache.destroy();
    REQUIRE(!cache);
}
END_TEST

START_TEST(a_cache_refuses_as_the_encoder_does)
{
    ashlar::source device = open_device();
    ashlar::source host("vm");
    ashlar::tensormap_cache_options options;
    options.slots = 1;
    ashlar::tensormap_cache<CUtensorMap> cache(device, options);
    ashlar::spec wrong = tile();

    wrong.rank = 9;
    wrong.address = 8;
    accuses([&] { (void)cache.get(wrong); }, 0);
    REQUIRE(!cache.get(std::nothrow, wrong));
    auto held = cache.get(tile(0));
    REQUIRE(plain_error([&] { (void)cache.get(tile(1)); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(plain_error([&] { cache.destroy(); }) == ASHLAR_ERR_BUSY && cache);
    REQUIRE(cache.invalidate(std::nothrow, UINT64_MAX, 2) ==
            ASHLAR_ERR_INVALID);
    REQUIRE(plain_error([&] {
                ashlar::tensormap_cache<CUtensorMap> none(host);
            }) == ASHLAR_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(a_cache_with_maps_held_outlives_its_object)
{
    ashlar::source device = open_device();
    struct ashlar_tensormap_cache *handle;
    ashlar::held_map<CUtensorMap> held;

    {
        ashlar::tensormap_cache<CUtensorMap> cache(device);

        handle = cache.handle();
        held = cache.get(tile());
    }
    REQUIRE(is_map_of(*held, tile().build()) && held.put() == ASHLAR_OK);
    REQUIRE(ashlar_tensormap_cache_destroy(handle) == ASHLAR_OK);
}
END_TEST

/* --- tables --------------------------------------------------------------- */

START_TEST(leased_slots_are_filled_published_and_given_back)
{
    ashlar::source device = open_device();
    ashlar::tensormap_table<CUtensorMap> table(device);
    auto specs = many(3);
    alignas(128) CUtensorMap other;

    ashlar::encode(device, tile(9), other);
    table.reserve(8);
    {
        auto begun = table.lease_run(3);
        ashlar::tensormap_lease<CUtensorMap> lease(std::move(begun));

        REQUIRE(!begun && begun.empty() && lease.size() == 3);
        lease.encode_many(specs);
        lease.fill(2, other);
        lease.encode(0, specs[0]);
        lease.publish(std::uint64_t(0));
        REQUIRE(lease.look(1).state == ASHLAR_TENSORMAP_PUBLISHED);
        REQUIRE(lease.look(1).address ==
                table.base() + lease[1].index * ASHLAR_TENSOR_MAP_BYTES);
        REQUIRE(is_map_of(*lease.map(1), specs[1]));
        REQUIRE(is_map_of(*lease.map(2), tile(9).build()));
        REQUIRE(table.info().leased == 3);
        lease.retire({ashlar::after(device, 0)});
        REQUIRE(!lease && table.info().leased == 0);
        REQUIRE(table.lease(2).size() == 2);
        REQUIRE(table.info().leased == 0);
    }
    table.destroy({ashlar::quiet()});
    REQUIRE(!table);
    device.drain(1000000000);
}
END_TEST

START_TEST(a_table_refuses_with_what_is_wrong)
{
    ashlar::source device = open_device();
    ashlar::tensormap_table_options options;
    options.max_slots = 4;
    ashlar::tensormap_table<CUtensorMap> table(device, options);
    auto lease = table.lease(3);
    auto specs = many(3);
    std::size_t culprit = 0;

    specs[2].rank = 9;
    specs[2].address = 8;
    accuses([&] { lease.encode_many(specs); }, 2);
    accuses([&] { lease.encode(1, specs[2]); }, 0);
    REQUIRE(lease.encode_many(std::nothrow, specs, &culprit) ==
            ASHLAR_ERR_INVALID);
    REQUIRE(culprit == 2 && lease.map(std::nothrow, 0) == nullptr);
    REQUIRE(plain_error([&] { (void)lease.map(0); }) == ASHLAR_ERR_INVALID);
    REQUIRE(plain_error([&] { lease.publish(0); }) == ASHLAR_ERR_INVALID);
    REQUIRE(plain_error([&] { lease.retire({}); }) == ASHLAR_ERR_INVALID);
    REQUIRE(plain_error([&] { (void)table.lease(2); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(!table.lease_run(std::nothrow, 2) && lease.size() == 3);
    REQUIRE(plain_error([&] { table.destroy({}); }) == ASHLAR_ERR_BUSY);
    REQUIRE(table);
}
END_TEST

/* --- the suite ------------------------------------------------------------ */

static Suite *maps_suite(void)
{
    Suite *suite = suite_create("cxx_maps");
    TCase *encode = tcase_create("encode");
    TCase *cache = tcase_create("cache");
    TCase *tables = tcase_create("tables");

    tcase_add_test(encode, a_map_is_encoded_into_a_slot_or_where_it_is_told);
    tcase_add_test(encode, many_are_encoded_into_slots_or_a_run);
    tcase_add_test(encode,
                   the_spec_that_is_refused_is_named_and_no_slot_is_kept);
    tcase_add_test(encode, what_is_no_fault_of_a_spec_is_told_as_it_is);
    tcase_add_test(encode, threads_encode_one_batch_together);
    tcase_add_test(encode,
                   a_batch_that_is_not_finished_or_refused_keeps_no_slot);
    suite_add_tcase(suite, encode);
    tcase_add_test(cache, a_spec_leads_to_one_map_that_is_held);
    tcase_add_test(cache, a_cache_refuses_as_the_encoder_does);
    tcase_add_test(cache, a_cache_with_maps_held_outlives_its_object);
    suite_add_tcase(suite, cache);
    tcase_add_test(tables, leased_slots_are_filled_published_and_given_back);
    tcase_add_test(tables, a_table_refuses_with_what_is_wrong);
    suite_add_tcase(suite, tables);
    return suite;
}

int main()
{
    return suite_run(maps_suite());
}
