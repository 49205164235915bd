/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories for the content of flight recorders: UID-NAME below flight/ in the service's runtime
 * directory, which is in memory and outlives the service. Each directory is locked (flock()) while
 * its service lives.
 */
#pragma once

#include <sys/types.h>

/*
 * The maximum number of directories of dead services that are offered again. Other directories are
 * not changed.
 */
enum { FLIGHTS_RECOVERED_MAX = 16 };

/*
 * Opens flight/ in $RUNTIME_DIRECTORY or /run/kymo. Missing directories are created. Returns the
 * descriptor or a negative errno.
 */
int flight_directories_open(void);

/*
 * Creates an empty directory for UID's session NAME below DIR_FD. Returns its descriptor, which
 * holds the lock; -EBUSY if another service has locked it; or another negative errno.
 */
int flight_directories_make(int dir_fd, uid_t uid, const char *name);

/* Removes the directory of UID's session NAME and its content. FD is its descriptor. */
void flight_directories_remove(int dir_fd, uid_t uid, const char *name, int fd);

/*
 * Called with the directory of a dead service. FD holds the lock; the function takes ownership of
 * it.
 */
typedef void (*flight_directories_found_fn)(uid_t uid, const char *name, int fd, void *userdata);

/* Calls FOUND for each directory of a dead service. */
void flight_directories_find(int dir_fd, flight_directories_found_fn found, void *userdata);
