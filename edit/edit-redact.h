/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive that can be given away: who did something is not in it, what was done, when and
 * for how long is.
 *
 * Each word is replaced by one that is made from it and a secret key, so equal words stay equal
 * wherever they stand: a process's name, the file that it executed, a path's directories, the words
 * of a command line. Kept are the words of docs/FXT-MAPPING.md itself, numbers of kymo's own events
 * (ids of processes, threads, users and cgroups among them), times, addresses, and the versions of
 * the kernel and of kymo. In what other programs wrote, numbers are replaced, too. Bytes of blobs
 * are left out; build ids, and devices and inodes of mapped files, are replaced. Sizes and offsets
 * of mappings are kept: without them no address belongs to a mapping. A reader with the same file
 * may recognise it by them.
 */
#pragma once

#include "edit/edit-copy.h"

/* At least so many bytes are a key. */
enum { EDIT_REDACT_KEY_MIN = 16 };

struct edit_redact_options {
	const void *key; /* borrowed; NULL = one that nobody knows */
	size_t key_size;
	bool keep_kernel; /* names of kernel threads, interrupts and the like */
};

struct edit_redact;

/* OUT is borrowed. Returns 0, -ENOMEM, or -EINVAL for a key that is too short. */
int edit_redact_new(struct edit_redact **ret, struct edit_output *out,
		    const struct edit_redact_options *options);
struct edit_redact *edit_redact_free(struct edit_redact *r);
DEFINE_CLEANUP(struct edit_redact *, edit_redact_free)

/* Takes the next record. Returns 0 or a negative errno, as edit_copy_record(). */
int edit_redact_record(struct edit_redact *r, const struct fxt_record *record);

struct edit_redact_counts {
	struct edit_counts copied;
	uint64_t texts;   /* replaced */
	uint64_t numbers; /* replaced */
	uint64_t blobs;   /* left out */
};

void edit_redact_get_counts(const struct edit_redact *r, struct edit_redact_counts *ret);
