/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Huge pages under vm: asked for, granted, and reported as they are. */
#include "config.h"

#include "source/vm.h"

#include "support/child.h"
#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static struct ashlar_source *source;
static uint64_t granule;

static void open_source(void)
{
    OK(ashlar_source_open("vm", engine_options(), &source));
    granule = source->info.granule;
}

static void close_source(void)
{
    OK(ashlar_source_close(source));
}

#define TOUCHED ((uint64_t)64 << 20)

/* Also where a huge page is larger than the granule is as a rule. NULL: no. */
static struct ashlar_source *open_huge(void)
{
    struct ashlar_source *huge = NULL;

    if (ashlar_source_open("vm", "huge=yes", &huge) != ASHLAR_OK)
        (void)ashlar_source_open("vm", "huge=yes,granule=512M", &huge);
    return huge;
}

/* Page faults of this process so far. */
static uint64_t count_faults(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* What a source that asks for huge pages says when all of a range is touched,
 * and the faults that this took. All zero: something failed. */
static struct ashlar_vm_account touch_all(uint64_t *faults_out)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_source *huge = open_huge();
    struct ashlar_range *range;

    if (huge == NULL)
        return account;
    if (ashlar_range_create(huge, NULL, &range) == ASHLAR_OK) {
        if (ashlar_range_grow_to(range, TOUCHED, &result) == ASHLAR_OK) {
            *faults_out = count_faults();
            memset((void *)(uintptr_t)result.base, 1, TOUCHED);
            *faults_out = count_faults() - *faults_out;
            (void)ashlar_vm_query(huge, &account);
        }
        (void)ashlar_range_destroy(range, ASHLAR_QUIET, 1);
    }
    (void)ashlar_source_close(huge);
    return account;
}

/* Other faults than those of the memory itself: a sanitizer's, Valgrind's. */
#define STRAY_FAULTS 256

START_TEST(huge_pages_are_reported_as_granted)
{
    struct ashlar_vm_account account;
    uint64_t faults = 0;

    account = touch_all(&faults);
    ck_assert_uint_ge(account.mapped_bytes, TOUCHED);
    ck_assert_uint_ne(account.huge, ASHLAR_VM_HUGE_OFF);
    printf("# huge pages: state %u, %lu of %lu bytes, by %lu faults\n",
           account.huge, (unsigned long)account.huge_bytes,
           (unsigned long)TOUCHED, (unsigned long)faults);
    (void)fflush(stdout);
    ck_assert_uint_le(account.huge_bytes, account.mapped_bytes);
    if (account.huge == ASHLAR_VM_HUGE_DENIED)
        ck_assert_uint_eq(account.huge_bytes, 0);
    /* What is said to be huge did not come in small pages. */
    if (account.huge_bytes >= TOUCHED)
        ck_assert_uint_lt(faults,
                          TOUCHED / account.huge_page_bytes + STRAY_FAULTS);
    /* And what came in a few faults was huge. */
    if (faults <= TOUCHED / (2 << 20))
        ck_assert_uint_gt(account.huge_bytes, 0);
}
END_TEST

static char warning[256];

static void keep_warning(enum ashlar_log_level level, const char *line,
                         void *user)
{
    (void)user;
    if (level == ASHLAR_LOG_WARNING)
        (void)snprintf(warning, sizeof(warning), "%s", line);
}

/* In a process that may have none: 0, or what is wrong. */
static int judge_denied(void *argument)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_vm_account account;
    struct ashlar_source *huge;
    uint64_t faults = 0;

    (void)argument;
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        return 0;
    ashlar_set_log(keep_warning, NULL);
    account = touch_all(&faults);
    if (account.mapped_bytes < TOUCHED)
        return 1;
    if (account.huge != ASHLAR_VM_HUGE_DENIED || account.huge_bytes != 0)
        return 2;
    if (strstr(warning, "huge=yes has no effect") == NULL)
        return 3;
    huge = open_huge();
    if (huge == NULL || ashlar_source_query(huge, &info) != ASHLAR_OK ||
        strstr(info.description, "huge pages denied") == NULL)
        return 4;
    return ashlar_source_close(huge) == ASHLAR_OK ? 0 : 5;
}

START_TEST(huge_pages_that_are_denied_are_told)
{
    ck_assert_int_eq(child_verdict(judge_denied, NULL), 0);
}
END_TEST

/* Two mappings of this source and one of somebody else's, whose path is longer
 * than a line that is read at once, and ends as a counter would look. */
