/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the tests of the simulated driver share.
 */
#ifndef CUDASIM_SIM_H
#define CUDASIM_SIM_H

#include "cudasim.h"
#include "machine.h"

#include "support/suite.h"

/* A call, and what it has to return. */
#define IS(_call, _result) ck_assert_int_eq((int)(_call), (int)(_result))
#define OK(_call)          IS(_call, CUDA_SUCCESS)

/* A fresh machine, with its first device's primary context current and a stream
 * that heeds no other. */
void sim_begin(void);
void sim_begin_with(const char *settings);
extern CUcontext sim_context;
extern CUstream sim_stream;

/* Give those back. Fails if anything is left. */
void sim_end(void);

/* Properties of memory on device 0, and its rights to read and write. */
extern const CUmemAllocationProp sim_properties;
extern const CUmemAccessDesc sim_rights;

/* Some granules of the device, reserved, made, mapped, with rights; and back. */
CUdeviceptr sim_map(size_t granules);
void sim_unmap(CUdeviceptr address, size_t granules);

CUdeviceptr sim_reserve(size_t granules);
CUmemGenericAllocationHandle sim_create(size_t granules);

/* The account as it is now. */
struct cudasim_account sim_account(void);

/* Call in another thread, and wait for its end. */
void sim_elsewhere(void (*function)(void));

#endif
