/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The C++ classes of ranges and arenas, as a program with exceptions sees them.
 */
#include <ashlar.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

extern "C" {
#include "support/pools.h"
}
#include "cxx/counted.hpp"
#include "cxx/thrown.hpp"
#include "support/cuda12_tensormap.h"

/* --- ranges --------------------------------------------------------------- */

START_TEST(a_range_grows_in_place_and_shrinks)
{
    ashlar::source source("vm", "granule=2M");
    ashlar::range range(source);
    ashlar::range_result result = range.grow_to(4096);
    auto *bytes = static_cast<unsigned char *>(result.data());

    bytes[4095] = 9;
    result = range.grow_to(8 << 20);
    REQUIRE(result.path == ASHLAR_RANGE_PATH_IN_RESERVATION);
    REQUIRE(result.data() == bytes && bytes[4095] == 9);
    range.prepare(16 << 20, ASHLAR_RANGE_MAPPED);
    REQUIRE(range.grow_to(16 << 20).source_calls == 0);
    REQUIRE(range.info().used_bytes == 16 << 20);
    range.allow(3, ASHLAR_RIGHTS_READ);
    result = range.shrink_to(2 << 20, {ashlar::quiet()});
    REQUIRE(result.released_bytes != 0);
    ashlar::range moved(std::move(range));
    REQUIRE(!range && moved.info().used_bytes == 2 << 20);
    REQUIRE(thrown_by([&] { (void)moved.grow_to(0); }) == ASHLAR_ERR_INVALID);
    moved.retire_old({ashlar::quiet()});
    moved.destroy({ashlar::quiet()});
    REQUIRE(!moved);
    source.close();
}
END_TEST

START_TEST(what_a_stream_uses_waits_for_its_fence)
{
    ashlar::source source("vm");
    std::uint64_t stream = 5;

    {
        ashlar::range range(source, ashlar::range_options(),
                            ashlar::after(source, stream));

        (void)range.grow_to(8 << 20);
        REQUIRE(ashlar_vm_hold(source.handle(), stream) == ASHLAR_OK);
        (void)range.shrink_to(4096,
                              {ashlar::after(source, stream), ashlar::quiet()});
    }
    REQUIRE(thrown_by([&] { source.drain(0); }) == ASHLAR_ERR_BUSY);
    REQUIRE(source.close(std::nothrow) == ASHLAR_ERR_BUSY && source);
    REQUIRE(ashlar_vm_finish(source.handle(), stream) == ASHLAR_OK);
    source.drain(0);
    source.close();
    REQUIRE(!source);
}
END_TEST

START_TEST(parts_of_a_range_come_and_go)
{
    ashlar::source source("vm", "granule=2M");
    ashlar::range_options options;
    options.chunk_max_bytes = 2 << 20;
    ashlar::range range(source, options);

    (void)range.grow_to(8 << 20);
    REQUIRE(
        range.decommit(2 << 20, 4 << 20, {ashlar::quiet()}).released_bytes ==
        4 << 20);
    REQUIRE(range.commit(2 << 20, 4 << 20).committed_bytes == 8 << 20);
}
END_TEST

START_TEST(slots_of_a_range_go_back_behind_a_fence)
{
    ashlar::source source("vm");
    ashlar::pool_options options;
    std::uint64_t stream = 1;
    options.source = source.handle();
    ashlar::pool<CUtensorMap> pool(options);
    auto slot = pool.get();
    auto batch = pool.get_batch(10);

    REQUIRE(thrown_by([&] { slot.put_after({}); }) == ASHLAR_ERR_INVALID);
    REQUIRE(slot);
    REQUIRE(ashlar_vm_hold(source.handle(), stream) == ASHLAR_OK);
    slot.put_after({ashlar::after(source, stream)});
    batch.put_after({ashlar::after(source, stream)});
    REQUIRE(!slot && !batch && pool.stats().waiting_slots == 11);
    REQUIRE(ashlar_vm_finish(source.handle(), stream) == ASHLAR_OK);
    REQUIRE(pool.destroy(std::nothrow) == ASHLAR_OK);
}
END_TEST

START_TEST(a_source_that_is_used_outlives_its_object)
{
    struct ashlar_source *handle;
    ashlar::pool_options options;
    ashlar::pool<counted> *pool;

    {
        ashlar::source source("vm");

        handle = options.source = source.handle();
        pool = new ashlar::pool<counted>(options);
    }
    REQUIRE(pool->make(4)->value == 4);
    delete pool;
    REQUIRE(ashlar_source_close(handle) == ASHLAR_OK);
}
END_TEST

/* --- arenas --------------------------------------------------------------- */

