/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiler records: modules, where they are mapped, and call stacks.
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"

/* Without the fields of the subtype. */
static fxt_word header_of(const struct fxt_draft *d, enum fxt_profiler_type type)
{
	return fxt_put_record_type(FXT_RECORD_PROFILER) | fxt_put_record_words(d->n_words) |
	       fxt_put_profiler_type(type) | fxt_put_profiler_thread(d->thread_refs[0]);
}

int fxt_write_module(struct fxt_writer *w, const struct fxt_module *module)
{
	struct fxt_draft d = { .threads = { &module->thread }, .n_words = 2 };
	size_t n = strlen(module->name);
	fxt_word *p;
	int r;

	if (module->id > FXT_MODULE_ID_MAX)
		return -EINVAL;
	if (n > FXT_MODULE_NAME_MAX || module->build_id_size > FXT_BUILD_ID_BYTES_MAX)
		return -EMSGSIZE;
	fxt_draft_add_stream(&d, n);
	fxt_draft_add_stream(&d, module->build_id_size);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = header_of(&d, FXT_PROFILER_MODULE) | fxt_put_module_id(module->id) |
	       fxt_put_module_name_length(n) |
	       fxt_put_module_build_id_length(module->build_id_size);
	*p++ = module->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	p = fxt_draft_stream(p, module->name, n);
	fxt_draft_stream(p, module->build_id, module->build_id_size);
	return 0;
}

int fxt_write_mmap(struct fxt_writer *w, const struct fxt_mmap *map)
{
	struct fxt_draft d = { .threads = { &map->thread }, .n_words = 5 };
	fxt_word *p;
	int r;

	if (map->module_id > FXT_MODULE_ID_MAX || map->flags > FXT_MMAP_FLAGS_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = header_of(&d, FXT_PROFILER_MMAP) | fxt_put_mmap_module_id(map->module_id) |
	       fxt_put_mmap_flags(map->flags);
	*p++ = map->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	*p++ = map->start;
	*p++ = map->range;
	*p = map->vaddr;
	return 0;
}

int fxt_write_backtrace(struct fxt_writer *w, const struct fxt_backtrace *trace)
{
	struct fxt_draft d = { .threads = { &trace->thread }, .n_words = 2 };
	fxt_word *p;
	int r;

	if (trace->n_frames > FXT_BACKTRACE_MAX)
		return -EMSGSIZE;
	fxt_draft_add_stream(&d, trace->n_frames * FXT_WORD_BYTES);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = header_of(&d, FXT_PROFILER_BACKTRACE) | fxt_put_backtrace_n_frames(trace->n_frames);
	*p++ = trace->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	fxt_draft_stream(p, trace->frames, trace->n_frames * FXT_WORD_BYTES);
	return 0;
}
