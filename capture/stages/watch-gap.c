/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/watch-gap.h"

#include <stdio.h>

#include "base/string-table.h"
#include "base/text.h"
#include "capture/heap/heap-records.h"

void watch_gap_describe(const struct rec_watched *rec, uint64_t from_ns, char *text, size_t size)
{
	static const char *const gaps[] = {
		[WATCHED_GAP_THREAD] = "its first thread ended, and probes can have been missing "
				       "until another one had them",
		[WATCHED_GAP_LATE] = "an allocator got its probes after the program had begun, and "
				     "its earlier blocks are unknown",
		[WATCHED_GAP_UNSEEN] = "it ended before its files were examined, and can have had "
				       "an allocator without probes",
		[WATCHED_GAP_SHARED] = "another process shared its memory (clone() with CLONE_VM), "
				       "and the blocks that it allocated or freed are unknown",
		[WATCHED_GAP_HEAP] = "it called mi_heap_destroy(), and blocks that this freed are "
				     "reported as not freed",
		[WATCHED_GAP_REFUSED_MEMORY] = "some probes of its allocators could not be placed, "
					       "and allocations or frees are unknown",
		[WATCHED_GAP_REFUSED_THREADS] = "some probes on functions of threads could not be "
						"placed, and begins or ends of threads are unknown",
		[WATCHED_GAP_REFUSED] = "some probes could not be placed, and allocations, frees, "
					"or ends of threads are unknown",
	};
	uint64_t gap_ns = rec->gap_from_ns > from_ns ? rec->gap_from_ns : from_ns;

	snprintf(text, size, "%s", STRING_TABLE_NAME(gaps, rec->gap) ?: "");
	if (rec->gap == WATCHED_GAP_LOADED)
		snprintf(text, size,
			 "an allocator that it loaded after %s of the recording got its probes %s "
			 "later, and its earlier blocks are unknown",
			 TEXT_TIME(gap_ns - from_ns),
			 TEXT_TIME(rec->gap_to_ns > gap_ns ? rec->gap_to_ns - gap_ns : 0));
}
