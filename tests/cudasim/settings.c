/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* "devices=2,memory=64M" as a struct. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define LONGEST 255

static int complain(const char *key, const char *value, const char *right)
{
    fprintf(stderr, "cudasim: %s is \"%s\"; it must be %s\n", key, value,
            right);
    return -1;
}

/* "64M" as a number; 0: it is none, or too large. */
static uint64_t read_number(const char *text)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;
    unsigned shift = 0;
    uint64_t number = strtoull(text, &end, 10);

    if (end == text || text[0] == '-' || number > UINT64_C(1) << 47)
        return 0;
    if (*end != '\0') {
        unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return 0;
        shift = (unsigned)(unit - units + 1) * 10;
    }
    number <<= shift;
    return number > UINT64_C(1) << 47 ? 0 : number;
}

static int read_count(unsigned *count, unsigned most, const char *key,
                      const char *value)
{
    uint64_t number = read_number(value);
    char right[32];

    if (number == 0 || number > most) {
        snprintf(right, sizeof(right), "1 to %u", most);
        return complain(key, value, right);
    }
    *count = (unsigned)number;
    return 0;
}

static int read_choice(bool *choice, const char *key, const char *value,
                       const char *yes, const char *no)
{
    char right[32];

    *choice = strcmp(value, yes) == 0;
    if (*choice || strcmp(value, no) == 0)
        return 0;
    snprintf(right, sizeof(right), "%s or %s", yes, no);
    return complain(key, value, right);
}

int settings_read_hints(enum hint_policy *hints, const char *text)
{
    static const char *const names[] = {"grant", "move", "refuse"};
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *hints = (enum hint_policy)i;
            return 0;
        }
    }
    return complain("hints", text, "grant, move or refuse");
}

static int read_memory(uint64_t *memory, const char *value)
{
    *memory = read_number(value);
    if (*memory == 0 || *memory % GRANULE != 0)
        return complain("memory", value,
                        "bytes of each device, a multiple of 2M");
    return 0;
}

static int read_driver(int *driver, const char *value)
{
    uint64_t number = read_number(value);

    if (number < 11000 || number > 99990)
        return complain("driver", value, "a version such as 12000 or 13000");
    *driver = (int)number;
    return 0;
}

static int read_capability(int *capability, const char *value)
{
    uint64_t number = read_number(value);

    if (number < 50 || number > 999)
        return complain("sm", value, "a capability such as 80 or 90");
    *capability = (int)number;
    return 0;
}

static int read_setting(struct settings *settings, const char *key,
                        const char *value)
{
    if (strcmp(key, "devices") == 0)
        return read_count(&settings->devices, MAX_DEVICES, key, value);
    if (strcmp(key, "numa") == 0)
        return read_count(&settings->nodes, MAX_NODES, key, value);
    if (strcmp(key, "memory") == 0)
        return read_memory(&settings->memory, value);
    if (strcmp(key, "driver") == 0)
        return read_driver(&settings->driver, value);
    if (strcmp(key, "sm") == 0)
        return read_capability(&settings->capability, value);
    if (strcmp(key, "hints") == 0)
        return settings_read_hints(&settings->hints, value);
    if (strcmp(key, "peers") == 0)
        return read_choice(&settings->peers, key, value, "all", "none");
    if (strcmp(key, "work") == 0)
        return read_choice(&settings->held, key, value, "held", "now");
    if (strcmp(key, "fabric") == 0)
        return read_choice(&settings->fabric, key, value, "yes", "no");
    if (strcmp(key, "rdma") == 0)
        return read_choice(&settings->rdma, key, value, "yes", "no");
    if (strcmp(key, "report") == 0)
        return read_choice(&settings->report, key, value, "yes", "no");
    fprintf(stderr,
            "cudasim: there is no setting \"%s\"; there are devices, memory, "
            "peers, numa, driver, sm, hints, work, fabric, rdma and report\n",
            key);
    return -1;
}

int settings_read(struct settings *settings, const char *text)
{
    struct settings read = {.devices = 1,
                            .nodes = 1,
                            .memory = UINT64_C(1) << 30,
                            .driver = 13000,
                            .capability = 90,
                            .hints = HINTS_GRANT,
                            .peers = true,
                            .rdma = true};
    char copy[LONGEST + 1];
    char *key;
    char *value;
    char *rest;

    if (text == NULL)
        text = getenv("CUDASIM");
    if (text == NULL)
        text = "";
    if (strlen(text) > LONGEST)
        return complain("the settings", text, "shorter than 256 characters");
    strcpy(copy, text);
    for (key = strtok_r(copy, ",", &rest); key != NULL;
         key = strtok_r(NULL, ",", &rest)) {
        value = strchr(key, '=');
        if (value == NULL)
            return complain("a setting", key, "key=value");
        *value = '\0';
        if (read_setting(&read, key, value + 1) != 0)
            return -1;
    }
    *settings = read;
    return 0;
}
