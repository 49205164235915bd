/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of access control share. Internal to access*.c.
 *
 *   access.c          peers, their identity and their rights; the filter of the bus
 *   access-queue.c    messages that wait for an answer
 *   access-direct.c   connections without a bus
 */
#pragma once

#include "daemon/access/access.h"
#include "daemon/access/polkit.h"

/* The answer of polkit about one right. */
struct answer {
	enum polkit_answer answer;
	uint64_t until_ns;
	char *why; /* for POLKIT_FAILED */
};

/* A connection on the bus, or a direct connection. */
struct peer {
	struct access *access;
	struct peer *next;
	char *name;
	sd_bus *direct; /* borrowed; NULL = on the bus */
	/* pending call GetConnectionCredentials; or filter of a direct connection */
	sd_bus_slot *question;
	bool known; /* the following members are set */
	uid_t uid;
	int membership; /* result of credentials_in_group() */
	struct answer answers[RIGHT_MAX];
	struct polkit_check *check; /* pending check of the right ASKED */
	enum right asked;
	bool for_held;       /* the check is for the message held[0] */
	uint64_t generation; /* generation of polkit's rules at the start of the check */
	sd_bus_message *held[ACCESS_HELD_PER_PEER];
	size_t n_held;
	bool queued; /* the message held[0] is in the read queue */
	/* By the last answer, the peer may view all sessions, so it receives their signals. */
	bool sees_all;
	uint32_t answered; /* rights that were checked for held[0]; valid even if expired */
	uint32_t granted;  /* rights of the sender for the message that is being served */
};

struct access {
	sd_bus *bus;
	char *group;
	struct access_ops ops;
	sd_bus_slot *filter;
	sd_bus_slot *watch;  /* match of the signal NameOwnerChanged */
	sd_bus_slot *change; /* match of polkit's signal Changed */
	uint64_t generation; /* generation of polkit's rules */
	struct peer *peers;
	size_t n_peers;
	uint64_t n_directs; /* number of direct connections so far, for their names */
	size_t held_max, held_per_user_max;
	bool drops_signals; /* the bus did not read before the last signal */
};

void access_forget_answer(struct answer *a);

/* Frees P, which is not, or no longer, in the list of peers. Returns NULL. */
struct peer *access_peer_free(struct peer *p);

DEFINE_CLEANUP(struct peer *, access_peer_free)

/* Removes PEER from the list of peers, and frees it. */
void access_forget(struct peer *peer);

/* Returns 0 if M is small enough, or a negative errno with the refusal in RETERR. */
int access_check_weight(sd_bus_message *m, sd_bus_error *reterr);

/*
 * Adds M to the waiting messages of P. Returns 0, or a negative errno with the refusal in RETERR.
 */
int access_hold(struct peer *p, sd_bus_message *m, sd_bus_error *reterr);

/*
 * Called when the user of P has become known: refuses the latest waiting messages of P that exceed
 * the limit of this user.
 */
void access_refuse_surplus(struct peer *p);

/*
 * Removes the first waiting message, which is served or refused. Drops answers that were valid only
 * for this message.
 */
void access_pop_held(struct peer *p);

/*
 * Puts the first waiting message back into the read queue, where the filter sees it again, unless a
 * check is pending.
 */
void access_advance(struct peer *p);

/* Returns the peer of BUS, a direct connection, or NULL. */
struct peer *access_find_direct(const struct access *a, const sd_bus *bus);

/*
 * Returns true if the peer of a direct connection does not read its messages, and ends the
 * connection in that case.
 */
bool access_end_unread(const struct peer *p);
