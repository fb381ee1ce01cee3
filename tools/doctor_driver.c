/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

#define VERSION_LEAST 12000

/* Asking for the version starts nothing on the device. */
static int driver_version(void *library)
{
    int (*get_version)(int *) =
        (int (*)(int *))dlsym(library, "cuDriverGetVersion");
    int version = 0;

    if (get_version == NULL || get_version(&version) != 0)
        return 0;
    return version;
}

static void tell_version(struct findings *findings, int version)
{
    bool old = version < VERSION_LEAST;

    if (version == 0) {
        findings_add(findings, FINDING_NOTE, "driver",
                     "libcuda.so.1 is there, but does not tell its version");
        findings_advise(findings, "it may be the toolkit's stub; see that the "
                                  "driver's own is found first");
        return;
    }
    findings_add(findings, old ? FINDING_NOTE : FINDING_OK, "driver",
                 "libcuda.so.1, for CUDA %d.%d", version / 1000,
                 version % 1000 / 10);
    if (old)
        findings_advise(findings, "tensor maps need a driver for CUDA 12.0 or "
                                  "later");
}

bool doctor_driver(struct findings *findings)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        findings_add(findings, FINDING_NOTE, "driver",
                     "libcuda.so.1 was not found");
        findings_advise(findings,
                        "fine for pools on the heap; to launch kernels, "
                        "install the NVIDIA driver or, in a container, start "
                        "it with its GPUs");
        return false;
    }
    tell_version(findings, driver_version(library));
    if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0 &&
        access("/dev/nvgpu", F_OK) != 0) {
        findings_add(findings, FINDING_NOTE, "devices",
                     "there is no /dev/nvidiactl");
        findings_advise(findings, "load the driver's kernel module or, in a "
                                  "container, start it with its GPUs");
    }
    dlclose(library);
    return true;
}
