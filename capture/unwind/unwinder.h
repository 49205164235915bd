/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the unwind tables that the eBPF programs of a session request (bpf/record-unwind.h), in a
 * separate thread. Files are opened through their mappings, so deleted files and files of other
 * mount namespaces work, too. The files are parsed in a sandbox. Other threads handle file systems
 * that may never answer (capture/unwind/unwind-async.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-maps.h"
#include "capture/unwind/unwind-resume.h"

struct unwinder;

/* Counts of all requested files. */
struct unwinder_counts {
	uint64_t n_asked, n_tables;
	uint64_t n_cached;  /* tables from the cache */
	uint64_t n_failed;  /* files that could not be read */
	uint64_t n_evicted; /* tables that were removed to make room */
	uint64_t bytes;     /* current size of all tables */
};

/*
 * Makes an unwinder that answers the requests in MAPS, with at most BYTES_MAX of tables. The
 * descriptors of MAPS are copied. Returns 0 or a negative errno.
 */
int unwinder_new(const struct unwind_maps *maps, uint64_t bytes_max, struct unwinder **ret);

/* Releases the unwinder. The thread ends after its current work. Returns NULL. */
struct unwinder *unwinder_free(struct unwinder *u);

DEFINE_CLEANUP(struct unwinder *, unwinder_free)

/* The limits of a wait for tables. */
struct unwinder_limits {
	uint64_t all_ns; /* maximum time until all requests so far are answered */
	/* Maximum time until the requests for files on local file systems are answered. */
	uint64_t local_ns;
	/* Called every 50 ms; the wait ends if it returns true. Can be NULL. */
	bool (*called_off)(void *userdata);
	void *userdata;
};

/*
 * Waits until all requests so far are answered, or a limit is reached. Returns true if all are
 * answered.
 */
bool unwinder_wait(struct unwinder *u, const struct unwinder_limits *limits);

/*
 * If the eBPF programs have no hook for new mappings, makes them learn the mappings of process PID
 * soon, and request the tables of its files. Returns false if PID is skipped because too many
 * processes wait to be listed. Only one thread may call it. Does not wait.
 */
bool unwinder_list(struct unwinder *u, uint32_t pid);

/*
 * Returns true if the table of the file with DEVICE and INODE was requested. *NUMBER is the number
 * of the file at the last call, or UNWIND_FILE_NONE, and is updated. Any thread may call it.
 */
bool unwinder_has_asked(const struct unwinder *u, uint32_t device, uint64_t inode,
			uint16_t *number);

struct unwinder_counts unwinder_counts(struct unwinder *u);

/*
 * Stores the different versions (Py_Version; 0 = it has none) of the interpreters of Python that
 * walks have passed, and whose layouts are unknown. Returns their number. Any thread may call it.
 */
enum { UNWINDER_PYTHONS_MAX = 8 };
unsigned unwinder_unknown_pythons(struct unwinder *u,
				  uint32_t versions[static UNWINDER_PYTHONS_MAX]);

/*
 * Continues a walk that an eBPF program could not finish (unwind_resume()). Any thread may call it.
 */
struct unwind_resumed unwinder_resume(struct unwinder *u, struct unwind_seen *seen,
				      const struct rec_piece *piece, const void *stack,
				      uint64_t frames[static STACK_FRAMES_MAX]);
