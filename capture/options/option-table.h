/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session, one per row: names on the command line, on the bus and in a collection,
 * type and bounds, required options, and the line for --help. All code that reads, checks, sends,
 * shows or describes options uses this table. The manual pages that list options are checked
 * against this table (tests/style/check-options).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "capture/options/collection.h"

/* Types say how the value of an option is parsed, sent and shown. */
enum option_type {
	/* Values of these types are one number, an uint64_t; 0 is the default. */
	OPTION_TIME = VALUE_TIME,
	OPTION_SIZE = VALUE_SIZE,
	OPTION_COUNT = VALUE_COUNT,
	OPTION_SHARE = VALUE_SHARE,
	OPTION_BOOL,
	/* One of the choices that the row lists; an enum whose first value is the default. */
	OPTION_CHOICE,
	OPTION_TEXT, /* a string, owned */
	/* These types have their own functions for parsing and sending. */
	OPTION_CATEGORIES,
	OPTION_OVERHEAD,
	OPTION_TRIGGERS, /* all options whose rows have `trigger` */
	OPTION_OWN,
	OPTION_PIDS,
	OPTION_USERS,
	OPTION_COMMS,
	OPTION_CGROUPS, /* cgroups of the filter, after they were found; only on the bus */
	OPTION_CGROUP,  /* the path of a cgroup, which is found before it is sent */
	OPTION_UNIT,
	OPTION_FILES,       /* open files, on the bus */
	OPTION_APP,         /* patterns of categories of programs; on command lines, -e */
	OPTION_TRACEPOINTS, /* specifications (tracepoint-spec.h); on command lines, -e */
	OPTION_MOMENTS,     /* compiled moments (model/moments/moment-plan.h), each with a file */
	OPTION_CALLS,       /* specifications of calls (call-spec.h), each with a file */
	OPTION_PROGRAM,
	OPTION_DIRECTORY,
	OPTION_TYPES_MAX,
};

/* The verbs that have an option. */
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
	OPTION_OPTIONAL = 1 << 1, /* the command line may omit the value; `implied` is then used */
	OPTION_YES_NO = 1 << 2,   /* a choice that may also be yes (`implied`) or no */
	OPTION_NEGATED = 1 << 3,  /* the key in a collection means the opposite of the option */
	OPTION_LIST = 1 << 4,     /* the key may occur more than once in a collection */
	/*
	 * These flags are for the text in the archive that describes the session
	 * (session_options_describe()).
	 */
	OPTION_STORED = 1 << 5,   /* the text has the option whenever it applies, not only if it is
				   * set */
	OPTION_STORED_N = 1 << 6, /* the text has a number without a unit */
};

struct option_row {
	/*
	 * "--name" on the command line. If `name`, `bus` or `key` is NULL, the option is not
	 * available on the command line, on the bus or in collections.
	 */
	const char *name;
	char letter;
	const char *placeholder; /* stands for its value in --help */
	unsigned verbs;
	const char *group, *help; /* --help: the heading, and a line or two */

	const char *bus;
	const char *section, *key; /* section and key in a collection */
	const char *trigger;       /* its name in --trigger and in the option `triggers` */

	enum option_type type;
	unsigned flags;
	/* The position in struct collection, which begins with the options of the session. */
	size_t offset;
	uint64_t min, max;                 /* limits of a number, or of each value in a list */
	size_t n_max;                      /* maximum length of a list or a text */
	uint64_t usual;                    /* the default of a number */
	const char *shown;                 /* the default, as people read it; NULL = not shown */
	const char *shown_profile;         /* the default in a collection, if it differs */
	const char *(*choice)(unsigned i); /* the name of a choice; NULL after the last */
	/* Permitted values, as people read them, if the type does not say enough. */
	const char *values;
	const char *implied;

	/* The option has no effect unless these requirements are met. */
	uint32_t categories; /* one of these categories must be recorded; 0 = any category */
	unsigned mode;       /* 0 = any mode, otherwise the mode + 1: OPTION_IN() */
	size_t needs;        /* the offset of a required option; 0 = no option is required */

	/*
	 * The option's name in the text of the archive; NULL = the text does not have the option.
	 */
	const char *stored_as;
	/*
	 * The option's position in that text; 0 = after all options with a position, in the order
	 * of the table.
	 */
	unsigned rank;
};

#define OPTION_IN(m) ((m) + 1)

enum { OPTION_ROWS_MAX = 96 };

extern const struct option_row option_rows[];
extern const size_t option_n_rows;

#define OPTION_FOR_EACH(row)                                                                       \
	for (const struct option_row *row = option_rows; row < option_rows + option_n_rows; row++)

/*
 * These functions return the row with the given name, or NULL if no row has it. The name of a
 * trigger has N bytes and no NUL.
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
 * Returns true if only collections have the option. If so, its value is in struct collection and
 * not in the options of the session.
 */
static inline bool option_is_of_profile(const struct option_row *row)
{
	return row->offset >= sizeof(struct session_options);
}

/* Returns the value of ROW if it is a number, a choice or a bool; 0 for other types. */
uint64_t option_value(const struct option_row *row, const void *options);

/* Returns true if the option differs from its default. */
bool option_is_set(const struct option_row *row, const void *options);

/* Returns true if VALUE is the default or within the bounds of ROW. */
static inline bool option_in_range(const struct option_row *row, uint64_t value)
{
	return value == 0 || (value >= row->min && value <= row->max);
}

/* Sets a number, a choice or a bool. VALUE must be within the bounds of ROW. */
void option_set(const struct option_row *row, void *options, uint64_t value);

/* Sets a choice by its name. Returns false if no choice has that name. */
bool option_set_choice(const struct option_row *row, void *options, const char *name);

/*
 * Parses TEXT as users write it, on command lines and in collections. The type of ROW must be one
 * of the types up to OPTION_TEXT, or OPTION_OVERHEAD, OPTION_COMMS or OPTION_USERS. Returns 0,
 * -EINVAL or another errno with a sentence in WHY.
 */
int option_parse(const struct option_row *row, void *options, const char *text,
		 char why[static VALUE_WHY_MAX]);

/* Writes a text about the permitted values: "a time: 10.0 ms to 60.0 s", or "no, look, freeze". */
#define OPTION_VALUES_MAX 160
char *option_values(const struct option_row *row, char to[static OPTION_VALUES_MAX]);

/*
 * Called with an option that conflicts with others, and the reason, a sentence without a subject.
 */
typedef void (*option_complaint_fn)(const struct option_row *row, const char *why, void *userdata);

enum {
	OPTION_CHECK_CHOSEN = 1 << 0, /* processes are selected in another way than by the filter */
	OPTION_CHECK_PROFILE =
		/* O is the beginning of a struct collection, whose options are checked, too. */
	1 << 1,
};

/*
 * Checks all options of O together, with FLAGS (OPTION_CHECK_*). Returns the number of errors.
 * COMPLAIN may be NULL.
 */
size_t option_check(const struct session_options *o, unsigned flags, option_complaint_fn complain,
		    void *userdata);
