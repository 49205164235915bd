/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/trigger-input.h"

#include <string.h>

#include "capture/programs/decode.h"

_Static_assert(sizeof(((struct trigger *)0)->comm) == TASK_COMM_MAX, "copied whole");

static int trigger_input_name(uint32_t tid, uint32_t *ret, void *userdata)
{
	const struct trigger_input *in = userdata;
	int r = pipeline_announce(in->pipe, tid);

	*ret = tasks_koid(in->pipe->tasks, tid);
	return r;
}

int trigger_input_fire(const struct trigger *t, void *input)
{
	const struct trigger_input *in = input;
	const struct pipeline_owner *owner = &in->pipe->owner;
	struct event ev = {
		.kind = EVENT_TRIGGER,
		.ts_ns = t->ts_ns,
		.trigger = {
			.what = trigger_names[t->kind],
			.value = t->value,
			.limit = t->limit,
			.count = t->count,
			.thread = t->koid,
		},
	};
	const struct task *task = t->tid ? tasks_find(in->pipe->tasks, t->tid) : NULL;
	int r = fxt_archive_event(in->pipe->archive, &ev);
	struct trigger named = *t;

	if (r < 0 || !t->notify || !owner->triggered)
		return r;
	if (task)
		memcpy(named.comm, task->comm, sizeof(named.comm));
	owner->triggered(&named, owner->userdata);
	return 0;
}

static int trigger_input_begin(void *stage, const struct session_options *o)
{
	struct trigger_input *in = stage;

	if (!triggers_wanted(&o->triggers))
		return 0;
	return triggers_new(&o->triggers, in->pipe->filtered,
			    &(struct trigger_ops){ trigger_input_fire, trigger_input_name, in },
			    &in->triggers);
}

/*
 * Returns true if an event at this time is in the recording. Events before and after it fire no
 * trigger.
 */
static bool trigger_input_is_recorded(const struct trigger_input *in, uint64_t ts_ns)
{
	return ts_ns > in->pipe->from_ns && ts_ns <= in->pipe->to_ns;
}

int trigger_input_words(struct trigger_input *in, const uint64_t *words, unsigned n_words)
{
	return trigger_input_is_recorded(in, words[WORD_TS])
		       ? triggers_words(in->triggers, words, n_words)
		       : 0;
}

static int trigger_input_record(void *stage, const struct rec_head *rec)
{
	struct trigger_input *in = stage;

	if (!in->triggers || !trigger_input_is_recorded(in, rec->ts_ns))
		return 0;
	return triggers_record(in->triggers, rec);
}

static int trigger_input_loss_begins(void *stage, const struct stage_loss *loss)
{
	struct trigger_input *in = stage;

	if (in->triggers && loss->class == CLASS_SCHED)
		triggers_loss(in->triggers);
	return 0;
}

int trigger_input_settle(void *input, uint64_t horizon_ns)
{
	struct trigger_input *in = input;

	return in->triggers ? triggers_settle(in->triggers, horizon_ns) : 0;
}

static int trigger_input_end(void *stage)
{
	return trigger_input_settle(stage, UINT64_MAX);
}

static int trigger_input_pause(void *stage)
{
	struct trigger_input *in = stage;
	int r = trigger_input_end(in);

	if (in->triggers)
		triggers_loss(in->triggers);
	return r;
}

static int trigger_input_split(void *stage, uint64_t at_ns)
{
	(void)at_ns;
	return trigger_input_end(stage);
}

static void trigger_input_deinit(void *stage)
{
	struct trigger_input *in = stage;

	triggers_free(in->triggers);
}

const struct stage trigger_input_stage = {
	.name = "triggers",
	.handles = STAGE_HANDLES(REC_COUNTERS),
	.handles_results = STAGE_TAKES_ALL,
	.record = trigger_input_record,
	.loss_begins = trigger_input_loss_begins,
	.begin = trigger_input_begin,
	.advance = trigger_input_settle,
	.pause = trigger_input_pause,
	.split = trigger_input_split,
	.end = trigger_input_end,
	.deinit = trigger_input_deinit,
};
