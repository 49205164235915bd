/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user of a connection, as the bus itself says (GetConnectionCredentials): what it took when
 * the connection was made. What sd-bus adds to messages from /proc can be raced and is not used.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

struct credentials {
	bool has_uid;
	uid_t uid;
	gid_t *groups; /* owned; NULL = the bus does not say */
	size_t n_groups;
};

/* Reads the answer a{sv} into *C, which is cleared before. Returns 0 or a negative errno; in any
 * case *C is the caller's to clear. */
int credentials_read(sd_bus_message *reply, struct credentials *c);
void credentials_deinit(struct credentials *c);

/* 0 if C is a member of GROUP, a name or a number (by the user database where the bus does not
 * tell groups); -EACCES if not; -ENOENT if there is no such group. */
int credentials_in_group(const struct credentials *c, const char *group);

/* The name of a user, or the number where there is none. */
#define USER_NAME_MAX 64
void user_name(uid_t uid, char ret[static USER_NAME_MAX]);
