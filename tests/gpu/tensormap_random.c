/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Random specs, judged by ashlar and by the driver: where they differ, one of
 * them is wrong about the other.
 *
 *     tensormap_random [SPECS [SEED]]          1,000,000 and the clock's
 *
 * A spec starts from one that is right, and some of its knobs are turned to
 * values at a limit or beyond. One that the two judge differently is reduced:
 * each knob goes back as long as they still differ. What is left of it is its
 * class, and classes are printed with a count and an example.
 *
 * Besides, of each spec: that encoding twice gives the same bytes, and rebasing
 * those of encoding anew; and whether a refused encode wrote to the map.
 */
#include "config.h"

#include <cuda.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ashlar/tensormap.h>

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

/* --- luck ----------------------------------------------------------------- */

static uint64_t luck; /* splitmix64's state */

static uint64_t next(void)
{
    uint64_t z = luck += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(size_t bound)
{
    return (size_t)(next() % bound);
}

/* --- the driver ----------------------------------------------------------- */

static struct {
    CUresult (*init)(unsigned flags);
    CUresult (*get)(CUdevice *device, int ordinal);
    CUresult (*name)(char *name, int bytes, CUdevice device);
    CUresult (*attribute)(int *value, CUdevice_attribute which,
                          CUdevice device);
    CUresult (*version)(int *version);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*set)(CUcontext context);
    __typeof__(cuTensorMapEncodeTiled) *tiled;
    __typeof__(cuTensorMapEncodeIm2col) *im2col;
    __typeof__(cuTensorMapEncodeIm2colWide) *wide; /* since 12.8 */
    __typeof__(cuTensorMapReplaceAddress) *replace;
} driver;

static uint32_t capability;

static bool driver_find(void)
{
    static const struct {
        const char *name;
        void *entry;
    } entries[] = {
        {"cuInit", &driver.init},
        {"cuDeviceGet", &driver.get},
        {"cuDeviceGetName", &driver.name},
        {"cuDeviceGetAttribute", &driver.attribute},
        {"cuDriverGetVersion", &driver.version},
        {"cuDevicePrimaryCtxRetain", &driver.retain},
        {"cuCtxSetCurrent", &driver.set},
        {"cuTensorMapEncodeTiled", &driver.tiled},
        {"cuTensorMapEncodeIm2col", &driver.im2col},
        {"cuTensorMapReplaceAddress", &driver.replace},
        {"cuTensorMapEncodeIm2colWide", &driver.wide}, /* may be missing */
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *entry;
    size_t i;

    for (i = 0; library != NULL && i < COUNT_OF(entries); i++) {
        entry = dlsym(library, entries[i].name);
        memcpy(entries[i].entry, &entry, sizeof(entry));
    }
    return library != NULL && driver.replace != NULL;
}

/* The first device, its primary context current. */
static bool driver_start(void)
{
    CUdevice device;
    CUcontext context;
    int major = 0, minor = 0, version = 0;
    char name[96] = "";

    if (driver.init(0) != CUDA_SUCCESS ||
        driver.get(&device, 0) != CUDA_SUCCESS ||
        driver.retain(&context, device) != CUDA_SUCCESS ||
        driver.set(context) != CUDA_SUCCESS)
        return false;
    driver.name(name, sizeof(name), device);
    driver.version(&version);
    driver.attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                     device);
    driver.attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                     device);
    capability = (uint32_t)(major * 10 + minor);
    printf("# %s, compute capability %d.%d, driver %d\n", name, major, minor,
           version);
    return true;
}

/* The driver encodes it for any device, by rules that are not those of cuda.h
 * where the device has no use for it. */
static bool has_wide(void)
{
    return driver.wide != NULL && capability >= 100;
}

