/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections of programs to a recorder. All sessions of a process share them. Nothing here
 * waits for a program. The number of connections is bounded, also for each user, and so is the
 * number of packets in some time: the rest waits in the kernel. A user other than root never has
 * more connections than there are free places, and some places are for root only, so that a few
 * users cannot take all places. A program that sends a wrong packet, or no name for ten seconds, is
 * dropped. So is a link with an answer of another process than its program: a child from before an
 * exec can hold the connection. Answers to an earlier START are ignored. When there is room again,
 * the doorbell wakes programs that were refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "base/value.h"
#include "capture/providers/provider-seats.h"
#include "provider/provider-wire.h"

enum {
	PROVIDER_LINKS_MAX = 128,
	PROVIDER_LINKS_PER_USER = 64, /* except root */
	PROVIDER_LINKS_OF_ROOT = 16,  /* places that only root gets */
};

/* A program must send its name within this time. */
#define PROVIDER_HELLO_NS UINT64_C(10000000000)

struct provider_link {
	int fd;     /* -1 = the connection has ended */
	int pid_fd; /* -1 = unknown */
	/* The pid of the process that connected, in the pid namespace of the recorder. */
	uint32_t pid;
	uint32_t uid;                   /* effective uid of that process when it connected */
	uint64_t number;                /* differs for each connection */
	char name[PROVIDER_NAME_BYTES]; /* "" = it was not received yet */
	struct provider_seats seats;
	struct table categories; /* hash -> name, of those that the program has sent */
	size_t categories_bytes; /* of their names */
	uint64_t since_ns;       /* CLOCK_BOOTTIME: when it was accepted */
	unsigned n_packets;      /* since the last renewal */
	unsigned n_users;        /* provider_links_keep() */
	bool is_listed;          /* provider_links_next() returns it */
	bool is_gone;     /* the program has ended, or closed the connection, or was dropped */
	bool has_ended;   /* the process had ended when the link became gone */
	uint64_t gone_ns; /* CLOCK_BOOTTIME: when that was seen */
};

struct provider_links_counts {
	uint64_t refused; /* connections over a limit */
	uint64_t dropped; /* connections with a wrong packet, or without a name */
};

/* Called when there can be a new program, or room for a session in a program. */
struct provider_listener {
	void (*fn)(void *userdata);
	void *userdata;
	struct provider_listener *next; /* of provider_links */
};

struct provider_links;

/*
 * Makes the socket (provider_socket_open()) for the process OWNER ("kymod"). Returns 0, or a
 * negative errno with a sentence in WHY.
 */
int provider_links_new(struct provider_links **ret, const char *owner,
		       char why[static VALUE_WHY_MAX]);
struct provider_links *provider_links_free(struct provider_links *l);
DEFINE_CLEANUP(struct provider_links *, provider_links_free)

/* The descriptor with the lock of the socket. */
int provider_links_lock_fd(const struct provider_links *l);

/* Readable if provider_links_poll() has work. */
int provider_links_fd(const struct provider_links *l);

/* The additions of a service. Each of these can be NULL. */
struct provider_links_ops {
	/*
	 * Says whether so many descriptors of user UID wait to be closed that no more should be
	 * accepted. A connection of such a user ends, but is closed only when there is room for its
	 * descriptors. Until then, no connections of any user are accepted: accept() cannot choose.
	 */
	bool (*is_stuck)(uint32_t uid);
	/* Called when the socket or a connection was opened. */
	void (*opened)(int fd);
	void (*closes)(int fd); /* just before FD is closed */
};

/* Sets the functions. OPS must stay valid. To be called before the first provider_links_poll(). */
void provider_links_set_ops(struct provider_links *l, const struct provider_links_ops *ops);

/* Adds or removes a listener, which the caller owns. */
void provider_links_listen(struct provider_links *l, struct provider_listener *listener);
void provider_links_ignore(struct provider_links *l, struct provider_listener *listener);

/*
 * Accepts a bounded number of connections, and takes a bounded number of packets. Calls the
 * listeners.
 */
void provider_links_poll(struct provider_links *l);

/*
 * Allows the next packets and connections, if the last call is some time ago, and forgets links
 * that are gone. To be called some times per second.
 */
void provider_links_renew(struct provider_links *l);

/* Returns the next link after *POS (at first 0), or NULL. */
struct provider_link *provider_links_next(const struct provider_links *l, size_t *pos);

/* Keeps LINK, even without its connection, until provider_links_release(). */
void provider_links_keep(struct provider_link *link);
void provider_links_release(struct provider_link *link);

/*
 * Sends START with the two files. MESSAGE has the parameters of the session, and its number. UID is
 * the session's user. If the program does not take the message, the link is gone. Returns the seat,
 * or NULL if none is free.
 */
struct provider_seat *provider_links_start(struct provider_links *l, struct provider_link *link,
					   const struct provider_message *message, uint32_t uid,
					   const int fds[2]);

/* Ends the connection LINK, which then is gone. */
void provider_links_drop(struct provider_links *l, struct provider_link *link);

/* The session of SEAT is over: sends STOP, unless the program has ended the session already. */
void provider_links_stop(struct provider_links *l, struct provider_link *link,
			 struct provider_seat *seat);

/* A hash of N bytes, never 0, that programs cannot foresee. */
uint64_t provider_links_hash(const struct provider_links *l, const char *text, size_t n);

/* The memory of the buffers of all programs. */
struct provider_memory *provider_links_memory(struct provider_links *l);

/* Returns a number that has changed if a program has connected or sent its name meanwhile. */
uint64_t provider_links_news(const struct provider_links *l);

const struct provider_links_counts *provider_links_counts(const struct provider_links *l);
