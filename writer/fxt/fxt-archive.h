/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kymo's archive: the FXT records for each event. docs/FXT-MAPPING.md is its specification.
 *
 * Bytes collect in the current output buffer. The owner takes them between calls, always at the end
 * of a record.
 */
#pragma once

#include "model/event.h"
#include "writer/fxt/fxt-writer.h"

/*
 * Pseudo-threads. Each of the first three exists once per CPU, and there are FXT_BLOCK_LANES of the
 * last one, whose number is used instead of that of a CPU.
 */
enum fxt_track {
	FXT_TRACK_IRQ,
	FXT_TRACK_SOFTIRQ,
	FXT_TRACK_IDLE,
	FXT_TRACK_POWER,
	FXT_TRACK_COUNTERS,
	FXT_TRACK_CODE,
	FXT_TRACK_BLOCK,
	FXT_TRACK_MAX,
};

struct fxt_holds;

struct fxt_archive {
	struct fxt_writer writer;
	struct fxt_out_provider provider; /* the only provider of the archive */
	uint64_t *lost; /* number of lost records for the counters; [cpu * CLASS_MAX + class] */
	uint64_t *lost_until_ns; /* end of the last loss; [cpu * CLASS_MAX + class] */
	/* For each CPU or lane (0 for tracks without either), a bit for each named track. */
	uint8_t *tracks;
	uint32_t n_tracks;
	uint8_t processes; /* a bit for each track whose process was named */
	uint32_t n_cpus;
	struct fxt_perfetto_samples *samples; /* owned; NULL before the first profiler event */
	bool no_perfetto_samples;
	/* Receives each written event; borrowed; NULL = nothing receives them. */
	struct fxt_holds *holds;
};

/* Initializes A, without writing. CPU numbers of events are below N_CPUS. Returns 0 or -ENOMEM. */
int fxt_archive_init(struct fxt_archive *a, struct outbuf *out, uint32_t n_cpus);
void fxt_archive_deinit(struct fxt_archive *a);

/* Writes following records to OUT (borrowed). */
void fxt_archive_set_output(struct fxt_archive *a, struct outbuf *out);

/* Returns the number of bytes in the current output buffer. */
static inline size_t fxt_archive_bytes(const struct fxt_archive *a)
{
	return a->writer.out->size;
}

/* Whether samples are also written as Perfetto's packets (the default). */
void fxt_archive_set_perfetto(struct fxt_archive *a, bool samples);

/* Writes the head of the archive: everything before the first event. */
int fxt_archive_begin(struct fxt_archive *a);

/*
 * Writes EV. An EVENT_SWITCH must be synthetic; real switches, wakeups and migrations are written
 * as finished words (fxt_archive_words). EVENT_START adds the pseudo-process "kymo". Pseudo-threads
 * of intervals and counters are named automatically. A stack longer than FXT_BACKTRACE_MAX is cut
 * at its outer end. Returns 0, or a negative errno: -EINVAL if the event cannot be written, or the
 * error of the output, which all later calls return, too.
 */
int fxt_archive_event(struct fxt_archive *a, const struct event *ev);

/*
 * Adds EV to Perfetto's packets. EV has been written by other means. Returns 1 if packets are due,
 * 0, or -ENOMEM.
 */
int fxt_archive_gather(struct fxt_archive *a, const struct event *ev);

/* Writes the packets that are due; all packets, if ALL. Returns as fxt_archive_event(). */
int fxt_archive_packets(struct fxt_archive *a, bool all);

/* Writes a copy of the unwritten packets to TO, and continues to collect. */
int fxt_archive_copy_packets(const struct fxt_archive *a, struct fxt_archive *to);

/*
 * For parts of a recording (fxt-archive-parts.c): makes PART an archive with empty tables and the
 * totals of OF. Data of OF may follow the part only if OF registers its strings and threads anew.
 * Returns 0 or -ENOMEM.
 */
int fxt_archive_init_part(struct fxt_archive *part, const struct fxt_archive *of,
			  struct outbuf *out);

/* Notes that PART has no head of its own, since it follows a head. */
void fxt_archive_continue(struct fxt_archive *part);

/* From here on, A registers everything anew except the fixed names. Returns 0 or -ENOMEM. */
int fxt_archive_forget(struct fxt_archive *a);

/*
 * Repeat in PART the named tracks of OF, and its losses that continue at AT_NS. The losses have a
 * count of 0, since they were counted before. Return like fxt_archive_event().
 */
int fxt_archive_repeat_tracks(struct fxt_archive *part, const struct fxt_archive *of);
int fxt_archive_repeat_losses(struct fxt_archive *part, const struct fxt_archive *of,
			      uint64_t at_ns);

/* Returns the koid of the thread of TRACK. */
uint32_t fxt_archive_track_koid(enum fxt_track track, uint32_t cpu);

/* Names a track and its process, unless they are named. Returns as fxt_archive_event(). */
int fxt_archive_track(struct fxt_archive *a, enum fxt_track track, uint32_t cpu);

static inline int fxt_archive_words(struct fxt_archive *a, const uint64_t *words, size_t n)
{
	return fxt_write_words(&a->writer, words, n);
}
