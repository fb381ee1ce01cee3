/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "config.h"

#include "support/crew.h"

#include "support/suite.h"

static void *be_member(void *argument)
{
    const struct crew_member *self = argument;
    struct crew *crew = self->crew;

    for (;;) {
        (void)pthread_barrier_wait(&crew->barrier);
        if (crew->work == NULL)
            return NULL;
        if (crew->only == crew->count || crew->only == self->number)
            crew->work(self->number, crew->argument);
        (void)pthread_barrier_wait(&crew->barrier);
    }
}

void crew_start(struct crew *crew, unsigned count)
{
    unsigned i;

    ck_assert_uint_le(count, CREW_MAX);
    crew->count = count;
    ck_assert_int_eq(pthread_barrier_init(&crew->barrier, NULL, count + 1), 0);
    for (i = 0; i < count; i++) {
        struct crew_member *member = &crew->members[i];

        member->crew = crew;
        member->number = i;
        ck_assert_int_eq(
            pthread_create(&member->thread, NULL, be_member, member), 0);
    }
}

void crew_work_one(struct crew *crew, unsigned number, crew_fn *work,
                   void *argument)
{
    crew->work = work;
    crew->argument = argument;
    crew->only = number;
    (void)pthread_barrier_wait(&crew->barrier);
    (void)pthread_barrier_wait(&crew->barrier);
}

void crew_work(struct crew *crew, crew_fn *work, void *argument)
{
    crew_work_one(crew, crew->count, work, argument);
}

void crew_end(struct crew *crew)
{
    unsigned i;

    crew->work = NULL;
    (void)pthread_barrier_wait(&crew->barrier);
    for (i = 0; i < crew->count; i++)
        ck_assert_int_eq(pthread_join(crew->members[i].thread, NULL), 0);
    (void)pthread_barrier_destroy(&crew->barrier);
}
