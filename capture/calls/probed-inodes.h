/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identities of the files in which a session sets probes for calls and moments. Probes belong
 * to inodes, so a process that has mapped another file of such a name has no probes there.
 */
#pragma once

#include "capture/options/options.h"
#include "capture/proc/file-identity.h"
#include "model/other-files.h"

struct probed_inode {
	struct file_identity identity;
	char *path; /* owned; as in struct rec_mapping */
	char stem[OTHER_FILES_STEM];
};

struct probed_inodes {
	struct probed_inode *list; /* owned */
	size_t n;
};

/*
 * Examines the files of O. Their file system need not answer. Returns NULL if there is no memory.
 * Files of an overlayfs are left out: it is unknown which processes lack them.
 */
struct probed_inodes *probed_inodes_new(const struct session_options *o);
struct probed_inodes *probed_inodes_free(struct probed_inodes *p);

/*
 * Returns the name of the file with probes that a process lacks, because it has mapped the file of
 * EV, an EVENT_MAPPING, with the same name; NULL = the process lacks no such file. If the paths are
 * equal, this is the whole path: the file was replaced, or the process has another root directory.
 */
const char *probed_inodes_missed(const struct probed_inodes *p, const struct event *ev);
