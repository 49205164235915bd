/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a file, to recognize its mappings in records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file_identity {
	uint64_t device, inode; /* as in struct rec_mapping */
	/*
	 * Its file system has no block device. Records of its mappings can show another device
	 * (btrfs, overlayfs).
	 */
	bool is_anonymous;
};

/* Sets *RET to the identity of the file of FD. Returns 0 or a negative errno. */
int file_identity_get(int fd, struct file_identity *ret);

/* Returns true if a mapping with this DEVICE and INODE maps the file F. */
bool file_identity_is_of(const struct file_identity *f, uint64_t device, uint64_t inode);
