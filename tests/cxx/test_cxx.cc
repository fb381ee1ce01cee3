/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The C++ classes of types and pools, as a program with exceptions sees them.
 */
#include <ashlar.hpp>

#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "support/pools.h"
}
#include "cxx/counted.hpp"
#include "cxx/thrown.hpp"
#include "support/cuda12_tensormap.h"

static ashlar::pool_options at_most(std::size_t slots)
{
    ashlar::pool_options options;

    options.max_slots = slots;
    options.cache_slots = ASHLAR_POOL_CACHE_NONE;
    return options;
}

static void start()
{
    counted::alive = 0;
    counted::made = 0;
    counted::throw_at = 0;
}

/* --- names ---------------------------------------------------------------- */

struct renamed {
    long number;
};
template <> inline constexpr const char *ashlar::type_name<renamed> = "other";

template <int... Numbers> struct alignas(32) wordy {
    int number;
};
using long_name = wordy<1000001, 1000002, 1000003, 1000004, 1000005, 1000006,
                        1000007, 1000008, 1000009, 1000010, 1000011, 1000012,
                        1000013, 1000014, 1000015, 1000016, 1000017, 1000018>;
using long_too = wordy<1000001, 1000002, 1000003, 1000004, 1000005, 1000006,
                       1000007, 1000008, 1000009, 1000010, 1000011, 1000012,
                       1000013, 1000014, 1000015, 1000016, 1000017, 1000019>;

START_TEST(a_type_is_registered_under_the_name_that_c_knows)
{
    ck_assert_str_eq(ashlar::type_name<counted>, "counted");
    ck_assert_str_eq(ashlar::type_name<renamed>, "other");
    REQUIRE(ashlar::register_type<CUtensorMap>() ==
            ashlar_type_find("CUtensorMap"));
    REQUIRE(ashlar::register_type<counted>() == ashlar_type_find("counted"));
    REQUIRE(ashlar::register_type<renamed>() == ashlar_type_find("other"));
}
END_TEST

START_TEST(names_too_long_to_register_are_cut_and_still_differ)
{
    REQUIRE(std::strlen(ashlar::type_name<long_name>) == 127);
    REQUIRE(std::strlen(ashlar::type_name<long_too>) == 127);
    REQUIRE(std::strcmp(ashlar::type_name<long_name>,
                        ashlar::type_name<long_too>) != 0);
    REQUIRE(ashlar::register_type<long_name>() !=
            ashlar::register_type<long_too>());
}
END_TEST

struct laid_apart {
    char bytes[40];
};

START_TEST(a_type_that_is_laid_apart_has_no_pool)
{
    const struct ashlar_type *type;

    REQUIRE(ashlar_type_register("laid_apart", 40, 64, &type) == ASHLAR_OK);
    REQUIRE(thrown_by([] { ashlar::pool<laid_apart> pool; }) ==
            ASHLAR_ERR_CONFLICT);
    REQUIRE(!ashlar::pool<laid_apart>(std::nothrow));
    REQUIRE(ashlar_last_error() == ASHLAR_ERR_CONFLICT);
}
END_TEST

/* --- slots ---------------------------------------------------------------- */

START_TEST(objects_are_made_in_slots_and_destroyed_before_they_go_back)
{
    ashlar::pool<counted> pool;

    {
        auto one = pool.make(5);
        auto two = pool.make();

        REQUIRE(one->value == 5 && (*two).value == 7);
        REQUIRE(aligned(one.get(), 64) && aligned(two.get(), 64));
        REQUIRE(counted::alive == 2 && pool.stats().live_slots == 2);
        REQUIRE(pool.owns(one.get()) && !pool.owns(&pool));
        REQUIRE(one.put() == ASHLAR_OK && !one);
        REQUIRE(counted::alive == 1 && pool.stats().live_slots == 1);
        REQUIRE(one.put() == ASHLAR_OK);
    }
    REQUIRE(counted::alive == 0 && pool.stats().live_slots == 0);
}
END_TEST

START_TEST(a_moved_slot_is_put_once_and_one_that_is_replaced_at_once)
{
    ashlar::pool<counted> pool;
    ashlar::slot<counted> kept;

    REQUIRE(!kept && kept.get() == nullptr);
    {
        auto first = pool.make(1);
        ashlar::slot<counted> second(std::move(first));

        REQUIRE(!first && second->value == 1);
        kept = std::move(second);
    }
    REQUIRE(counted::alive == 1 && kept->value == 1);
    kept = pool.make(2);
    REQUIRE(counted::alive == 1 && kept->value == 2);
    ashlar::slot<counted> &same = kept;
    kept = std::move(same);
    REQUIRE(counted::alive == 1 && kept->value == 2);
}
END_TEST

