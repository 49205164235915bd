/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-process.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <bpf/bpf.h>

/* The number of attempts. A change takes some microseconds. */
enum { ATTEMPTS = 4 };

/*
 * BEFORE and AFTER are two copies, made one after the other. Returns true if they are equal, and
 * were not made during a change.
 */
static bool unwind_process_is_whole(const struct unwind_process *before,
				    const struct unwind_process *after)
{
	size_t bytes;

	if (before->sequence & 1 || before->n > UNWIND_MAPPINGS_MAX)
		return false;
	/*
	 * If a change began during the first copy, the sequence number in the second copy differs.
	 */
	bytes = offsetof(struct unwind_process, mappings) + before->n * sizeof(before->mappings[0]);
	return memcmp(before, after, bytes) == 0;
}

int unwind_process_read(int fd, uint32_t pid, struct unwind_process *ret)
{
	struct unwind_process after;

	if (bpf_map_lookup_elem(fd, &pid, ret) < 0)
		return -errno;
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (bpf_map_lookup_elem(fd, &pid, &after) < 0)
			return -errno;
		if (unwind_process_is_whole(ret, &after))
			return 0;
		*ret = after;
	}
	return -EAGAIN;
}
