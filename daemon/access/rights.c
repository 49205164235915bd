/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/access/rights.h"

#include <stdio.h>
#include <string.h>

#include "daemon/access/credentials.h"
#include "bus/kymo-bus.h"

const char *const right_actions[RIGHT_MAX] = {
	[RIGHT_VIEW] = "org.kymo.Trace1.view",
	[RIGHT_CONTROL_OWN] = "org.kymo.Trace1.control-own",
	[RIGHT_CONTROL] = "org.kymo.Trace1.control",
	[RIGHT_MANAGE] = "org.kymo.Trace1.manage",
};

#define NONE                                                                                       \
	{                                                                                          \
		RIGHT_MAX, false                                                                   \
	}
#define QUIETLY(right)                                                                             \
	{                                                                                          \
		right, false                                                                       \
	}
#define BY_DIALOGUE(right)                                                                         \
	{                                                                                          \
		right, true                                                                        \
	}

/*
 * The rights for each need. Only the first right of a need permits the call. The second one selects
 * the error for a caller without the first.
 */
const struct need_row need_rows[NEED_MAX] = {
	[NEED_NOTHING] = { { NONE, NONE } },
	[NEED_LIST] = { { QUIETLY(RIGHT_VIEW), NONE } },
	[NEED_SEE] = { { BY_DIALOGUE(RIGHT_VIEW), NONE } },
	[NEED_CHANGE] = { { BY_DIALOGUE(RIGHT_MANAGE), QUIETLY(RIGHT_VIEW) } },
	[NEED_CONTROL_OWN] = { { BY_DIALOGUE(RIGHT_CONTROL_OWN), NONE } },
	[NEED_CONTROL] = { { BY_DIALOGUE(RIGHT_CONTROL), QUIETLY(RIGHT_CONTROL_OWN) } },
	[NEED_ROOT] = { { NONE, NONE } },
};

#define PROPERTIES   "org.freedesktop.DBus.Properties"
#define INTROSPECTED "org.freedesktop.DBus.Introspectable"

struct call_row {
	const char *interface, *member;
	enum need need;
};

static const struct call_row of_manager[] = {
	{ KYMO_MANAGER_INTERFACE, "GetCapabilities", NEED_NOTHING },
	{ KYMO_MANAGER_INTERFACE, "ListSessions", NEED_LIST },
	{ KYMO_MANAGER_INTERFACE, "ListProviders", NEED_LIST },
	{ PROPERTIES, "Get", NEED_NOTHING },
	{ PROPERTIES, "GetAll", NEED_NOTHING },
	{ INTROSPECTED, "Introspect", NEED_NOTHING },
	{ NULL, NULL, NEED_ROOT },
};

static const struct call_row of_others_session[] = {
	{ PROPERTIES, "Get", NEED_SEE },
	{ PROPERTIES, "GetAll", NEED_SEE },
	{ INTROSPECTED, "Introspect", NEED_LIST },
	{ NULL, NULL, NEED_CHANGE },
};

static bool rights_is_call(const struct rights_call *c, const char *interface, const char *member)
{
	return (!c->interface || strcmp(c->interface, interface) == 0) &&
	       strcmp(c->member, member) == 0;
}

static enum need rights_find_need(const struct rights_call *c, const struct call_row *row)
{
	while (row->interface && !rights_is_call(c, row->interface, row->member))
		row++;
	return row->need;
}

static enum need rights_need_to_create(const struct rights_call *c)
{
	if (c->profile)
		return NEED_ROOT;
	return c->own ? NEED_CONTROL_OWN : NEED_CONTROL;
}

/*
 * Returns the need of a call of GetSession. UID/NAME is a session of user UID. NAME alone is the
 * caller's own session or, if the caller has no such session, does not exist for most callers, so
 * no dialogue is started.
 */
static enum need rights_need_to_get(const struct rights_call *c)
{
	if (c->has_name)
		return NEED_NOTHING;
	return c->name && strchr(c->name, '/') ? NEED_SEE : NEED_LIST;
}

static bool rights_is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 && path[n] == '/';
}

enum need rights_need(const struct rights_call *c)
{
	char own[sizeof(KYMO_SESSION_PREFIX) + 16];

