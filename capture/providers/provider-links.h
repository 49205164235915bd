/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections of programs to a recorder. Nothing here waits for a program. The number of
 * connections is bounded, also for each user, and so is the number of packets between two calls of
 * provider_links_renew(): the rest waits in the kernel. A program that sends a wrong packet is
 * dropped. So is a link whose START another process than its program answers: a child from before
 * an exec can hold the connection. Answers to an earlier START are ignored. When there is room
 * again, the doorbell wakes programs that were refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/value.h"
#include "provider/provider-wire.h"

enum { PROVIDER_LINKS_MAX = 128, PROVIDER_LINKS_PER_USER = 64 };

enum provider_link_state {
	PROVIDER_LINK_NEW,     /* its name has not come yet */
	PROVIDER_LINK_KNOWN,   /* no session was asked for */
	PROVIDER_LINK_ASKED,   /* START was sent */
	PROVIDER_LINK_STARTED, /* the program writes to its buffer */
	PROVIDER_LINK_STOPPED, /* the session is over, or the program could not start it */
};

struct provider_link {
	int fd;          /* -1 = the connection has ended */
	int pid_fd;      /* -1 = unknown */
	uint32_t pid;    /* of the process that connected, in the pid namespace of the recorder */
	uint32_t uid;    /* its effective uid then */
	uint64_t number; /* differs for each connection */
	enum provider_link_state state;
	char name[PROVIDER_NAME_BYTES];
	uint64_t session;      /* of the last START */
	uint64_t started_ns;   /* CLOCK_BOOTTIME: just before the last START */
	int error;             /* the program's answer to START: 0 or a negative errno */
	unsigned n_categories; /* names of categories that the program has sent */
	unsigned n_packets;    /* since provider_links_renew() */
	bool is_gone;          /* the program has ended, or closed the connection, or was dropped */
	bool has_ended;        /* it is gone, and the process had ended then */
	uint64_t gone_ns;      /* CLOCK_BOOTTIME: when that was seen */
	void *userdata;        /* of the caller */
};

struct provider_links_counts {
	uint64_t refused; /* connections over a limit */
	uint64_t dropped; /* connections with a wrong packet */
};

struct provider_links;

/* Makes the socket (provider_socket_open()). Returns 0, or a negative errno with a sentence in WHY.
 */
int provider_links_new(struct provider_links **ret, char why[static VALUE_WHY_MAX]);
struct provider_links *provider_links_free(struct provider_links *l);
DEFINE_CLEANUP(struct provider_links *, provider_links_free)

/* Readable if provider_links_poll() has work. */
int provider_links_fd(const struct provider_links *l);

/* Accepts connections, and takes packets. */
void provider_links_poll(struct provider_links *l);

/* Allows the next packets and connections. To be called some times per second. */
void provider_links_renew(struct provider_links *l);

/* Returns the next link after *POS (at first 0), or NULL. */
struct provider_link *provider_links_next(const struct provider_links *l, size_t *pos);

/* Like provider_links_next(), but begins with the first link at or after FIRST, and wraps. */
struct provider_link *provider_links_next_from(const struct provider_links *l, size_t first,
					       size_t *pos);

/* Frees a link, which is gone, and whose userdata is NULL. */
void provider_links_forget(struct provider_links *l, struct provider_link *link);

/*
 * Sends START with the two files. MESSAGE has the parameters of the session, and its number. If
 * the program does not take it, the link is gone.
 */
void provider_links_start(struct provider_links *l, struct provider_link *link,
			  const struct provider_message *message, int data_fd, int control_fd);

/* Ends the connection LINK, which then is gone. */
void provider_links_drop(struct provider_links *l, struct provider_link *link);

/* Sends STOP for the session of LINK. */
void provider_links_stop(struct provider_links *l, struct provider_link *link);

const struct provider_links_counts *provider_links_counts(const struct provider_links *l);
