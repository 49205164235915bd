/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"

#define NS_PER_S UINT64_C(1000000000)

/* Smaller differences in the number of misses do not count. */
enum { MISSED_STEP = 16 };

void unwind_queue_deinit(struct unwind_queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		close_fd(q->files[i].fd);
	free(q->files);
	*q = (struct unwind_queue){ 0 };
}

/* Returns the share for the file FD. Files that are not open share the last number. */
static unsigned unwind_queue_owner(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return UNWIND_OWNERS_MAX - 1;
	return st.st_uid == 0 ? 0 : 1 + st.st_uid % (UNWIND_OWNERS_MAX - 2);
}

int unwind_queue_put(struct unwind_queue *q, const struct unwind_waiting *file)
{
	int r = q->n < UNWIND_QUEUE_MAX ? GROW(q->files, q->room, q->n + 1) : -ENOBUFS;

	if (r < 0) {
		close_fd(file->fd);
		return r;
	}
	q->files[q->n] = *file;
	q->files[q->n++].owner = unwind_queue_owner(file->fd);
	return 0;
}

static bool unwind_queue_before(const struct unwind_queue *q, const struct unwind_file *files,
				const struct unwind_waiting *a, const struct unwind_waiting *b)
{
	uint64_t spent_a = q->spent_ns[a->owner] / NS_PER_S;
	uint64_t spent_b = q->spent_ns[b->owner] / NS_PER_S;

	if (spent_a != spent_b)
		return spent_a < spent_b;
	return files[a->ask.number % UNWIND_FILES_MAX].missed / MISSED_STEP >
	       files[b->ask.number % UNWIND_FILES_MAX].missed / MISSED_STEP;
}

struct unwind_waiting unwind_queue_pop(struct unwind_queue *q, const struct unwind_file *files)
{
	size_t best = q->n - 1;
	struct unwind_waiting file;

	for (size_t i = best; i-- > 0;)
		if (unwind_queue_before(q, files, &q->files[i], &q->files[best]))
			best = i;
	file = q->files[best];
	memmove(q->files + best, q->files + best + 1, (--q->n - best) * sizeof(file));
	return file;
}

void unwind_queue_charge(struct unwind_queue *q, unsigned owner, uint64_t ns)
{
	q->spent_ns[owner] += ns;
}