	snprintf(own, sizeof(own), KYMO_SESSION_PREFIX "/%u", c->uid);
	if (strcmp(c->path, KYMO_MANAGER_PATH) == 0) {
		if (rights_is_call(c, KYMO_MANAGER_INTERFACE, "CreateSession"))
			return rights_need_to_create(c);
		if (rights_is_call(c, KYMO_MANAGER_INTERFACE, "GetSession"))
			return rights_need_to_get(c);
		return rights_find_need(c, of_manager);
	}
	if (rights_is_below(c->path, own))
		return NEED_NOTHING;
	if (rights_is_below(c->path, KYMO_SESSION_PREFIX))
		return rights_find_need(c, of_others_session);
	/*
	 * Introspection of the objects other than the manager can list sessions, so the result
	 * depends on the right to view sessions.
	 */
	return rights_is_call(c, INTROSPECTED, "Introspect") ? NEED_LIST : NEED_NOTHING;
}

/* Describes the answer of polkit. */
static void rights_explain(const struct rights_found *f, char ret[static 256])
{
	switch (f->answer) {
	case POLKIT_CHALLENGE:
		snprintf(ret, 256, "authentication is needed: run this in a terminal");
		break;
	case POLKIT_DISMISSED:
		snprintf(ret, 256, "authentication failed or was canceled");
		break;
	case POLKIT_FAILED:
		snprintf(ret, 256, "cannot call polkit: %.180s", f->why ?: "the reason is unknown");
		break;
	default:
		snprintf(ret, 256, "polkit has denied it");
		break;
	}
}

/* Writes the error message, with a remedy, for a system without polkit. */
static void rights_refuse_by_group(const struct rights_found *f, const char *who, const char *what,
				   char ret[static RIGHTS_SENTENCE_MAX])
{
	if (f->need == NEED_CHANGE)
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "user %s is not allowed to %s: only root and its owner are", who, what);
	else if (f->no_group)
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "user %s is not root, and there is no group %s, whose members can %s: "
			 "create it with `addgroup --system %s`, then run `adduser %s %s`",
			 who, f->group, what, f->group, who, f->group);
	else
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "user %s is not allowed to %s, and neither root nor in group %s: run "
			 "`adduser %s %s` and log in again",
			 who, what, f->group, who, f->group);
}

static void rights_refuse(const struct rights_found *f, char ret[static RIGHTS_SENTENCE_MAX])
{
	static const char *const deeds[NEED_MAX] = {
		[NEED_CHANGE] = "change the session of another user",
		[NEED_CONTROL_OWN] = "trace processes",
		[NEED_CONTROL] = "trace the system",
	};
	const char *what = deeds[f->need], *action;
	char who[USER_NAME_MAX], why[256];

	user_name(f->uid, who);
	if (f->need == NEED_ROOT) {
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "only root is allowed to do this, and user "
			 "%s is not root",
			 who);
		return;
	}
	if (f->answer == POLKIT_ABSENT) {
		rights_refuse_by_group(f, who, what, ret);
		return;
	}
	rights_explain(f, why);
	action = right_actions[need_rows[f->need].steps[0].right];
	if (f->need == NEED_CONTROL)
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "user %s is not allowed to %s (%s)%s; members of group %s can trace "
			 "the system (`adduser %s %s`, and log in again), and users whom polkit "
			 "authorizes (action %s)",
			 who, what, why,
			 f->granted & RIGHT_BIT(RIGHT_CONTROL_OWN)
				 ? ": with --own, you can trace your own processes"
				 : "",
			 f->group, who, f->group, action);
	else
		snprintf(ret, RIGHTS_SENTENCE_MAX,
			 "user %s is not allowed to %s (%s): authorization by polkit is needed "
			 "(action %s)",
			 who, what, why, action);
}

static bool rights_passes(const struct rights_found *f)
{
	enum right first = need_rows[f->need].steps[0].right;

	if (first < RIGHT_MAX && f->granted & RIGHT_BIT(first))
		return true;
	switch (f->need) {
	case NEED_NOTHING:
	case NEED_LIST:
	case NEED_SEE:
		/*
		 * Without the right, the call finds no session of another user, and reports this
		 * itself.
		 */
		return true;
	case NEED_CHANGE:
		return !f->exists || !(f->granted & RIGHT_BIT(RIGHT_VIEW));
	default:
		return false;
	}
}

enum rights_verdict rights_judge(const struct rights_found *f, char ret[static RIGHTS_SENTENCE_MAX])
{
	if (rights_passes(f))
		return RIGHTS_PASS;
	rights_refuse(f, ret);
	return f->answer == POLKIT_CHALLENGE ? RIGHTS_CHALLENGE : RIGHTS_REFUSED;
}
