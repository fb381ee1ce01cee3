/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <stdbool.h>
#include <stdlib.h>

#include "doctor.h"

static const char doc[] =
    "Tell what is right and wrong with this machine for ashlar: the library "
    "and its jemalloc, the alignment that slots really have, toolkit headers "
    "and what they declare, the driver, sources found and refused, limits."
    "\v"
    "Each line is ok, a note or a problem; what to do stands below it. The "
    "exit status is 1 when there is a problem.\n"
    "\n"
    "Examples:\n"
    "  ashlar doctor\n"
    "  ashlar doctor --cuda /opt/cuda-12.4\n"
    "  ashlar doctor --json | jq '.findings[] | select(.level != \"ok\")'";

static const struct argp_option options[] = {
    {"cuda", 'c', "DIR", 0, "Look for toolkit headers in DIR, too", 0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    const char *cuda;
    bool json;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->cuda = argument;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_doctor(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {NULL, false};
    struct findings findings = {0, NULL};
    size_t problems;
    bool driver;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    doctor_library(&findings);
    doctor_toolkit(&findings, arguments.cuda, doctor_slots(&findings));
    driver = doctor_driver(&findings);
    doctor_sources(&findings, driver);
    doctor_limits(&findings);
    problems = findings_count(&findings, FINDING_PROBLEM);
    if (arguments.json)
        findings_print_json(&findings, stdout);
    else
        findings_print(&findings, stdout);
    findings_clear(&findings);
    return command_finish(stdout, problems == 0 ? EXIT_SUCCESS : EXIT_WRONG);
}
