/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses that no record reports: losses that continue at the end, losses after which no record
 * came, and runs that the kernel skipped.
 */
#include "base/clock.h"
#include "capture/recorder/recorder-parts.h"

static struct collector_lost *recorder_at_end(const struct recorder *r, enum event_class class,
					      unsigned cpu)
{
	return &r->at_end[class * r->pipe.n_cpus + cpu];
}

void recorder_note_losses(struct recorder *r)
{
	for (enum event_class class = 0; r->at_end && r->pipe.collector && class < CLASS_MAX;
	     class ++)
		for (unsigned cpu = 0; cpu < r->pipe.n_cpus; cpu++)
			*recorder_at_end(r, class, cpu) =
				collector_pending_lost(r->pipe.collector, class, cpu);
}

struct ring_lost recorder_clip_to_end(const struct recorder *r, enum event_class class,
				      unsigned cpu, const struct ring_lost *mark)
{
	const struct collector_lost *then = recorder_at_end(r, class, cpu);
	struct ring_lost clipped = *mark;

	if (mark->last_ns > r->pipe.to_ns && then->first_ns == mark->first_ns && then->count > 0 &&
	    then->count < mark->count) {
		clipped.count = then->count;
		clipped.last_ns = r->pipe.to_ns;
	}
	return clipped;
}

uint64_t recorder_unreported_malformed(const struct recorder *r)
{
	return r->pipe.collector ? collector_n_malformed(r->pipe.collector) - r->n_malformed : 0;
}

uint64_t recorder_lost(const struct recorder *r, enum event_class class)
{
	uint64_t lost = class == CLASS_SCHED       ? r->schedule.lost
			: class == CLASS_LIFECYCLE ? r->lifecycle.lost
						   : r->activity.lost[class];

	if (class == CLASS_MALFORMED)
		lost += recorder_unreported_malformed(r);
	if (class == CLASS_COUNTERS)
		lost += r->lost_samples.count;

	/* A closed archive contains the pending losses. */
	for (unsigned cpu = 0; r->pipe.collector && !r->closed && cpu < r->pipe.n_cpus; cpu++)
		lost += collector_pending_lost(r->pipe.collector, class, cpu).count;
	return lost;
}

int recorder_write_trailing_loss(struct recorder *r, enum event_class class, unsigned cpu)
{
	struct collector_lost lost = collector_pending_lost(r->pipe.collector, class, cpu);
	struct ring_lost mark = {
		.count = lost.count,
		.first_ns = lost.first_ns,
		.last_ns = lost.last_ns,
	};
	struct rec_lost rec = {
		.head = { .kind = REC_LOST, .cpu = (uint16_t)cpu },
		.count = lost.count,
		.first_ns = lost.first_ns,
		.last_ns = lost.last_ns,
		.ring = REC_RING_LIFECYCLE,
	};

	if (lost.count == 0)
		return 0;
	if (class == CLASS_LIFECYCLE)
		return lifecycle_record(&r->lifecycle, &rec.head);
	mark = recorder_clip_to_end(r, class, cpu, &mark);
	if (class == CLASS_SCHED)
		return schedule_loss_begins(&r->schedule, cpu, &mark);
	rec.count = mark.count;
	rec.last_ns = mark.last_ns;
	return activity_lost(&r->activity, class, cpu, &rec);
}

int recorder_write_skipped(struct recorder *r, enum event_class class)
{
	const struct rec_lost lost = {
		.head = { .kind = REC_LOST },
		.count = collector_skipped(r->pipe.collector, class),
		.first_ns = r->pipe.chunk_ns,
		.last_ns = r->end_ns,
		.ring = REC_RING_LIFECYCLE,
	};

	if (lost.count == 0)
		return 0;
	return class == CLASS_LIFECYCLE ? lifecycle_record(&r->lifecycle, &lost.head)
					: activity_lost(&r->activity, class, 0, &lost);
}

/*
 * Returns true if a record of TS_NS will be in the archive. During a pause, the time at which the
 * recording continues can already be known.
 */
static bool recorder_has_time(const struct recorder *r, uint64_t ts_ns)
{
	return ts_ns <= r->pipe.to_ns ||
	       (r->pauses && r->start_ns > r->pipe.to_ns && ts_ns >= r->start_ns);
}

void recorder_lose_samples(struct recorder *r, const struct rec_counters *list, size_t n)
{
	struct collector_lost *lost = &r->lost_samples;

	/*
	 * Samples that are only for triggers are not in the archive, so they cannot be missing
	 * there.
	 */
	if (!(r->pipe.categories & CATEGORY_COUNTERS))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!recorder_has_time(r, list[i].head.ts_ns))
			continue;
		if (lost->count++ == 0)
			lost->first_ns = list[i].head.ts_ns;
		lost->last_ns = list[i].head.ts_ns;
	}
}

static int recorder_write_lost_samples(struct recorder *r)
{
	const struct rec_lost lost = {
		.count = r->lost_samples.count,
		.first_ns = r->lost_samples.first_ns,
		.last_ns = r->lost_samples.last_ns,
	};

	r->lost_samples.count = 0;
	return lost.count ? activity_lost(&r->activity, CLASS_COUNTERS, 0, &lost) : 0;
}

/* Writes the number of command lines that could not be read. */
static int recorder_write_unread(struct recorder *r)
{
	uint64_t now_ns = clock_boot_ns();
	uint64_t ts_ns = now_ns < r->pipe.to_ns ? now_ns : r->pipe.to_ns;
	const struct rec_lost lost = {
		.head = { .kind = REC_LOST },
		.count = r->n_unread,
		.first_ns = ts_ns,
		.last_ns = ts_ns,
		.ring = REC_RING_LIFECYCLE,
	};

	r->n_unread = 0;
	return lost.count ? lifecycle_record(&r->lifecycle, &lost.head) : 0;
}

int recorder_write_dropped(struct recorder *r)
{
	uint64_t n = recorder_unreported_malformed(r);

	r->n_malformed += n;
	return pipeline_write_shortage(&r->pipe, CLASS_MALFORMED, &n)
		       ?: pipeline_write_shortage(&r->pipe, CLASS_MAPPINGS, &r->n_unlisted)
		       ?: recorder_write_unread(r)
		       ?: recorder_write_lost_samples(r);
}
