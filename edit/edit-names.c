/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-names.h"

#include <errno.h>

#include "base/table.h"
#include "edit/edit-find.h"

/* The maximum number of threads and of processes that are tracked. */
enum { NAMES_MAX = 1 << 18 };

/* The maximum number of modules that are tracked. Further mappings get no module. */
enum { MODULES_MAX = 1 << 20, MODULE_BITS = 16 };

/* A thread or a process. */
struct body {
	uint64_t koid;
	uint64_t pid; /* for a thread: its process; 0 = unknown */
	bool named;
};

struct edit_names {
	struct table threads, processes; /* koid -> struct body, owned */
	struct table modules; /* by process and id of the module; the values are not used */
	uint64_t n_modules_lost;
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
	table_deinit(&n->modules);
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

/* ---- modules ---- */

/* Writes the module of the mapping RECORD, whose file is unknown. */
static int edit_names_write_module(struct edit_copy *copy, const struct fxt_provider *from,
				   const struct fxt_record *record)
{
	static const uint8_t no_build_id[1];
	struct fxt_record module = *record;

	module.subtype = FXT_PROFILER_MODULE;
	module.n_behind = 0;
	module.name = (struct fxt_text){ .bytes = "?", .length = 1 };
	module.module.id = record->mmap.module_id;
	module.module.build_id = no_build_id;
	module.module.build_id_size = 0;
	return edit_copy_record(copy, from, &module);
}

int edit_names_see_module(struct edit_names *n, struct edit_copy *copy,
			  const struct fxt_provider *from, const struct fxt_record *record)
{
	bool is_mapping =
		record->type == FXT_RECORD_PROFILER && record->subtype == FXT_PROFILER_MMAP;
	uint64_t key;

	if (record->type != FXT_RECORD_PROFILER || !record->thread.defined ||
	    (!is_mapping && record->subtype != FXT_PROFILER_MODULE))
		return 0;
	/* (no key is 0) */
	key = record->thread.pid << MODULE_BITS;
	key = (key | (is_mapping ? record->mmap.module_id : record->module.id)) + 1;
	if (table_get(&n->modules, key) || n->modules.n_used >= MODULES_MAX)
		return 0;
	if (table_set(&n->modules, key, n) < 0)
		return -ENOMEM;
	if (!is_mapping)
		return 0;
	n->n_modules_lost++;
	return edit_names_write_module(copy, from, record);
}

uint64_t edit_names_modules_lost(const struct edit_names *n)
{
	return n->n_modules_lost;
}
