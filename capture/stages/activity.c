/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/activity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/collector.h"
#include "capture/programs/decode.h"
#include "capture/programs/rec-rings.h"

enum { STATE_NAME_MAX = 32 };

void activity_init(struct activity *a, const struct pipeline *pipe)
{
	*a = (struct activity){ .pipe = pipe };
}

void activity_deinit(void *stage)
{
	struct activity *a = stage;

	table_deinit_free(&a->functions);
	table_deinit_free(&a->idle_states);
}

/* Cuts the interval to the time of the recording. Returns false if nothing is left. */
static bool activity_cut(const struct activity *a, uint64_t *begin_ns, uint64_t *end_ns)
{
	if (*end_ns <= a->pipe->from_ns || *begin_ns > a->pipe->to_ns ||
	    *begin_ns < a->pipe->seen_ns)
		return false;
	if (*begin_ns < a->pipe->from_ns)
		*begin_ns = a->pipe->from_ns;
	if (*end_ns > a->pipe->to_ns)
		*end_ns = a->pipe->to_ns;
	return true;
}

/* ---- interrupts and idle states ---- */

/*
 * Returns the driver's name for an idle state of CPU, or the number of the state. Returns NULL if
 * there is no memory.
 */
static const char *activity_idle_state_name(struct activity *a, unsigned cpu, uint32_t state)
{
	uint64_t key = ((uint64_t)cpu << 32 | state) + 1;
	char path[96], raw[STATE_NAME_MAX], clean[3 * STATE_NAME_MAX];
	const char *known = table_get(&a->idle_states, key);
	_cleanup_close_ int fd = -1;
	ssize_t n;

	if (known)
		return known;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name", cpu,
		 state);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, raw, sizeof(raw));
	if (n > 0 && raw[n - 1] == '\n')
		n--;
	if (n > 0)
		text_clean(clean, sizeof(clean), raw, (size_t)n);
	else
		snprintf(clean, sizeof(clean), "state %u", state);
	return table_copy(&a->idle_states, key, clean, strlen(clean) + 1);
}

static int activity_write_idle(struct activity *a, unsigned cpu, uint32_t state, uint64_t begin_ns,
			       uint64_t end_ns)
{
	const struct event ev = {
		.kind = EVENT_INTERVAL,
		.ts_ns = begin_ns,
		.cpu = cpu,
		.interval = {
			.kind = INTERVAL_IDLE,
			.name = activity_idle_state_name(a, cpu, state),
			.end_ns = end_ns,
			.number = (int32_t)state,
		},
	};

	return ev.interval.name ? fxt_archive_event(a->pipe->archive, &ev) : -ENOMEM;
}

/* Cleans a name: drivers can use any bytes in the names of handlers. */
static void activity_clean_name(uint64_t *words)
{
	size_t n = fxt_get_string_ref_length(fxt_get_event_name(words[0]));
	char *name = (char *)&words[INTERVAL_ARGS];

	if (text_is_utf8(name, n))
		return;
	for (size_t i = 0; i < n; i++)
		if (name[i] & 0x80)
			name[i] = '?';
}

int activity_words(struct activity *a, enum event_class class, unsigned cpu, uint64_t *words,
		   unsigned n_words)
{
	int r;

	if (!activity_cut(a, &words[WORD_TS], &words[n_words - 1]))
		return 0;
	a->n_events++;
	if (class == CLASS_IDLE)
		return activity_write_idle(a, cpu,
					   (uint32_t)fxt_get_arg_value32(words[INTERVAL_ARGS]),
					   words[WORD_TS], words[n_words - 1]);
	if (class == CLASS_IRQ)
		activity_clean_name(words);
	r = fxt_archive_track(a->pipe->archive,
			      class == CLASS_IRQ ? FXT_TRACK_IRQ : FXT_TRACK_SOFTIRQ, cpu);
	return r < 0 ? r : fxt_archive_words(a->pipe->archive, words, n_words);
}

