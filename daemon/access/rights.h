/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights that calls need, and the errors for callers without them. This module has only tables
 * and error messages. Access control (access.h) finds out whether a caller has a right.
 *
 * Root needs no rights. For other users:
 *
 * - Calls of their own sessions need no rights. A right that is lost later does not affect running
 *   sessions, since it was checked when the session was created.
 * - For a caller without the right to view it, another user's session does not exist. The right is
 *   checked before the existence of the session, so that callers cannot find out which sessions
 *   exist. So the rule applies to all names that could belong to another user.
 * - Calls that are not in the table are for root only. So a call that is added later is safe even
 *   if it is forgotten here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/access/polkit.h"

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
 * The rights of the group's members if there is no polkit. With polkit, units/org.kymo.Trace1.rules
 * grants the same rights. Changes of other users' sessions are not among them: members are trusted
 * to record the system, but not to stop recordings of root or of each other.
 */
#define RIGHTS_OF_GROUP                                                                            \
	(RIGHT_BIT(RIGHT_VIEW) | RIGHT_BIT(RIGHT_CONTROL_OWN) | RIGHT_BIT(RIGHT_CONTROL))

/* The names of polkit's actions for the rights. */
extern const char *const right_actions[RIGHT_MAX];

enum need {
	NEED_NOTHING,
	NEED_LIST, /* the result depends on the right to view sessions; without a dialogue */
	/*
	 * Access to another user's session, which does not exist for callers without the right to
	 * view it.
	 */
	NEED_SEE,
	NEED_CHANGE,      /* a change of another user's session */
	NEED_CONTROL_OWN, /* recording one's own processes */
	NEED_CONTROL,     /* recording the system */
	NEED_ROOT,
	NEED_MAX,
};

/* The rights that are checked for a need, in this order, until the user has one of them. */
struct need_row {
	struct {
		enum right right; /* RIGHT_MAX = no right */
		bool dialogue;    /* polkit may start a dialogue, if the caller allows it */
	} steps[2];
};

extern const struct need_row need_rows[NEED_MAX];

/* A method call of a user other than root. */
struct rights_call {
	uid_t uid;
	/* INTERFACE can be NULL, which means any interface. */
	const char *path, *interface, *member;
	const char *name; /* argument of GetSession; otherwise NULL */
	bool has_name;    /* the caller has a session with this name */
	bool own;         /* the call is CreateSession with `own` */
	bool profile;     /* the call is CreateSession with `profile` */
};

enum need rights_need(const struct rights_call *c);

/* The results of the checks for a call. */
struct rights_found {
	enum need need;
	uint32_t granted;          /* rights that were checked and granted */
	bool exists;               /* for NEED_CHANGE: whether the session exists */
	enum polkit_answer answer; /* answer for the first right */
	const char *why;           /* reason for POLKIT_FAILED */
	uid_t uid;
	const char *group;
	bool no_group; /* the group does not exist */
};

enum rights_verdict {
	RIGHTS_PASS,
	RIGHTS_REFUSED,
	RIGHTS_CHALLENGE, /* refused, but a dialogue could grant the right */
};

/* Decides about the call. RET is the error message for a refused caller. */
#define RIGHTS_SENTENCE_MAX 800
enum rights_verdict rights_judge(const struct rights_found *f,
				 char ret[static RIGHTS_SENTENCE_MAX]);
