/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracepoints that a session records: found by their specifications (tracepoint-spec.h), with
 * the layouts that the eBPF program needs, and their attachments.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/programs/collector.h"
#include "capture/tracepoints/tracepoint-format.h"

struct tracepoint {
	char name[2 * TRACEPOINT_NAME_MAX]; /* SYSTEM:NAME */
	uint32_t id;
	bool is_own; /* of kymo: `own` is its TRACEPOINT_OWN_*, and it has no id */
	unsigned own;
	struct tracepoint_layout layout;
	/* The fields that events have. A dynamic field has the index of its data. Owned. */
	struct tracepoint_field *fields;
	uint8_t *dynamic; /* indexed like `fields`; owned */
	size_t n_fields;
	bool is_partial;                   /* fields were left out, because of a limit */
	struct tracepoint_symbols reasons; /* names for the values of `reason`, if any; owned */
};

/* Descriptors; -1 = none. */
struct tracepoint_attachment {
	int event, link;
};

struct tracepoints {
	struct tracepoint *list; /* indexed by the numbers in records; owned */
	size_t n;
	struct tracepoint_attachment *attachments; /* indexed like `list`; owned */
};

/*
 * Finds the tracepoints of O. Returns 0, or a negative errno with a sentence in *RETERR_TEXT (owned
 * by the caller, may be NULL).
 */
int tracepoints_new(const struct session_options *o, struct tracepoints **ret, char **reterr_text);
struct tracepoints *tracepoints_free(struct tracepoints *t);
DEFINE_CLEANUP(struct tracepoints *, tracepoints_free)

/*
 * Attaches the eBPF programs of COLLECTOR to all tracepoints. Returns like tracepoints_new(). (The
 * collector itself detaches the programs of kymo's own tracepoints.)
 */
int tracepoints_attach(struct tracepoints *t, struct collector *collector, char **reterr_text);

/*
 * The first function detaches the eBPF program, which may still run until the caller has waited for
 * all eBPF programs (collector_detach()). The second one also releases the tracepoints: the kernel
 * waits for a grace period for each. T may be NULL.
 */
void tracepoints_detach(struct tracepoints *t);
void tracepoints_release(struct tracepoints *t);

/*
 * Sets up *T for the format F of tracepoint NAME of SYSTEM, with the conditions of SPEC. Returns 0,
 * or -EINVAL with a sentence in WHY, or -ENOMEM. A failed *T can be passed to tracepoint_deinit().
 */
int tracepoint_init(struct tracepoint *t, const struct tracepoint_format *f, const char *system,
		    const struct tracepoint_spec *spec, char why[static VALUE_WHY_MAX]);
void tracepoint_deinit(struct tracepoint *t);