static CUresult encode(const struct ashlar_spec *s, CUtensorMap *map)
{
    void *address;

    memcpy(&address, &s->address, sizeof(address));
    if (s->mode == ASHLAR_SPEC_TILED)
        return driver.tiled(map, (CUtensorMapDataType)s->dtype, s->rank,
                            address, s->dims, s->strides, s->box,
                            s->element_strides,
                            (CUtensorMapInterleave)s->interleave,
                            (CUtensorMapSwizzle)s->swizzle,
                            (CUtensorMapL2promotion)s->l2_promotion,
                            (CUtensorMapFloatOOBfill)s->oob_fill);
    if (s->mode == ASHLAR_SPEC_IM2COL)
        return driver.im2col(
            map, (CUtensorMapDataType)s->dtype, s->rank, address, s->dims,
            s->strides, s->lower_corner, s->upper_corner, s->channels,
            s->pixels, s->element_strides, (CUtensorMapInterleave)s->interleave,
            (CUtensorMapSwizzle)s->swizzle,
            (CUtensorMapL2promotion)s->l2_promotion,
            (CUtensorMapFloatOOBfill)s->oob_fill);
    return driver.wide(
        map, (CUtensorMapDataType)s->dtype, s->rank, address, s->dims,
        s->strides, s->lower_corner[0], s->upper_corner[0], s->channels,
        s->pixels, s->element_strides, (CUtensorMapInterleave)s->interleave,
        (CUtensorMapIm2ColWideMode)s->wide_mode, (CUtensorMapSwizzle)s->swizzle,
        (CUtensorMapL2promotion)s->l2_promotion,
        (CUtensorMapFloatOOBfill)s->oob_fill);
}

/* --- knobs ---------------------------------------------------------------- */

struct knob {
    const char *name;
    size_t offset;
    size_t bytes;
    enum ashlar_spec_field field; /* of an enum; else NONE */
    const int64_t *values;        /* to turn it to */
    size_t count;
};

/* clang-format off */
#define T(_n) (INT64_C(1) << (_n))
static const int64_t addresses[] = {0, 1, 8, 15, 16, 32, 48, 64, 128, T(47) - 16, T(47), T(48), T(56), T(57) - 32, T(57), T(57) + 64, -16, -32, -8};
static const int64_t dims[] = {0, 1, 2, 3, 7, 8, 32, 64, 127, 128, 129, 130, 256, T(20), T(31), T(32) - 128, T(32) - 1, T(32), T(32) + 1, T(33), -1};
static const int64_t strides[] = {0, 8, 16, 32, 48, 64, 4096, 4104, 4112, 4128, T(32), T(36), T(40) - 32, T(40) - 16, T(40) - 8, T(40), T(41), T(44) + 32, -16};
static const int64_t boxes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 96, 127, 128, 129, 192, 226, 227, 228, 255, 256, 257, 512, T(31)};
static const int64_t steps[] = {0, 1, 2, 3, 7, 8, 9, 16, 255, T(31)};
static const int64_t corners[] = {-32769, -32768, -257, -256, -255, -129, -128, -127, -64, -17, -16, -15, -1, 1, 14, 15, 16, 17, 126, 127, 128, 254, 255, 256, 257, 32767, 32768};
static const int64_t channels[] = {0, 1, 2, 4, 8, 12, 15, 16, 24, 32, 48, 64, 96, 120, 127, 128, 129, 144, 192, 240, 255, 256, 257, 272, 512};
static const int64_t pixels[] = {0, 1, 2, 127, 128, 226, 227, 228, 255, 256, 454, 455, 512, 908, 909, 1023, 1024, 1025, 2048};
static const int64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 255};

#define KNOB(_member, _values, _count)                                         \
    {#_member, offsetof(struct ashlar_spec, _member),                          \
     sizeof(((struct ashlar_spec *)0)->_member), ASHLAR_SPEC_FIELD_NONE,       \
     _values, _count}
#define LIST(_member, _values) KNOB(_member, _values, COUNT_OF(_values))
#define ENUM(_member, _field, _count)                                          \
    {#_member, offsetof(struct ashlar_spec, _member),                          \
     sizeof(((struct ashlar_spec *)0)->_member), ASHLAR_SPEC_FIELD_##_field,   \
     numbers, _count}

