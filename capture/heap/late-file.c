/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/late-file.h"

#include <errno.h>

#include "capture/probes/allocators.h"
#include "capture/probes/mapped-file.h"

#define EXAMINE_NS_MAX UINT64_C(1000000000)

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

struct late_file late_file_examine(const struct rec_mapping *rec)
{
	struct late_file file = { .device = rec->device, .inode = rec->inode };
	struct allocator_list list = { 0 };
	struct local_devices local = { 0 };
	struct mapped_file mapped;
	int r = mapped_file_open_by_path(rec, &local, &mapped);

	if (r < 0)
		return file;
	r = allocators_find_sandboxed(mapped.fd, EXAMINE_NS_MAX, &list);
	file.is_harmless = r == -ENOEXEC || (r == 0 && late_file_is_harmless(&list));
	allocator_list_deinit(&list);
	mapped_file_close(&mapped);
	return file;
}
