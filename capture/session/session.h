/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording: eBPF programs of its own, rings of its own, an output of its own.
 *
 * A session is driven by its owner's event loop: it offers one descriptor that becomes readable
 * when session_dispatch() has something to do, and never blocks in it. What may block happens
 * elsewhere: loading, attaching, detaching and looking at /proc in the session's worker thread,
 * writing in its output's writer thread behind a bounded queue. When the output is slower than the
 * machine, the rings fill and the programs count what they drop, per CPU and class.
 *
 * Life: new -> start -> (running) -> stop -> finished. The state follows from facts
 * (session_state()). A session ends by itself when its duration or size is reached or its output
 * fails; session_reason() says why.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/pipeline/budget.h"
#include "capture/pipeline/contexts.h"
#include "capture/pipeline/costs.h"
#include "capture/options/options.h"
#include "capture/store/store.h"
#include "capture/pipeline/triggers.h"
#include "writer/event.h"

struct session;

enum session_state {
	SESSION_READY,    /* made, not started */
	SESSION_STARTING, /* programs are being loaded and attached */
	SESSION_RUNNING,
	SESSION_DRAINING, /* stopped; the last records are on their way to the output */
	SESSION_STOPPED,  /* all is written */
	SESSION_FAILED, /* final, too: could not start, or ended early; session_error() says why */
	SESSION_STATE_MAX,
};

extern const char *const session_state_names[SESSION_STATE_MAX]; /* "ready", "running", ... */

struct session_counters {
	uint64_t events;          /* records of events in the archive, synthetic ones not counted */
	uint64_t lost[CLASS_MAX]; /* counted by the programs, marked in the archive or pending */
	uint64_t bytes;           /* written to the output */
	uint64_t dropped_bytes;   /* that a flight recorder had no room for (flight.h) */
	/* What a flight recorder may keep by now (flight.h); 0 = it is none */
	uint64_t flight_limit;
	uint64_t daemon_cpu_ns; /* CPU time of ours for this session, all threads */
	struct cost_sum bpf;    /* of the eBPF programs, as it was at the last look: each second */
	struct cost_sum bpf_classes[COST_CLASSES];
	uint64_t triggers; /* that have fired, also those without a notification */
	uint64_t cost_ppm; /* of one CPU: both together, in the second before the last look */
	unsigned n_cpus;   /* that are online: of so many the machine's CPU time is */
	uint64_t walks[WALK_ENDS_MAX]; /* of stacks of programs, by how they have ended */
	uint64_t n_steps; /* that were taken for the budget: things that went, and that came back */
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0 = not yet */
	uint64_t stop_ns;  /* CLOCK_BOOTTIME; 0 = not yet */
};

/*
 * A step for the budget: something has gone since the session cost too much, or is back since it
 * does not any more.
 */
struct session_shed {
	enum budget_shed what;
	uint64_t ts_ns;               /* CLOCK_BOOTTIME */
	uint64_t cost_ppm, limit_ppm; /* of one CPU */
	uint32_t n_cpus; /* the limit is a share of the time of so many; 0 = of one CPU's */
	bool back;
};

/* Steps that are remembered: the last ones. */
enum { SESSION_STEPS_MAX = 16 };

/*
 * A trigger has fired that was asked for (triggers.h). Called from session_dispatch(), after what
 * led to it has been written; of several at once for one of them. It may call anything but
 * session_free().
 */
typedef void (*session_triggered_fn)(struct session *s, const struct trigger *t, void *userdata);

/*
 * Called from session_dispatch() or session_stop() whenever the state, session_snapshots(),
 * session_searches(), session_flight_snapshot(), session_chunks(), or the steps for the budget have
 * changed. It may call anything but session_free().
 */
typedef void (*session_changed_fn)(struct session *s, void *userdata);

/*
 * Makes a session that will write to STORE; what OPTIONS left open is filled in
 * (session_options()). Takes over what OPTIONS owns and STORE,
 * both only on success. Returns 0, -EINVAL (an option out of range), -ENOMEM, or another errno.
 */
int session_new(struct session_options *options, struct store *store, struct session **ret);

/*
 * Makes a session of what a flight recorder of a dead process has left in DIR_FD (a duplicate is
 * kept): it has failed, with reason "service died", and snapshots can be taken of it. Takes over
 * what OPTIONS owns on success. Returns 0 or a negative errno.
 */
int session_new_recovered(struct session_options *options, int dir_fd, struct session **ret);

/*
 * Lets go of everything, in any state; what was not written is lost. An output that hangs in the
 * kernel is left to its thread. Returns NULL.
 */
struct session *session_free(struct session *s);

DEFINE_CLEANUP(struct session *, session_free)

/* Bytes of kernel memory that the rings of a session with these options take, on this machine. */
uint64_t session_ring_memory(const struct session_options *o);

/* FN is called for each change of state; at most one. */
void session_set_changed(struct session *s, session_changed_fn fn, void *userdata);

