/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes stacks and mappings of code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "reader/fxt/fxt-events-state.h"

/* The maximum number of modules that other writers' archives can define; more are ignored. */
enum { MODULES_MAX = 1 << 20 };

struct module_key {
	uint64_t provider, pid, id;
};

struct module {
	struct module_key key;
	uint8_t build_id_size;
	uint8_t build_id[FXT_BUILD_ID_BYTES_MAX];
	char name[3 * FXT_MODULE_NAME_MAX + 1];
};

void fxt_events_free_modules(struct fxt_events *e)
{
	table_deinit_free(&e->modules);
}

int fxt_events_mapping(struct fxt_events *e, struct event *ev)
{
	ev->tid = ev->pid;
	return table_set(&e->mapped, (uint64_t)ev->pid + 1, e) < 0 ? -ENOMEM : FXT_EVENTS_EVENT;
}

/* Notes that the next stack of this thread with this time belongs to EV, a time off CPU. */
int fxt_events_offcpu(struct fxt_events *e, struct event *ev)
{
	if (ev->ts_ns < UINT64_MAX &&
	    table_set(&e->left, (uint64_t)ev->tid + 1, (void *)(uintptr_t)(ev->ts_ns + 1)) < 0)
		return -ENOMEM;
	return FXT_EVENTS_EVENT;
}

static uint64_t fxt_events_module_hash(const struct module_key *key)
{
	return table_hash(key, sizeof(*key));
}

/* Keeps a module, unless its process had an event `mapping`: kymo writes these, with more data than
 * its modules have. */
static int fxt_events_keep_module(struct fxt_events *e, const struct fxt_record *record)
{
	const struct module_key key = {
		.provider = (uint64_t)(uintptr_t)record->provider,
		.pid = (uint32_t)record->thread.pid,
		.id = record->module.id,
	};
	struct module *m = table_get(&e->modules, fxt_events_module_hash(&key));

	if (table_get(&e->mapped, key.pid + 1) || (!m && e->modules.n_used >= MODULES_MAX))
		return FXT_EVENTS_NONE;
	m = table_make(&e->modules, fxt_events_module_hash(&key), sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->key = key;
	m->build_id_size = record->module.build_id_size;
	if (m->build_id_size)
		memcpy(m->build_id, record->module.build_id, m->build_id_size);
	text_clean(m->name, sizeof(m->name), record->name.bytes ?: "",
		   record->name.bytes ? record->name.length : 0);
	return FXT_EVENTS_NONE;
}

/* Decodes a mapping record of another writer. */
static int fxt_events_get_mmap(struct fxt_events *e, const struct fxt_record *record,
			       struct event *ev)
{
	const struct module_key key = {
		.provider = (uint64_t)(uintptr_t)record->provider,
		.pid = (uint32_t)record->thread.pid,
		.id = record->mmap.module_id,
	};
	const struct module *m = table_get(&e->modules, fxt_events_module_hash(&key));

	if (table_get(&e->mapped, key.pid + 1))
		return FXT_EVENTS_NONE;
	/* If there are no flags at all, the writer does not know whether the mapping is
	 * executable. */
	if (record->mmap.flags != 0 && !(record->mmap.flags & FXT_MMAP_EXECUTABLE))
		return FXT_EVENTS_NONE;
	if (m && memcmp(&m->key, &key, sizeof(key)) != 0)
		m = NULL;
	*ev = (struct event){
		.kind = EVENT_MAPPING,
		.ts_ns = record->ts_ns,
		.pid = (uint32_t)key.pid,
		.tid = (uint32_t)key.pid,
		.mapping = {
			.path = m ? m->name : "",
			.build_id = m ? m->build_id : NULL,
			.build_id_size = m ? m->build_id_size : 0,
			.module_id = record->mmap.module_id,
			.start = record->mmap.start,
			.size = record->mmap.range,
			.file_offset = record->mmap.vaddr,
		},
	};
	return FXT_EVENTS_EVENT;
}

int fxt_events_profiler(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	uint64_t left;

	switch (record->subtype) {
	case FXT_PROFILER_MODULE:
		return fxt_events_keep_module(e, record);
	case FXT_PROFILER_MMAP:
		return fxt_events_get_mmap(e, record, ev);
	case FXT_PROFILER_BACKTRACE:
		break;
	default:
		return FXT_EVENTS_NONE;
	}
	*ev = (struct event){ .kind = EVENT_SAMPLE,
			      .ts_ns = record->ts_ns,
			      .pid = (uint32_t)record->thread.pid,
			      .tid = (uint32_t)record->thread.tid };
	left = (uint64_t)(uintptr_t)table_get(&e->left, (uint64_t)ev->tid + 1);
	ev->sample.frames = record->backtrace.frames;
	ev->sample.n_frames = record->backtrace.n_frames;
	if (left != 0 && left - 1 == ev->ts_ns)
		ev->sample.kind = SAMPLE_OFF_CPU;
	ev->sample.id = fxt_named_consume(&e->named, record);
	if (ev->sample.id)
		ev->sample.kind = SAMPLE_NAMED;
	return FXT_EVENTS_EVENT;
}
