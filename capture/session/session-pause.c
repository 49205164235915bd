/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pause of a session. A session pauses if it still exceeds its limit when all other parts are
 * stopped, and is configured not to end (docs/architecture/budgets.md).
 *
 * 	SESSION_GOES -> PAUSES -> PAUSED -> RESUMES -> BEGUN -> GOES
 *
 * The worker detaches and attaches the eBPF programs. The rings are drained completely after
 * detaching. From the order to attach until the archive contains the end of the pause, the rings
 * are not drained, because their records are later than the end of the pause.
 */
#include "capture/session/session-parts.h"

void session_pause(struct session *s, uint64_t now_ns)
{
	s->pause = SESSION_PAUSES;
	s->pause_ns = now_ns;
	recorder_set_pause(&s->recorder, now_ns);
}

void session_resume(struct session *s)
{
	s->pause = SESSION_RESUMES;
}

void session_stay_paused(struct session *s)
{
	s->pause = SESSION_PAUSED;
}

void session_store_begun(struct session *s, struct worker_results *results)
{
	if (s->pause != SESSION_RESUMES || *s->reason)
		return;
	worker_results_deinit(&s->begun);
	s->begun = (struct worker_results){
		.attach_ns = results->attach_ns,
		.start_ns = results->start_ns,
		.listed_ns = results->listed_ns,
		.tasks = results->tasks,
	};
	results->tasks = (struct outbuf){ 0 };
	recorder_set_resumed(&s->recorder, &s->begun);
	s->pause = SESSION_BEGUN;
}

bool session_rests(const struct session *s)
{
	return !s->quiet && (s->pause == SESSION_PAUSED || s->pause == SESSION_RESUMES);
}

bool session_is_settled(const struct session *s)
{
	return s->pause == SESSION_GOES || s->pause == SESSION_PAUSED;
}

int session_continue_after_pause(struct session *s)
{
	int r;

	if (s->pause != SESSION_BEGUN || *s->reason)
		return 0;
	session_record_step(s, SHED_SESSION, true, s->begun.start_ns);
	r = session_write_steps(s) ?: recorder_resume(&s->recorder, &s->begun);
	worker_results_deinit(&s->begun);
	s->begun = (struct worker_results){ 0 };
	s->pause = SESSION_GOES;
	return r;
}

int session_write_pause(struct session *s)
{
	if (s->pause != SESSION_PAUSES || s->quiet || !(s->shed_done >> SHED_SESSION & 1))
		return 0;
	s->pause = SESSION_PAUSED;
	return recorder_pause(&s->recorder);
}
