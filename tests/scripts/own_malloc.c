/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A program that uses ashlar and looks where its own malloc comes from.
 */
#define _GNU_SOURCE
#include <ashlar.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int good, const char *what)
{
    if (!good) {
        printf("not so: %s\n", what);
        failures++;
    }
}

/* The C library's malloc is beside its other functions. */
static void from_libc(const char *name)
{
    Dl_info function;
    Dl_info libc;
    void *addr = dlsym(RTLD_DEFAULT, name);

    if (addr == NULL || dladdr(addr, &function) == 0 ||
        dladdr(dlsym(RTLD_DEFAULT, "strdup"), &libc) == 0) {
        printf("not found: %s\n", name);
        failures++;
    } else if (strcmp(function.dli_fname, libc.dli_fname) != 0) {
        printf("%s is from %s\n", name, function.dli_fname);
        failures++;
    }
}

static int threads(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc/self/task");

    if (dir == NULL)
        return -1;
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void use_a_pool(void)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;
    void *slots[1000];
    size_t i;

    expect(ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options,
                              &pool) == ASHLAR_OK,
           "a pool is created");
    expect(ashlar_pool_get_bulk(pool, slots, 1000) == ASHLAR_OK,
           "a thousand slots are taken");
    for (i = 0; i < 1000; i++)
        memset(slots[i], 0x5a, 128);
    expect(ashlar_pool_put_bulk(pool, slots, 1000, NULL) == ASHLAR_OK,
           "and returned");
    expect(ashlar_pool_destroy(pool, 0) == ASHLAR_OK, "the pool is destroyed");
}

int main(void)
{
    static const char *const names[] = {"malloc", "free", "calloc", "realloc",
                                        "posix_memalign"};
    size_t i;
    char *text;
    struct mallinfo2 before;
    struct mallinfo2 after;

    expect(threads() == 1, "loading starts no thread");
    for (i = 0; i < sizeof names / sizeof *names; i++)
        from_libc(names[i]);

    /* Memory of the C library's own, freed by us, and the reverse. */
    text = strdup("from inside the C library");
    expect(text != NULL, "strdup gives memory");
    free(text);
    before = mallinfo2();
    text = malloc(100000);
    after = mallinfo2();
    expect(text != NULL && after.uordblks >= before.uordblks + 100000,
           "the C library counts what malloc gives");
    use_a_pool();
    free(text);
    expect(threads() == 1, "using ashlar starts no thread");
    return failures != 0;
}
