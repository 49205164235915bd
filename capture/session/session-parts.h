/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a session share: all of it, since whatever one of its parts does is a fact for
 * the others. Internal to session*.c.
 *
 *	session.c         the owner's side, the worker's news, and the steps of its life
 *	session-write.c   from the rings to the output: buffers, chunks, drains
 *	session-cost.c    what it costs, and what goes when that is too much
 *	session-pause.c   the pause that comes last then
 *	session-flight.c  snapshots of a flight recorder
 */
#pragma once

#include "capture/session/chunks.h"
#include "capture/store/output.h"
#include "capture/pipeline/recorder.h"
#include "capture/session/session.h"
#include "capture/session/snapshots.h"
#include "capture/session/worker.h"

/* How long a record may be on its way from the clock to the ring. */
#define MERGE_MARGIN_NS UINT64_C(5000000)

enum session_pause {
	SESSION_GOES,
	SESSION_PAUSES,  /* ordered: the programs are being detached */
	SESSION_PAUSED,  /* nothing is recorded, and the archive says so */
	SESSION_RESUMES, /* ordered: the programs are being attached; rings are for later */
	SESSION_BEGUN,   /* they run, and the archive is yet to say so */
};

struct session {
	struct session_options options;
	int epoll_fd;
	int timer_fd;    /* the next drain */
	int deadline_fd; /* the end of the duration */
	int look_fd;     /* the next look at what it costs */

	struct left_behind *left_behind;
	struct worker *worker;
	struct output *output;
	struct outbuf *buffer; /* being filled; NULL = none to be had */
	struct contexts contexts;
	struct recorder recorder;
	struct chunks chunks;
	struct outbuf *tail, *head; /* for the next split; NULL = not taken yet */

	/* facts, from which the state follows */
	bool ordered;  /* session_start() was called */
	bool complete; /* all that is asked for has begun */
	bool quiet;    /* no program runs any more; what there is in tables is still being read */
	bool detached;
	bool unloading; /* ordered; the output knows that nothing more comes */
	bool unloaded;
	bool written; /* the output has all, or never will */
	uint64_t start_ns, stop_ns;
	uint64_t n_snapshots_read,
		n_snapshots;      /* by the worker; and of those, handed to the output */
	uint64_t snapshot_ns;     /* when the last one had been read */
	int snapshot_error;       /* of that one */
	uint64_t n_searches;      /* done by the worker */
	int search_error;         /* of the last one */
	struct snapshots flights; /* of a flight recorder */
	int recovered_fd;         /* of one that a dead process has left; -1 = it is ours */
	char reason[32];
	int error;
	char *error_text;

	uint64_t loop_cpu_ns, worker_cpu_ns; /* of the owner's thread in here; of the worker */
	struct output_status status;
	struct costs costs;
	struct budget budget;
	struct session_shed sheds[SHED_MAX]; /* what has gone and is not back */
	size_t n_sheds;
	struct session_shed steps[SESSION_STEPS_MAX]; /* a ring */
	uint64_t n_steps, n_steps_written;
	uint32_t away, away_done;     /* bits 1 << SHED_*: ordered; and as the worker says */
	unsigned n_failed, n_resumed; /* likewise */
	enum session_pause pause;
	uint64_t pause_ns;           /* when it began */
	struct worker_results begun; /* SESSION_BEGUN: the list of tasks, and the times. Owned */

	enum session_state reported; /* last state that was reported */
	uint64_t n_snapshots_reported, n_searches_reported, n_flights_reported, n_chunks_reported;
	uint64_t n_steps_reported;
	struct trigger fired; /* and not reported yet, if its count is not 0 */
	session_triggered_fn triggered;
	void *triggered_userdata;
	session_changed_fn changed;
	void *changed_userdata;
};

/* The session ends here, whatever was planned; the first REASON stays. */
void session_end(struct session *s, const char *reason);

/* So does one that could not do DEED; the first error stays. */
void session_fail(struct session *s, int error, const char *deed);

/*
 * Has FD, one of the session's timers, fire in AFTER_NS (0: not at all), and each EVERY_NS (0:
 * once).
 */
void session_arm(int fd, uint64_t after_ns, uint64_t every_ns);

/* The next drain comes after AFTER_NS, and from then on they come as often as the options say. */
void session_arm_drain(struct session *s, uint64_t after_ns);

/*
 * Has session_fd() become readable when there is something to read from FD. Returns 0 or a negative
 * errno.
 */
int session_watch(struct session *s, int fd);

/* ---- session-write.c ---- */

/* After each record (struct recorder). */
int session_after_record(void *session);

/* Whether records can be written now. */
bool session_writable(struct session *s);

/*
 * What is kept, up to its end: of a flight recorder the last chunks, else this one. There is a
 * buffer.
 */
struct recorder_end session_end_of_kept(struct session *s, const char *reason);

/*
 * Hands on what is written so far, as PART, and takes another buffer. Returns 0, or 1 if there is
 * none to be had.
 */
int session_next_buffer(struct session *s, enum store_part part);

/* Takes from the rings what is old enough, and hands it to the output. */
void session_drain(struct session *s);

/* ---- session-cost.c ---- */

/* CPU time of ours so far, all threads. */
uint64_t session_cpu_ns(const struct session *s);

/* All that it has cost so far; the programs as long as they are there. */
uint64_t session_look_at_costs(struct session *s);

/* All that was asked for has begun: loading is not what a recording costs. */
void session_begin_looks(struct session *s);

/* The next look at what it costs: orders to go what is too much. */
void session_look(struct session *s);

/* Each step is written to the archive as soon as there is room. Returns as fxt_archive_event(). */
int session_write_steps(struct session *s);

/* A step at TS_NS: WHAT goes, or is BACK. */
void session_step_taken(struct session *s, enum budget_shed what, bool back, uint64_t ts_ns);

/* The worker says what has gone by now. */
void session_update_sheds(struct session *s, const struct worker_results *news);

/* ---- session-pause.c ---- */

/* What happens from here on is not recorded. */
void session_pause(struct session *s, uint64_t now_ns);

/* It is to be recorded again; and it could not be. */
void session_resume(struct session *s);
void session_stay_paused(struct session *s);

/* All programs run again: takes from NEWS what recorder_resume() needs. */
void session_take_begun(struct session *s, struct worker_results *news);

/*
 * Whether rings are to be left alone; whether the archive may be cut off, split, or looked at as a
 * whole.
 */
bool session_rests(const struct session *s);
bool session_is_settled(const struct session *s);

/*
 * The next step of it, before a round and, once all is in that it left behind (R = 0), after it.
 * Return 0 or a negative errno.
 */
int session_go_on_after_pause(struct session *s);
int session_write_pause(struct session *s);

/* ---- session-flight.c ---- */

/*
 * Everything up to HORIZON_NS is written: takes the snapshot that waits for that, if one does.
 * Returns 0, 1 if there is no room for more, or a negative errno.
 */
int session_take_due(struct session *s, uint64_t horizon_ns);

/* The next step of snapshots, when it is time for it. */
void session_serve_snapshots(struct session *s);