/* Those that others depend on come last: they go back last. */
static const struct knob knobs[] = {
    LIST(address, addresses),
    LIST(dims[0], dims), LIST(dims[1], dims), LIST(dims[2], dims),
    LIST(dims[3], dims), LIST(dims[4], dims),
    LIST(strides[0], strides), LIST(strides[1], strides),
    LIST(strides[2], strides), LIST(strides[3], strides),
    LIST(box[0], boxes), LIST(box[1], boxes), LIST(box[2], boxes),
    LIST(box[3], boxes), LIST(box[4], boxes),
    LIST(element_strides[0], steps), LIST(element_strides[1], steps),
    LIST(element_strides[2], steps), LIST(element_strides[3], steps),
    LIST(element_strides[4], steps),
    LIST(lower_corner[0], corners), LIST(lower_corner[1], corners),
    LIST(lower_corner[2], corners),
    LIST(upper_corner[0], corners), LIST(upper_corner[1], corners),
    LIST(upper_corner[2], corners),
    LIST(channels, channels), LIST(pixels, pixels),
    ENUM(l2_promotion, L2_PROMOTION, 5), ENUM(oob_fill, OOB_FILL, 3),
    ENUM(wide_mode, WIDE_MODE, 3), ENUM(swizzle, SWIZZLE, 8),
    ENUM(interleave, INTERLEAVE, 4), ENUM(dtype, DTYPE, 17),
    KNOB(rank, numbers, 8),
};
/* clang-format on */

#define KNOBS COUNT_OF(knobs)

static int64_t get(const struct ashlar_spec *spec, const struct knob *knob)
{
    const char *at = (const char *)spec + knob->offset;
    uint64_t wide = 0;
    int32_t narrow;

    if (knob->bytes == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return (int64_t)wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

static void set(struct ashlar_spec *spec, const struct knob *knob,
                int64_t value)
{
    int32_t narrow = (int32_t)(uint32_t)(uint64_t)value;

    if (knob->bytes == sizeof(value))
        memcpy((char *)spec + knob->offset, &value, sizeof(value));
    else
        memcpy((char *)spec + knob->offset, &narrow, sizeof(narrow));
}

/* Right for every dtype: 128 of them are a multiple of 16 bytes. */
static struct ashlar_spec plain(uint32_t mode)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;
    uint32_t i;

    spec.mode = mode;
    spec.address = UINT64_C(0x7f0000000000);
    spec.rank = 3;
    spec.channels = 128;
    spec.pixels = 16;
    for (i = 0; i < ASHLAR_SPEC_RANK_MAX; i++) {
        spec.dims[i] = 256;
        spec.box[i] = i == 0 ? 128 : 2;
        spec.element_strides[i] = 1;
    }
    for (i = 0; i + 1 < ASHLAR_SPEC_RANK_MAX; i++)
        spec.strides[i] = UINT64_C(4096) << 8 * i;
    if (mode == ASHLAR_SPEC_IM2COL_WIDE)
        spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    return spec;
}

static struct ashlar_spec any(void)
{
    struct ashlar_spec spec = plain((uint32_t)(below(20) * 3 / 20));
    size_t turns = below(6), first = below(3) == 0 ? 0 : KNOBS - 7, i;
    const struct knob *knob;

    /* Settings first: they say what the numbers have to be. */
    for (i = 0; i < turns; i++) {
        knob = &knobs[first + below(KNOBS - first)];
        set(&spec, knob, knob->values[below(knob->count)]);
    }
    turns = below(4);
    for (i = 0; i < turns; i++) {
        knob = &knobs[below(KNOBS)];
        set(&spec, knob, knob->values[below(knob->count)]);
    }
    return spec;
}

/* --- verdicts ------------------------------------------------------------- */

static struct {
    uint64_t specs, taken, refused, differ;
    uint64_t spoiled;  /* a refused encode wrote to the map */
    uint64_t unsteady; /* encoding twice gave other bytes */
    uint64_t rebased, not_same;
} tally;

static bool we_take(const struct ashlar_spec *spec)
{
    return ashlar_spec_check(spec, capability, NULL, 0, NULL) == ASHLAR_OK;
}

static bool they_take(const struct ashlar_spec *spec)
{
    CUtensorMap map;

    return encode(spec, &map) == CUDA_SUCCESS;
}

static bool differ(const struct ashlar_spec *spec)
{
    return we_take(spec) != they_take(spec);
}

/* Turn back what is not needed for the two to differ, in the same way. */
static void reduce(struct ashlar_spec *spec)
{
    struct ashlar_spec base = plain(spec->mode);
    bool ours = we_take(spec);
    size_t i, pass;
    int64_t was;

    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < KNOBS; i++) {
            was = get(spec, &knobs[i]);
            set(spec, &knobs[i], get(&base, &knobs[i]));
            if (!differ(spec) || we_take(spec) != ours)
                set(spec, &knobs[i], was);
        }
}

