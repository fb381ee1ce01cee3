/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#ifdef HAVE_CUDA_H

#include "unit/builtin_facts_list.h"

const struct fact *facts_of_cxx(size_t *count_out)
{
    *count_out = FACT_COUNT;
    return facts;
}

#endif
