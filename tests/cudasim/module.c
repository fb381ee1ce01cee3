/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "entry.h"
#include "ptx.h"
#include "stream.h"

#define ELF_MAGIC    "\177ELF"
#define FATBIN_MAGIC "\x50\xed\x55\xba"

struct index modules;

static struct index functions;

struct function *module_function(CUfunction handle)
{
    struct function *function =
        index_find(&functions, (uint64_t)(uintptr_t)handle);

    machine.bogus += function == NULL;
    return function;
}

static struct module *find(CUmodule handle)
{
    struct module *module = index_find(&modules, (uint64_t)(uintptr_t)handle);

    machine.bogus += module == NULL;
    return module;
}

static void forget(struct module *module)
{
    struct function *function;

    while (module->functions != NULL) {
        function = module->functions;
        module->functions = function->next;
        index_remove(&functions, &function->handle);
        free(function->name);
        free(function);
    }
    index_remove(&modules, &module->handle);
    free(module);
}

/* --- loading --------------------------------------------------------------- */

/* The newest PTX that a driver reads, which goes by its version: 8.6 came with CUDA
 * 12.7, not with 12.6. */
static unsigned newest_ptx(int driver)
{
    unsigned minor = (unsigned)(driver % 1000 / 10);

    if (driver >= 13000)
        return 90 + minor;
    if (driver >= 12060)
        return 80 + minor - 1;
    return (driver >= 12000 ? 80 : 70) + minor;
}

static bool begins_with(const void *image, const char *magic)
{
    return strncmp(image, magic, 4) == 0;
}

/* Compiled code is for a real device. */
static CUresult check_image(const void *image, struct ptx *ptx)
{
    if (begins_with(image, ELF_MAGIC) || begins_with(image, FATBIN_MAGIC))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!ptx_begin(ptx, image))
        return ptx->version == 0 ? CUDA_ERROR_INVALID_IMAGE
                                 : CUDA_ERROR_INVALID_PTX;
    if (ptx->version > newest_ptx(machine_driver()))
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return ptx->target > (unsigned)machine.settings.capability
               ? CUDA_ERROR_INVALID_PTX
               : CUDA_SUCCESS;
}

/* Whoever writes a known kernel anew keeps to its parameters. */
static bool is_as_known(const struct kernel *kernel,
                        const struct ptx_entry *entry)
{
    return kernel->parameters == entry->parameters &&
           memcmp(kernel->bytes, entry->bytes, sizeof(kernel->bytes)) == 0;
}

static CUresult add_function(struct module *module,
                             const struct ptx_entry *entry)
{
    const struct kernel *kernel = kernel_find(entry->name, entry->length);
    struct function *function;

    if (kernel != NULL && !is_as_known(kernel, entry))
        return CUDA_ERROR_INVALID_PTX;
    function = machine_object(&functions, sizeof(*function));
    if (function == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    function->next = module->functions;
    function->module = module;
    function->kernel = kernel;
    function->parameters = entry->parameters;
    function->name = strndup(entry->name, entry->length);
    module->functions = function;
    return function->name == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult load(CUmodule *handle, const void *image)
{
    struct context *context;
    struct module *module;
    struct ptx_entry entry;
    struct ptx ptx;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_image(image, &ptx);
    if (result != CUDA_SUCCESS)
        return result;
    module = machine_object(&modules, sizeof(*module));
    if (module == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->context = context->id;
    while (result == CUDA_SUCCESS && ptx_next(&ptx, &entry))
        result = add_function(module, &entry);
    if (result != CUDA_SUCCESS) {
        forget(module);
        return result;
    }
    *handle = (CUmodule)(uintptr_t)module->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    CUresult result;

    if (enter("cuModuleLoadData", &result))
        result = leave(load(module, image));
    return result;
}

/* Nothing is compiled, so there is nothing for options to say. */
static CUresult load_with(CUmodule *handle, const void *image, unsigned count,
                          const CUjit_option *options, void *const *values)
{
    if (count > 0 && (options == NULL || values == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return load(handle, image);
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
                                    unsigned count, CUjit_option *options,
                                    void **values)
{
    CUresult result;

    if (enter("cuModuleLoadDataEx", &result))
        result = leave(load_with(module, image, count, options, values));
    return result;
}

/* --- what is loaded -------------------------------------------------------- */

static CUresult get_function(CUfunction *handle, CUmodule from,
                             const char *name)
{
    const struct module *module = find(from);
    const struct function *function;

    if (handle == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    function = module->functions;
    while (function != NULL && strcmp(function->name, name) != 0)
        function = function->next;
    if (function == NULL)
        return CUDA_ERROR_NOT_FOUND;
    *handle = (CUfunction)(uintptr_t)function->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module,
                                     const char *name)
{
    CUresult result;

    if (enter("cuModuleGetFunction", &result))
        result = leave(get_function(function, module, name));
    return result;
}

/* Whatever context is current; all work of the module's is waited for. In a
 * context that failed, that is said, and the module stays. */
static CUresult unload(CUmodule handle)
{
    struct module *module = find(handle);
    CUresult failure;

    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    stream_await_context(module->context);
    module = find(handle);
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    failure = context_of(module->context)->failure;
    if (failure == CUDA_SUCCESS)
        forget(module);
    return failure;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
    CUresult result;

    if (enter("cuModuleUnload", &result))
        result = leave(unload(module));
    return result;
}

/* A module of a context, 0: of any; NULL: there is none. */
static struct module *find_any(uint64_t context)
{
    struct module *module;
    size_t i;

    for (i = 0; i < modules.count; i++) {
        module = (struct module *)modules.items[i];
        if (context == 0 || module->context == context)
            return module;
    }
    return NULL;
}

void module_drop(uint64_t context)
{
    struct module *module = find_any(context);

    for (; module != NULL; module = find_any(context))
        forget(module);
}

void module_clear(void)
{
    module_drop(0);
    index_clear(&modules);
    index_clear(&functions);
}
