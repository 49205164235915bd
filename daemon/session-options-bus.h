/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of CreateSession, a{sv}, into what a session takes, and back for the property
 * Options. Whatever comes from the bus is checked here, once; an error names the option.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"
#include "capture/options/options.h"
#include "capture/store/store.h"

struct collection_use;

struct create_request {
	uid_t uid;                      /* who asks */
	struct session_options options; /* owned */
	int output_fd;                  /* owned; where the archive goes, if there is no store */
	struct store *store;            /* owned; or NULL */
	bool linger;                    /* outlives the connection that made it */
	char *profile;                  /* owned: the name of one that says all the rest; or NULL */
	struct collection_use *use;     /* owned: what became of it (manager.h) */
};

void create_request_deinit(struct create_request *r);

/*
 * Reads a{sv} from M, a call of UID's. *RET is set only on success. Returns 0 or a negative errno
 * with a sentence in RETERR.
 */
int create_request_read(sd_bus_message *m, uid_t uid, struct create_request *ret,
			sd_bus_error *reterr);

/*
 * Copies FD, which UID has passed, if an archive can go there. Returns 0; -EBADF if it cannot be
 * written, is of another kind, or is a socket that leads to somebody else; or -EDQUOT if more of
 * its file system are not closed than may be; with a sentence in RETERR. Asks no file system
 * anything, so it does not wait; whether it is the kernel's finds out who writes to it (store.h).
 */
int output_fd_take(int fd, uid_t uid, int *ret_fd, sd_bus_error *reterr);

/* Appends O and LINGER as a{sv}, the output left out. Returns 0 or a negative errno. */
int session_options_append(sd_bus_message *m, const struct session_options *o, bool linger);