START_TEST(blocks_come_and_go_and_a_refusal_is_thrown)
{
    ashlar::arena arena;
    void *block = arena.alloc(1000, 4096);

    REQUIRE(aligned(block, 4096) && arena.stats().live_blocks == 1);
    REQUIRE(thrown_by([&] { (void)arena.alloc(0); }) == ASHLAR_ERR_INVALID);
    REQUIRE(arena.alloc(std::nothrow, 8, 3) == nullptr);
    REQUIRE(thrown_by([&] { arena.destroy(); }) == ASHLAR_ERR_BUSY && arena);
    arena.free(block);
    arena.destroy();
    REQUIRE(!arena);
    REQUIRE(arena.alloc(std::nothrow, 8) == nullptr);
}
END_TEST

START_TEST(an_arena_with_live_blocks_outlives_its_object)
{
    ashlar::arena_options options;
    struct ashlar_arena *handle;
    void *block;
    options.flags = ASHLAR_ARENA_ISOLATED;

    {
        ashlar::arena first(options);
        ashlar::arena second(std::move(first));

        REQUIRE(!first && second);
        handle = second.handle();
        block = second.alloc(100);
    }
    std::memset(block, 1, 100);
    REQUIRE(ashlar_arena_free(handle, block) == ASHLAR_OK);
    REQUIRE(ashlar_arena_destroy(handle, 0) == ASHLAR_OK);
}
END_TEST

START_TEST(containers_of_pmr_live_in_an_arena)
{
    ashlar::source source("vm");
    ashlar::arena_options options;
    options.source = source.handle();
    ashlar::arena arena(options);
    ashlar::memory_resource memory(arena);
    ashlar::memory_resource again(arena);

    {
        std::pmr::vector<counted *> vector(&memory);
        std::pmr::map<int, std::pmr::string> map(&memory);

        for (int i = 0; i < 1000; i++) {
            vector.push_back(nullptr);
            map.emplace(i, std::string(100, 'x'));
        }
        REQUIRE(map.at(999).get_allocator().resource() == &memory);
        REQUIRE(arena.stats().live_blocks > 1000);
        REQUIRE(ashlar_range_find(reinterpret_cast<std::uintptr_t>(
                    vector.data())) != nullptr);
    }
    REQUIRE(arena.stats().live_blocks == 0);
    REQUIRE(memory == again && memory != *std::pmr::new_delete_resource());
    memory.deallocate(memory.allocate(0, 1), 0, 1);
    REQUIRE(arena.stats().live_blocks == 0);
}
END_TEST

START_TEST(a_resource_without_memory_is_bad_alloc)
{
    ashlar::source source("vm", "memory=4M");
    ashlar::arena_options options;
    options.source = source.handle();
    ashlar::arena arena(options);
    ashlar::memory_resource memory(arena);
    bool thrown = false;

    try {
        (void)memory.allocate(64 << 20, 8);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    REQUIRE(thrown && ashlar_last_error() != ASHLAR_OK);
}
END_TEST

START_TEST(a_block_goes_back_behind_a_fence)
{
    ashlar::source source("vm");
    ashlar::arena_options options;
    std::uint64_t stream = 3;
    options.source = source.handle();
    ashlar::arena arena(options);
    void *block = arena.alloc(1000);

    REQUIRE(ashlar_vm_hold(source.handle(), stream) == ASHLAR_OK);
    arena.free_after(block, {ashlar::after(source, stream)});
    REQUIRE(arena.stats().waiting_blocks == 1);
    REQUIRE(ashlar_vm_finish(source.handle(), stream) == ASHLAR_OK);
    REQUIRE(arena.stats().waiting_blocks == 0);
}
END_TEST

static Suite *cxx_memory_suite(void)
{
    Suite *suite = suite_create("cxx memory");
    TCase *ranges = tcase_create("ranges");
    TCase *arenas = tcase_create("arenas");

    tcase_add_test(ranges, a_range_grows_in_place_and_shrinks);
    tcase_add_test(ranges, what_a_stream_uses_waits_for_its_fence);
    tcase_add_test(ranges, parts_of_a_range_come_and_go);
    tcase_add_test(ranges, slots_of_a_range_go_back_behind_a_fence);
    tcase_add_test(ranges, a_source_that_is_used_outlives_its_object);
    suite_add_tcase(suite, ranges);
    tcase_add_test(arenas, blocks_come_and_go_and_a_refusal_is_thrown);
    tcase_add_test(arenas, an_arena_with_live_blocks_outlives_its_object);
    tcase_add_test(arenas, containers_of_pmr_live_in_an_arena);
    tcase_add_test(arenas, a_resource_without_memory_is_bad_alloc);
    tcase_add_test(arenas, a_block_goes_back_behind_a_fence);
    suite_add_tcase(suite, arenas);
    return suite;
}

int main()
{
    return suite_run(cxx_memory_suite());
}
