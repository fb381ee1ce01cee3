/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Memory that is handed on as a descriptor, also to another process. */
#include "config.h"

#include "sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTOR CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static const char *program; /* this one */

static CUmemGenericAllocationHandle create_shared(void)
{
    CUmemAllocationProp properties = sim_properties;
    CUmemGenericAllocationHandle handle;

    properties.requestedHandleTypes = DESCRIPTOR;
    OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    return handle;
}

static int export_from(CUmemGenericAllocationHandle handle)
{
    int fd = -1;

    OK(cuMemExportToShareableHandle(&fd, handle, DESCRIPTOR, 0));
    return fd;
}

static CUresult import_fd(CUmemGenericAllocationHandle *handle, int fd)
{
    return cuMemImportFromShareableHandle(handle, (void *)(intptr_t)fd,
                                          DESCRIPTOR);
}

static CUdeviceptr map_handle(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr address = sim_reserve(1);

    OK(cuMemMap(address, GRANULE, 0, handle, 0));
    OK(cuMemSetAccess(address, GRANULE, &sim_rights, 1));
    return address;
}

START_TEST(an_imported_handle_is_another_one_of_the_same_memory)
{
    CUmemGenericAllocationHandle handle = create_shared();
    CUmemGenericAllocationHandle imported;
    CUdeviceptr first = map_handle(handle);
    CUdeviceptr second;
    size_t left;
    size_t total;
    int fd = export_from(handle);

    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    OK(import_fd(&imported, fd));
    close(fd);
    ck_assert_uint_ne(imported, handle);
    second = map_handle(imported);
    *(char *)(uintptr_t)first = 5;
    ck_assert_int_eq(*(char *)(uintptr_t)second, 5);
    sim_unmap(first, 1);
    OK(cuMemRelease(handle));
    OK(cuMemGetInfo(&left, &total));
    ck_assert_uint_eq(left, total - GRANULE);
    ck_assert_int_eq(*(char *)(uintptr_t)second, 5);
    sim_unmap(second, 1);
    OK(cuMemRelease(imported));
    OK(cuMemGetInfo(&left, &total));
    ck_assert_uint_eq(left, total);
    sim_end();
}
END_TEST

START_TEST(what_is_not_to_be_shared_is_not_exported)
{
    CUmemGenericAllocationHandle plain = sim_create(1);
    CUmemGenericAllocationHandle handle = create_shared();
    CUmemGenericAllocationHandle imported;
    int fd = 77;

    IS(cuMemExportToShareableHandle(&fd, plain, DESCRIPTOR, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemExportToShareableHandle(&fd, handle, DESCRIPTOR, 1),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_NONE, 0),
       CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(fd, 77);
    fd = export_from(handle);
    OK(import_fd(&imported, fd));
    close(fd);
    IS(cuMemExportToShareableHandle(&fd, imported, DESCRIPTOR, 0),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(plain));
    OK(cuMemRelease(handle));
    OK(cuMemRelease(imported));
    sim_end();
}
END_TEST

START_TEST(a_descriptor_of_something_else_is_refused)
{
    CUmemGenericAllocationHandle handle = 1;
    int foreign = open("/dev/null", O_RDWR | O_CLOEXEC);
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), (off_t)GRANULE), 0);
    IS(import_fd(&handle, -1), CUDA_ERROR_UNKNOWN);
    IS(import_fd(&handle, foreign), CUDA_ERROR_UNKNOWN);
    IS(import_fd(&handle, fileno(file)), CUDA_ERROR_UNKNOWN);
    IS(cuMemImportFromShareableHandle(&handle, NULL, CU_MEM_HANDLE_TYPE_NONE),
       CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(handle, 1);
    ck_assert_uint_eq(sim_account().fds, 0);
    fclose(file);
    close(foreign);
    sim_end();
}
END_TEST

