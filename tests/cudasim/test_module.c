/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Modules: what is loaded, and what is not. */
#include "config.h"

#include "sim.h"
#include "versions.h"

#include <stdio.h>
#include <string.h>

#define TARGET ".target sm_90\n.address_size 64\n"
#define HEAD   ".version 8.0\n" TARGET

static const char image[] =
    HEAD "/* .entry not_this */ // .entry nor_that\n"
         ".func helper(.param .b32 x) { ret; }\n"
         ".entry other(.param .align 64 .b8 map[128], .param .u32 n) { ret; }\n"
         ".visible .entry plain { ret; }\n";

static CUmodule module;

static void begin(void)
{
    sim_begin();
    OK(cuModuleLoadData(&module, image));
}

static void end(void)
{
    OK(cuModuleUnload(module));
    sim_end();
}

static const struct {
    const char *image;
    CUresult result;
} images[] = {
    {NULL, CUDA_ERROR_INVALID_VALUE},
    {"", CUDA_ERROR_INVALID_IMAGE},
    {"garbage", CUDA_ERROR_INVALID_IMAGE},
    {"/* .version 8.0", CUDA_ERROR_INVALID_IMAGE},
    {".version 8.0\n", CUDA_ERROR_INVALID_PTX},
    {".version 8.0\n.target mips\n", CUDA_ERROR_INVALID_PTX},
    {HEAD ".entry ashlar_scatter(.param .u64 table) { ret; }",
     CUDA_ERROR_INVALID_PTX},
    {HEAD ".entry ashlar_scatter(.param .u64 a, .param .u64 b,\n"
          ".param .u64 c, .param .u64 d) { ret; }",
     CUDA_ERROR_INVALID_PTX},
    {".version 9.1\n" TARGET, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
    {".version 8.0\n.target sm_100\n", CUDA_ERROR_INVALID_PTX},
    {"\177ELF\2\1\1", CUDA_ERROR_NOT_SUPPORTED},
    {"\x50\xed\x55\xba\1", CUDA_ERROR_NOT_SUPPORTED},
};

START_TEST(a_bad_image_is_refused_and_leaves_nothing)
{
    CUmodule none;

    IS(cuModuleLoadData(&none, images[_i].image), images[_i].result);
    ck_assert_uint_eq(sim_account().modules, 0);
    sim_end();
}
END_TEST

START_TEST(good_images_are_taken)
{
    const char *const good[] = {
        HEAD, "// by hand\n.version 9.0\n.target sm_90a, debug\n",
        ".version 7.0\n.target sm_70\n.entry f()\n{ ret; }\n"};
    CUmodule loaded;
    size_t i;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        OK(cuModuleLoadData(&loaded, good[i]));
        OK(cuModuleUnload(loaded));
    }
    IS(cuModuleLoadData(NULL, HEAD), CUDA_ERROR_INVALID_VALUE);
    sim_end();
}
END_TEST

/* The driver's version, a PTX that it reads, and one that it does not. */
static const struct {
    int driver;
    const char *known;
    const char *unknown;
} versions[] = {{11080, "7.8", "8.0"}, {12000, "8.0", "8.1"},
                {12030, "8.3", "8.4"}, {12060, "8.5", "8.6"},
                {12070, "8.6", "8.7"}, {12090, "8.8", "9.0"},
                {13000, "9.0", "9.1"}};

