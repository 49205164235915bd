/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which call needs which right, and what is said to who lacks it. Tables and sentences only: who
 * has a right is found out by the guard (access.h).
 *
 * Root needs none of this. To everybody else goes:
 *
 * - What is one's own needs nothing more. That a right is taken away later does not matter to what
 *   runs: it was asked for when the session was made.
 * - Another's session does not exist for who may not view it. So that nobody learns by asking
 *   which ones there are, it is not looked at whether there is one before the right is known:
 *   whatever is called like another's is treated as that.
 * - What is not in the table is root's, so nothing that is added later can be forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/polkit.h"

enum right {
	RIGHT_VIEW,
	RIGHT_CONTROL_OWN,
	RIGHT_CONTROL,
	RIGHT_MANAGE,
	RIGHT_MAX,
};

#define RIGHT_BIT(right) (UINT32_C(1) << (right))
#define RIGHTS_ALL       (RIGHT_BIT(RIGHT_MAX) - 1)

/*
 * What the group has where there is no polkit (with polkit, units/org.kymo.Trace1.rules says it).
 * Not to change others' sessions: to be let in to observe is not to be let in to stop what root
 * records, and two members do not disturb each other either.
 */
#define RIGHTS_OF_GROUP                                                                            \
	(RIGHT_BIT(RIGHT_VIEW) | RIGHT_BIT(RIGHT_CONTROL_OWN) | RIGHT_BIT(RIGHT_CONTROL))

/* The name of a right, and of polkit's action. */
extern const char *const right_actions[RIGHT_MAX];

enum need {
	NEED_NOTHING,
	NEED_LIST,   /* what is seen depends on the right to view; nobody is asked for a password */
	NEED_SEE,    /* another's session: does not exist without the right to view */
	NEED_CHANGE, /* another's session: what changes it */
	NEED_CONTROL_OWN, /* to trace one's own processes */
	NEED_CONTROL,     /* to trace the system */
	NEED_ROOT,
	NEED_MAX,
};

/* Rights are asked for in this order, until there is one. */
struct need_row {
	struct {
		enum right right; /* RIGHT_MAX = none */
		bool dialogue;    /* if the caller lets somebody be asked for a password */
	} steps[2];
};

extern const struct need_row need_rows[NEED_MAX];

/* A method call of somebody who is not root. */
struct rights_call {
	uid_t uid;
	const char *path, *interface, *member; /* INTERFACE may be NULL: any */
	const char *name;                      /* what GetSession asks for; else NULL */
	bool has_name;                         /* the caller has a session of that name */
	bool own;                              /* CreateSession with `own` */
	bool profile;                          /* CreateSession with `profile` */
};

enum need rights_need(const struct rights_call *c);

/* What was found out of one who asked. */
struct rights_found {
	enum need need;
	uint32_t granted;          /* of the rights that were asked for */
	bool exists;               /* the session that is meant, with NEED_CHANGE */
	enum polkit_answer answer; /* to the first step */
	const char *why;           /* with POLKIT_FAILED */
	uid_t uid;
	const char *group;
	bool no_group; /* there is none of that name */
};

enum rights_verdict {
	RIGHTS_PASS,
	RIGHTS_REFUSED,
	RIGHTS_CHALLENGE, /* refused, but not if a dialogue were allowed */
};

/* The end of it. RET is the sentence for who is refused. */
#define RIGHTS_SENTENCE_MAX 800
enum rights_verdict rights_judge(const struct rights_found *f,
				 char ret[static RIGHTS_SENTENCE_MAX]);
