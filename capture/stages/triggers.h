/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The triggers of a flight recorder. They check each record in order of time, as it is written. A
 * session without triggers has no cost for them.
 *
 *  wakeup    A thread waited for a CPU after its wakeup. A loss clears the table of waiting
 *            threads.
 *  offcpu    A blocked thread started running again. Most threads sleep long and intentionally. So
 *            without a filter, only uninterruptible sleep (state D) counts.
 *  pressure  The kernel's pressure stall information, for the time between two samples.
 *  leak      A watched process holds more of one resource than at some time of the last minute.
 *
 * The owner is notified at most once per interval. The archive has all triggers: those of one kind
 * within a second are one event, with the worst value and their number.
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
	TRIGGER_PRESSURE_CPU, /* in the order of trigger_options.pressure_ppm */
	TRIGGER_PRESSURE_MEMORY,
	TRIGGER_PRESSURE_IO,
	TRIGGER_LEAK,
	TRIGGER_CONFIGURED_MAX, /* kinds up to here have limits in the options */
	/* actions of points (docs/architecture/moments.md) */
	TRIGGER_MOMENT_SNAPSHOT = TRIGGER_CONFIGURED_MAX,
	TRIGGER_MOMENT_STOP,
	TRIGGER_MAX,
};

/* The names in the archive and on the command line. */
extern const char *const trigger_names[TRIGGER_MAX];

struct trigger {
	enum trigger_kind kind;
	uint64_t ts_ns;
	uint64_t value,
		limit;  /* ns; ppm of a pressure; bytes of a leak; a point's number of hits */
	uint64_t count; /* the triggers of this kind that this one, the worst, represents */
	uint64_t n_passed_over; /* triggers without a notification since the last one */
	uint32_t tid;  /* the thread, as in the kernel; for a leak, the process; 0 = none */
	uint32_t koid; /* its koid when the trigger fired; the owner of the tid can have changed */
	bool notify;   /* the owner must be notified */
	char comm[48]; /* the name of the thread, for the owner; "" = unknown */
};

/* A trigger has fired. Returns 0 or a negative errno, which is passed on. */
typedef int (*trigger_fn)(const struct trigger *t, void *userdata);

/* Names TID, for which a trigger fires. Stores its koid in *RET. Returns as above. */
typedef int (*trigger_name_fn)(uint32_t tid, uint32_t *ret, void *userdata);

struct trigger_ops {
	trigger_fn fired;
	trigger_name_fn name;
	void *userdata;
};

struct triggers;

/* FILTERED: only selected threads are recorded. Returns 0 or -ENOMEM. */
int triggers_new(const struct trigger_options *o, bool filtered, const struct trigger_ops *ops,
		 struct triggers **ret);
struct triggers *triggers_free(struct triggers *t);

DEFINE_CLEANUP(struct triggers *, triggers_free)

/*
 * Handle the next record in order of time: a record of CLASS_SCHED from its ring, checked by
 * decode_ring_words(); or any other record. Return 0, -ENOMEM, or the result of the function.
 */
int triggers_words(struct triggers *t, const uint64_t *words, unsigned n_words);
int triggers_record(struct triggers *t, const struct rec_head *rec);

/*
 * Passes on the triggers that have been summed for a second at HORIZON_NS (UINT64_MAX: all). All
 * records up to then must have been processed. Returns as above.
 */
int triggers_settle(struct triggers *t, uint64_t horizon_ns);

/* Notes that scheduling records are missing. */
void triggers_loss(struct triggers *t);

/* The number of triggers that fired, with or without a notification. */
uint64_t triggers_count(const struct triggers *t);
