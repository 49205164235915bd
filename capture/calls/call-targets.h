/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions whose calls a session records, found in the files of its specifications: their
 * settings for the eBPF programs, and the names of their calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/calls/call-variants.h"
#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/call-spec.h"
#include "capture/options/options.h"
#include "capture/probes/call-places.h"

/* How a call of a target is formatted if one argument has a given value. */
struct call_target_variant {
	const struct call_variant *row;
	struct call_spec spec;
};

struct call_target {
	char *name;                   /* name of the function, owned */
	const struct call_spec *spec; /* the specification that its source has, or `known` */
	struct call_spec *known;      /* specification of this function, found by its name; owned */
	const struct call_place *place; /* NULL for a system call, which has a number instead */
	int syscall;
	struct call_target_variant *variants; /* owned */
	size_t n_variants;
};

/* The result of one specification. */
struct call_source {
	struct call_spec spec;
	struct call_places places;
	size_t first, n; /* its targets: a range of `list` */
};

struct call_targets {
	struct call_source *sources; /* in the order of the options; owned */
	size_t n_sources;
	struct call_target *list; /* indexed by the function numbers in records; owned */
	size_t n;
};

/*
 * Finds the functions of all specifications of O, in the sandbox. A user who can trace only their
 * own processes can name only their own files, since probes slow down every user of the file.
 * Returns 0, or a negative errno with a sentence in *RETERR_TEXT (owned by the caller, may be
 * NULL).
 */
int call_targets_new(const struct session_options *o, struct call_targets **ret,
		     char **reterr_text);
/*
 * Returns a sentence about the functions that the pattern of specification I leaves out because the
 * kernel sets no probe on them. The caller owns it. NULL = no function is left out, or no memory.
 */
char *call_targets_refused(const struct call_targets *t, size_t i);

struct call_targets *call_targets_free(struct call_targets *t);

DEFINE_CLEANUP(struct call_targets *, call_targets_free)

/*
 * Returns true if the result of TARGET is in the register whose value the record of a call's end
 * contains. Otherwise, the register tells neither whether the call has failed, nor how much it has
 * written.
 */
bool call_target_has_result(const struct call_target *target);

/* Returns the settings of the eBPF programs for calls of TARGET. */
struct call_watch call_target_watch(const struct call_target *target);

/* Returns the specification that formats a call of TARGET with ARGS in its registers. */
const struct call_spec *call_target_spec(const struct call_target *target,
					 const __u64 args[static CALL_ARGUMENTS]);
