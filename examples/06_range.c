/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A host array that grows and does not move: pointers into it stay good, and
 * nothing is copied. Addresses are reserved once; memory comes as it grows.
 */
#include <ashlar.h>
#include <stdio.h>

int main(void)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    const uint64_t totals[] = {2 << 20, 64 << 20, 256 << 20};
    struct ashlar_source *source;
    struct ashlar_range *range;
    double *array = NULL;

    if (ashlar_source_open("vm", "granule=2M", &source) != ASHLAR_OK ||
        ashlar_range_create(source, NULL, &range) != ASHLAR_OK) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        if (ashlar_range_grow_to(range, totals[i], &result) != ASHLAR_OK) {
            fprintf(stderr, "%s\n", ashlar_last_error_message());
            return 1;
        }
        if (array == NULL)
            array = (double *)(uintptr_t)result.base;
        array[result.used_bytes / sizeof(*array) - 1] = i + 1;
        printf("%3u MiB, %s, %u calls\n", (unsigned)(result.used_bytes >> 20),
               (uintptr_t)result.base == (uintptr_t)array ? "where it was"
                                                          : "moved",
               result.source_calls);
    }
    printf("the last of the first 2 MiB is still %g\n",
           array[totals[0] / sizeof(*array) - 1]);
    /* Shrinking: nobody uses what is taken away, so there is no fence. */
    ashlar_range_shrink_to(range, 2 << 20, ASHLAR_QUIET, 1, &result);
    printf("%u MiB given back\n", (unsigned)(result.released_bytes >> 20));
    ashlar_range_destroy(range, ASHLAR_QUIET, 1);
    ashlar_source_close(source);
    return 0;
}

/*
 * Output:
 *   2 MiB, where it was, 3 calls
 *  64 MiB, where it was, 3 calls
 * 256 MiB, where it was, 3 calls
 * the last of the first 2 MiB is still 1
 * 254 MiB given back
 */
