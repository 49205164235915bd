/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The triggers of a flight recorder. Triggers check each record in order of time, when the record
 * is written. A session without triggers has no cost for this check.
 *
 *  wakeup    A thread waited for a CPU after its wakeup. A loss clears the table of waiting
 *            threads.
 *  offcpu    A blocked thread started running again. Most threads sleep for long on purpose. So
 *            without a filter, only uninterruptible sleep (state D) counts.
 *  pressure  The kernel's pressure stall information, for the time between two samples.
 *  leak      A watched process holds more of one resource than at some time of the last minute.
 *
 * The owner is notified at most once in an interval. The archive has all triggers: triggers of one
 * kind within a second are one event, with the worst value and their number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/options.h"

enum trigger_kind {
	TRIGGER_WAKEUP,
	TRIGGER_OFFCPU,
	TRIGGER_PRESSURE_CPU, /* these are in the order of trigger_options.pressure_ppm */
	TRIGGER_PRESSURE_MEMORY,
	TRIGGER_PRESSURE_IO,
	TRIGGER_LEAK,
	TRIGGER_CONFIGURED_MAX, /* the kinds above have limits in the options */
	/* Actions of points (docs/architecture/moments.md). */
	TRIGGER_MOMENT_SNAPSHOT = TRIGGER_CONFIGURED_MAX,
	TRIGGER_MOMENT_STOP,
	TRIGGER_MAX,
};

/* The names of triggers in the archive and on the command line. */
extern const char *const trigger_names[TRIGGER_MAX];

struct trigger {
	enum trigger_kind kind;
	uint64_t ts_ns;
	uint64_t value,
		/*
		 * In ns; in ppm for a pressure; in bytes for a leak; the number of hits for a
		 * point.
		 */
		limit;
	uint64_t count; /* the number of triggers of this kind of which this one is the worst */
	/* Number of triggers without a notification since the last notification. */
	uint64_t n_passed_over;
	/* The thread, as the kernel has it; for a leak, the process; 0 = no thread. */
	uint32_t tid;
	uint32_t koid; /* its koid when the trigger fired; the owner of the tid can have changed */
	bool notify;   /* the owner must be notified */
	char comm[48]; /* the name of the thread, for the owner; "" = unknown */
};

/* Called when a trigger has fired. Returns 0 or a negative errno, which the caller returns, too. */
typedef int (*trigger_fn)(const struct trigger *t, void *userdata);

/*
 * Writes the name of TID, for which a trigger fires. Stores its koid in *RET. Returns like
 * trigger_fn.
 */
typedef int (*trigger_name_fn)(uint32_t tid, uint32_t *ret, void *userdata);

struct trigger_ops {
	trigger_fn fired;
	trigger_name_fn name;
	void *userdata;
};

struct triggers;

/* FILTERED: true = only selected threads are recorded. Returns 0 or -ENOMEM. */
int triggers_new(const struct trigger_options *o, bool filtered, const struct trigger_ops *ops,
		 struct triggers **ret);
struct triggers *triggers_free(struct triggers *t);

DEFINE_CLEANUP(struct triggers *, triggers_free)

/*
 * These functions handle the next record in order of time. The first one is for a record of
 * CLASS_SCHED from its ring, which decode_ring_words() has checked; the second one is for any other
 * record. They return 0, -ENOMEM, or the result of the trigger's function.
 */
int triggers_words(struct triggers *t, const uint64_t *words, unsigned n_words);
int triggers_record(struct triggers *t, const struct rec_head *rec);

/*
 * Passes on the triggers that have been summed for a second at HORIZON_NS (UINT64_MAX = all
 * triggers). All records up to then must have been processed. Returns like triggers_words().
 */
int triggers_settle(struct triggers *t, uint64_t horizon_ns);

/* Notes that scheduling records are missing. */
void triggers_loss(struct triggers *t);

/* Returns the number of triggers that fired, with or without a notification. */
uint64_t triggers_count(const struct triggers *t);
