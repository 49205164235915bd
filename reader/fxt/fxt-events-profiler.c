/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks, and where code is mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "reader/fxt/fxt-events-state.h"

/* Modules of archives of other writers; further ones are not known. */
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

static int fxt_events_profiler_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes from hexadecimal digits; what is none makes it unknown. */
static void take_build_id(struct fxt_events *e, const char *digits, struct event *ev)
{
	size_t n = strlen(digits) / 2;

	if (strlen(digits) % 2 != 0 || n > sizeof(e->build_id))
		return;
	for (size_t i = 0; i < n; i++) {
		int high = fxt_events_profiler_digit_of(digits[2 * i]),
		    low = fxt_events_profiler_digit_of(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return;
		e->build_id[i] = (uint8_t)(high << 4 | low);
	}
	ev->mapping.build_id = e->build_id;
	ev->mapping.build_id_size = (uint32_t)n;
}

static int get_mapping(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	const char *build_id = "";
	bool found = false;
	int r;

	ev->kind = EVENT_MAPPING;
	ev->mapping.path = "";
	/* In kymo 0.1 the process is that of the event's thread. */
	r = TAKE(e, record, { FXT_NAME_PROCESS, WANT_UINT32, &ev->pid, NULL },
		 { FXT_NAME_PATH, WANT_TEXT, &ev->mapping.path, NULL },
		 { FXT_NAME_FILE_OFFSET, WANT_UINT64, &ev->mapping.file_offset, NULL },
		 { FXT_NAME_START, WANT_UINT64, &ev->mapping.start, NULL },
		 { FXT_NAME_SIZE, WANT_UINT64, &ev->mapping.size, &found },
		 { FXT_NAME_MODULE_ID, WANT_UINT32, &ev->mapping.module_id, NULL },
		 { FXT_NAME_DEVICE, WANT_UINT64, &ev->mapping.device, NULL },
		 { FXT_NAME_INODE, WANT_UINT64, &ev->mapping.inode, NULL },
		 { FXT_NAME_BUILD_ID, WANT_TEXT, &build_id, NULL });
	if (r != FXT_EVENTS_EVENT || !found)
		return r == FXT_EVENTS_EVENT ? FXT_EVENTS_NONE : r;
	ev->tid = ev->pid;
	take_build_id(e, build_id, ev);
	return table_set(&e->mapped, (uint64_t)ev->pid + 1, e) < 0 ? -ENOMEM : r;
}

static int get_frame(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	bool found = false;
	int r;

	ev->kind = EVENT_FRAME;
	ev->frame.function = ev->frame.source = ev->frame.module = "";
	r = TAKE(e, record, { FXT_NAME_PROCESS, WANT_UINT32, &ev->frame.process, NULL },
		 { FXT_NAME_ADDRESS, WANT_UINT64, &ev->frame.address, &found },
		 { FXT_NAME_DEPTH, WANT_UINT32, &ev->frame.depth, NULL },
		 { FXT_NAME_FUNCTION, WANT_TEXT, &ev->frame.function, NULL },
		 { FXT_NAME_SOURCE, WANT_TEXT, &ev->frame.source, NULL },
		 { FXT_NAME_LINE, WANT_UINT32, &ev->frame.line, NULL },
		 { FXT_NAME_MODULE, WANT_TEXT, &ev->frame.module, NULL });
	return r == FXT_EVENTS_EVENT && !found ? FXT_EVENTS_NONE : r;
}

/* What the thread's next stack of the same time belongs to. */
static int get_offcpu(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	const char *state = "";
	int r;

	ev->kind = EVENT_OFFCPU;
	ev->offcpu.end_ns = record->event.end_ns;
	if (ev->offcpu.end_ns < ev->ts_ns)
		return FXT_EVENTS_NONE;
	r = TAKE(e, record, { FXT_NAME_WAKER, WANT_UINT32, &ev->offcpu.waker_tid, NULL },
		 { FXT_NAME_STATE, WANT_TEXT, &state, NULL });
	ev->offcpu.state = *state;
	if (r == FXT_EVENTS_EVENT && ev->ts_ns < UINT64_MAX &&
	    table_set(&e->left, (uint64_t)ev->tid + 1, (void *)(uintptr_t)(ev->ts_ns + 1)) < 0)
		return -ENOMEM;
	return r;
}

int fxt_events_profile(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	int name = fxt_text_known(&record->name);

	if (record->subtype == FXT_EVENT_DURATION_COMPLETE)
		return name == FXT_NAME_OFFCPU ? get_offcpu(e, record, ev) : FXT_EVENTS_NONE;
	switch (name) {
	case FXT_NAME_MAPPING:
		return get_mapping(e, record, ev);
	case FXT_NAME_FRAME:
		return get_frame(e, record, ev);
	case FXT_NAME_SAMPLING:
		ev->kind = EVENT_SAMPLING;
		ev->sampling.clock = "";
		return TAKE(e, record,
			    { FXT_NAME_FREQUENCY, WANT_UINT32, &ev->sampling.frequency, NULL },
			    { FXT_NAME_CLOCK, WANT_TEXT, &ev->sampling.clock, NULL },
			    { FXT_NAME_THRESHOLD, WANT_UINT64, &ev->sampling.threshold_ns, NULL });
	default:
		return FXT_EVENTS_NONE;
	}
}

static uint64_t module_hash(const struct module_key *key)
{
	return table_hash(key, sizeof(*key));
}

/* Remembers a module of another writer's; ours says more in an event `mapping`. */
static int keep_module(struct fxt_events *e, const struct fxt_record *record)
{
	const struct module_key key = {
		.provider = (uint64_t)(uintptr_t)record->provider,
		.pid = (uint32_t)record->thread.pid,
		.id = record->module.id,
	};
	struct module *m = table_get(&e->modules, module_hash(&key));

	if (table_get(&e->mapped, key.pid + 1) || (!m && e->modules.n_used >= MODULES_MAX))
		return FXT_EVENTS_NONE;
	if (!m) {
		m = malloc(sizeof(*m));
		if (!m || table_set(&e->modules, module_hash(&key), m) < 0) {
			free(m);
			return -ENOMEM;
		}
	}
	m->key = key;
	m->build_id_size = record->module.build_id_length;
	if (m->build_id_size)
		memcpy(m->build_id, record->module.build_id, m->build_id_size);
	text_clean(m->name, sizeof(m->name), record->name.bytes ?: "",
		   record->name.bytes ? record->name.length : 0);
	return FXT_EVENTS_NONE;
}

/* What another writer has mapped. */
static int get_mmap(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	const struct module_key key = {
		.provider = (uint64_t)(uintptr_t)record->provider,
		.pid = (uint32_t)record->thread.pid,
		.id = record->mmap.module_id,
	};
	const struct module *m = table_get(&e->modules, module_hash(&key));

	if (table_get(&e->mapped, key.pid + 1))
		return FXT_EVENTS_NONE;
	/* A writer that says nothing at all of what one may do there does not know. */
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
		return keep_module(e, record);
	case FXT_PROFILER_MMAP:
		return get_mmap(e, record, ev);
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
	if (e->named.id && e->named.ts_ns == record->ts_ns && e->named.tid == record->thread.tid) {
		ev->sample.kind = SAMPLE_NAMED;
		ev->sample.id = e->named.id;
		e->named.id = 0;
	}
	return FXT_EVENTS_EVENT;
}
