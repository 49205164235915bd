/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of a session share. The whole state of the session is declared
 * here, since each file depends on facts that the other files set. Internal to session*.c.
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
	SESSION_PAUSES, /* a pause was ordered: the eBPF programs are being detached */
	SESSION_PAUSED, /* nothing is recorded, and the pause is in the archive */
	/*
	 * Resuming was ordered: the eBPF programs are being attached, and the rings are not
	 * drained.
	 */
	SESSION_RESUMES,
	SESSION_BEGUN, /* the eBPF programs run, and the archive does not contain the end of the
		        * pause yet */
};

struct session {
	struct session_options options;
	int epoll_fd;
	int timer_fd;    /* timer of the next drain */
	int deadline_fd; /* timer of the end of the duration */
	int check_fd;    /* timer of the next check of the cost */

	struct abandoned_threads *abandoned_threads;
	struct worker *worker;
	struct output *output;
	struct outbuf *buffer; /* the buffer that is being filled; NULL = no buffer is available */
	struct contexts contexts;
	struct recorder recorder;
	struct chunks chunks;
	struct outbuf *tail, *head; /* buffers for the next split; NULL = not taken yet */

	/* The facts below determine the state. */
	bool ordered;  /* session_start() was called */
	bool complete; /* all requested parts have begun */
	bool quiet;    /* no eBPF program runs any more; tables are still being read */
	bool detached;
	/* At the end: answers of the worker are awaited until then, CLOCK_MONOTONIC; 0 = unset */
	uint64_t awaits_until_ns;
	bool unloading; /* unloading was ordered; the output knows that no more buffers follow */
	bool unloaded;
	bool written; /* the output is complete, or failed */
	uint64_t start_ns, stop_ns;
	/* Numbers of snapshots that the worker has taken, and that were passed to the output. */
	uint64_t n_snapshots_read, n_snapshots;
	uint64_t snapshot_ns;          /* the end of the last snapshot */
	int snapshot_error;            /* result of the last snapshot */
	uint64_t n_searches;           /* number of searches that the worker has done */
	int search_error;              /* result of the last search */
	struct snapshot_queue flights; /* snapshots of a flight recorder */
	/* Data that the flight recorder of a dead process has left; -1 = no such data. */
	int recovered_fd;
	char reason[32];
	int error;
	char *error_text;

	/*
	 * The selected processes have ended, but the kernel has skipped the eBPF program that
	 * counts their ends.
	 */
	bool ends_skipped;
	uint64_t loop_cpu_ns;   /* CPU time that the owner's thread has used in this module */
	uint64_t worker_cpu_ns; /* CPU time of the worker */
	uint64_t setup_cpu_ns;  /* CPU time of both threads before the recording began */
	uint64_t due_ns; /* when the session's duration is over; 0 = never, or not counting yet */
	struct output_status status;
	struct costs costs;
	struct budget budget;
	struct session_shed sheds[SHED_MAX]; /* parts that are stopped now */
	size_t n_sheds;
	struct session_shed steps[SESSION_STEPS_MAX]; /* the last steps, as a ring */
	uint64_t n_steps, n_steps_written;
	/* Parts whose stop was ordered, and was reported by the worker: bits 1 << SHED_*. */
	uint32_t shed_bits, shed_done;
	unsigned n_failed, n_resumed; /* as the worker has reported them */
	enum session_pause pause;
	uint64_t pause_ns; /* when the pause began */
	/* For SESSION_BEGUN: the list of tasks, and the times. Owned. */
	struct worker_results begun;

	enum session_state reported; /* last state that was reported */
	uint64_t n_snapshots_reported, n_searches_reported, n_flights_reported, n_chunks_reported;
	uint64_t n_steps_reported, n_due_reported;
	uint64_t n_snapshots_due; /* number of snapshots that points of moments have requested */
	bool stop_due;            /* a point of a moment has requested the end of the session */
	struct trigger fired;     /* a trigger that was not reported yet, if its count is not 0 */
	session_triggered_fn triggered;
	void *triggered_userdata;
	session_changed_fn changed;
	void *changed_userdata;
};

/* Ends the session. The first REASON is kept. */
void session_end(struct session *s, const char *reason);

/* Ends a session that could not do ACTION. The first error is kept. */
void session_fail(struct session *s, int error, const char *action);

/*
 * Makes FD, one of the session's timers, fire after AFTER_NS (0 = never), and then each EVERY_NS (0
 * = only once).
 */
void session_arm(int fd, uint64_t after_ns, uint64_t every_ns);

/* Schedules the next drain after AFTER_NS, and later ones at the interval of the options. */
void session_arm_drain(struct session *s, uint64_t after_ns);

/* Makes session_fd() readable when FD is readable. Returns 0 or a negative errno. */
int session_watch(struct session *s, int fd);

/* ---- session-write.c ---- */

/* Returns true if records can be written now. */
bool session_writable(struct session *s);

/*
 * Returns the data for the end of the archive, whose counts begin with the oldest chunk that is
 * kept (in a flight recorder), or with the current chunk. S must have a buffer.
 */
struct recorder_end session_end_of_kept(struct session *s, const char *reason);

/*
 * Passes the written data to the output as PART, and takes another buffer. Returns 0, or 1 if no
 * buffer is available.
 */
int session_next_buffer(struct session *s, enum store_part part);

/* Takes all records that are old enough from the rings, and passes them to the output. */
void session_drain(struct session *s);

/* ---- session-cost.c ---- */

/* Returns the CPU time of the session so far, of all threads. */
uint64_t session_cpu_ns(const struct session *s);

/*
 * Returns the total cost so far. The cost of the eBPF programs can only be read while they are
 * loaded.
 */
uint64_t session_read_costs(struct session *s);

/* Begins to count costs, when all requested parts have begun. Loading does not count as cost. */
void session_begin_budget(struct session *s);

/* Does the next check of the cost, which stops parts when the cost is too high. */
void session_check_budget(struct session *s);

/* Writes each step to the archive as soon as there is room. Returns like fxt_archive_event(). */
int session_write_steps(struct session *s);

/* Records a step at TS_NS: WHAT stops, or is resumed if BACK is true. */
void session_record_step(struct session *s, enum budget_shed what, bool back, uint64_t ts_ns);

/* Takes the report of the worker about the parts that are stopped by now. */
void session_update_sheds(struct session *s, const struct worker_results *results);

/* ---- session-pause.c ---- */

/* Makes the recording pause from here on. */
void session_pause(struct session *s, uint64_t now_ns);

/* The first function resumes the recording. The second one is called if resuming has failed. */
void session_resume(struct session *s);
void session_stay_paused(struct session *s);

/*
 * Called when all eBPF programs run again: takes from RESULTS the data that recorder_resume()
 * needs.
 */
void session_store_begun(struct session *s, struct worker_results *results);

/*
 * The first function returns true if the rings must not be drained. The second one returns true if
 * the archive may be cut off, split, or used as a whole.
 */
bool session_rests(const struct session *s);
bool session_is_settled(const struct session *s);

/*
 * The next step of a pause. The first function is called before a round, the second one after it,
 * when all earlier records are written. Both return 0 or a negative errno.
 */
int session_continue_after_pause(struct session *s);
int session_write_pause(struct session *s);

/* ---- session-flight.c ---- */

/*
 * Called when all records up to HORIZON_NS have been written. Takes the snapshot that waits for
 * this time, if there is one. Returns 0, 1 if there is no more room, or a negative errno.
 */
int session_take_due_snapshot(struct session *s, uint64_t horizon_ns);

/* Does the next step of snapshots, if it is due. */
void session_serve_snapshots(struct session *s);
