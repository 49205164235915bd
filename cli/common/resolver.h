/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the places of one archive: reader/symbols behind the callback of struct profile_names.
 *
 * What the files of this machine say depends on whose archive it is, which it knows from the events
 * it is told:
 *
 *	- /proc/PID is only looked at if the archive is of this host and this boot (the clocks of
 *	  its first moment say so), and if the process that has this id now began when that one did
 *	- the same goes for a kernel without build id
 *	- answers that nothing vouches for (reader/symbols: unsure) are only taken for archives of
 *	  this host and boot, or if the caller has said by --sysroot where the files are
 */
#pragma once

#include "base/table.h"
#include "base/text-set.h"
#include "cli/common/json.h"
#include "cli/common/symbol-options.h"
#include "reader/views/profile-names.h"

struct resolver {
	struct symbols *symbols; /* borrowed; NULL = nobody is asked */
	bool has_sysroot;
	bool has_start, has_clock, foreign; /* what the archive says of itself */
	struct table processes;             /* koid + 1 -> struct resolver_process, owned */
	struct table kernels;               /* kthreadd's koid -> struct resolver_kernel, owned */
	struct table modules;               /* path, of `texts` -> struct resolver_module, owned */
	struct text_set texts;
	struct frame frames[SYMBOL_FRAMES_MAX];
	uint64_t n_asked, n_named; /* places */
};

/* All zeroes is an empty one, too. SYMBOLS is borrowed and may be NULL. */
void resolver_init(struct resolver *r, struct symbols *symbols, const struct symbol_options *o);
void resolver_deinit(struct resolver *r);

/* Takes EV in; what is of no use here is passed over. Returns 0 or -ENOMEM. */
int resolver_add(struct resolver *r, const struct event *ev);

/* From now on SYMBOLS (borrowed) are asked; what was counted is forgotten. */
void resolver_use(struct resolver *r, struct symbols *symbols);

/*
 * Forgets the process PID (a koid), of which nothing will be asked any more: for streams without
 * end.
 */
void resolver_forget(struct resolver *r, uint32_t pid);

/* find() of struct profile_names; USERDATA is a struct resolver. */
int resolver_find(void *userdata, const struct profile_place *place, const struct frame **ret);

/* What the call before PLACE calls: as symbols_called(). */
int resolver_called(struct resolver *r, const struct profile_place *place, const char **ret);

/*
 * What is missing, on stderr: a line for each module whose addresses have no names, those with most
 * of them first, and one for each problem that was met.
 */
void resolver_print_missing(const struct resolver *r);

/* All modules: {module, addresses, unnamed}. */
struct json_object *resolver_json_modules(const struct resolver *r);

/* What reader/symbols says: {file, problem}. */
struct json_object *resolver_json_problems(const struct resolver *r);
