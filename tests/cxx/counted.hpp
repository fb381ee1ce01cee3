/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * An over-aligned type that counts how many of it there are, and throws when
 * it is told to.
 */
#ifndef ASHLAR_TESTS_CXX_COUNTED_HPP
#define ASHLAR_TESTS_CXX_COUNTED_HPP

#include <new>

struct alignas(64) counted {
    static inline int alive = 0;
    static inline int made = 0;
    static inline int throw_at = 0; /* the so-manieth from now on; 0: none */

    int value = 7;

    counted()
    {
        count();
    }

    explicit counted(int number) : value(number)
    {
        count();
    }

    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;

    ~counted()
    {
        alive--;
    }

  private:
    static void count()
    {
        made++;
#ifdef __cpp_exceptions
        if (throw_at != 0 && made == throw_at)
            throw made;
#endif
        alive++;
    }
};

#endif
