/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access control for all calls on the bus.
 *
 * A filter sees each message before all objects of the daemon, including properties and
 * introspection, so no method can forget the check. For the first message of a connection, it asks
 * the bus for the credentials of the sender. The answer is valid for the life of the connection,
 * since its unique name is never reused. rights.h defines the rights that a message needs. polkit
 * (polkit.h) decides whether the sender has a right. Without polkit on this bus, membership in the
 * group decides. The filter never blocks: the sender's messages are held until the answer comes,
 * and are then served in the order of their arrival.
 *
 * Answers of polkit are cached for ACCESS_ANSWER_NS, in which a command makes all its calls. polkit
 * announces changed rules, and the cache is then dropped. polkit does not announce that a user left
 * a group, so this change takes effect when the cached answer expires. Failures and cancelled
 * authentication dialogues are not cached, so that a user can try again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"
#include "daemon/access/rights.h"

/*
 * Limits of waiting messages and checks. Each message can hold 16 of our descriptors. If the bus
 * library cannot receive a message for lack of descriptors, it closes the connection to the bus. So
 * the limits are lower if RLIMIT_NOFILE is low.
 */
enum {
	ACCESS_HELD_PER_PEER = 16, /* maximum number of waiting messages of one connection */
	ACCESS_HELD_PER_USER =
		/*
		 * Maximum number of one user's waiting messages, once the user is known. Not for
		 * root.
		 */
	32,
	ACCESS_HELD = 256,          /* maximum number of waiting messages of all connections */
	ACCESS_CHECKS_PER_USER = 8, /* maximum number of pending questions of one user to polkit */
	ACCESS_CHECKS = 64,
	/* Maximum number of messages that wait until the peer of a direct connection reads. */
	ACCESS_DIRECT_UNREAD = 64,
	/*
	 * If so many messages wait until the bus reads, signals to clients of the bus are dropped.
	 */
	ACCESS_BUS_UNREAD = 1000,
	/* Maximum size of a message, much more than any call needs. */
	ACCESS_MESSAGE_BYTES = 128 << 10,
};

#define ACCESS_ANSWER_NS UINT64_C(5000000000)

struct access;

/* Called when a connection that has sent messages has left the bus. */
typedef void (*access_gone_fn)(const char *unique_name, void *userdata);

/*
 * Sets *RET to the demand of the message M from UID, who is not root. If the need is NEED_CHANGE,
 * `exists` tells whether the session exists. The function may read M. Returns 0, or a negative
 * errno if M is invalid.
 */
struct access_demand {
	enum need need;
	bool exists;
};
typedef int (*access_demand_fn)(sd_bus_message *m, uid_t uid, struct access_demand *ret,
				void *userdata);

struct access_ops {
	access_demand_fn demand;
	access_gone_fn gone;
	void *userdata;
};

/*
 * Installs the filter on BUS. GROUP is the name or number of the group that decides without polkit.
 */
int access_new(sd_bus *bus, const char *group, const struct access_ops *ops, struct access **ret);
struct access *access_free(struct access *a);

DEFINE_CLEANUP(struct access *, access_free)

/*
 * Serves the calls on BUS, a direct connection of user UID (daemon/bus/private-socket.h). Returns 0
 * or a negative errno: -EACCES if the user is not root. The connection identifies the peer, so
 * senders in messages are ignored. access_remove_direct() calls access_gone_fn for the peer.
 */
int access_add_direct(struct access *a, sd_bus *bus, uid_t uid);
void access_remove_direct(struct access *a, sd_bus *bus);

/* Discards the answers of polkit. polkit is asked again when an answer is needed. */
void access_drop_answers(struct access *a);

/* Returns true if calls are waiting for answers, for example while a user types a password. */
bool access_is_waiting(const struct access *a);

/*
 * Returns the uid of the sender of M, a message that has passed the filter. M NULL = a call by the
 * daemon itself, so the uid is root's.
 */
uid_t access_sender_uid(const struct access *a, sd_bus_message *m);

/*
 * Returns the name of the sender of M, borrowed: its unique name on the bus or, on a direct
 * connection, the name that access control gave to the connection.
 */
const char *access_sender_name(const struct access *a, sd_bus_message *m);

/*
 * Returns true if the sender of M, the message that is being served, has the right RIGHT. Rights
 * that M did not need were not checked, and count as absent. M NULL = a call by the daemon itself,
 * which has all rights.
 */
bool access_may(const struct access *a, sd_bus_message *m, enum right right);

/*
 * Calls FN for each connection that receives signals about sessions of OWNER: the connections of
 * OWNER and of root that have made calls, and those that had the right to view all sessions at the
 * last check. BUS is the bus, or a direct connection, for which DESTINATION is NULL. While the bus
 * does not read, connections on the bus are left out, since the waiting messages would need memory
 * without limit.
 */
typedef void (*access_receiver_fn)(sd_bus *bus, const char *destination, void *userdata);
void access_each_receiver(struct access *a, uid_t owner, access_receiver_fn fn, void *userdata);
