/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-names.h"

#include <errno.h>

#include "base/table.h"
#include "edit/edit-find.h"

/* The maximum number of threads and of processes that are tracked. */
enum { NAMES_MAX = 1 << 18 };

/* A thread or a process. */
struct body {
	uint64_t koid;
	uint64_t pid; /* for a thread: its process; 0 = unknown */
	bool named;
};

struct edit_names {
	struct table threads, processes; /* koid -> struct body, owned */
};

int edit_names_new(struct edit_names **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct edit_names *edit_names_free(struct edit_names *n)
{
	if (!n)
		return NULL;
	table_deinit_free(&n->threads);
	table_deinit_free(&n->processes);
	return free_ptr(n);
}

/* Notes that KOID was mentioned, as a thread of process PID (0 = unknown). */
static int edit_names_see_name(struct table *table, uint64_t koid, uint64_t pid, bool named)
{
	struct body *body;

	if (koid == 0 || (table->n_used >= NAMES_MAX && !table_get(table, koid)))
		return 0;
	body = table_make(table, koid, sizeof(*body));
	if (!body)
		return -ENOMEM;
	body->koid = koid;
	body->named |= named;
	body->pid = pid ? pid : body->pid;
	return 0;
}

static int edit_names_see_thread(struct edit_names *n, uint64_t tid, uint64_t pid, bool named)
{
	int r = edit_names_see_name(&n->threads, tid, pid, named);

	return r == 0 ? edit_names_see_name(&n->processes, pid, 0, false) : r;
}

static int edit_names_see_object(struct edit_names *n, const struct fxt_record *r)
{
	uint64_t koid = r->kernel_object.koid;

	switch (r->kernel_object.type) {
	case FXT_OBJECT_PROCESS:
		return edit_names_see_name(&n->processes, koid, 0, true);
	case FXT_OBJECT_THREAD:
		return edit_names_see_thread(n, koid, edit_find_koid(r, FXT_NAME_PROCESS), true);
	default:
		return 0;
	}
}

int edit_names_see(struct edit_names *n, const struct fxt_provider *from,
		   const struct fxt_record *record)
{
	int r;

	if (!edit_copy_is_kymo(from))
		return 0;
	switch (record->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return edit_names_see_object(n, record);
	case FXT_RECORD_EVENT:
		if (edit_is_kernel_mapping(record))
			return 0;
		return edit_names_see_thread(n, record->thread.tid, record->thread.pid, false);
	case FXT_RECORD_SCHEDULING:
		if (record->subtype == FXT_SCHED_WAKEUP)
			return edit_names_see_name(&n->threads, record->wake.tid, 0, false);
		r = edit_names_see_name(&n->threads, record->sw.out_tid, 0, false);
		return r == 0 ? edit_names_see_name(&n->threads, record->sw.in_tid, 0, false) : r;
	default:
		return 0;
	}
}

int edit_names_write(struct edit_names *n, struct edit_copy *copy, uint64_t *ret_count)
{
	const struct body *body;
	int r = 0;

	for (size_t pos = 0; r == 0 && (body = table_next(&n->threads, &pos));) {
		uint64_t pid = body->pid ? body->pid : body->koid;

		if (body->named)
			continue;
		++*ret_count;
		r = edit_names_see_name(&n->processes, pid, 0, false)
			    ?: edit_copy_name(copy, FXT_OBJECT_THREAD, body->koid, pid, "?");
	}
	for (size_t pos = 0; r == 0 && (body = table_next(&n->processes, &pos));) {
		if (body->named)
			continue;
		++*ret_count;
		r = edit_copy_name(copy, FXT_OBJECT_PROCESS, body->koid, 0, "?");
	}
	return r;
}
