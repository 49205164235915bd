/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points that a query has found, written as a trace. A point keeps its parts in their order. The
 * points between them are missing, and so are their changes of buffers. So before a pointer whose
 * buffer would differ, a buffer is set or removed.
 */
#pragma once

#include "reader/tracedb/tracedb-store.h"

struct query_rewrite {
	struct tracedb_map buffers;    /* buffers of the written trace */
	struct tracedb_entry *entries; /* entries of the current point; owned */
	size_t n, room;
};

/*
 * Makes the entries for point OF, whose store keeps parts. *RET is valid until the next call.
 * Returns 0 or -ENOMEM.
 */
int query_rewrite_point(struct query_rewrite *w, const struct tracedb_stored_point *of,
			struct tracedb_point *ret);
void query_rewrite_deinit(struct query_rewrite *w);
