/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file for a web page that runs in a browser on this machine: an HTTP server on 127.0.0.1 that
 * gives out one open descriptor, at one path that nobody can guess, and nothing else.
 *
 * A page elsewhere could make its own name resolve to 127.0.0.1, or just try: so requests must name
 * this host (Host), and what asks must be the page that it is for (Origin). Other users of this
 * machine see the path on the command line of the browser: so the socket that connects must belong
 * to the user of this process, or to root (cli/open/peer-owner.h).
 *
 * What is packed by a method that the page does not know is unpacked on its way. Then there is one
 * transfer at a time, and a newer one ends an older one.
 *
 * The server runs in a thread of its own. A fetch that was broken off does not count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "writer/pack/pack-wire.h"

struct serve_file;

struct serve_file_args {
	int fd;                  /* borrowed: a regular file */
	enum pack_method unpack; /* what to unpack; PACK_NONE: it goes out as it is */
	uint16_t port;           /* 0 = any */
	const char *name;        /* what the URL ends with */
	const char *origin; /* of the page: scheme://host[:port], as browsers say it; borrowed */
	bool keep;          /* more than one fetch is welcome */
	bool any_user;      /* other users may fetch it, too */
	unsigned stall_s;   /* a client that takes nothing for so long is hung up on; 0 = never */
};

struct serve_file_status {
	uint64_t n_fetched;   /* complete ones */
	uint64_t n_refused;   /* requests of others, or for something else */
	uint64_t n_strangers; /* connections of other users, or of unknown ones */
	uid_t stranger;       /* the user of the last one of them */
	int stranger_error;   /* or why that is not known (negative errno); 0 = it is */
	uint64_t bytes;       /* that were given out in all */
	unsigned n_active;    /* transfers under way */
	const char *damage;   /* what ended the unpacking; static text, or NULL */
	uint64_t changes;     /* goes up with every request and with every byte */
};

/* Returns 0, -EADDRINUSE if the port is taken, or another negative errno. */
int serve_file_new(const struct serve_file_args *args, struct serve_file **ret);

/* Hangs up on everybody. Returns NULL. */
struct serve_file *serve_file_free(struct serve_file *s);
DEFINE_CLEANUP(struct serve_file *, serve_file_free)

/* Where it is: "http://127.0.0.1:9001/.../NAME". Borrowed. */
const char *serve_file_url(const struct serve_file *s);

uint16_t serve_file_port(const struct serve_file *s);

/* Becomes readable (eventfd, borrowed) when a request has ended. */
int serve_file_fd(const struct serve_file *s);

/* Resets the descriptor and returns how things stand. */
struct serve_file_status serve_file_poll(struct serve_file *s);
