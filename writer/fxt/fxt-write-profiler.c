/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiler records: modules, where they are mapped, and call stacks.
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"

/* Begins a record and writes what all of them have: *HEADER without the subtype's fields, the time,
 * and the thread. Returns where the rest goes, or NULL with *RETERR set. */
static fxt_word *begin(struct fxt_writer *w, struct fxt_draft *d, enum fxt_profiler_type type,
		       uint64_t ts_ticks, fxt_word **ret_header, int *reterr)
{
	fxt_word *p;

	d->n_words += 2;
	p = fxt_draft_begin(w, d, reterr);
	if (!p)
		return NULL;
	p[0] = fxt_put_record_type(FXT_RECORD_PROFILER) | fxt_put_record_words(d->n_words) |
	       fxt_put_profiler_type(type) | fxt_put_profiler_thread(d->thread_refs[0]);
	p[1] = ts_ticks;
	*ret_header = p;
	return fxt_draft_thread(d, 0, p + 2);
}

int fxt_write_module(struct fxt_writer *w, const struct fxt_module *module)
{
	struct fxt_draft d = { .threads = { &module->thread } };
	size_t n = strlen(module->name);
	fxt_word *header, *p;
	int r;

	if (module->id > FXT_MODULE_ID_MAX)
		return -EINVAL;
	if (n > FXT_MODULE_NAME_MAX || module->build_id_size > FXT_BUILD_ID_BYTES_MAX)
		return -EMSGSIZE;
	fxt_draft_add_stream(&d, n);
	fxt_draft_add_stream(&d, module->build_id_size);
	p = begin(w, &d, FXT_PROFILER_MODULE, module->ts_ticks, &header, &r);
	if (!p)
		return r;
	*header |= fxt_put_module_id(module->id) | fxt_put_module_name_length(n) |
		   fxt_put_module_build_id_length(module->build_id_size);
	p = fxt_draft_stream(p, module->name, n);
	fxt_draft_stream(p, module->build_id, module->build_id_size);
	return 0;
}

int fxt_write_mmap(struct fxt_writer *w, const struct fxt_mmap *map)
{
	struct fxt_draft d = { .threads = { &map->thread }, .n_words = 3 };
	fxt_word *header, *p;
	int r;

	if (map->module_id > FXT_MODULE_ID_MAX || map->flags > FXT_MMAP_FLAGS_MAX)
		return -EINVAL;
	p = begin(w, &d, FXT_PROFILER_MMAP, map->ts_ticks, &header, &r);
	if (!p)
		return r;
	*header |= fxt_put_mmap_module_id(map->module_id) | fxt_put_mmap_flags(map->flags);
	p[0] = map->start;
	p[1] = map->range;
	p[2] = map->vaddr;
	return 0;
}

int fxt_write_backtrace(struct fxt_writer *w, const struct fxt_backtrace *trace)
{
	struct fxt_draft d = { .threads = { &trace->thread }, .n_words = trace->n_frames };
	fxt_word *header, *p;
	int r;

	if (trace->n_frames > FXT_BACKTRACE_MAX)
		return -EMSGSIZE;
	p = begin(w, &d, FXT_PROFILER_BACKTRACE, trace->ts_ticks, &header, &r);
	if (!p)
		return r;
	*header |= fxt_put_backtrace_n_frames(trace->n_frames);
	fxt_draft_stream(p, trace->frames, trace->n_frames * FXT_WORD_BYTES);
	return 0;
}