/* --- classes of differences ----------------------------------------------- */

#define CLASSES_MOST 400
#define NAME_BYTES   400

static struct class
{
    char name[NAME_BYTES];
    char example[NAME_BYTES];
    uint64_t count;
} classes[CLASSES_MOST];

static size_t class_count;

static void append(char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list list;

    va_start(list, format);
    vsnprintf(text + length, NAME_BYTES - length, format, list);
    va_end(list);
}

/* By what is left: settings with their values, numbers by their names. */
static void name_class(const struct ashlar_spec *spec, char *name,
                       char *example)
{
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
    struct ashlar_spec base = plain(spec->mode);
    char value[32];
    const char *text;
    size_t count, i;

    name[0] = example[0] = '\0';
    if (ashlar_spec_check(spec, capability, found, COUNT_OF(found), &count) ==
        ASHLAR_OK)
        append(name, "driver refuses: %s",
               ashlar_spec_name(ASHLAR_SPEC_FIELD_MODE, spec->mode));
    else
        append(name, "driver takes, [%s]: %s",
               ashlar_spec_rule_name((enum ashlar_spec_rule)found[0].rule),
               ashlar_spec_name(ASHLAR_SPEC_FIELD_MODE, spec->mode));
    for (i = 0; i < KNOBS; i++) {
        int64_t now = get(spec, &knobs[i]);

        if (now == get(&base, &knobs[i]))
            continue;
        snprintf(value, sizeof(value), "%" PRId64, now);
        text = ashlar_spec_name(knobs[i].field, (uint32_t)now);
        if (knobs[i].field == ASHLAR_SPEC_FIELD_NONE)
            append(name, " %s", knobs[i].name);
        else
            append(name, " %s=%s", knobs[i].name, text == NULL ? value : text);
        if (knobs[i].field == ASHLAR_SPEC_FIELD_NONE)
            append(example, " %s=%s", knobs[i].name, value);
    }
}

static void add_difference(const struct ashlar_spec *found)
{
    struct ashlar_spec spec = *found;
    char name[NAME_BYTES], example[NAME_BYTES];
    size_t i = 0;

    reduce(&spec);
    name_class(&spec, name, example);
    while (i < class_count && strcmp(classes[i].name, name) != 0)
        i++;
    if (i == CLASSES_MOST)
        return;
    if (i == class_count) {
        class_count++;
        strcpy(classes[i].name, name);
        strcpy(classes[i].example, example);
    }
    classes[i].count++;
}

static int by_count(const void *a, const void *b)
{
    const struct class *one = a, *other = b;

    return one->count < other->count ? 1 : one->count > other->count ? -1 : 0;
}

static void print_classes(void)
{
    size_t i;

    qsort(classes, class_count, sizeof(classes[0]), by_count);
    for (i = 0; i < class_count; i++)
        printf("# %8" PRIu64 "  %s |%s\n", classes[i].count, classes[i].name,
               classes[i].example);
    if (class_count == CLASSES_MOST)
        printf("# and other classes\n");
}

/* --- one spec ------------------------------------------------------------- */

/* One that no map minds: where a map has an address, it may have any of these. */
static uint64_t plain_address(void)
{
    static const int64_t ends[] = {32, 64, T(57) - 64, T(57) - 32};
    size_t i = below(2 * COUNT_OF(ends));

    return i < COUNT_OF(ends) ? (uint64_t)ends[i]
                              : (next() >> 12) * 32 + 32; /* up to 2^57 */
}

static void try_rebase(const struct ashlar_spec *spec, const CUtensorMap *map)
{
    struct ashlar_spec moved = *spec;
    CUtensorMap fresh, rebased = *map;
    void *address;

    if (spec->address == 0)
        return;
    moved.address = plain_address();
    memcpy(&address, &moved.address, sizeof(address));
    tally.rebased++;
    tally.not_same += encode(&moved, &fresh) != CUDA_SUCCESS ||
                      driver.replace(&rebased, address) != CUDA_SUCCESS ||
                      memcmp(&rebased, &fresh, sizeof(fresh)) != 0;
}

