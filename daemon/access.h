/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may use the daemon: root, and members of one group.
 *
 * A filter stands in front of everything that the daemon offers on the bus, properties and
 * introspection included, so no method can forget to ask. For the first message of a connection
 * it asks the bus who that is and holds the message until the answer comes; the answer holds for
 * the life of the connection, whose unique name is never used again.
 *
 * The credentials are those that the bus itself took when the connection was made
 * (GetConnectionCredentials). What sd-bus adds to them from /proc can be raced and is not used.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"

struct access;

/* A connection that has sent messages left the bus. */
typedef void (*access_gone_fn)(const char *unique_name, void *userdata);

/*
 * Stands guard on BUS. GROUP is the name or number of the group whose members may come in. GONE
 * (may be NULL) is told of everyone who leaves.
 */
int access_new(sd_bus *bus, const char *group, struct access **ret);
void access_set_gone(struct access *a, access_gone_fn gone, void *userdata);
struct access *access_free(struct access *a);

DEFINE_CLEANUP(struct access *, access_free)

/* The uid of who sent M, a message that has passed the guard. Without M: root, that is ourselves. */
uid_t access_sender_uid(const struct access *a, sd_bus_message *m);

/*
 * The rule itself: 0 if UID with GROUPS (NULL = to be looked up) may come in, else -EACCES with a
 * sentence in RETERR.
 */
int access_decide(const char *group, uid_t uid, const gid_t *groups, size_t n_groups,
		  sd_bus_error *reterr);
