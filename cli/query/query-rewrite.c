/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/query-rewrite.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void query_rewrite_deinit(struct query_rewrite *w)
{
	tracedb_map_deinit(&w->buffers);
	free(w->entries);
}

static int query_rewrite_add(struct query_rewrite *w, const struct tracedb_entry *entry)
{
	if (GROW(w->entries, w->room, w->n + 1) < 0)
		return -ENOMEM;
	w->entries[w->n++] = *entry;
	return 0;
}

static int query_rewrite_set_buffer(struct query_rewrite *w, uint64_t address, uint64_t size)
{
	const struct tracedb_entry entry = { .tag = TRACEDB_BUFFER, .buffer = { address, size } };

	return query_rewrite_add(w, &entry) ?: tracedb_map_set(&w->buffers, address, size);
}

/*
 * Gives the pointer V its own buffer, if the written trace has another one at this address. (Size 0
 * removes a buffer. So for a pointer to the end of its buffer, the buffer begins a byte earlier.)
 */
static int query_rewrite_mend_buffer(struct query_rewrite *w, const struct tracedb_variable *v)
{
	uint64_t address = v->value.u, size = v->buffer_size, start;
	bool is_end = size == 0 && address > 0;
	int r = 0;

	if (tracedb_map_size(&w->buffers, address) == size)
		return 0;
	/* (a buffer that begins at the end of another one hides it) */
	if (is_end && tracedb_map_start(&w->buffers, address, &start) && start == address)
		r = query_rewrite_set_buffer(w, address, 0);
	if (r < 0 || tracedb_map_size(&w->buffers, address) == size)
		return r;
	if (size != TRACEDB_NO_SIZE)
		return query_rewrite_set_buffer(w, address - is_end, size + is_end);
	while (r == 0 && tracedb_map_size(&w->buffers, address) != TRACEDB_NO_SIZE &&
	       tracedb_map_start(&w->buffers, address, &start))
		r = query_rewrite_set_buffer(w, start, 0);
	return r;
}

static int query_rewrite_variable(struct query_rewrite *w, const struct tracedb_variable *v)
{
	const struct tracedb_entry entry = { .tag = TRACEDB_VARIABLE, .variable = v->value };
	int r = v->is_pointer ? query_rewrite_mend_buffer(w, v) : 0;

	return r ?: query_rewrite_add(w, &entry);
}

int query_rewrite_point(struct query_rewrite *w, const struct tracedb_stored_point *of,
			struct tracedb_point *ret)
{
	size_t variable = 0, auxiliary = 0;
	struct tracedb_entry entry;
	int r = 0;

	w->n = 0;
	for (size_t i = 0; r == 0 && i < of->n_parts; i++) {
		const struct tracedb_part *part = &of->parts[i];

		switch (part->tag) {
		case TRACEDB_VARIABLE:
			r = query_rewrite_variable(w, &of->variables[variable++]);
			break;
		case TRACEDB_BUFFER:
			r = query_rewrite_set_buffer(w, part->address, part->size);
			break;
		case TRACEDB_STATEMENT:
			entry = (struct tracedb_entry){ .tag = part->tag,
							.statement = of->statement };
			r = query_rewrite_add(w, &entry);
			break;
		default:
			entry = (struct tracedb_entry){ .tag = TRACEDB_AUXILIARY,
							.auxiliary = of->auxiliary[auxiliary++] };
			r = query_rewrite_add(w, &entry);
		}
	}
	*ret = (struct tracedb_point){ w->entries, w->n };
	return r;
}
