/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of a flight recorder. While the recorder runs, snapshots are taken between two records;
 * after its end, they are taken from the data that was kept (docs/architecture/chunks.md, "Flight
 * recorder").
 */
#include "capture/session/session-parts.h"

#include <errno.h>
#include <sys/epoll.h>

#include "capture/store/flight.h"

/* Returns true if a snapshot waits for a drain up to HORIZON_NS. */
static bool session_snapshot_is_due(const struct session *s, uint64_t horizon_ns)
{
	return s->flights.now && !s->flights.taken && horizon_ns >= s->flights.asked_ns &&
	       !s->detached;
}

/* Takes a snapshot: the kept data with another tail. */
static int session_take_running_snapshot(struct session *s, uint64_t horizon_ns)
{
	const struct recorder_end end = session_end_of_kept(s, "snapshot");
	struct outbuf tail = { 0 };
	int r = recorder_settle_triggers(&s->recorder, UINT64_MAX)
			?: recorder_tail(&s->recorder, horizon_ns, &end, &tail);

	if (r < 0) {
		outbuf_deinit(&tail);
		return r;
	}
	r = session_next_buffer(s, STORE_BODY);
	s->flights.taken = true;
	output_snapshot(s->output, &tail, s->flights.now);
	return r;
}

int session_take_due_snapshot(struct session *s, uint64_t horizon_ns)
{
	return session_snapshot_is_due(s, horizon_ns) ? session_take_running_snapshot(s, horizon_ns)
						      : 0;
}

/* Takes a snapshot of an ended session, whose kept data already has its tail. */
static void session_take_ended_snapshot(struct session *s)
{
	struct flight_snapshot *taken = NULL;
	int r = s->recovered_fd >= 0 ? flight_recover(s->recovered_fd, &taken)
				     : flight_take_snapshot(output_store(s->output), &taken);

	s->flights.taken = true;
	snapshot_set_data(s->flights.now, taken, r);
}

void session_serve_snapshots(struct session *s)
{
	enum session_state state = session_state(s);
	int error;

	/*
	 * The descriptor of an ended snapshot may stay readable forever if its thread hangs, so it
	 * is no longer watched.
	 */
	if (s->flights.now && snapshot_ended(s->flights.now, &error))
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, snapshot_fd(s->flights.now), NULL);
	if (snapshot_queue_step(&s->flights)) {
		/*
		 * If the descriptor cannot be watched, the next drain detects the end of the
		 * snapshot.
		 */
		session_watch(s, snapshot_fd(s->flights.now));
		/* The interval of drains stays, but the next drain comes as soon as possible. */
		if (state == SESSION_RUNNING)
			session_arm_drain(s, MERGE_MARGIN_NS + 1000000);
	}
	if (s->flights.now && !s->flights.taken &&
	    (state == SESSION_STOPPED || state == SESSION_FAILED))
		session_take_ended_snapshot(s);
}

int session_take_snapshot(struct session *s, struct store *to, uint64_t *ret_number)
{
	int r;

	if (s->options.mode != SESSION_FLIGHT)
		return -EOPNOTSUPP;
	if (!s->ordered)
		return -ESHUTDOWN;
	r = snapshot_queue_request(&s->flights, to, ret_number);
	if (r == 0)
		session_serve_snapshots(s);
	return r;
}

bool session_flight_snapshot(const struct session *s, uint64_t number, int *ret_error)
{
	return snapshot_queue_ended(&s->flights, number, ret_error);
}

void session_cancel_snapshot(struct session *s, uint64_t number)
{
	snapshot_queue_cancel(&s->flights, number);
}