static FILE *make_smaps(uint64_t first, uint64_t second)
{
    static const char flags[] = "rw-s 00000000 00:01 1024";
    FILE *smaps = tmpfile();
    char path[600];

    ck_assert_ptr_nonnull(smaps);
    memset(path, 'x', sizeof(path));
    (void)snprintf(path + 400, 200, "\\012ShmemPmdMapped: 4096 kB");
    fprintf(smaps, "%lx-%lx %s /memfd:ashlar-vm (deleted)\n",
            (unsigned long)first, (unsigned long)(first + granule), flags);
    fprintf(smaps, "Rss: 8192 kB\nShmemPmdMapped:     2048 kB\n");
    fprintf(smaps, "1000-2000 %s /%s\n", flags, path);
    fprintf(smaps, "ShmemPmdMapped:     1024 kB\n");
    fprintf(smaps, "%lx-%lx %s /%s\n", (unsigned long)second,
            (unsigned long)(second + granule), flags, path);
    fprintf(smaps, "FilePmdMapped:  512 kB\nShmemPmdMapped:     4096 kB\n");
    rewind(smaps);
    return smaps;
}

START_TEST(only_this_sources_mappings_are_counted)
{
    const struct ashlar_plugin *ops = &source->ops;
    const struct ashlar_chunk_request request = {sizeof(request), granule, 0};
    void *state = source->state;
    uint64_t address, chunk;
    FILE *smaps;

    OK(ops->reserve(state, 4 * granule, granule, 0, &address));
    OK(ops->chunk_create(state, &request, &chunk));
    OK(ops->map(state, address, chunk, granule));
    OK(ops->map(state, address + 2 * granule, chunk, granule));
    smaps = make_smaps(address, address + 2 * granule);
    ck_assert_uint_eq(vm_huge_sum(state, smaps), 6 << 20);
    (void)fclose(smaps);
    smaps = make_smaps(address + granule, address + 2 * granule);
    ck_assert_uint_eq(vm_huge_sum(state, smaps), 4 << 20);
    (void)fclose(smaps);
    OK(ops->unmap(state, address, granule));
    OK(ops->unmap(state, address + 2 * granule, granule));
    OK(ops->chunk_destroy(state, chunk, granule));
    OK(ops->release(state, address, 4 * granule));
}
END_TEST

START_TEST(the_kernels_settings_are_read_as_it_reads_them)
{
    static const struct {
        const char *all;
        const char *own;
        enum ashlar_vm_huge allowed;
    } settings[] = {
        {"always within_size [advise] never deny force\n",
         "always [inherit] within_size advise never\n", ASHLAR_VM_HUGE_ALLOWED},
        {"always within_size [advise] never deny force\n", "",
         ASHLAR_VM_HUGE_ALLOWED},
        {"[always] within_size advise never deny force\n", "",
         ASHLAR_VM_HUGE_ALLOWED},
        {"always within_size advise [never] deny force\n", "",
         ASHLAR_VM_HUGE_DENIED},
        {"always within_size advise [never] deny force\n",
         "always [inherit] within_size advise never\n", ASHLAR_VM_HUGE_DENIED},
        {"always within_size advise [never] deny force\n",
         "always inherit within_size [advise] never\n", ASHLAR_VM_HUGE_ALLOWED},
        {"always within_size [advise] never deny force\n",
         "always inherit within_size advise [never]\n", ASHLAR_VM_HUGE_DENIED},
        {"always within_size advise never [deny] force\n",
         "[always] inherit within_size advise never\n", ASHLAR_VM_HUGE_DENIED},
        {"", "", ASHLAR_VM_HUGE_UNKNOWN},
        {"nonsense\n", "", ASHLAR_VM_HUGE_UNKNOWN},
    };
    size_t i;

    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        ck_assert_msg(vm_huge_allowed(settings[i].all, settings[i].own) ==
                          settings[i].allowed,
                      "setting %zu", i);
}
END_TEST

START_TEST(huge_pages_need_a_granule_of_one)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_source *none = NULL;

    REFUSED(ASHLAR_ERR_INVALID, "huge=yes needs a granule of",
            ashlar_source_open("vm", "granule=64K,huge=yes", &none));
    REFUSED(ASHLAR_ERR_INVALID, "it is 65536",
            ashlar_source_open("vm", "huge=yes,granule=64K", &none));
    ck_assert_ptr_null(none);
    OK(ashlar_vm_query(source, &account));
    ck_assert_uint_eq(account.huge, ASHLAR_VM_HUGE_OFF);
    ck_assert_uint_eq(account.huge_page_bytes + account.huge_bytes, 0);
}
END_TEST

static Suite *vm_huge_suite(void)
{
    Suite *suite = suite_create("vm_huge");
    TCase *test = tcase_create("huge pages");

    tcase_add_checked_fixture(test, open_source, close_source);
    tcase_add_test(test, huge_pages_are_reported_as_granted);
    tcase_add_test(test, huge_pages_that_are_denied_are_told);
    tcase_add_test(test, only_this_sources_mappings_are_counted);
    tcase_add_test(test, the_kernels_settings_are_read_as_it_reads_them);
    tcase_add_test(test, huge_pages_need_a_granule_of_one);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(vm_huge_suite());
}