START_TEST(a_released_object_lives_on_and_can_be_taken_over_again)
{
    ashlar::pool<counted> pool;
    counted *object = pool.make(3).release();

    REQUIRE(counted::alive == 1 && object->value == 3);
    ashlar::slot<counted> again(pool.handle(), object);
    REQUIRE(again.put() == ASHLAR_OK && counted::alive == 0);
}
END_TEST

START_TEST(a_constructor_that_throws_gives_the_slot_back)
{
    ashlar::pool<counted> pool(at_most(1));
    int thrown = 0;

    counted::throw_at = 1;
    try {
        auto slot = pool.make(1);
    } catch (int number) {
        thrown = number;
    }
    REQUIRE(thrown == 1 && counted::alive == 0);
    REQUIRE(pool.stats().live_slots == 0);
    REQUIRE(pool.make(2)->value == 2);
}
END_TEST

START_TEST(a_second_put_is_told)
{
    ashlar::pool<CUtensorMap> pool;
    auto slot = pool.get();

    REQUIRE(ashlar_pool_put(pool.handle(), slot.get()) == ASHLAR_OK);
    REQUIRE(slot.put() == ASHLAR_ERR_NOT_LIVE);
}
END_TEST

/* --- runs and batches ----------------------------------------------------- */

START_TEST(a_run_is_an_array_of_objects)
{
    ashlar::pool<counted> pool;
    int sum = 0;

    {
        ashlar::run<counted> run = pool.make_run(10, 4);
        ashlar::run<counted> moved(std::move(run));

        REQUIRE(run.empty() && !run && run.begin() == run.end());
        REQUIRE(moved.size() == 10 && aligned(&moved[9], 64));
        for (counted &object : moved)
            sum += object.value;
        REQUIRE(sum == 40 && counted::alive == 10);
        REQUIRE(moved.data() + 9 == &moved[9]);
        run = pool.make_run(3);
        run = std::move(moved);
        REQUIRE(counted::alive == 10 && pool.stats().live_runs == 1);
    }
    REQUIRE(counted::alive == 0 && pool.stats().live_slots == 0);
}
END_TEST

START_TEST(a_constructor_that_throws_gives_the_run_back)
{
    ashlar::pool<counted> pool;
    bool thrown = false;

    counted::throw_at = 6;
    try {
        auto run = pool.make_run(10);
    } catch (int) {
        thrown = true;
    }
    REQUIRE(thrown && counted::made == 6 && counted::alive == 0);
    REQUIRE(pool.stats().live_slots == 0);
}
END_TEST

