/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/late-file.h"

#include <errno.h>

#include "base/clock.h"
#include "capture/probes/allocator-cache.h"
#include "capture/probes/mapped-file.h"

/* Returns true if no block comes from the functions of a file with the allocators LIST. */
static bool late_file_is_harmless(const struct allocator_list *list)
{
	if (list->flags & ALLOCATORS_CALLS_OTHER)
		return true;
	if (list->flags & (ALLOCATORS_GO | ALLOCATORS_PARTIAL | ALLOCATORS_FULL))
		return false;
	/* An operator new that only calls malloc() has no blocks of its own. */
	for (size_t i = 0; i < list->n; i++)
		if (list->probes[i].function != MEMORY_FN_NEW)
			return false;
	return true;
}

/*
 * Returns the time of the last change, which cannot be set like the time of modification. If it is
 * in the future, the clock was set back, and the time is not known.
 */
static uint64_t late_file_changed_ns(const struct stat *st)
{
	struct clock_snapshot now = clock_snapshot();
	uint64_t changed_ns =
		(uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
	uint64_t age_ns = now.real_ns - changed_ns;

	return changed_ns > now.real_ns || age_ns > now.boot_ns ? 0 : now.boot_ns - age_ns;
}

struct late_file late_file_examine(struct allocator_cache *cache, const struct rec_mapping *rec)
{
	struct late_file file = {
		.device = rec->device,
		.inode = rec->inode,
		.mapped_ns = rec->head.ts_ns,
		.examined_ns = clock_boot_ns(),
	};
	const struct allocator_list *list;
	struct local_devices local = { 0 };
	struct mapped_file mapped;
	int r = mapped_file_open_by_path(rec, &local, &mapped);

	if (r < 0)
		return file;
	r = cache ? allocator_cache_find(cache, mapped.fd, &list) : -ENOMEM;
	file.changed_ns = late_file_changed_ns(&mapped.st);
	file.is_harmless = r == -ENOEXEC || (r == 0 && late_file_is_harmless(list));
	mapped_file_close(&mapped);
	return file;
}
