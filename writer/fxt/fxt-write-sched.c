/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scheduling records that are not made in the kernel.
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"

int fxt_write_switch(struct fxt_writer *w, const struct fxt_switch *sw)
{
	struct fxt_draft d = { .args = sw->args, .n_args = sw->n_args, .n_words = 4 };
	fxt_word *p;
	int r;

	if (sw->cpu > FXT_CPU_MAX || (unsigned)sw->out_state > FXT_STATE_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_switch_header((unsigned)d.n_words, sw->n_args, sw->cpu, sw->out_state);
	*p++ = sw->ts_ticks;
	*p++ = sw->out_tid;
	*p++ = sw->in_tid;
	fxt_draft_args(&d, p);
	return 0;
}

int fxt_write_wakeup(struct fxt_writer *w, const struct fxt_wakeup *wake)
{
	struct fxt_draft d = { .args = wake->args, .n_args = wake->n_args, .n_words = 3 };
	fxt_word *p;
	int r;

	if (wake->cpu > FXT_CPU_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_wakeup_header((unsigned)d.n_words, wake->n_args, wake->cpu);
	*p++ = wake->ts_ticks;
	*p++ = wake->tid;
	fxt_draft_args(&d, p);
	return 0;
}

int fxt_write_legacy_switch(struct fxt_writer *w, const struct fxt_legacy_switch *sw)
{
	struct fxt_draft d = { .threads = { &sw->out, &sw->in }, .n_words = 2 };
	fxt_word *p;
	int r;

	if (sw->cpu > FXT_LEGACY_CPU_MAX || (unsigned)sw->out_state > FXT_STATE_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_SCHEDULING) | fxt_put_record_words(d.n_words) |
	       fxt_put_legacy_cpu(sw->cpu) | fxt_put_legacy_out_state(sw->out_state) |
	       fxt_put_legacy_out_thread(d.thread_refs[0]) |
	       fxt_put_legacy_in_thread(d.thread_refs[1]) |
	       fxt_put_legacy_out_priority(sw->out_priority) |
	       fxt_put_legacy_in_priority(sw->in_priority) |
	       fxt_put_sched_type(FXT_SCHED_LEGACY_SWITCH);
	*p++ = sw->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	fxt_draft_thread(&d, 1, p);
	return 0;
}
