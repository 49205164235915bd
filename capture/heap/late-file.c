/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/late-file.h"

#include <errno.h>

#include "capture/probes/allocator-cache.h"
#include "capture/probes/mapped-file.h"

/* Returns true if a program that loads a file with the allocators LIST has the same blocks. */
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

struct late_file late_file_examine(struct allocator_cache *cache, const struct rec_mapping *rec)
{
	struct late_file file = { .device = rec->device, .inode = rec->inode };
	const struct allocator_list *list;
	struct local_devices local = { 0 };
	struct mapped_file mapped;
	int r = mapped_file_open_by_path(rec, &local, &mapped);

	if (r < 0)
		return file;
	r = cache ? allocator_cache_find(cache, mapped.fd, &list) : -ENOMEM;
	file.is_harmless = r == -ENOEXEC || (r == 0 && late_file_is_harmless(list));
	mapped_file_close(&mapped);
	return file;
}
