/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user of a connection, as the bus reports it (GetConnectionCredentials). The bus has known the
 * user since the connection was made. sd-bus also offers credentials from /proc, but these are
 * subject to races, and are not used.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

struct credentials {
	bool has_uid;
	uid_t uid;
	gid_t *groups; /* owned; NULL = the bus does not report groups */
	size_t n_groups;
};

/*
 * Reads the reply a{sv} into *C, which must be empty. Returns 0 or a negative errno. In both cases,
 * the caller must call credentials_deinit().
 */
int credentials_read(sd_bus_message *reply, struct credentials *c);
void credentials_deinit(struct credentials *c);

/*
 * Checks whether C is a member of GROUP, a name or a number. Returns 0; -EACCES: C is not a member;
 * or -ENOENT: the group does not exist. If the bus does not report groups, the user database
 * decides.
 */
int credentials_in_group(const struct credentials *c, const char *group);

/* The size of a buffer for the name of a user, or for the number of a user without a name. */
#define USER_NAME_MAX 64
void user_name(uid_t uid, char ret[static USER_NAME_MAX]);
