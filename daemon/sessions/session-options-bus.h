/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the options of CreateSession, a{sv}, to the options of a session, and back for the
 * property Options. All values from the bus are checked here, once. An error names the option.
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
	uid_t uid;                      /* uid of the caller */
	struct session_options options; /* owned */
	int output_fd;                  /* output, if STORE is NULL; owned */
	struct store *store;            /* store of the output; owned; or NULL */
	bool linger;                    /* the session outlives the connection that made it */
	/* Name of a collection, which sets all other options; NULL = no collection. Owned. */
	char *profile;
	struct collection_use *use; /* the collection (collection-use.h); owned */
};

void create_request_deinit(struct create_request *r);

/*
 * Reads a{sv} from M, a call of UID. Sets *RET only on success. Returns 0, or a negative errno with
 * an error message in RETERR.
 */
int create_request_read(sd_bus_message *m, uid_t uid, struct create_request *ret,
			sd_bus_error *reterr);

/*
 * Duplicates FD, which UID has passed, if it can be an output. Returns 0; -EBADF if it is not
 * writable, cannot be an output by its type, or is a socket that leads neither to a process of UID
 * nor over a network; or -EDQUOT if too many descriptors of its file system are not closed yet.
 * Errors have a message in RETERR. The function sends no request to a file system, so it does not
 * block. The writer checks later that FD is not a file of procfs, sysfs or similar (store.h).
 */
int output_fd_acquire(int fd, uid_t uid, int *ret_fd, sd_bus_error *reterr);

/* Appends O and LINGER as a{sv}, without the output. Returns 0 or a negative errno. */
int session_options_append(sd_bus_message *m, const struct session_options *o, bool linger);
