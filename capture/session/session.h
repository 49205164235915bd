/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording, with its own eBPF programs, rings and output.
 *
 * The event loop of the owner drives a session. The session has one descriptor, which becomes
 * readable when session_dispatch() has work. session_dispatch() never blocks. All blocking work is
 * done elsewhere: loading, attaching, detaching and reading /proc in the session's worker thread,
 * and writing in the writer thread of its output, behind a bounded queue. If the output is slower
 * than the machine, the rings fill, and the eBPF programs count the dropped records of each CPU and
 * class.
 *
 * Life cycle: new -> start -> (running) -> stop -> finished. The state is derived from facts
 * (session_state()). A session ends by itself when it reaches its duration or size, or when its
 * output fails; session_reason() has the reason.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/recorder/budget.h"
#include "capture/stages/contexts.h"
#include "capture/recorder/costs.h"
#include "capture/options/options.h"
#include "capture/providers/providers-stage.h"
#include "capture/store/store.h"
#include "capture/stages/triggers.h"
#include "model/event.h"

struct session;

enum session_state {
	SESSION_READY,    /* made, not started */
	SESSION_STARTING, /* programs are being loaded and attached */
	SESSION_RUNNING,
	SESSION_DRAINING, /* stopped; the last records are being written to the output */
	SESSION_STOPPED,  /* all is written */
	/* Recording could not start, or ended early, and never continues; see session_error(). */
	SESSION_FAILED,
	SESSION_STATE_MAX,
};

extern const char *const session_state_names[SESSION_STATE_MAX]; /* "ready", "running", ... */

struct session_counters {
	uint64_t events;            /* events in the archive, without synthetic events */
	uint64_t events_of[GROUPS]; /* events by groups of categories */
	uint64_t foreign_calls;     /* system calls of 32-bit programs, not recorded */
	/*
	 * Lost events that the eBPF programs have counted, whether the archive reports the losses
	 * already or not.
	 */
	uint64_t lost[CLASS_MAX];
	uint64_t bytes;         /* bytes that were written to the output */
	uint64_t dropped_bytes; /* bytes for which a flight recorder had no room (flight.h) */
	/*
	 * The current limit of a flight recorder (flight.h); 0 = the session is no flight recorder
	 */
	uint64_t flight_limit;
	/* CPU time that kymo has used for this session since start_ns, in all threads. */
	uint64_t daemon_cpu_ns;
	/* Cost of the eBPF programs at the last check; checks are once per second. */
	struct cost_sum bpf;
	struct cost_sum bpf_classes[COST_CLASSES];
	/* Number of snapshots that points of moments have requested from the owner (moments.md). */
	uint64_t snapshots_due;
	uint64_t triggers; /* number of triggers that fired, also without a notification */
	/*
	 * Cost of kymo and its eBPF programs in the second before the last check, in ppm of one
	 * CPU.
	 */
	uint64_t cost_ppm;
	unsigned n_cpus;               /* online CPUs, whose total is the machine's CPU time */
	uint64_t walks[WALK_ENDS_MAX]; /* walks of user stacks, by the cause of their end */
	/* Number of steps for the budget: parts were stopped or resumed. */
	uint64_t n_steps;
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0 = not yet */
	uint64_t stop_ns;  /* CLOCK_BOOTTIME; 0 = not yet */
};

/* A step for the budget: a part was stopped because of the cost, or resumed. */
struct session_shed {
	enum budget_shed what;
	uint64_t ts_ns;               /* CLOCK_BOOTTIME */
	uint64_t cost_ppm, limit_ppm; /* in ppm of one CPU */
	uint32_t n_cpus; /* the limit is a share of the time of this many CPUs; 0 = of one CPU */
	bool back;
};

/* The number of last steps that are kept. */
enum { SESSION_STEPS_MAX = 16 };

/*
 * A configured trigger has fired (triggers.h). Called from session_dispatch(), after the data that
 * led to it is written. If several triggers fire at once, this function is called for one of them.
 * The called function may call any function here except session_free().
 */
