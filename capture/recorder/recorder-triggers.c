/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of triggers, and the results of a trigger that fires: an event, and a notification of
 * the owner.
 */
#include <string.h>

#include "capture/recorder/recorder-stages.h"
#include "capture/programs/decode.h"

_Static_assert(sizeof(((struct trigger *)0)->comm) == TASK_COMM_MAX, "copied whole");

static int recorder_name_for_trigger(uint32_t tid, uint32_t *ret, void *userdata)
{
	struct recorder *r = userdata;
	int error = pipeline_announce(&r->pipe, tid);

	*ret = tasks_koid(&r->tasks, tid);
	return error;
}

int recorder_trigger_fire(const struct trigger *t, void *recorder)
{
	struct recorder *r = recorder;
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
	const struct task *task = t->tid ? tasks_find(&r->tasks, t->tid) : NULL;
	int error = fxt_archive_event(&r->archive, &ev);
	struct trigger named = *t;

	if (error < 0 || !t->notify || !r->pipe.owner.triggered)
		return error;
	if (task)
		memcpy(named.comm, task->comm, sizeof(named.comm));
	r->pipe.owner.triggered(&named, r->pipe.owner.userdata);
	return 0;
}

int recorder_trigger_begin(struct recorder *r, const struct session_options *o)
{
	if (!triggers_wanted(&o->triggers))
		return 0;
	return triggers_new(&o->triggers, r->pipe.filtered,
			    &(struct trigger_ops){ recorder_trigger_fire, recorder_name_for_trigger,
						   r },
			    &r->triggers);
}

/* Events before or after the recording fire no trigger. */
static bool recorder_triggers_is_recorded(const struct recorder *r, uint64_t ts_ns)
{
	return ts_ns > r->start_ns && ts_ns <= r->pipe.to_ns;
}

int recorder_trigger_words(struct recorder *r, const uint64_t *words, unsigned n_words)
{
	return recorder_triggers_is_recorded(r, words[WORD_TS])
		       ? triggers_words(r->triggers, words, n_words)
		       : 0;
}

int recorder_trigger_record(struct recorder *r, const struct rec_head *rec)
{
	if (!r->triggers || !recorder_triggers_is_recorded(r, rec->ts_ns))
		return 0;
	return triggers_record(r->triggers, rec);
}

int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns)
{
	return r->triggers ? triggers_settle(r->triggers, horizon_ns) : 0;
}

uint64_t recorder_n_triggers(const struct recorder *r)
{
	return r->triggers ? triggers_count(r->triggers) : 0;
}