static void try_spec(const struct ashlar_spec *spec)
{
    CUtensorMap one, two, blank;
    bool taken;

    memset(&blank, 0xa5, sizeof(blank));
    one = blank;
    memset(&two, 0x5a, sizeof(two));
    taken = encode(spec, &one) == CUDA_SUCCESS;
    tally.specs++;
    tally.taken += taken;
    tally.refused += !taken;
    if (!taken) {
        tally.spoiled += memcmp(&one, &blank, sizeof(one)) != 0;
    } else {
        tally.unsteady += encode(spec, &two) != CUDA_SUCCESS ||
                          memcmp(&one, &two, sizeof(one)) != 0;
        try_rebase(spec, &one);
    }
    if (taken != we_take(spec)) {
        tally.differ++;
        add_difference(spec);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What a check costs beside an encode. */
static void print_costs(void)
{
    struct ashlar_spec spec = plain(ASHLAR_SPEC_TILED);
    CUtensorMap map;
    double begin = seconds(), middle, end;
    int i;

    for (i = 0; i < 1000000; i++)
        (void)they_take(&spec);
    middle = seconds();
    for (i = 0; i < 1000000; i++)
        (void)we_take(&spec);
    end = seconds();
    (void)encode(&spec, &map);
    printf("# encode %.1f ns, check %.1f ns\n", (middle - begin) * 1e3,
           (end - middle) * 1e3);
}

/* Which addresses a rebase refuses, of a map that asks for 16 and for 32. */
static void print_rebase_rules(void)
{
    static const uint64_t tried[] = {
        0, 1, 8, 16, 32, (UINT64_C(1) << 57) - 16, UINT64_C(1) << 57};
    struct ashlar_spec spec = plain(ASHLAR_SPEC_TILED);
    CUtensorMap map;
    void *address;
    size_t i, k;

    for (k = 0; k < 2; k++) {
        spec.dtype = k == 0 ? ASHLAR_SPEC_UINT8 : ASHLAR_SPEC_16U4_ALIGN16B;
        if (encode(&spec, &map) != CUDA_SUCCESS)
            continue;
        for (i = 0; i < COUNT_OF(tried); i++) {
            memcpy(&address, &tried[i], sizeof(address));
            printf("# rebase of %s to 0x%" PRIx64 ": %d\n",
                   ashlar_spec_name(ASHLAR_SPEC_FIELD_DTYPE, spec.dtype),
                   tried[i], (int)driver.replace(&map, address));
        }
    }
}

static void verdict(int number, bool good, const char *name)
{
    printf("%sok %d - %s\n", good ? "" : "not ", number, name);
}

int main(int argc, char **argv)
{
    uint64_t specs = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000, i;
    struct ashlar_spec spec;

    if (!driver_find() || !driver_start()) {
        printf("1..0 # SKIP no CUDA device\n");
        return 0;
    }
    luck = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    printf("# seed %" PRIu64 "\n1..3\n", luck);
    for (i = 0; i < specs; i++) {
        spec = any();
        if (spec.mode != ASHLAR_SPEC_IM2COL_WIDE || has_wide())
            try_spec(&spec);
    }
    print_classes();
    print_rebase_rules();
    print_costs();
    printf("# %" PRIu64 " specs: the driver takes %" PRIu64 ", refuses %" PRIu64
           "; %" PRIu64 " judged differently\n",
           tally.specs, tally.taken, tally.refused, tally.differ);
    printf("# %" PRIu64 " refused wrote to the map, %" PRIu64
           " encoded otherwise the second time, %" PRIu64 " of %" PRIu64
           " rebased otherwise\n",
           tally.spoiled, tally.unsteady, tally.not_same, tally.rebased);
    verdict(1, tally.differ == 0, "the_driver_judges_each_spec_as_we_do");
    verdict(2, tally.unsteady == 0, "encoding_twice_gives_the_same_bytes");
    verdict(3, tally.not_same == 0, "rebasing_is_encoding_anew");
    return 0;
}
