/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-incomplete.h"

#include <errno.h>

#include "base/table.h"
#include "edit/edit-find.h"

/*
 * The maximum number of processes with snapshots, and of findings; beyond these, missing records
 * are not noticed.
 */
enum { PROCESSES_MAX = 1 << 16, FINDINGS_MAX = 1 << 16 };

/* The identity of a `snapshot` or a `stack`. Its bytes are hashed, so it has no padding. */
struct key {
	uint64_t row, pid, ts_ns;
	uint64_t number; /* sequence number of the snapshot, or id of the stack */
};

struct snapshot {
	struct key key;
	uint64_t missing; /* number of its blocks that have not been read */
};

struct edit_incomplete {
	struct table snapshots; /* pid -> last struct snapshot of the process, owned */
	struct table findings;  /* hash of the key -> number of missing records */
	struct fxt_named named; /* the last event `stack` */
	struct key named_key;
};

int edit_incomplete_new(struct edit_incomplete **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct edit_incomplete *edit_incomplete_free(struct edit_incomplete *i)
{
	if (!i)
		return NULL;
	table_deinit_free(&i->snapshots);
	table_deinit(&i->findings);
	return free_ptr(i);
}

static struct key edit_incomplete_key_of(const struct fxt_record *r, enum fxt_row_id row)
{
	return (struct key){
		.row = row,
		.pid = r->thread.pid,
		.ts_ns = r->ts_ns,
		.number = fxt_record_number(r,
					    row == FXT_ROW_STACK ? FXT_NAME_ID : FXT_NAME_SEQUENCE),
	};
}

static int edit_incomplete_find(struct edit_incomplete *i, const struct key *key, uint64_t missing)
{
	if (missing == 0 || i->findings.n_used >= FINDINGS_MAX)
		return 0;
	return table_set(&i->findings, table_hash(key, sizeof(*key)), (void *)(uintptr_t)missing);
}

/* Ends the last `stack`: no more frames follow for it. */
static int edit_incomplete_end_stack(struct edit_incomplete *i)
{
	int r = edit_incomplete_find(i, &i->named_key, i->named.id != 0);

	i->named.id = 0;
	return r;
}

static int edit_incomplete_begin_snapshot(struct edit_incomplete *i, const struct fxt_record *r)
{
	uint64_t pid = r->thread.pid + 1; /* (0 is no key) */
	struct snapshot *s = table_get(&i->snapshots, pid);
	int e = s ? edit_incomplete_find(i, &s->key, s->missing) : 0;

	if (e < 0 || (!s && i->snapshots.n_used >= PROCESSES_MAX))
		return e;
	s = s ?: table_make(&i->snapshots, pid, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->key = edit_incomplete_key_of(r, FXT_ROW_SNAPSHOT);
	s->missing = fxt_record_number(r, FXT_NAME_BLOCKS);
	return 0;
}

int edit_incomplete_read(struct edit_incomplete *i, const struct fxt_provider *from,
			 const struct fxt_record *record)
{
	struct snapshot *s;
	int r;

	if (record->type == FXT_RECORD_PROFILER && record->subtype == FXT_PROFILER_BACKTRACE)
		fxt_named_consume(&i->named, record);
	switch (edit_row_of(from, record)) {
	case FXT_ROW_STACK:
		r = edit_incomplete_end_stack(i);
		fxt_named_set(&i->named, record);
		i->named_key = edit_incomplete_key_of(record, FXT_ROW_STACK);
		return r;
	case FXT_ROW_SNAPSHOT:
		return edit_incomplete_begin_snapshot(i, record);
	case FXT_ROW_BLOCK:
		s = table_get(&i->snapshots, record->thread.pid + 1);
		/*
		 * (blocks of another time belong to the state of a cut in a merged archive, and to
		 * no snapshot)
		 */
		if (s && record->ts_ns == s->key.ts_ns)
			s->missing -= s->missing > 0;
		return 0;
	default:
		return 0;
	}
}

int edit_incomplete_end(struct edit_incomplete *i)
{
	const struct snapshot *s;
	int r = edit_incomplete_end_stack(i);

	for (size_t pos = 0; r == 0 && (s = table_next(&i->snapshots, &pos));)
		r = edit_incomplete_find(i, &s->key, s->missing);
	return r;
}

uint64_t edit_incomplete_missing(const struct edit_incomplete *i, const struct fxt_provider *from,
				 const struct fxt_record *record)
{
	enum fxt_row_id row = edit_row_of(from, record);
	struct key key;

	if (i->findings.n_used == 0 || (row != FXT_ROW_STACK && row != FXT_ROW_SNAPSHOT))
		return 0;
	key = edit_incomplete_key_of(record, row);
	return (uint64_t)(uintptr_t)table_get(&i->findings, table_hash(&key, sizeof(key)));
}
