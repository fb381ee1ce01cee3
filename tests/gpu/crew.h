/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Threads that take turns at one work, each on a core of its own. The caller is
 * one of them, number 0; the others wait for their turn without sleeping, since
 * to be woken takes longer than what is measured.
 */
#ifndef TESTS_CREW_H
#define TESTS_CREW_H

#define CREW_MOST 8

/* The cores that this process may use, up to CREW_MOST: the first processor of
 * each. The caller is pinned to the first. */
unsigned crew_cores(void);

/* Start so many threads, the caller among them; each of the others calls begin
 * first. There must be as many cores. */
void crew_start(unsigned threads, void (*begin)(void));

/* Let all do a work, each by its number, and wait for the last. */
void crew_work(void (*work)(unsigned number));

void crew_end(void);

#endif