int activity_close_idle(struct activity *a, unsigned cpu, uint32_t state, uint64_t begin_ns)
{
	uint64_t end_ns = a->pipe->to_ns;

	/* An interval that began after the end is not written. */
	if (begin_ns >= end_ns || !activity_cut(a, &begin_ns, &end_ns))
		return 0;
	a->n_events++;
	return activity_write_idle(a, cpu, state, begin_ns, end_ns);
}

/* ---- other records ---- */

static int activity_on_work(struct activity *a, const struct rec_head *head)
{
	const struct rec_work *rec = (const struct rec_work *)head;
	const char *name = table_get(&a->functions, rec->function);
	struct event ev = {
		.kind = EVENT_INTERVAL,
		.ts_ns = rec->begin_ns,
		.cpu = head->cpu,
		.interval = {
			.kind = INTERVAL_WORK,
			.name = name ? name : "?",
			.end_ns = head->ts_ns,
		},
	};
	int r = 0;

	if (!activity_cut(a, &ev.ts_ns, &ev.interval.end_ns))
		return 0;
	if (rec->in_softirq) {
		ev.pid = FXT_KOID_SOFTIRQ;
		ev.tid = fxt_archive_track_koid(FXT_TRACK_SOFTIRQ, head->cpu);
	} else {
		r = pipeline_announce_thread(a->pipe, head->tid, head->pid);
		ev.pid = tasks_koid(a->pipe->tasks, head->pid);
		ev.tid = tasks_koid(a->pipe->tasks, head->tid);
	}
	a->n_events++;
	return r < 0 ? r : fxt_archive_event(a->pipe->archive, &ev);
}

static int activity_on_function(struct activity *a, const struct rec_head *head)
{
	const struct rec_function *rec = (const struct rec_function *)head;
	char clean[3 * REC_SYMBOL_BYTES];

	text_clean(clean, sizeof(clean), rec->name, strlen(rec->name));
	/* Without symbols, the name is only the address, which must not be disclosed. */
	if (*clean == '\0' || strncmp(clean, "0x", 2) == 0)
		return 0;
	if (rec->function && !table_copy(&a->functions, rec->function, clean, strlen(clean) + 1))
		return -ENOMEM;
	return 0;
}

static bool activity_is_recorded(const struct activity *a, const struct rec_head *rec)
{
	return rec->ts_ns >= a->pipe->from_ns && rec->ts_ns <= a->pipe->to_ns;
}

static int activity_on_frequency(struct activity *a, const struct rec_head *head)
{
	const struct rec_frequency *rec = (const struct rec_frequency *)head;
	const struct event_value khz = { .name = "kHz", .whole = true, .u64 = rec->khz };
	const struct event ev = {
		.kind = EVENT_COUNTER,
		.ts_ns = head->ts_ns,
		.counter = {
			.category = "power",
			.name = "CPU frequency",
			.id = rec->cpu,
			.values = &khz,
			.n_values = 1,
		},
	};

	if (!activity_is_recorded(a, head))
		return 0;
	a->n_events++;
	return fxt_archive_event(a->pipe->archive, &ev);
}

static int activity_on_counters(struct activity *a, const struct rec_head *head)
{
	const struct rec_counters *rec = (const struct rec_counters *)head;
	struct event_value values[REC_COUNTERS_VALUES_MAX];
	struct event ev = {
		.kind = EVENT_COUNTER,
		.ts_ns = head->ts_ns,
		.counter = {
			.category = "counters",
			.name = rec->name,
			.id = rec->id,
			.values = values,
			.n_values = rec->n_values,
		},
	};

	if (!activity_is_recorded(a, head))
		return 0;
	for (unsigned i = 0; i < rec->n_values; i++) {
		values[i] = (struct event_value){
			.name = rec->values[i].name,
			.whole = rec->whole >> i & 1,
			.u64 = rec->values[i].value,
		};
		if (!values[i].whole)
			memcpy(&values[i].f64, &rec->values[i].value, sizeof(values[i].f64));
	}
	a->n_events++;
	return fxt_archive_event(a->pipe->archive, &ev);
}