/* FN is called for triggers; at most one. */
void session_set_triggered(struct session *s, session_triggered_fn fn, void *userdata);

/* Starts it, without waiting. Returns 0, or -EALREADY if it was started before. */
int session_start(struct session *s);

/* Asks it to stop, without waiting: completes the file and then becomes SESSION_STOPPED. REASON is
 * a word for the archive and the bus ("requested", "owner gone"). Returns 0, also if it has
 * stopped already, or -EINVAL if it was never started. */
int session_stop(struct session *s, const char *reason);

/*
 * Puts a mark with TEXT (cleaned, cut to 256 bytes) at this moment into the archive. Returns 0,
 * -ESHUTDOWN if nothing is recorded, or -EAGAIN if the output is so far behind that there is no
 * room.
 */
int session_mark(struct session *s, const char *text);

/*
 * Begins the context NAME (contexts.h) at this moment, and ends that of BIT. Return 0, what
 * session_mark() does, or what contexts_begin() and contexts_end() do.
 */
int session_begin_context(struct session *s, const char *name, uint32_t *ret_bit);
int session_end_context(struct session *s, uint32_t bit);

/*
 * Asks for a snapshot of what the processes that are watched have allocated, without waiting: it is
 * done when session_snapshots() is *RET_NUMBER or more. Two that are asked for at once are one.
 * Returns 0, what session_mark() does, or -EOPNOTSUPP if the session watches nothing of the kind.
 */
int session_snapshot(struct session *s, uint64_t *ret_number);

/* How many have gone to the output; *RET_ERROR is 0, or why the last one of them is not whole. */
uint64_t session_snapshots(const struct session *s, int *ret_error);

/*
 * Asks which blocks of process PID can be reached, without waiting, for the archive to say at its
 * end. It is to stand still: the caller holds it at its exit. It is done when
 * session_searches() is *RET_NUMBER or more, with *RET_ERROR 0 or why the last one found nothing
 * out. Returns 0, -ESHUTDOWN if nothing is recorded, -EOPNOTSUPP if the session was not asked to
 * (option `reach`), or -EBUSY if too many wait.
 */
int session_search(struct session *s, uint32_t pid, uint64_t *ret_number);
uint64_t session_searches(const struct session *s, int *ret_error);

/*
 * Has a snapshot written to TO of what a flight recorder keeps, up to this moment, or to its end if
 * it has ended, without waiting. Takes over TO, on success. *RET_NUMBER is for
 * session_flight_snapshot(). Returns 0, -EOPNOTSUPP if it is no flight recorder, -ESHUTDOWN if it
 * was never started, or -EBUSY if too many snapshots wait.
 */
int session_take_snapshot(struct session *s, struct store *to, uint64_t *ret_number);

/*
 * Whether snapshot NUMBER has ended, and how: *RET_ERROR is 0 when all of it was written,
 * -ECANCELED if it was called off.
 */
bool session_flight_snapshot(const struct session *s, uint64_t number, int *ret_error);

/* Calls it off, if it has not ended. */
void session_cancel_snapshot(struct session *s, uint64_t number);

/*
 * Has another chunk begin, without waiting: the one of now is complete when session_chunks() is
 * *RET_NUMBER or more. Returns 0, what session_mark() does, or -EOPNOTSUPP if it has no chunks to
 * begin (session_options_splits(), mode flight).
 */
int session_rotate(struct session *s, uint64_t *ret_number);

/* How many have begun. */
uint64_t session_chunks(const struct session *s);

/*
 * Step number I, from 0, of the last SESSION_STEPS_MAX of those that the counters count; else NULL.
 */
const struct session_shed *session_step(const struct session *s, uint64_t i);

/*
 * What has gone and is not back, in this order: into RET. Returns how many. With SHED_SESSION among
 * them it is a pause.
 */
size_t session_sheds(const struct session *s, struct session_shed ret[SHED_MAX]);

/* Those that have begun. */
const struct contexts *session_contexts(const struct session *s);

/* The descriptor to wait for (epoll; borrowed), and what to call when it is readable. */
int session_fd(const struct session *s);
void session_dispatch(struct session *s);

enum session_state session_state(const struct session *s);

/* True from when all that was asked for has begun; false for ever of one that failed before. */
bool session_has_run(const struct session *s);
void session_counters(const struct session *s, struct session_counters *ret);
const struct session_options *session_options(const struct session *s);

/* Why it stopped ("" while it has not): what session_stop() was given, or "duration", "size",
 * "output failed", "could not start", "failed", "overhead" (it cost more than it may, whatever was
 * left out, and was not to pause), "service died". */
const char *session_reason(const struct session *s);

/* 0, or the errno that ended it; *RET_TEXT (if not NULL) is a sentence for people, borrowed, ""
 * without error. */
int session_error(const struct session *s, const char **ret_text);
