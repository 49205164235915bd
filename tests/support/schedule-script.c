/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/schedule-script.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/programs/decode.h"
#include "tests/support/archive-text.h"
#include "tests/support/unit.h"

static int on_belongs(uint32_t tid, uint32_t pid, void *userdata)
{
	(void)tid;
	(void)pid;
	(void)userdata;
	return 0;
}

static int on_announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;
	struct event ev = {
		.kind = EVENT_TASK,
		.pid = 1,
		.tid = tasks_koid(&f->tasks, tid),
		.task = { .comm = "t", .command_line = "" },
	};

	if (f->announce_fails)
		return f->announce_fails;
	tasks_set_announced(&f->tasks, tid);
	return fxt_archive_event(&f->archive, &ev);
}

int script_set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->pipe = (struct pipeline){
		.archive = &f->archive,
		.tasks = &f->tasks,
		.from_ns = FROM_NS,
		.to_ns = UINT64_MAX,
		.links = { .announce = on_announce, .belongs = on_belongs, .userdata = f }
	};
	if (tasks_init(&f->tasks) < 0 || fxt_archive_init(&f->archive, &f->out, N_CPUS) < 0 ||
	    schedule_init(&f->s, &f->pipe, N_CPUS) < 0)
		return -1;
	/* To keep the stories short; announcing has tests of its own. */
	for (uint32_t tid = 1; tid < 10000; tid++)
		tasks_set_announced(&f->tasks, tid);
	return fxt_archive_begin(&f->archive);
}

int script_tear_down(void **state)
{
	struct fixture *f = *state;

	schedule_deinit(&f->s);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

uint64_t script_weight(enum fxt_name name, uint32_t tid, int32_t prio)
{
	return fxt_arg32(FXT_ARG_INT32, name, (uint32_t)(tid ? prio : FXT_IDLE_WEIGHT));
}

/* The words that a program writes (bpf/sched.bpf.c). */
static unsigned words_of(const struct step *step, uint64_t *words)
{
	words[1] = step->ts_ns;
	switch (step->kind) {
	case SWITCH:
		words[0] = fxt_switch_header(6, 2, step->cpu, step->out_state);
		words[2] = step->a;
		words[3] = step->b;
		words[4] = script_weight(FXT_NAME_OUTGOING_WEIGHT, step->a, 120);
		words[5] = script_weight(FXT_NAME_INCOMING_WEIGHT, step->b, 120);
		return 6;
	case WAKE:
		words[0] = fxt_wakeup_header(step->b ? 6 : 4, step->b ? 2 : 1, step->cpu);
		if (step->on_rq)
			words[0] |= UINT64_C(1) << WAKE_ON_RQ_BIT;
		words[2] = step->a;
		words[3] = script_weight(FXT_NAME_WEIGHT, step->a, 120);
		words[4] = fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER);
		words[5] = step->b;
		return step->b ? 6 : 4;
	default:
		words[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6) |
			   fxt_put_event_n_args(2) | fxt_put_event_category(FXT_NAME_SCHED) |
			   fxt_put_event_name(FXT_NAME_MIGRATE);
		words[2] = 1;
		words[3] = step->a;
		words[4] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_FROM_CPU, step->cpu);
		words[5] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_TO_CPU, step->b);
		return 6;
	}
}

int script_take(struct fixture *f, const struct step *step)
{
	const struct ring_lost mark = {
		.first_ns = step->ts_ns,
		.last_ns = step->last_ns,
		.count = step->count,
		.tid = step->a,
		.prio = step->prio,
	};
	uint64_t words[7];
	unsigned n;

	switch (step->kind) {
	case OPEN:
		return schedule_open(&f->s, step->cpu, step->a, step->prio);
	case LOSS_BEGINS:
		return schedule_loss_begins(&f->s, step->cpu, &mark);
	case LOSS_ENDS:
		return schedule_loss_ends(&f->s, step->cpu, &mark);
	case CLOSE:
		f->pipe.to_ns = step->ts_ns;
		return schedule_close(&f->s);
	default:
		n = words_of(step, words);
		assert_int_equal(decode_ring_words(words, n, CLASS_SCHED, step->cpu), n);
		if (step->kind == WAKE && step->ts_ns > f->s.from_ns &&
		    step->ts_ns <= f->pipe.to_ns)
			f->n_wakeups++;
		return schedule_record(&f->s, step->cpu, words, n);
	}
}

void script_play(struct fixture *f, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(script_take(f, &steps[i]), 0);
}

void assert_story(struct fixture *f, const char *want)
{
	_cleanup_free_ char *story = archive_story(&f->out);

	assert_string_equal(story, want);
}

void assert_wakeups_accounted(struct fixture *f)
{
	_cleanup_free_ char *story = archive_story(&f->out);
	uint64_t written = 0;

	for (const char *p = story; (p = strstr(p, " wake ")); p++)
		written++;
	assert_int_equal(written + f->s.n_dismissed, f->n_wakeups);
}