START_TEST(a_fabric_handle_goes_by_the_machine)
{
    const CUmemAllocationHandleType fabric = (CUmemAllocationHandleType)8;
    CUmemAllocationProp properties = sim_properties;
    CUmemGenericAllocationHandle handle;
    CUmemGenericAllocationHandle imported;
    char bytes[64];

    memset(bytes, 0, sizeof(bytes));
    IS(cuMemImportFromShareableHandle(&imported, bytes, fabric),
       CUDA_ERROR_NOT_PERMITTED);
    sim_begin_with("fabric=yes");
    properties.requestedHandleTypes = fabric;
    OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    IS(cuMemExportToShareableHandle(bytes, handle, DESCRIPTOR, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemImportFromShareableHandle(&imported, bytes, fabric),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemExportToShareableHandle(bytes, handle, fabric, 0));
    OK(cuMemImportFromShareableHandle(&imported, bytes, fabric));
    ck_assert_uint_eq(sim_account().fds, 1);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(imported));
    IS(cuMemImportFromShareableHandle(&imported, bytes, fabric),
       CUDA_ERROR_INVALID_VALUE);
    sim_end();
}
END_TEST

/* --- another process ------------------------------------------------------ */

/* The memory of a handle, mapped; NULL: some call failed. */
static char *map_in_child(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr address;

    if (cuMemAddressReserve(&address, GRANULE, 0, 0, 0) != CUDA_SUCCESS ||
        cuMemMap(address, GRANULE, 0, handle, 0) != CUDA_SUCCESS ||
        cuMemSetAccess(address, GRANULE, &sim_rights, 1) != CUDA_SUCCESS)
        return NULL;
    return (char *)(uintptr_t)address;
}

/* This program, called with a descriptor: reads what is in the memory, writes an
 * answer, and returns 0 if all was as it should be. */
static int import_and_answer(int fd)
{
    CUmemGenericAllocationHandle handle;
    char *text;

    if (cudasim_reset("") != 0 || cuInit(0) != CUDA_SUCCESS)
        return 1;
    if (import_fd(&handle, fd) != CUDA_SUCCESS || close(fd) != 0)
        return 2;
    text = map_in_child(handle);
    if (text == NULL || strcmp(text, "from the parent") != 0)
        return 3;
    strcpy(text, "from the child");
    if (cuMemUnmap((uintptr_t)text, GRANULE) != CUDA_SUCCESS ||
        cuMemAddressFree((uintptr_t)text, GRANULE) != CUDA_SUCCESS ||
        cuMemRelease(handle) != CUDA_SUCCESS)
        return 4;
    return cudasim_report(NULL, 0) == 0 ? 0 : 5;
}

START_TEST(another_process_imports_and_writes)
{
    CUmemGenericAllocationHandle handle = create_shared();
    CUdeviceptr address = map_handle(handle);
    int fd = export_from(handle);
    char number[16];
    int status;
    pid_t child;

    strcpy((char *)(uintptr_t)address, "from the parent");
    ck_assert_int_eq(fcntl(fd, F_SETFD, 0), 0);
    snprintf(number, sizeof(number), "%d", fd);
    child = fork();
    if (child == 0) {
        execl(program, program, number, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq((char *)(uintptr_t)address, "from the child");
    close(fd);
    sim_unmap(address, 1);
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

static Suite *share_suite(void)
{
    Suite *suite = suite_create("cudasim share");
    TCase *test = tcase_create("descriptors");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, an_imported_handle_is_another_one_of_the_same_memory);
    tcase_add_test(test, what_is_not_to_be_shared_is_not_exported);
    tcase_add_test(test, a_descriptor_of_something_else_is_refused);
    tcase_add_test(test, a_fabric_handle_goes_by_the_machine);
    tcase_add_test(test, another_process_imports_and_writes);
    suite_add_tcase(suite, test);
    return suite;
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 2)
        return import_and_answer(atoi(argv[1]));
    return suite_run(share_suite());
}
