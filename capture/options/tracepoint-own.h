/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo's own tracepoints: events for which the kernel has no suitable tracepoint. eBPF programs of
 * kymo send these events (bpf/tracepoints-own.bpf.c). kymo's tracepoints are specified like those
 * of the kernel, with the system "kymo", and have formats of the same form.
 */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/options/tracepoint-spec.h"

#define TRACEPOINT_OWN_SYSTEM "kymo"

struct tracepoint_own {
	const char *name;
	const char *format; /* as in a file `format` of tracefs; offsets are those of the record */
	const char *needs;  /* SYSTEM:NAME of the tracepoint that its program needs; NULL = none */
};

extern const struct tracepoint_own tracepoint_own[TRACEPOINT_OWN_MAX];

/* Returns the index of NAME, or TRACEPOINT_OWN_MAX. */
unsigned tracepoint_own_find(const char *name);

/*
 * Returns true if a specification of O selects OWN. A wildcard in the system does not select OWN,
 * because it stands only for systems of the kernel.
 */
bool tracepoint_own_is_selected(const struct session_options *o, unsigned own);