START_TEST(a_batch_is_had_whole_or_not_at_all)
{
    ashlar::pool<CUtensorMap> pool(at_most(100));
    auto some = pool.get_batch(60);

    REQUIRE(some.size() == 60 && some && !some.empty());
    for (std::size_t i = 0; i < some.size(); i++) {
        REQUIRE(aligned(&some[i], 128) && some.slots()[i] == &some[i]);
        some[i].opaque[0] = i;
    }
    REQUIRE(thrown_by([&] { pool.get_batch(41); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(!pool.get_batch(std::nothrow, 41));
    REQUIRE(pool.stats().live_slots == 60);
    auto moved = std::move(some);
    REQUIRE(some.empty() && moved.size() == 60);
    moved = pool.get_batch(40);
    REQUIRE(pool.stats().live_slots == 40);
    REQUIRE(moved.put() == ASHLAR_OK && moved.put() == ASHLAR_OK);
    REQUIRE(pool.stats().live_slots == 0);
}
END_TEST

START_TEST(make_zeroes_and_get_does_not_touch)
{
    ashlar::pool<CUtensorMap> pool(at_most(1));
    CUtensorMap *object = pool.get().release();

    std::memset(object, 0xa5, sizeof(*object));
    REQUIRE(ashlar_pool_put(pool.handle(), object) == ASHLAR_OK);
    REQUIRE(pool.make()->opaque[15] == 0);
}
END_TEST

/* --- pools ---------------------------------------------------------------- */

START_TEST(a_refused_call_throws_its_status_and_sentence)
{
    ashlar::pool<CUtensorMap> pool(at_most(1));
    auto only = pool.get();

    REQUIRE(thrown_by([&] { (void)pool.get(); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(thrown_by([&] { (void)pool.make(); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(thrown_by([&] { pool.reserve(2); }) == ASHLAR_ERR_LIMIT);
    REQUIRE(thrown_by([&] { (void)pool.get_run(0); }) == ASHLAR_ERR_INVALID);
    REQUIRE(thrown_by([&] { pool.reserve_runs(0, 1); }) == ASHLAR_ERR_INVALID);
    REQUIRE(thrown_by([&] { pool.destroy(); }) == ASHLAR_ERR_BUSY);
    REQUIRE(thrown_by([] { ashlar::source none("no_such_source"); }) ==
            ASHLAR_ERR_NO_PLUGIN);
    REQUIRE(!pool.get(std::nothrow) && !pool.make(std::nothrow));
    REQUIRE(pool.reserve(std::nothrow, 2) == ASHLAR_ERR_LIMIT);
    REQUIRE(only);
}
END_TEST

START_TEST(a_pool_with_slots_out_outlives_its_object)
{
    struct ashlar_pool *handle;
    ashlar::slot<counted> slot;

    {
        ashlar::pool<counted> pool;

        handle = pool.handle();
        slot = pool.make(1);
    }
    REQUIRE(slot->value == 1);
    REQUIRE(slot.put() == ASHLAR_OK && counted::alive == 0);
    REQUIRE(ashlar_pool_destroy(handle, 0) == ASHLAR_OK);
}
END_TEST

START_TEST(a_pool_is_destroyed_with_its_object_and_moves)
{
    struct ashlar_pool *handle;

    {
        ashlar::pool<counted> first;
        ashlar::pool<counted> second(std::move(first));

        handle = second.handle();
        REQUIRE(!first && second && first.handle() == nullptr);
        first = std::move(second);
        REQUIRE(first.handle() == handle);
    }
    REQUIRE(ashlar_pool_put(handle, &handle) == ASHLAR_ERR_STALE);
}
END_TEST

START_TEST(live_objects_are_seen_once_and_exceptions_come_out)
{
    ashlar::pool<counted> pool;
    auto run = pool.make_run(3, 100);
    auto slot = pool.make(1);
    std::size_t seen = 0;
    int sum = 0;
    bool thrown = false;

    pool.for_each_live([&](counted *first, std::size_t n) {
        seen += n;
        for (std::size_t i = 0; i < n; i++)
            sum += first[i].value;
    });
    REQUIRE(seen == 4 && sum == 301);
    seen = 0;
    try {
        pool.for_each_live([&](counted *, std::size_t) {
            seen++;
            throw std::string("enough");
        });
    } catch (const std::string &why) {
        thrown = why == "enough";
    }
    REQUIRE(thrown && seen == 1);
}
END_TEST

START_TEST(threads_share_what_was_reserved)
{
    ashlar::pool<CUtensorMap> pool;
    std::vector<std::thread> threads;

    pool.reserve(400);
    pool.reserve_runs(6, 1);
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            std::vector<ashlar::slot<CUtensorMap>> slots;

            for (int j = 0; j < 100; j++)
                slots.push_back(pool.get());
        });
    for (std::thread &thread : threads)
        thread.join();
    REQUIRE(pool.stats().live_slots == 0 && pool.stats().caches <= 1);
    REQUIRE(pool.stats().promised_slots == 400);
    REQUIRE(pool.stats().free_runs == 1 && pool.get_run(6));
    (void)pool.trim();
    REQUIRE(pool.stats().promised_slots == 0);
}
END_TEST

START_TEST(a_cache_gets_and_puts_plain_pointers)
{
    ashlar::pool<CUtensorMap> pool;
    ashlar::cache<CUtensorMap> cache(pool, 16);
    CUtensorMap *objects[40];

    for (CUtensorMap *&object : objects) {
        object = cache.get();
        REQUIRE(aligned(object, 128));
    }
    for (CUtensorMap *object : objects)
        cache.put(object);
    REQUIRE(thrown_by([&] { cache.put(objects[0]); }) == ASHLAR_ERR_NOT_LIVE);
    REQUIRE(cache.put(std::nothrow, objects[0]) == ASHLAR_ERR_NOT_LIVE);
    REQUIRE(thrown_by([&] {
                ashlar::cache<CUtensorMap> big(pool, ASHLAR_POOL_CACHE_MAX + 1);
            }) == ASHLAR_ERR_INVALID);
    ashlar::cache<CUtensorMap> moved(std::move(cache));
    REQUIRE(!cache && moved && moved.get(std::nothrow) != nullptr);
}
END_TEST

/* --- the allocator -------------------------------------------------------- */

template <typename T> using vector_of = std::vector<T, ashlar::allocator<T>>;

START_TEST(a_vector_of_tensor_maps_is_aligned_as_it_grows)
{
    vector_of<CUtensorMap> maps;

    for (int i = 0; i < 1000; i++) {
        maps.push_back(CUtensorMap());
        REQUIRE(aligned(maps.data(), 128) && aligned(&maps.back(), 128));
    }
    vector_of<CUtensorMap> other(maps);
    REQUIRE(aligned(other.data(), 128) && other.data() != maps.data());
    REQUIRE(other.get_allocator() == maps.get_allocator());
}
END_TEST

/* Other cases leave some, in this process when there is but one. */
static std::size_t live_in_all_pools()
{
    struct ashlar_pool *pool = nullptr;
    std::size_t live = 0;

    while ((pool = ashlar_pool_next(pool)) != nullptr)
        live += pools_stats(pool).live_slots;
    return live;
}

START_TEST(any_container_uses_it_and_gives_all_back)
{
    std::size_t before = live_in_all_pools();

    {
        std::list<int, ashlar::allocator<int>> list{1, 2, 3};
        std::map<int, int, std::less<int>,
                 ashlar::allocator<std::pair<const int, int>>>
            map{{1, 2}, {3, 4}};
        vector_of<bool> bits(1000, true);
        std::basic_string<char, std::char_traits<char>, ashlar::allocator<char>>
            text(1000, 'x');

        REQUIRE(list.size() == 3 && map.at(3) == 4 && bits[999]);
        REQUIRE(text.size() == 1000);
        REQUIRE(live_in_all_pools() > before);
    }
    REQUIRE(live_in_all_pools() == before);
}
END_TEST

START_TEST(a_vector_beyond_all_memory_is_bad_alloc)
{
    bool thrown = false;

    try {
        vector_of<CUtensorMap> maps;

        maps.reserve(ASHLAR_POOL_SLOTS_MAX + 1);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    REQUIRE(thrown && ashlar_last_error() == ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(threads_that_are_first_at_once_share_one_pool)
{
    struct alignas(32) fresh {
        int number;
    };
    std::vector<std::thread> threads;
    struct ashlar_pool *pool = nullptr;
    int pools = 0;

    for (int i = 0; i < 8; i++)
        threads.emplace_back([] { vector_of<fresh> objects(10); });
    for (std::thread &thread : threads)
        thread.join();
    while ((pool = ashlar_pool_next(pool)) != nullptr)
        pools += ashlar_pool_type(pool) == ashlar::register_type<fresh>();
    ck_assert_int_eq(pools, 1);
}
END_TEST

static Suite *cxx_suite(void)
{
    Suite *suite = suite_create("cxx");
    TCase *names = tcase_create("names");
    TCase *slots = tcase_create("slots");
    TCase *pools = tcase_create("pools");
    TCase *allocator = tcase_create("allocator");

    tcase_add_test(names, a_type_is_registered_under_the_name_that_c_knows);
    tcase_add_test(names, names_too_long_to_register_are_cut_and_still_differ);
    tcase_add_test(names, a_type_that_is_laid_apart_has_no_pool);
    suite_add_tcase(suite, names);
    tcase_add_checked_fixture(slots, start, nullptr);
    tcase_add_test(slots,
                   objects_are_made_in_slots_and_destroyed_before_they_go_back);
    tcase_add_test(slots,
                   a_moved_slot_is_put_once_and_one_that_is_replaced_at_once);
    tcase_add_test(slots,
                   a_released_object_lives_on_and_can_be_taken_over_again);
    tcase_add_test(slots, a_constructor_that_throws_gives_the_slot_back);
    tcase_add_test(slots, a_second_put_is_told);
    tcase_add_test(slots, a_run_is_an_array_of_objects);
    tcase_add_test(slots, a_constructor_that_throws_gives_the_run_back);
    tcase_add_test(slots, a_batch_is_had_whole_or_not_at_all);
    tcase_add_test(slots, make_zeroes_and_get_does_not_touch);
    suite_add_tcase(suite, slots);
    tcase_add_checked_fixture(pools, start, nullptr);
    tcase_add_test(pools, a_refused_call_throws_its_status_and_sentence);
    tcase_add_test(pools, a_pool_with_slots_out_outlives_its_object);
    tcase_add_test(pools, a_pool_is_destroyed_with_its_object_and_moves);
    tcase_add_test(pools, live_objects_are_seen_once_and_exceptions_come_out);
    tcase_add_test(pools, threads_share_what_was_reserved);
    tcase_add_test(pools, a_cache_gets_and_puts_plain_pointers);
    suite_add_tcase(suite, pools);
    tcase_add_test(allocator, a_vector_of_tensor_maps_is_aligned_as_it_grows);
    tcase_add_test(allocator, any_container_uses_it_and_gives_all_back);
    tcase_add_test(allocator, a_vector_beyond_all_memory_is_bad_alloc);
    tcase_add_test(allocator, threads_that_are_first_at_once_share_one_pool);
    suite_add_tcase(suite, allocator);
    return suite;
}

int main()
{
    return suite_run(cxx_suite());
}
