/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the input as records of the eBPF programs: records that pass the checks
 * (capture/programs/decode.h) go through the schedule and the table of tasks into an archive.
 *
 * The first byte is the kind of the rest: 'w' words of a ring of the schedule, 'i' of interrupts,
 * 's' of softirqs, 'p' of idle states; 'l' struct rec_*, one after the other; 'm' records of
 * mappings from a perf ring.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/stages/activity.h"
#include "capture/programs/decode.h"
#include "capture/stages/lifecycle.h"
#include "capture/programs/map-records.h"
#include "capture/stages/profiler.h"
#include "capture/stages/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_CPUS = 4, CPU = 1 };

struct world {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct pipeline pipe;
	struct schedule schedule;
	struct lifecycle lifecycle;
	struct activity activity;
	struct profiler profiler;
	struct map_records map_records;
};

static int announce(uint32_t tid, void *userdata)
{
	struct world *w = userdata;

	return lifecycle_announce(&w->lifecycle, tid);
}

static bool ask(uint32_t tid, void *userdata)
{
	(void)userdata;
	return tid % 2;
}

static bool begin(struct world *w)
{
	w->out.limit = 64 << 20;
	w->pipe = (struct pipeline){
		.archive = &w->archive,
		.tasks = &w->tasks,
		.to_ns = UINT64_MAX,
		.links = { .announce = announce, .userdata = w },
		.owner = { .ask = ask },
	};
	w->lifecycle = (struct lifecycle){ .pipe = &w->pipe };
	if (tasks_init(&w->tasks) < 0 || fxt_archive_init(&w->archive, &w->out, N_CPUS) < 0 ||
	    schedule_init(&w->schedule, &w->pipe, N_CPUS) < 0)
		return false;
	activity_init(&w->activity, &w->pipe);
	profiler_init(&w->profiler, &w->pipe);
	return fxt_archive_begin(&w->archive) == 0;
}

static void end(struct world *w)
{
	schedule_deinit(&w->schedule);
	activity_deinit(&w->activity);
	profiler_deinit(&w->profiler);
	fxt_archive_deinit(&w->archive);
	tasks_deinit(&w->tasks);
	outbuf_deinit(&w->out);
}

static void read_intervals(struct world *w, enum event_class class, uint64_t *words, size_t n_words)
{
	unsigned n;

	for (; n_words > 0; words += n, n_words -= n) {
		n = decode_ring_words(words, n_words, class, CPU);
		assert(n <= n_words);
		if (n == 0)
			n = 1;
		else if (!decode_is_lost(words))
			activity_words(&w->activity, class, CPU, words, n);
	}
	activity_close_idle(&w->activity, CPU, 1, 10);
}

static void take_words(struct world *w, uint64_t *words, size_t n_words)
{
	unsigned n;

	for (; n_words > 0; words += n, n_words -= n) {
		n = decode_ring_words(words, n_words, CLASS_SCHED, CPU);
		assert(n <= n_words);
		if (n == 0) {
			n = 1; /* the merge gives up here; other errors can follow */
		} else if (decode_is_lost(words)) {
			schedule_loss_begins(&w->schedule, CPU, (const struct ring_lost *)words);
			schedule_loss_ends(&w->schedule, CPU, (const struct ring_lost *)words);
		} else {
			schedule_record(&w->schedule, CPU, words, n);
		}
	}
	w->pipe.to_ns = UINT64_MAX;
	schedule_close(&w->schedule);
}

static void decode_records(struct world *w, const uint8_t *data, size_t size)
{
	const struct rec_head *rec;
	size_t step;

	for (; size > 0; data += step, size -= step) {
		rec = decode_record(data, size);
		assert(!rec || rec->size <= size);
		step = rec ? rec->size : 8;
		if (rec && rec->cpu < N_CPUS) { /* as the collector checks */
			lifecycle_record(&w->lifecycle, rec);
			activity_record(&w->activity, rec);
			profiler_record(&w->profiler, rec);
		}
		if (step > size)
			break;
	}
}

static int decode_mapped(const struct rec_head *rec, void *userdata)
{
	struct world *w = userdata;

	profiler_record(&w->profiler, rec);
	return rec->kind == REC_NEW_IMAGE && rec->tid % 2
		       ? profiler_executed(&w->profiler, rec->pid, rec->ts_ns)
		       : 0;
}

/* Steps through the ring like map-rings.c. */
static void decode_perf_records(struct world *w, const uint8_t *data, size_t size)
{
	uint64_t lost = 0;
	uint16_t step;

	for (; size >= 8; data += step, size -= step) {
		memcpy(&step, data + 6, sizeof(step));
		if (step < 8 || step > size || step % 8 != 0)
			break;
		map_records_decode(&w->map_records, data, step, decode_mapped, w, &lost);
	}
	map_records_flush(&w->map_records, UINT64_MAX, decode_mapped, w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint64_t *copy = NULL;
	struct world w = { 0 };
	size_t words = size ? (size - 1) / sizeof(*copy) : 0;

	if (words == 0)
		return 0;
	/* Aligned like rings, with the exact size. */
	copy = malloc(words * sizeof(*copy));
	if (!copy)
		return 0;
	memcpy(copy, data + 1, words * sizeof(*copy));
	if (begin(&w)) {
		if (*data == 'w')
			take_words(&w, copy, words);
		else if (*data == 'i')
			read_intervals(&w, CLASS_IRQ, copy, words);
		else if (*data == 's')
			read_intervals(&w, CLASS_SOFTIRQ, copy, words);
		else if (*data == 'p')
			read_intervals(&w, CLASS_IDLE, copy, words);
		else if (*data == 'l')
			decode_records(&w, (const uint8_t *)copy, words * sizeof(*copy));
		else if (*data == 'm')
			decode_perf_records(&w, (const uint8_t *)copy, words * sizeof(*copy));
		/* Only complete records were written. */
		assert(w.out.size % 8 == 0);
		assert(fxt_whole_records(w.out.data, w.out.size) == w.out.size);
	}
	end(&w);
	return 0;
}
