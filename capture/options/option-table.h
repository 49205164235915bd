/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session, a row each: what an option is called on the command line, on the bus
 * and in a collection, what it may be, what it goes with, and its line of --help. All who
 * read, check, send, show or describe options do so by this table; the pages that list them are
 * held to it (tests/style/check-options).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "capture/options/collection.h"

/* What the value of an option is: it decides how it is parsed, sent and shown. */
enum option_type {
	/* One number, an uint64_t; 0 is the default. */
	OPTION_TIME = VALUE_TIME,
	OPTION_SIZE = VALUE_SIZE,
	OPTION_COUNT = VALUE_COUNT,
	OPTION_SHARE = VALUE_SHARE,
	OPTION_BOOL,
	OPTION_CHOICE, /* one of the row's `choices`; an enum whose first value is the default */
	OPTION_TEXT,   /* a string, owned */
	/* These have functions of their own, where they are read and where they are sent. */
	OPTION_CATEGORIES,
	OPTION_OVERHEAD,
	OPTION_TRIGGERS, /* all rows with `trigger` */
	OPTION_OWN,
	OPTION_PIDS,
	OPTION_USERS,
	OPTION_COMMS,
	OPTION_CGROUPS, /* as the filter has them; only on the bus */
	OPTION_CGROUP,  /* a path, and the next a unit, that have to be found first */
	OPTION_UNIT,
	OPTION_FILES,   /* open ones, on the bus */
	OPTION_MOMENTS, /* compiled ones (base/moments/moment-plan.h); likewise */
	OPTION_CALLS,   /* specifications (call-spec.h); with a file each */
	OPTION_PROGRAM,
	OPTION_DIRECTORY,
	OPTION_TYPES_MAX,
};

/* Verbs whose options they are. */
enum option_verb {
	OPTION_OF_RECORD = 1 << 0,
	OPTION_OF_START = 1 << 1,
	OPTION_OF_TOP = 1 << 2,
	OPTION_OF_LEAKS = 1 << 3,
	OPTION_OF_ARCHIVES = OPTION_OF_RECORD | OPTION_OF_START,
	OPTION_OF_REPORTS = OPTION_OF_ARCHIVES | OPTION_OF_LEAKS,
	OPTION_OF_ALL = OPTION_OF_REPORTS | OPTION_OF_TOP,
};

enum option_flag {
	OPTION_INFINITY = 1 << 0, /* "infinity" is 0: no limit */
	OPTION_OPTIONAL =
		1 << 1,         /* the command line may leave the value out; `implied` holds then */
	OPTION_YES_NO = 1 << 2, /* a choice that may also be yes (`implied`) or no */
	OPTION_NEGATED = 1 << 3, /* the key of a collection says yes where the option says no */
	OPTION_LIST = 1 << 4,    /* the key of a collection may stand there more than once */
	/* Of the text about a session in its archive (session_options_describe()). */
	OPTION_TOLD = 1 << 5,   /* whenever it applies, not only where it is set */
	OPTION_TOLD_N = 1 << 6, /* as a bare number */
};

struct option_row {
	/* The command line: "--name". NULL = not there, as of `bus` and `key`. */
	const char *name;
	char letter;
	const char *placeholder; /* of its value */
	unsigned verbs;
	const char *group, *help; /* --help: under which heading, and one line */

	const char *bus;
	const char *section, *key; /* of a collection */
	const char *trigger;       /* its name in --trigger and in the option `triggers` */

	enum option_type type;
	unsigned flags;
	size_t offset;     /* in struct collection, which begins with the options of the session */
	uint64_t min, max; /* of a number; of a list, of each value */
	size_t n_max;      /* of a list or a text: how long */
	uint64_t usual;    /* the default of a number */
	const char *shown; /* the default, for people; NULL = nothing is worth saying */
	const char *shown_profile; /* likewise of the key, where a collection has another one */
	const char *(*choice)(unsigned i); /* the name of a choice; NULL behind the last */
	const char *values;                /* for people, where the type does not say enough */
	const char *implied;

	/* What it goes with: it has no effect without. */
	uint32_t categories; /* one of these; 0 = any */
	unsigned mode;       /* 0 = any, else that mode + 1: OPTION_IN() */
	size_t needs;        /* the offset of an option that has to be set; 0 = none */

	const char *told; /* its name in the archive's text; NULL = it is not there */
	unsigned
		rank; /* its place there; 0 = behind all that have one, in the order of the table */
};

#define OPTION_IN(m) ((m) + 1)

enum { OPTION_ROWS_MAX = 96 };

extern const struct option_row option_rows[];
extern const size_t option_n_rows;

#define OPTION_FOR_EACH(row)                                                                       \
	for (const struct option_row *row = option_rows; row < option_rows + option_n_rows; row++)

/*
 * The row that is called NAME there; NULL if there is none. That of a trigger need not end after N
 * bytes.
 */
const struct option_row *option_of_bus(const char *name);
const struct option_row *option_of_name(const char *name);
const struct option_row *option_of_trigger(const char *name, size_t n);

static inline void *option_at(const struct option_row *row, const void *options)
{
	return (char *)(uintptr_t)options + row->offset;
}

static inline bool option_is_number(const struct option_row *row)
{
	return row->type <= OPTION_SHARE;
}

/*
 * Whether only collections have it: it is in struct collection, not in the options of the session.
 */
static inline bool option_is_of_profile(const struct option_row *row)
{
	return row->offset >= sizeof(struct session_options);
}

/* The value of ROW, a number, a choice or yes; of other types 0. */
uint64_t option_value(const struct option_row *row, const void *options);

/* Whether something other than the default is asked for. */
bool option_is_set(const struct option_row *row, const void *options);

/* Whether VALUE is within the bounds of ROW, or the default. */
static inline bool option_in_range(const struct option_row *row, uint64_t value)
{
	return value == 0 || (value >= row->min && value <= row->max);
}

/* Sets a number or a choice by its value, which is within bounds. */
void option_set(const struct option_row *row, void *options, uint64_t value);

/* Sets a choice by its name. Returns false if there is none. */
bool option_set_choice(const struct option_row *row, void *options, const char *name);

/*
 * Takes TEXT as people write it, on command lines and in collections, of all types up to
 * OPTION_TEXT and of OPTION_OVERHEAD, OPTION_COMMS and OPTION_USERS. Returns 0, -EINVAL or another
 * errno with a sentence in WHY.
 */
int option_take(const struct option_row *row, void *options, const char *text,
		char why[static VALUE_WHY_MAX]);

/* What may be written: "a time: 10.0 ms to 60.0 s", "no, look, freeze". */
#define OPTION_VALUES_MAX 160
char *option_values(const struct option_row *row, char to[static OPTION_VALUES_MAX]);

/*
 * Called with an option that does not go with the others, and why, a sentence without a subject.
 */
typedef void (*option_complaint_fn)(const struct option_row *row, const char *why, void *userdata);

enum {
	OPTION_CHECK_CHOSEN = 1 << 0, /* processes are chosen that are not in the filter yet */
	OPTION_CHECK_PROFILE =
		1 << 1, /* O begins a struct collection, whose own options are looked at, too */
};

/*
 * Looks at all options of O together, FLAGS as above. Returns how many complaints there were;
 * COMPLAIN may be NULL.
 */
size_t option_check(const struct session_options *o, unsigned flags, option_complaint_fn complain,
		    void *userdata);