typedef void (*session_triggered_fn)(struct session *s, const struct trigger *t, void *userdata);

/*
 * Called from session_dispatch() or session_stop() whenever the state, session_snapshots(),
 * session_searches(), session_flight_snapshot(), session_chunks(), the steps for the budget, or the
 * number of snapshots due have changed. The called function may call any function here except
 * session_free().
 */
typedef void (*session_changed_fn)(struct session *s, void *userdata);

/*
 * Makes a session that writes to STORE. Unset OPTIONS are filled in (session_options()). On
 * success, takes ownership of STORE and of the data of OPTIONS. Returns 0, -EINVAL (an option out
 * of range), -ENOMEM, or another errno.
 */
int session_new(struct session_options *options, struct store *store, struct session **ret);

/*
 * Makes a session from the data that the flight recorder of a dead process left in DIR_FD (a
 * duplicate is kept). This session has failed with the reason "service died", but snapshots of it
 * can be taken. On success, takes ownership of the data of OPTIONS. Returns 0 or a negative errno.
 */
int session_new_recovered(struct session_options *options, int dir_fd, struct session **ret);

/*
 * Frees the session in any state. Unwritten data is lost. If the output's thread hangs in the
 * kernel, the output is left to this thread. Returns NULL.
 */
struct session *session_free(struct session *s);

DEFINE_CLEANUP(struct session *, session_free)

/*
 * Returns the bytes of memory for the rings of a session with these options, on this machine: in
 * the kernel, and for the copies of records that wait while the output stalls.
 */
uint64_t session_ring_memory(const struct session_options *o);

/* From now on, FN is called for each change of state. A session has only one such function. */
void session_set_changed(struct session *s, session_changed_fn fn, void *userdata);

/* From now on, FN is called for triggers. A session has only one such function. */
void session_set_triggered(struct session *s, session_triggered_fn fn, void *userdata);

/*
 * Records programs that connect to LINKS, for OWNER. To be called before session_start(), if the
 * category `app` is recorded. LINKS must stay until session_leave_providers(), which ends the
 * recording of all these programs, or until the session is freed. The caller polls LINKS.
 */
void session_set_providers(struct session *s, struct provider_links *links,
			   const struct providers_owner *owner);
void session_leave_providers(struct session *s);

/* Returns the part of the session that records programs. */
const struct providers_stage *session_providers(const struct session *s);

/* Starts the session, without waiting. Returns 0, or -EALREADY if it was started before. */
int session_start(struct session *s);

/*
 * Requests a stop, without waiting. The file is completed, and then the state is SESSION_STOPPED.
 * REASON is a word for the archive and the bus ("requested", "owner gone"). Returns 0, also if the
 * session has stopped already, or -EINVAL if it was never started.
 */
int session_stop(struct session *s, const char *reason);

/*
 * Writes a mark with TEXT (cleaned, cut to 256 bytes) at this moment into the archive. Returns 0,
 * -ESHUTDOWN if nothing is recorded, or -EAGAIN if the output is so far behind that there is no
 * room.
 */
int session_mark(struct session *s, const char *text);

/*
 * The first function begins the context NAME (contexts.h) at this moment, the second one ends the
 * context BIT. Both return 0, or an error of session_mark(), contexts_begin() or contexts_end().
 */
int session_begin_context(struct session *s, const char *name, uint32_t *ret_bit);
int session_end_context(struct session *s, uint32_t bit);

/*
 * Requests a snapshot of the allocations of watched processes, without waiting. The snapshot is
 * done when session_snapshots() is at least *RET_NUMBER. Requests at the same time share a
 * snapshot. Returns 0, an error of session_mark(), or -EOPNOTSUPP if the session does not watch
 * allocations.
 */
int session_snapshot(struct session *s, uint64_t *ret_number);

/*
 * Returns the number of snapshots in the output. *RET_ERROR is 0, or the reason why the last
 * snapshot is incomplete.
 */
uint64_t session_snapshots(const struct session *s, int *ret_error);

