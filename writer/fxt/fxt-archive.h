/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo's archive: which FXT records say which event. docs/FXT-MAPPING.md is its specification.
 *
 * Bytes collect in the output buffer that is set at that moment; the owner takes them away between
 * calls, always at the end of a record.
 */
#pragma once

#include "writer/event.h"
#include "writer/fxt/fxt-writer.h"

/* Pseudo-threads; the first three are one a CPU. */
enum fxt_track {
	FXT_TRACK_IRQ,
	FXT_TRACK_SOFTIRQ,
	FXT_TRACK_IDLE,
	FXT_TRACK_POWER,
	FXT_TRACK_COUNTERS,
	FXT_TRACK_CODE,
	FXT_TRACK_MAX,
};

struct fxt_holds;

struct fxt_archive {
	struct fxt_writer writer;
	struct fxt_out_provider provider; /* the only one */
	uint64_t *lost; /* total per CPU and class, for the counters; [cpu * CLASS_MAX + class] */
	uint64_t *lost_until_ns; /* likewise: the end of the loss that ends last */
	uint8_t *tracks;   /* per CPU (of none: 0): a bit for each track that has been named */
	uint8_t processes; /* a bit for each track whose process has been named */
	uint32_t n_cpus;
	struct fxt_perfetto_samples *samples; /* owned; NULL until the profiler has something */
	bool no_perfetto_samples;
	struct fxt_holds
		*holds; /* takes each event in that is written; borrowed; NULL = none does */
};

/* N_CPUS: cpu numbers of events are below it. Returns 0 or -ENOMEM. Writes nothing. */
int fxt_archive_init(struct fxt_archive *a, struct outbuf *out, uint32_t n_cpus);
void fxt_archive_deinit(struct fxt_archive *a);

/* From now on records go to OUT (borrowed). */
void fxt_archive_set_output(struct fxt_archive *a, struct outbuf *out);

/* Whether samples go into the archive a second time, as Perfetto's packets, too (the default). */
void fxt_archive_set_perfetto(struct fxt_archive *a, bool samples);

/* The head of the archive: all that stands before the first event. */
int fxt_archive_begin(struct fxt_archive *a);

/*
 * Writes EV. EVENT_SWITCH only if it is synthetic; real switches, wakeups and migrations come as
 * finished words (fxt_archive_words). EVENT_START adds the pseudo-process "kymo"; pseudo-threads of
 * intervals and counters are named by the way. Of a stack what is longer than FXT_BACKTRACE_MAX is
 * cut off at its outer end. Returns 0, or a negative errno: -EINVAL if the event cannot be said, or
 * the output's error, which sticks.
 */
int fxt_archive_event(struct fxt_archive *a, const struct event *ev);

/*
 * Takes EV, which has been written by other means, into Perfetto's packets. Returns 1 if packets
 * are due, 0, or -ENOMEM.
 */
int fxt_archive_gather(struct fxt_archive *a, const struct event *ev);

/* Writes the packets that are due; all that there are, if ALL. Returns as fxt_archive_event(). */
int fxt_archive_packets(struct fxt_archive *a, bool all);

/* Writes what of them has not been written to TO, too, and lets it go on collecting. */
int fxt_archive_copy_packets(const struct fxt_archive *a, struct fxt_archive *to);

/*
 * Parts (fxt-archive-parts.c). Makes PART an archive with empty tables whose totals are those of
 * OF, for a part of a recording that nothing of OF follows but what registers anew. Returns 0 or
 * -ENOMEM.
 */
int fxt_archive_init_part(struct fxt_archive *part, const struct fxt_archive *of,
			  struct outbuf *out);

/* PART has no beginning of its own: what is written to it stands behind one. */
void fxt_archive_go_on(struct fxt_archive *part);

/* From here on A registers anew whatever it uses, but the fixed names. Returns 0 or -ENOMEM. */
int fxt_archive_forget(struct fxt_archive *a);

/*
 * Says again in PART which tracks OF has named, and which losses go on at AT_NS: with a count of 0,
 * since they have been counted. Return as fxt_archive_event().
 */
int fxt_archive_repeat_tracks(struct fxt_archive *part, const struct fxt_archive *of);
int fxt_archive_repeat_losses(struct fxt_archive *part, const struct fxt_archive *of,
			      uint64_t at_ns);

/* The koid of a track's thread. */
uint32_t fxt_archive_track_koid(enum fxt_track track, uint32_t cpu);

/* Names a track and its process, unless that has been done. Returns as fxt_archive_event(). */
int fxt_archive_track(struct fxt_archive *a, enum fxt_track track, uint32_t cpu);

static inline int fxt_archive_words(struct fxt_archive *a, const uint64_t *words, size_t n)
{
	return fxt_write_words(&a->writer, words, n);
}
