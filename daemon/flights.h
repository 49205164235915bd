/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where flight recorders keep what they have: a directory UID-NAME each below flight/ in the
 * service's runtime directory, which is memory and outlives us. A directory is locked (flock()) as
 * long as its service lives.
 */
#pragma once

#include <sys/types.h>

/* What a dead service may have left that is offered again; what is more stays where it is. */
enum { FLIGHTS_RECOVERED_MAX = 16 };

/*
 * Opens flight/ in $RUNTIME_DIRECTORY or /run/kymo, which are made if they are not there. Returns
 * the descriptor or a negative errno.
 */
int flights_open(void);

/* Makes the directory of UID's session NAME below DIR_FD, empty. Returns its descriptor, which
 * holds the lock, -EBUSY if another service has it, or another negative errno. */
int flights_make(int dir_fd, uid_t uid, const char *name);

/* Removes it with what is in it. FD is its descriptor. */
void flights_remove(int dir_fd, uid_t uid, const char *name, int fd);

/* Called with the directory of a service that is dead; FD, which holds the lock, is taken over. */
typedef void (*flights_found_fn)(uid_t uid, const char *name, int fd, void *userdata);

/* Calls FOUND for each of them. */
void flights_find(int dir_fd, flights_found_fn found, void *userdata);
