/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions whose calls a session records, as found in the files of its specifications: what
 * the programs have to know of each, and what its calls are called.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/calls/call-variants.h"
#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/call-spec.h"
#include "capture/options/options.h"
#include "capture/probes/call-places.h"

/* How a call of a target is shown, if one of its arguments has some value. */
struct call_target_variant {
	const struct call_variant *row;
	struct call_spec spec;
};

struct call_target {
	char *name;                     /* of the function. Owned */
	const struct call_spec *spec;   /* that of its source, or: */
	struct call_spec *known;        /* its own, by its name. Owned */
	const struct call_place *place; /* NULL of a system call, which has a number */
	int syscall;
	struct call_target_variant *variants; /* Owned */
	size_t n_variants;
};

/* What came of one specification. */
struct call_source {
	struct call_spec spec;
	struct call_places places;
	size_t first, n; /* its targets */
};

struct call_targets {
	struct call_source *sources; /* as the options have them. Owned */
	size_t n_sources;
	struct call_target *list; /* by the numbers that records have. Owned */
	size_t n;
};

/*
 * Finds the functions of all specifications of O, in the sandbox. A user who may trace nothing but
 * what is his own may only name his own files: everybody who runs the code pays for the probes.
 * Returns 0, or a negative errno with a sentence in *RETERR_TEXT (owned by the caller, may be
 * NULL).
 */
int call_targets_new(const struct session_options *o, struct call_targets **ret,
		     char **reterr_text);
struct call_targets *call_targets_free(struct call_targets *t);

DEFINE_CLEANUP(struct call_targets *, call_targets_free)

/* What the programs do where TARGET is entered. */
struct call_watch call_target_watch(const struct call_target *target);

/* The arguments of TARGET, a call of which has ARGS in its registers. */
const struct call_spec *call_target_spec(const struct call_target *target,
					 const __u64 args[static CALL_ARGUMENTS]);
