/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves one file to a web page in a browser on this machine: an HTTP server on 127.0.0.1 that
 * serves one open descriptor at one secret path.
 *
 * A foreign page could resolve its own name to 127.0.0.1, or guess the address. So requests must
 * name this host (Host) and the page that the file is for (Origin). Other users of this machine can
 * see the path on the command line of the browser. So the connecting socket must belong to the user
 * of this process, or to root (cli/open/peer-owner.h).
 *
 * If the page does not support the compression of the file, the server unpacks the file. Then only
 * one transfer is possible at a time, and a new transfer ends the previous one.
 *
 * The server runs in its own thread. An interrupted fetch is not counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "writer/pack/pack-wire.h"

struct serve_file;

struct serve_file_args {
	int fd; /* a regular file; borrowed */
	enum pack_method
		/* Compression that the server unpacks; PACK_NONE = the file is served unchanged. */
		unpack;
	uint16_t port;      /* 0 = any port */
	const char *name;   /* last part of the URL */
	const char *origin; /* scheme://host[:port] of the page, as browsers send it; borrowed */
	bool keep;          /* allow more than one fetch */
	bool any_user;      /* also allow fetches by other users */
	/* A client that reads nothing for this time is disconnected; 0 = never. */
	unsigned stall_s;
};

struct serve_file_status {
	uint64_t n_fetched; /* number of complete fetches */
	uint64_t n_refused; /* number of refused requests: from other pages, or for another path */
	uint64_t n_foreign; /* number of connections by other or unknown users */
	uid_t foreign_uid;  /* user of the last of these connections */
	int foreign_error;  /* why that user is unknown (negative errno); 0 = known */
	uint64_t bytes;     /* number of bytes sent in all transfers */
	unsigned n_active;  /* number of running transfers */
	const char *damage; /* error that ended the unpacking; static text, or NULL */
	uint64_t changes;   /* increases with every request and every byte */
};

/*
 * Returns 0, -EADDRINUSE if the port is taken, -ENOPKG if libmicrohttpd cannot be loaded, or
 * another negative errno.
 */
int serve_file_new(const struct serve_file_args *args, struct serve_file **ret);

/* Closes all connections. Returns NULL. */
struct serve_file *serve_file_free(struct serve_file *s);
DEFINE_CLEANUP(struct serve_file *, serve_file_free)

/* Returns the URL: "http://127.0.0.1:9001/.../NAME". Borrowed. */
const char *serve_file_url(const struct serve_file *s);

uint16_t serve_file_port(const struct serve_file *s);

/* Returns an eventfd (borrowed) that becomes readable when a request has ended. */
int serve_file_fd(const struct serve_file *s);

/* Resets the descriptor and returns the status. */
struct serve_file_status serve_file_poll(struct serve_file *s);