START_TEST(what_ptx_a_driver_reads_goes_by_its_version)
{
    CUmodule loaded;
    char text[128];

    snprintf(text, sizeof(text), "driver=%d", versions[_i].driver);
    sim_begin_with(text);
    snprintf(text, sizeof(text), ".version %s\n" TARGET, versions[_i].known);
    OK(cuModuleLoadData(&loaded, text));
    OK(cuModuleUnload(loaded));
    snprintf(text, sizeof(text), ".version %s\n" TARGET, versions[_i].unknown);
    IS(cuModuleLoadData(&loaded, text), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    sim_end();
}
END_TEST

START_TEST(a_device_runs_what_is_written_for_it_or_for_older_ones)
{
    CUmodule loaded;
    int major = 0;
    int minor = 0;

    sim_begin_with("sm=103");
    OK(cuDeviceGetAttribute(&major,
                            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    OK(cuDeviceGetAttribute(&minor,
                            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    ck_assert_int_eq(major * 10 + minor, 103);
    OK(cuModuleLoadData(&loaded, ".version 9.0\n.target sm_103\n"));
    OK(cuModuleUnload(loaded));
    IS(cuModuleLoadData(&loaded, ".version 9.0\n.target sm_110\n"),
       CUDA_ERROR_INVALID_PTX);
    sim_end();
}
END_TEST

START_TEST(options_of_a_compiler_are_not_looked_at)
{
    CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
    void *value = NULL;
    CUmodule loaded;

    OK(cuModuleLoadDataEx(&loaded, HEAD, 1, &option, &value));
    OK(cuModuleUnload(loaded));
    OK(cuModuleLoadDataEx(&loaded, HEAD, 0, NULL, NULL));
    OK(cuModuleUnload(loaded));
    IS(cuModuleLoadDataEx(&loaded, HEAD, 1, NULL, &value),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuModuleLoadDataEx(&loaded, HEAD, 1, &option, NULL),
       CUDA_ERROR_INVALID_VALUE);
    sim_end();
}
END_TEST

START_TEST(functions_are_found_by_their_names)
{
    CUfunction other;
    CUfunction again;
    CUfunction plain;

    OK(cuModuleGetFunction(&other, module, "other"));
    OK(cuModuleGetFunction(&again, module, "other"));
    ck_assert_ptr_eq(again, other);
    OK(cuModuleGetFunction(&plain, module, "plain"));
    ck_assert_ptr_ne(plain, other);
    IS(cuModuleGetFunction(&other, module, "not_this"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&other, module, "nor_that"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&other, module, "helper"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(NULL, module, "other"), CUDA_ERROR_INVALID_VALUE);
    IS(cuModuleGetFunction(&other, module, NULL), CUDA_ERROR_INVALID_VALUE);
    end();
}
END_TEST

START_TEST(a_module_that_is_not_unloaded_is_told)
{
    char left[256];

    ck_assert_uint_eq(sim_account().modules, 1);
    cudasim_report(left, sizeof(left));
    ck_assert_ptr_nonnull(strstr(left, "cudasim: modules: 1 left\n"));
    end();
}
END_TEST

START_TEST(a_module_goes_with_its_context)
{
    OK(cuDevicePrimaryCtxReset(0));
    ck_assert_uint_eq(sim_account().modules, 0);
    IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_module_is_used_from_any_context_and_from_none)
{
    CUfunction plain;
    CUcontext other;
    CUmodule loaded;

    OK(cuModuleLoadData(&loaded, image));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuModuleGetFunction(&plain, loaded, "plain"));
    OK(cuModuleUnload(loaded));
    OK(cuCtxDestroy(other));
    OK(cuModuleLoadData(&loaded, image));
    OK(cuCtxSetCurrent(NULL));
    OK(cuModuleGetFunction(&plain, loaded, "plain"));
    OK(cuModuleUnload(loaded));
    OK(cuCtxSetCurrent(sim_context));
    end();
}
END_TEST

START_TEST(an_unloaded_module_and_its_functions_are_bogus)
{
    CUfunction plain;

    OK(cuModuleGetFunction(&plain, module, "plain"));
    OK(cuModuleUnload(module));
    IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleGetFunction(&plain, module, "plain"), CUDA_ERROR_INVALID_HANDLE);
    IS(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(sim_account().bogus_handles, 3);
    sim_end();
}
END_TEST

START_TEST(nothing_is_loaded_without_a_context_or_in_one_that_failed)
{
    CUmodule none;

    OK(cuCtxSetCurrent(NULL));
    IS(cuModuleLoadData(&none, image), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(sim_context));
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_ERROR_LAUNCH_FAILED), 0);
    IS(cuModuleLoadData(&none, image), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuModuleUnload(module), CUDA_ERROR_LAUNCH_FAILED);
}
END_TEST

START_TEST(unloading_spoils_a_capture_unless_the_thread_is_relaxed)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUmodule loaded;
    CUgraph graph;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuModuleLoadData(&loaded, image));
    OK(cuModuleUnload(loaded));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuModuleLoadData(&loaded, image));
    IS(cuModuleUnload(loaded), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamEndCapture(sim_stream, &graph),
       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuModuleUnload(loaded));
    end();
}
END_TEST

static Suite *module_suite(void)
{
    Suite *suite = suite_create("cudasim module");
    TCase *test = tcase_create("images");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_loop_test(test, a_bad_image_is_refused_and_leaves_nothing, 0,
                        sizeof(images) / sizeof(images[0]));
    tcase_add_test(test, good_images_are_taken);
    tcase_add_test(test, options_of_a_compiler_are_not_looked_at);
    suite_add_tcase(suite, test);

    test = tcase_create("versions");
    tcase_add_loop_test(test, what_ptx_a_driver_reads_goes_by_its_version, 0,
                        sizeof(versions) / sizeof(versions[0]));
    tcase_add_test(test,
                   a_device_runs_what_is_written_for_it_or_for_older_ones);
    suite_add_tcase(suite, test);

    test = tcase_create("modules");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, functions_are_found_by_their_names);
    tcase_add_test(test, a_module_that_is_not_unloaded_is_told);
    tcase_add_test(test, a_module_goes_with_its_context);
    tcase_add_test(test, a_module_is_used_from_any_context_and_from_none);
    tcase_add_test(test, an_unloaded_module_and_its_functions_are_bogus);
    tcase_add_test(test,
                   nothing_is_loaded_without_a_context_or_in_one_that_failed);
    tcase_add_test(test,
                   unloading_spoils_a_capture_unless_the_thread_is_relaxed);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(module_suite());
}
