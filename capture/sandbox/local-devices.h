/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows whether files that programs map are on local file systems of this machine. Other file
 * systems, such as FUSE and network file systems, may never answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed at first; filled when it is needed. */
struct local_devices {
	bool is_read;
	size_t n;
	/* The minor numbers of mounted local file systems without a block device. */
	uint64_t minors[256];
};

/*
 * Returns true if DEVICE, as in struct rec_mapping, is a block device, or a local file system
 * without one that is mounted here. (A file system on a block device can be served by a process,
 * too, but only root can mount it.) ROOT is the root directory, "" for this machine. Never asks a
 * file system.
 */
bool local_devices_has(struct local_devices *l, const char *root, uint64_t device);
