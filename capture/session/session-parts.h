/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of the files of a session. It is the whole state, since each part depends on
 * facts of the others. Internal to session*.c.
 *
 *   session.c         the owner's side, results of the worker, and the life cycle
 *   session-write.c   from the rings to the output: buffers, chunks, drains
 *   session-cost.c    the cost, and the parts that are stopped when it is too high
 *   session-pause.c   the pause as the last step
 *   session-flight.c  snapshots of a flight recorder
 */
#pragma once

#include "capture/session/chunks.h"
#include "capture/store/output.h"
#include "capture/recorder/recorder.h"
#include "capture/session/session.h"
#include "capture/session/snapshot-queue.h"
#include "capture/session/worker.h"

/* The maximum time between a record's timestamp and its arrival in the ring. */
#define MERGE_MARGIN_NS UINT64_C(5000000)

enum session_pause {
	SESSION_GOES,
	SESSION_PAUSES,  /* ordered: the programs are being detached */
	SESSION_PAUSED,  /* nothing is recorded, and the archive contains the pause */
	SESSION_RESUMES, /* ordered: the programs are being attached; the rings are not drained */
	SESSION_BEGUN,   /* the programs run, and the archive does not contain the end of the
			  * pause yet */
};

struct session {
	struct session_options options;
	int epoll_fd;
	int timer_fd;    /* the next drain */
	int deadline_fd; /* the end of the duration */
	int check_fd;    /* the next check of the cost */

	struct abandoned_threads *abandoned_threads;
	struct worker *worker;
	struct output *output;
	struct outbuf *buffer; /* being filled; NULL = none available */
	struct contexts contexts;
	struct recorder recorder;
	struct chunks chunks;
	struct outbuf *tail, *head; /* for the next split; NULL = none yet */

	/* facts that determine the state */
	bool ordered;  /* session_start() was called */
	bool complete; /* all requested parts have begun */
	bool quiet;    /* no program runs any more; tables are still being read */
	bool detached;
	bool unloading; /* ordered; the output knows that no more buffers follow */
	bool unloaded;
	bool written; /* the output is complete, or failed */
	uint64_t start_ns, stop_ns;
	uint64_t n_snapshots_read, n_snapshots; /* taken by the worker; passed to the output */
	uint64_t snapshot_ns;                   /* the end of the last snapshot */
	int snapshot_error;                     /* result of the last snapshot */
	uint64_t n_searches;                    /* done by the worker */
	int search_error;                       /* result of the last search */
	struct snapshot_queue flights;          /* snapshots of a flight recorder */
	int recovered_fd; /* data of the flight recorder of a dead process; -1 = none */
	char reason[32];
	int error;
	char *error_text;

	uint64_t loop_cpu_ns;   /* CPU time of the owner's thread in this module */
	uint64_t worker_cpu_ns; /* CPU time of the worker */
	uint64_t setup_cpu_ns;  /* CPU time of both threads before the recording began */
	uint64_t due_ns; /* when its duration is over; 0 = no duration, or not counting yet */
	struct output_status status;
	struct costs costs;
	struct budget budget;
	struct session_shed sheds[SHED_MAX]; /* parts that are stopped now */
	size_t n_sheds;
	struct session_shed steps[SESSION_STEPS_MAX]; /* a ring */
	uint64_t n_steps, n_steps_written;
	uint32_t shed_bits, shed_done; /* bits 1 << SHED_*: ordered; and reported by the worker */
	unsigned n_failed, n_resumed;  /* likewise */
	enum session_pause pause;
	uint64_t pause_ns;           /* when it began */
	struct worker_results begun; /* SESSION_BEGUN: the list of tasks, and the times. Owned */

	enum session_state reported; /* last state that was reported */
	uint64_t n_snapshots_reported, n_searches_reported, n_flights_reported, n_chunks_reported;
	uint64_t n_steps_reported, n_due_reported;
	uint64_t n_snapshots_due; /* that points have asked for */
	bool stop_due;            /* and the end of the session */
	struct trigger fired;     /* not reported yet, if its count is not 0 */
	session_triggered_fn triggered;
	void *triggered_userdata;
	session_changed_fn changed;
	void *changed_userdata;
};

/* Ends the session. The first REASON is kept. */
void session_end(struct session *s, const char *reason);

/* Ends a session that could not do DEED. The first error is kept. */
void session_fail(struct session *s, int error, const char *deed);

/*
 * Makes FD, one of the session's timers, fire in AFTER_NS (0: never), and then each EVERY_NS (0:
 * once).
 */
void session_arm(int fd, uint64_t after_ns, uint64_t every_ns);

/* Schedules the next drain after AFTER_NS, and later ones at the interval of the options. */
void session_arm_drain(struct session *s, uint64_t after_ns);

/* Makes session_fd() readable when FD is readable. Returns 0 or a negative errno. */
int session_watch(struct session *s, int fd);

/* ---- session-write.c ---- */

/* Whether records can be written now. */
bool session_writable(struct session *s);

/*
 * The kept data up to its end: in a flight recorder the last chunks, otherwise the current one.
 * There must be a buffer.
 */
struct recorder_end session_end_of_kept(struct session *s, const char *reason);

/*
 * Passes the written data on as PART, and takes another buffer. Returns 0, or 1 if none is
 * available.
 */
int session_next_buffer(struct session *s, enum store_part part);

/* Takes all records that are old enough from the rings, and passes them to the output. */
void session_drain(struct session *s);

/* ---- session-cost.c ---- */

/* CPU time of the session so far, all threads. */
uint64_t session_cpu_ns(const struct session *s);

/* The total cost so far; of the programs while they are loaded. */
uint64_t session_read_costs(struct session *s);

/* All requested parts have begun. Loading does not count as cost. */
void session_begin_budget(struct session *s);

/* The next check of the cost. It stops parts when the cost is too high. */
void session_check_budget(struct session *s);

/* Writes each step to the archive as soon as there is room. Returns as fxt_archive_event(). */
int session_write_steps(struct session *s);

/* A step at TS_NS: WHAT stops, or is resumed if BACK. */
void session_record_step(struct session *s, enum budget_shed what, bool back, uint64_t ts_ns);

/* The worker reports the parts that are stopped by now. */
void session_update_sheds(struct session *s, const struct worker_results *results);

/* ---- session-pause.c ---- */

/* Recording pauses from here on. */
void session_pause(struct session *s, uint64_t now_ns);

/* Recording is to be resumed; and resuming has failed. */
void session_resume(struct session *s);
void session_stay_paused(struct session *s);

/* All programs run again: takes from NEWS the data that recorder_resume() needs. */
void session_store_begun(struct session *s, struct worker_results *results);

/*
 * Whether rings are not to be drained; whether the archive may be cut off, split, or used as a
 * whole.
 */
bool session_rests(const struct session *s);
bool session_is_settled(const struct session *s);

/*
 * The next step of a pause: before a round, and after it when all earlier records are written (R =
 * 0). Return 0 or a negative errno.
 */
int session_continue_after_pause(struct session *s);
int session_write_pause(struct session *s);

/* ---- session-flight.c ---- */

/*
 * Everything up to HORIZON_NS is written. Takes the snapshot that waits for this time, if any.
 * Returns 0, 1 if there is no more room, or a negative errno.
 */
int session_take_due_snapshot(struct session *s, uint64_t horizon_ns);

/* The next step of snapshots, if it is due. */
void session_serve_snapshots(struct session *s);