int activity_record(struct activity *a, const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_WORK:
		return activity_on_work(a, rec);
	case REC_FUNCTION:
		return activity_on_function(a, rec);
	case REC_FREQUENCY:
		return activity_on_frequency(a, rec);
	case REC_COUNTERS:
		return activity_on_counters(a, rec);
	default:
		return 0;
	}
}

int activity_lost(struct activity *a, enum event_class class, unsigned cpu,
		  const struct rec_lost *lost)
{
	struct event ev = {
		.kind = EVENT_LOST,
		.ts_ns = lost->first_ns < a->pipe->from_ns ? a->pipe->from_ns : lost->first_ns,
		.cpu = cpu,
		.lost = {
			.class_name = event_class_names[class],
			.count = lost->count,
			.first_ns = lost->first_ns,
			.last_ns = lost->last_ns,
		},
	};

	if (lost->last_ns <= a->pipe->from_ns || lost->first_ns > a->pipe->to_ns)
		return 0;
	a->lost[class] += lost->count;
	return fxt_archive_event(a->pipe->archive, &ev);
}

/* ---- the stage ---- */

static int activity_record_loss(struct activity *a, const struct rec_head *head)
{
	const struct rec_lost *rec = (const struct rec_lost *)head;

	if (rec->ring == REC_RING_LIFECYCLE)
		return 0;
	return activity_lost(a, rec_ring_rows[rec->ring].class, head->cpu, rec);
}

/* Handles a record. Counters that are sampled only for triggers are not written. */
static int activity_on_record(void *stage, const struct rec_head *rec)
{
	struct activity *a = stage;

	if (rec->kind == REC_LOST)
		return activity_record_loss(a, rec);
	if (rec->kind == REC_COUNTERS && !(a->pipe->categories & CATEGORY_COUNTERS))
		return 0;
	return activity_record(a, rec);
}

/*
 * Handles the beginning of a loss. Losses of CLASS_SCHED are handled by schedule.c, which must
 * close and open timelines.
 */
static int activity_loss_begins(void *stage, const struct stage_loss *loss)
{
	const struct rec_lost rec = {
		.count = loss->mark->count,
		.first_ns = loss->mark->first_ns,
		.last_ns = loss->mark->last_ns,
	};

	return loss->class == CLASS_SCHED ? 0 : activity_lost(stage, loss->class, loss->cpu, &rec);
}

/*
 * Writes the losses of all classes that have not ended yet. Each loss is counted only in the chunk
 * in which it ends.
 */
static int activity_tail(const void *stage, struct fxt_archive *to, uint64_t at_ns)
{
	const struct activity *a = stage;
	const unsigned n_cpus = a->pipe->n_cpus;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < CLASS_MAX * n_cpus; i++) {
		const enum event_class class = i / n_cpus;
		struct collector_lost lost =
			collector_pending_lost(a->pipe->collector, class, i % n_cpus);
		const struct event ev = {
			.kind = EVENT_LOST,
			.ts_ns = lost.first_ns < a->pipe->chunk_ns ? a->pipe->chunk_ns
								   : lost.first_ns,
			.cpu = i % n_cpus,
			.lost = {
				.class_name = event_class_names[class],
				.first_ns = lost.first_ns,
				.last_ns = at_ns,
			},
		};

		if (lost.count > 0 && lost.first_ns < at_ns)
			r = fxt_archive_event(to, &ev);
	}
	return r;
}

const struct stage activity_stage = {
	.name = "activity",
	.handles = STAGE_HANDLES(REC_WORK) | STAGE_HANDLES(REC_FUNCTION) |
		   STAGE_HANDLES(REC_FREQUENCY) | STAGE_HANDLES(REC_COUNTERS) |
		   STAGE_HANDLES(REC_LOST),
	.record = activity_on_record,
	.loss_begins = activity_loss_begins,
	.tail = activity_tail,
	.deinit = activity_deinit,
};
