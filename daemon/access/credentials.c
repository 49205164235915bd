/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/access/credentials.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { PEER_GROUPS_MAX = 4096 };

void credentials_deinit(struct credentials *c)
{
	free(c->groups);
	*c = (struct credentials){ 0 };
}

static int credentials_read_groups(sd_bus_message *reply, struct credentials *c)
{
	const void *p;
	size_t bytes;
	int r = sd_bus_message_enter_container(reply, 'v', "au");

	if (r < 0)
		return r;
	r = sd_bus_message_read_array(reply, 'u', &p, &bytes);
	if (r < 0)
		return r;
	if (bytes / sizeof(gid_t) > PEER_GROUPS_MAX)
		return -E2BIG;
	free(c->groups);
	c->groups = malloc(bytes ?: 1);
	if (!c->groups)
		return -ENOMEM;
	if (bytes)
		memcpy(c->groups, p, bytes);
	c->n_groups = bytes / sizeof(gid_t);
	return sd_bus_message_exit_container(reply);
}

int credentials_read(sd_bus_message *reply, struct credentials *c)
{
	const char *key;
	int r;

	r = sd_bus_message_enter_container(reply, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
		r = sd_bus_message_read(reply, "s", &key);
		if (r < 0)
			return r;
		if (strcmp(key, "UnixUserID") == 0) {
			r = sd_bus_message_read(reply, "v", "u", &c->uid);
			c->has_uid = r >= 0;
		} else if (strcmp(key, "UnixGroupIDs") == 0) {
			r = credentials_read_groups(reply, c);
		} else {
			r = sd_bus_message_skip(reply, "v");
		}
		if (r < 0)
			return r;
		r = sd_bus_message_exit_container(reply);
		if (r < 0)
			return r;
	}
	return r;
}

/* Finds the gid of GROUP, a name or a number. Returns 0 or -ENOENT. */
static int credentials_group_find(const char *group, gid_t *ret)
{
	struct group room, *found = NULL;
	char buf[16384]; /* room that includes the names of members */
	uint64_t number;

	if (text_parse_u64(group, UINT32_MAX - 1, &number) == 0) {
		*ret = (gid_t)number;
		return 0;
	}
	if (getgrnam_r(group, &room, buf, sizeof(buf), &found) == ERANGE) {
		/*
		 * getgrnam() has no size limit. It is not thread-safe, but only this thread calls
		 * it.
		 */
		found = getgrnam(group);
	}
	if (!found)
		return -ENOENT;
	*ret = found->gr_gid;
	return 0;
}

/* Looks up the groups of USER in the user database, for a bus that does not report them. */
static int credentials_groups_of(const struct passwd *user, gid_t **ret, size_t *ret_n)
{
	_cleanup_free_ gid_t *groups = NULL;
	size_t room = 0;
	int n = 64;

	for (int tries = 0; tries < 2; tries++) {
		if (GROW(groups, room, (size_t)n) < 0)
			return -ENOMEM;
		if (getgrouplist(user->pw_name, user->pw_gid, groups, &n) >= 0) {
			*ret = TAKE_PTR(groups);
			*ret_n = (size_t)n;
			return 0;
		}
	}
	return -E2BIG;
}

static bool credentials_contains(const gid_t *groups, size_t n, gid_t wanted)
{
	for (size_t i = 0; i < n; i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

void user_name(uid_t uid, char ret[static USER_NAME_MAX])
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(ret, USER_NAME_MAX, "%s", user->pw_name);
	else
		snprintf(ret, USER_NAME_MAX, "%u", uid);
}

int credentials_in_group(const struct credentials *c, const char *group)
{
	_cleanup_free_ gid_t *looked_up = NULL;
	const gid_t *groups = c->groups;
	size_t n_groups = c->n_groups;
	const struct passwd *user;
	gid_t gid;

	if (credentials_group_find(group, &gid) < 0)
		return -ENOENT;
	user = groups ? NULL : getpwuid(c->uid);
	if (user && credentials_groups_of(user, &looked_up, &n_groups) == 0)
		groups = looked_up;
	return groups && credentials_contains(groups, n_groups, gid) ? 0 : -EACCES;
}