/*
 * Requests a search for the reachable blocks of process PID, without waiting. The result is in the
 * archive at the end of the process. The caller must hold the process at its exit. The search is
 * done when session_searches() is at least *RET_NUMBER; *RET_ERROR is 0 or the error of the last
 * search. Returns 0, -ESHUTDOWN if nothing is recorded, -EOPNOTSUPP if the session does not search
 * (option `reach`), or -EBUSY if too many searches wait.
 */
int session_search(struct session *s, uint32_t pid, uint64_t *ret_number);
uint64_t session_searches(const struct session *s, int *ret_error);

/*
 * Writes a snapshot of the flight recorder's data to TO, without waiting: up to this moment, or up
 * to its end if the recorder has ended. Takes ownership of TO on success. *RET_NUMBER is for
 * session_flight_snapshot(). Returns 0, -EOPNOTSUPP if the session is not a flight recorder,
 * -ESHUTDOWN if it was never started, or -EBUSY if too many snapshots wait.
 */
int session_take_snapshot(struct session *s, struct store *to, uint64_t *ret_number);

/*
 * Returns true if snapshot NUMBER has ended. *RET_ERROR is 0 if all of it was written, and
 * -ECANCELED if it was cancelled.
 */
bool session_flight_snapshot(const struct session *s, uint64_t number, int *ret_error);

/* Cancels snapshot NUMBER, unless it has ended. */
void session_cancel_snapshot(struct session *s, uint64_t number);

/*
 * Starts another chunk, without waiting. The current chunk is complete when session_chunks() is at
 * least *RET_NUMBER. Returns 0, an error of session_mark(), or -EOPNOTSUPP if the session has no
 * chunks to start (session_options_splits(), mode flight).
 */
int session_rotate(struct session *s, uint64_t *ret_number);

/* Returns the number of chunks that have begun. */
uint64_t session_chunks(const struct session *s);

/*
 * Returns step number I, counted from 0 as in `n_steps` of the counters. Only the last
 * SESSION_STEPS_MAX steps are kept; for other steps, returns NULL.
 */
const struct session_shed *session_step(const struct session *s, uint64_t i);

/*
 * Writes the stopped parts to RET, in the order of stopping. Returns their number. With
 * SHED_SESSION among them, the session pauses.
 */
size_t session_sheds(const struct session *s, struct session_shed ret[SHED_MAX]);

/* Returns the contexts that have begun. */
const struct contexts *session_contexts(const struct session *s);

/*
 * The first function returns the descriptor to wait for (epoll; borrowed). The second one must be
 * called when the descriptor is readable.
 */
int session_fd(const struct session *s);
void session_dispatch(struct session *s);

enum session_state session_state(const struct session *s);

/* Returns true once all requested parts have begun; always false if the session failed before. */
bool session_has_run(const struct session *s);
void session_counters(const struct session *s, struct session_counters *ret);
const struct session_options *session_options(const struct session *s);

/* All processes of option pids have ended, and their descendants. */
#define SESSION_REASON_ENDED "processes ended"

/*
 * Returns the reason for the stop ("" before it): the reason passed to session_stop(), or
 * "duration", "size", "output failed", "could not start", "failed", "moment" (a point's action),
 * SESSION_REASON_ENDED,
 * "overhead" (over the limit after the last step, and without a pause), "service died".
 */
const char *session_reason(const struct session *s);

/*
 * Returns 0, or the errno that ended the session. *RET_TEXT (if not NULL) is a message for people,
 * borrowed; "" if there is no error.
 */
int session_error(const struct session *s, const char **ret_text);

/*
 * Returns a sentence about the functions that match the pattern of call specification I, but are
 * not recorded, because the kernel sets no probe on them (call_targets_refused()). Known when the
 * session runs. Owned by the caller; NULL = no sentence.
 */
char *session_refused_calls(const struct session *s, size_t i);

/*
 * Returns a sentence about processes that have mapped other files than those with probes
 * (model/other-files.h). Owned by the caller; NULL = no sentence.
 */
char *session_other_files(const struct session *s);
