/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the places of one archive: reader/symbols behind the callback of struct profile_names.
 *
 * The files of this machine are valid only for some archives, which the events identify:
 *
 *	- /proc/PID is used only if the archive is of this host and this boot (according to its
 *	  first clock snapshot), and if the process with this pid has the same start time
 *	- a kernel without a build id is used only if the archive is of this host and this boot, too
 *	- unsure answers (reader/symbols: unsure) are used only for archives of this host and boot,
 *	  or if the caller has given the files with --sysroot
 */
#pragma once

#include "base/table.h"
#include "base/text-set.h"
#include "cli/common/json.h"
#include "cli/common/symbol-options.h"
#include "reader/views/profile-names.h"

struct resolver {
	struct symbols *symbols; /* borrowed; NULL = names are not looked up */
	bool has_sysroot;
	bool has_start, has_clock;   /* the archive has a session_start, a clock snapshot */
	bool other_host, other_boot; /* the archive is of another host, of another boot than now */
	bool is_set;                 /* the wall clock was set during the recording */
	uint64_t begin_ns, apart_ns; /* of the first clock snapshot: CLOCK_BOOTTIME, and by how much
				      * the wall clock is ahead */
	struct table processes;      /* koid + 1 -> struct resolver_process, owned */
	struct table kernels;        /* kthreadd's koid -> struct resolver_kernel, owned */
	struct table modules;        /* path (in `texts`) -> struct resolver_module, owned */
	struct text_set texts;
	struct frame frames[SYMBOL_FRAMES_MAX];
	uint64_t n_asked, n_named; /* numbers of places that were looked up, and that got names */
};

/*
 * Initializes R. A struct with all bytes zero is an empty resolver, too. SYMBOLS is borrowed and
 * can be NULL.
 */
void resolver_init(struct resolver *r, struct symbols *symbols, const struct symbol_options *o);
void resolver_deinit(struct resolver *r);

/* Processes EV; events that are not needed are ignored. Returns 0 or -ENOMEM. */
int resolver_add(struct resolver *r, const struct event *ev);

/* Uses SYMBOLS (borrowed) from now on, and resets the counts. */
void resolver_use(struct resolver *r, struct symbols *symbols);

/* Forgets the process PID (a koid): it will not be looked up again. Used for endless streams. */
void resolver_forget(struct resolver *r, uint32_t pid);

/* The function find() of struct profile_names; USERDATA is a struct resolver. */
int resolver_find(void *userdata, const struct profile_place *place, const struct frame **ret);

/* The function called at PLACE, like symbols_called(). */
int resolver_called(struct resolver *r, const struct profile_place *place, const char **ret);

/*
 * Returns whether a thread begins at PLACE, like symbols_begins(); also -ENOENT if names are not
 * looked up.
 */
int resolver_begins(struct resolver *r, const struct profile_place *place);

/* Returns true if the code at PLACE belongs to a file, like symbols_is_of_file(). */
bool resolver_is_of_file(const struct profile_place *place);

/* Reports missing names on stderr: a line for each module with unnamed addresses, the module with
 * most of them first, and a line for each problem. */
void resolver_print_missing(const struct resolver *r);

/* Returns the modules as JSON: {module, addresses, unnamed}. */
struct json_object *resolver_json_modules(const struct resolver *r);

/* Returns the problems of reader/symbols as JSON: {file, problem}. */
struct json_object *resolver_json_problems(const struct resolver *r);
