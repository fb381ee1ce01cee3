/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/stress.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pool/watch.h"

#define CHILD_SECONDS 300

#ifdef HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#ifdef __has_feature
#define FEATURE(_feature) __has_feature(_feature)
#else
#define FEATURE(_feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FEATURE(address_sanitizer)
#define UNDER_ASAN true
#else
#define UNDER_ASAN false
#endif

#if defined(__SANITIZE_THREAD__) || FEATURE(thread_sanitizer)
#define UNDER_TSAN true
#else
#define UNDER_TSAN false
#endif

/* The first failure: in memory that children share. */
struct failure {
    int noted;
    int written;
    char text[1024];
};

static struct failure *failure;
static uint64_t seed;
static uint64_t seconds;
static struct timespec start;

static uint64_t number_of(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    char *end;
    uint64_t value;

    if (text == NULL || *text == '\0')
        return fallback;
    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0') {
        printf("Bail out! %s is \"%s\"; it must be a number\n", name, text);
        exit(1);
    }
    return value;
}

void stress_begin(void)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    failure = mmap(NULL, sizeof(*failure), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failure == MAP_FAILED) {
        printf("Bail out! no shared memory: %s\n", strerror(errno));
        exit(1);
    }
    seconds = number_of("ASHLAR_STRESS_SECONDS", 0);
    seed = number_of("ASHLAR_STRESS_SEED", (uint64_t)start.tv_nsec << 20 ^
                                               (uint64_t)start.tv_sec ^
                                               (uint64_t)getpid() << 40);
    printf("# ASHLAR_STRESS_SEED=0x%llx\n", (unsigned long long)seed);
    (void)fflush(stdout);
}

bool stress_full(void)
{
    return seconds != 0;
}

bool stress_is_watched(void)
{
    return watch_wanted();
}

bool stress_is_valgrind(void)
{
    return RUNNING_ON_VALGRIND != 0;
}

bool stress_is_asan(void)
{
    return UNDER_ASAN;
}

bool stress_is_tsan(void)
{
    return UNDER_TSAN;
}

size_t stress_count(size_t brief, size_t full)
{
    if (stress_full())
        return full;
    if (stress_is_valgrind())
        return brief / 40 + 1;
    return stress_is_watched() || stress_is_tsan() ? brief / 8 + 1 : brief;
}

bool stress_goes_on(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return !stress_failed() && (uint64_t)(now.tv_sec - start.tv_sec) < seconds;
}

/* By a walk of the page tables: what statm says may lack some megabytes, since
 * some kernels count for each processor and add that up now and then. */
size_t stress_resident(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[128];
    size_t kib = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL &&
           sscanf(line, "Rss: %zu kB", &kib) != 1)
        continue;
    (void)fclose(file);
    return kib << 10;
}

int stress_run(Suite *suite)
{
    if (UNDER_TSAN)
        (void)setenv("CK_FORK", "no", 1);
    return suite_run(suite);
}

/* --- luck ----------------------------------------------------------------- */

/* Splitmix64: one addition a step, and every state is a good one. */
uint64_t stress_next(struct stress_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct stress_random stress_stream(uint64_t number)
{
    struct stress_random random = {seed ^ number << 32};

    random.state = stress_next(&random);
    return random;
}

size_t stress_below(struct stress_random *random, size_t bound)
{
    return (size_t)(stress_next(random) % bound);
}

bool stress_chance(struct stress_random *random, size_t odds)
{
    return stress_below(random, odds) == 0;
}

void stress_shuffle(struct stress_random *random, void **items, size_t count)
{
    size_t i;
    size_t j;
    void *item;

    for (i = count; i > 1; i--) {
        j = stress_below(random, i);
        item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

/* --- failures ------------------------------------------------------------- */

bool stress_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    size_t length;

    if (__atomic_exchange_n(&failure->noted, 1, __ATOMIC_ACQ_REL) != 0)
        return false;
    length = (size_t)snprintf(failure->text, sizeof(failure->text),
                              "%s:%d: ", file, line);
    va_start(arguments, format);
    (void)vsnprintf(failure->text + length, sizeof(failure->text) - length,
                    format, arguments);
    va_end(arguments);
    __atomic_store_n(&failure->written, 1, __ATOMIC_RELEASE);
    return false;
}

bool stress_failed(void)
{
    return __atomic_load_n(&failure->noted, __ATOMIC_RELAXED) != 0;
}

void stress_forgive(void)
{
    memset(failure, 0, sizeof(*failure));
}

void stress_verdict(void)
{
    char text[sizeof(failure->text)];

    if (!stress_failed())
        return;
    while (__atomic_load_n(&failure->written, __ATOMIC_ACQUIRE) == 0)
        continue;
    memcpy(text, failure->text, sizeof(text));
    /* The next case starts afresh. */
    stress_forgive();
    ck_abort_msg("%s (ASHLAR_STRESS_SEED=0x%llx)", text,
                 (unsigned long long)seed);
}

/* --- threads and children ------------------------------------------------- */

struct starter {
    pthread_t thread;
    unsigned number;
    void (*work)(unsigned number, void *user);
    void *user;
};

static void *start_work(void *argument)
{
    const struct starter *starter = argument;

    starter->work(starter->number, starter->user);
    return NULL;
}

void stress_threads(unsigned count, void (*work)(unsigned number, void *user),
                    void *user)
{
    struct starter *starters = calloc(count, sizeof(*starters));
    unsigned i;

    ck_assert_ptr_nonnull(starters);
    for (i = 0; i < count; i++) {
        starters[i].number = i;
        starters[i].work = work;
        starters[i].user = user;
        ck_assert_int_eq(
            pthread_create(&starters[i].thread, NULL, start_work, &starters[i]),
            0);
    }
    for (i = 0; i < count; i++)
        ck_assert_int_eq(pthread_join(starters[i].thread, NULL), 0);
    free(starters);
}

void stress_meet(unsigned *arrived, unsigned threads)
{
    unsigned mine = __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    unsigned all = (mine + threads - 1) / threads * threads;
    unsigned spins;

    for (spins = 0; __atomic_load_n(arrived, __ATOMIC_ACQUIRE) < all; spins++)
        if (spins % 1024 == 1023)
            (void)sched_yield();
}

bool stress_child(void (*work)(void *user), void *user)
{
    pid_t child;
    int status;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        work(user);
        _exit(stress_failed() ? 1 : 0);
    }
    if (!STRESS_EXPECT(child != -1, "fork: %s", strerror(errno)))
        return false;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        return STRESS_EXPECT(false, "the child was ended by signal %d (%s)",
                             WTERMSIG(status), strsignal(WTERMSIG(status)));
    return STRESS_EXPECT(WEXITSTATUS(status) == 0,
                         "the child ended with status %d", WEXITSTATUS(status));
}
