/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard: who may call what.
 *
 * A filter stands in front of everything that the daemon offers on the bus, properties and
 * introspection included, so no method can forget to ask. For the first message of a connection it
 * asks the bus who that is; the answer holds for the life of the connection, whose unique name is
 * never used again. What a message needs then says rights.h; whether its sender has that right says
 * polkit (polkit.h), or, where there is none on this bus, the group. Nothing of this waits:
 * meanwhile messages of that sender are held, and then served in the order in which they came.
 *
 * Answers of polkit are kept for ACCESS_ANSWER_NS: a command makes its calls within that time, and
 * a right that is taken away is gone soon enough where polkit does not notify us (it does of
 * changed rules, and then answers are dropped at once, but not of a user who left a group).
 * Failures and dialogues that were given up are not kept: who tries again, means it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"
#include "daemon/rights.h"

/*
 * What may wait for answers. Each message may hold 16 descriptors of ours, and a connection to the
 * bus that cannot take in a message for want of one is closed: so it is less where there may be few
 * (RLIMIT_NOFILE).
 */
enum {
	ACCESS_HELD_PER_PEER = 16,  /* messages of one connection */
	ACCESS_HELD_PER_USER = 32,  /* of one user who is not root, once it is known who that is */
	ACCESS_HELD = 256,          /* of all together */
	ACCESS_CHECKS_PER_USER = 8, /* questions to polkit */
	ACCESS_CHECKS = 64,
	ACCESS_MESSAGE_BYTES = 128 << 10, /* far more than any call needs */
};

#define ACCESS_ANSWER_NS UINT64_C(5000000000)

struct access;

/* A connection that has sent messages left the bus. */
typedef void (*access_gone_fn)(const char *unique_name, void *userdata);

/* What the message M of UID, who is not root, needs; with NEED_CHANGE, whether the session that it
 * means is there. M may be read. Returns 0, or a negative errno if it makes no sense. */
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
 * Stands guard on BUS. GROUP is the name or number of the group that counts where there is no
 * polkit.
 */
int access_new(sd_bus *bus, const char *group, const struct access_ops *ops, struct access **ret);
struct access *access_free(struct access *a);

DEFINE_CLEANUP(struct access *, access_free)

/* Whatever polkit has said is asked again when it matters next. */
void access_drop_answers(struct access *a);

/* Whether calls wait for answers: somebody is typing a password, maybe. */
bool access_is_waiting(const struct access *a);

/*
 * The uid of who sent M, a message that has passed the guard. Without M: root, that is ourselves.
 */
uid_t access_sender_uid(const struct access *a, sd_bus_message *m);

/*
 * Whether the sender of M, the message that is being served, may view, change or is (a right that
 * M did not need was not asked for, and is not there). Without M: ourselves.
 */
bool access_may(const struct access *a, sd_bus_message *m, enum right right);

/* Calls FN for each connection that gets signals about sessions of OWNER: those of OWNER and of
 * root that have called, and those that were let see all when they last asked. */
typedef void (*access_hearer_fn)(const char *unique_name, void *userdata);
void access_each_hearer(const struct access *a, uid_t owner, access_hearer_fn fn, void *userdata);
