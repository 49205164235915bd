/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kymo's archive: the FXT records for each event. docs/FXT-MAPPING.md is its specification.
 *
 * Records are appended to the current output buffer. The owner takes the bytes between calls, so
 * always at the end of a record.
 */
#pragma once

#include "model/event.h"
#include "writer/fxt/fxt-writer.h"

/*
 * Kinds of pseudo-threads. IRQ, SOFTIRQ and IDLE have one thread per CPU. BLOCK has FXT_BLOCK_LANES
 * threads, whose number stands in place of the CPU.
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
	uint64_t *lost;                   /* totals of lost records, by [cpu * CLASS_MAX + class] */
	uint64_t *lost_until_ns;          /* end of the last loss, by [cpu * CLASS_MAX + class] */
	/* For each CPU or lane: a bit for each track that has its name. Tracks with one thread use
	 * CPU 0. */
	uint8_t *tracks;
	uint32_t n_tracks;
	uint8_t processes; /* a bit for each track whose process has its name */
	uint32_t n_cpus;
	struct fxt_perfetto_samples *samples; /* owned; NULL before the first profiler event */
	bool no_perfetto_samples;
	/* Gets each event that is written; borrowed; NULL = none. */
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

/* Sets whether samples are also written as Perfetto's packets (the default). */
void fxt_archive_set_perfetto(struct fxt_archive *a, bool samples);

/* Writes the head of the archive: everything before the first event. */
int fxt_archive_begin(struct fxt_archive *a);

/*
 * Writes EV. An EVENT_SWITCH must be synthetic; real switches, wakeups and migrations are written
 * as finished words (fxt_archive_words). EVENT_START adds the pseudo-process "kymo". The first
 * event on a pseudo-thread adds the names of that thread and its process. A stack longer than
 * FXT_BACKTRACE_MAX is cut at its outer end. Returns 0, or a negative errno: -EINVAL if the event
 * cannot be written, or the error of the output, which all later calls return, too.
 */
int fxt_archive_event(struct fxt_archive *a, const struct event *ev);

/*
 * Adds EV, which was written by other means, to Perfetto's packets. Returns 1 if packets must be
 * written now (fxt_archive_packets()), 0 if not, or -ENOMEM.
 */
int fxt_archive_gather(struct fxt_archive *a, const struct event *ev);

/* Writes the packets that are due, or (ALL) all of them. Returns as fxt_archive_event(). */
int fxt_archive_packets(struct fxt_archive *a, bool all);

/* Writes a copy of the packets that are not written yet to TO; A keeps them. Returns as
 * fxt_archive_event(). */
int fxt_archive_copy_packets(const struct fxt_archive *a, struct fxt_archive *to);

/*
 * Makes PART an archive for a part of a recording (fxt-archive-parts.c), with empty tables and OF's
 * totals of lost records. If data of OF follows the part, OF must first register its strings and
 * threads anew (fxt_archive_forget()). Returns 0 or -ENOMEM.
 */
int fxt_archive_init_part(struct fxt_archive *part, const struct fxt_archive *of,
			  struct outbuf *out);

/* Notes that PART will follow a head, so that it needs no head of its own. */
void fxt_archive_continue(struct fxt_archive *part);

/* From now on, A registers its strings and threads anew, except the fixed names. Returns 0 or
 * -ENOMEM. */
int fxt_archive_forget(struct fxt_archive *a);

/*
 * Repeat in PART the names of OF's tracks, and those losses of OF that go on after AT_NS, with a
 * count of 0, since OF has counted them. Return as fxt_archive_event().
 */
int fxt_archive_repeat_tracks(struct fxt_archive *part, const struct fxt_archive *of);
int fxt_archive_repeat_losses(struct fxt_archive *part, const struct fxt_archive *of,
			      uint64_t at_ns);

/* Returns the koid of the thread of TRACK for CPU, which can also be a lane. */
uint32_t fxt_archive_track_koid(enum fxt_track track, uint32_t cpu);

/* Writes the names of a track's thread and process, unless they were written. Returns as
 * fxt_archive_event(). */
int fxt_archive_track(struct fxt_archive *a, enum fxt_track track, uint32_t cpu);

static inline int fxt_archive_words(struct fxt_archive *a, const uint64_t *words, size_t n)
{
	return fxt_write_words(&a->writer, words, n);
}
