/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive that can be given to others: it shows actions, their times and durations, but no
 * names of users, programs and files.
 *
 * Each word is replaced by a hash of the word and a secret key, so equal words stay equal
 * everywhere: the name of a process, the file that it executed, the directories of a path, the
 * words of a command line. These are kept: the words of docs/FXT-MAPPING.md, numbers in kymo's own
 * events (including ids of processes, threads, users and cgroups), times, addresses, and the
 * versions of the kernel and of kymo. In data of other programs, numbers are replaced, too. Bytes
 * of blobs are left out. Build ids, and devices and inodes of mapped files, are replaced. Sizes and
 * offsets of mappings are kept, since otherwise addresses could not be assigned to mappings. From
 * sizes and offsets, readers who have the same file can recognize it.
 */
#pragma once

#include "edit/edit-copy.h"

/* The minimum size of a key in bytes. */
enum { EDIT_REDACT_KEY_MIN = 16 };

struct edit_redact_options {
	const void *key; /* borrowed; NULL = a random key that is not kept */
	size_t key_size;
	bool keep_kernel; /* keep names of kernel threads, interrupts and kernel functions */
};

struct edit_redact;

/*
 * Creates a redaction. OUT is borrowed. Returns 0, -ENOMEM, or -EINVAL for a key that is too short.
 */
int edit_redact_new(struct edit_redact **ret, struct edit_output *out,
		    const struct edit_redact_options *options);
struct edit_redact *edit_redact_free(struct edit_redact *r);
DEFINE_CLEANUP(struct edit_redact *, edit_redact_free)

/* Redacts the next record. Returns 0 or a negative errno, like edit_copy_record(). */
int edit_redact_record(struct edit_redact *r, const struct fxt_record *record);

struct edit_redact_counts {
	struct edit_counts copied;
	uint64_t texts;   /* number of replaced texts */
	uint64_t numbers; /* number of replaced numbers */
	uint64_t blobs;   /* number of blobs that were left out */
};

void edit_redact_get_counts(const struct edit_redact *r, struct edit_redact_counts *ret);
