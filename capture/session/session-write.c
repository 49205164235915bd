/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writing of a session. Its recorder writes records into the current buffer, and full buffers
 * go to the output. Nothing here waits: if no buffer is available, records stay in their rings.
 */
#include "capture/session/session-parts.h"

#include <errno.h>

#include "capture/store/flight.h"

/* A buffer with this many bytes goes to the output. */
enum { BUFFER_FULL = 256 << 10 };

/* Records that belong together (a snapshot of allocations) delay the end of a chunk for at most
 * this long. */
#define SPLIT_WAIT_NS UINT64_C(30000000000)

/* The maximum wait for answers of the worker at the end. */
#define ANSWERS_NS_MAX UINT64_C(3000000000)

/* Makes sure that there is a buffer. Returns false if no buffer is available. */
static bool session_have_buffer(struct session *s)
{
	if (!s->buffer) {
		s->buffer = output_get_buffer(s->output);
		if (s->buffer)
			recorder_set_buffer(&s->recorder, s->buffer, BUFFER_FULL);
	}
	return s->buffer != NULL;
}

static void session_write_put(struct session *s, struct outbuf *b, enum store_part part)
{
	chunks_add(&s->chunks, part, b->size);
	output_put(s->output, b, part);
}

static void session_queue_buffer(struct session *s, enum store_part part)
{
	if (s->buffer && s->buffer->size > 0)
		session_write_put(s, TAKE_PTR(s->buffer), part);
}

int session_next_buffer(struct session *s, enum store_part part)
{
	session_queue_buffer(s, part);
	return session_have_buffer(s) ? 0 : 1;
}

bool session_writable(struct session *s)
{
	return s->recorder.pipe.collector && !s->recorder.closed && session_have_buffer(s);
}

/* Returns the end of the data from BEGIN on. */
static struct recorder_end session_end_since(struct session *s, const struct chunk_begin *begin,
					     const char *reason)
{
	session_read_costs(s);
	return (struct recorder_end){
		.reason = reason,
		.session = s->options.name,
		.since = &begin->sums,
		.bytes = chunks_bytes_since(&s->chunks, begin) + s->buffer->size,
		.daemon_cpu_ns = session_cpu_ns(s) - begin->cpu_ns,
		.bpf_cpu_ns = costs_total(&s->costs).ns - begin->bpf_ns,
		.dropped_bytes = s->status.dropped,
	};
}

struct recorder_end session_end_of_kept(struct session *s, const char *reason)
{
	const struct chunk_begin *begin = chunks_now(&s->chunks);

	/*
	 * The output may be behind, so this chunk can be older than necessary, but never too new.
	 */
	if (s->options.mode == SESSION_FLIGHT)
		begin = chunks_begun(&s->chunks, flight_oldest(output_store(s->output)));
	return session_end_since(s, begin, reason);
}

/* ---- chunks ---- */

/* Returns BOOT_NS as a time of CLOCK_REALTIME. */
static struct store_moment session_moment_of(uint64_t boot_ns)
{
	const struct clock_snapshot now = clock_snapshot();

	return (struct store_moment){ boot_ns, now.real_ns - (now.boot_ns - boot_ns) };
}

static void session_write_begin_chunk(struct session *s, struct store_moment at)
{
	bool first = s->chunks.n == 0;
	const struct chunk_begin begin = {
		.ns = at.boot_ns,
		.cpu_ns = first ? 0 : session_cpu_ns(s),
		.bpf_ns = first ? 0 : costs_total(&s->costs).ns,
		.sums = s->recorder.base,
	};

	output_begin(s->output, &at);
	chunks_begin(&s->chunks, &begin, s->status.dropped);
}

static void session_write_end_chunk(struct session *s, struct store_moment at)
{
	output_end(s->output, &at);
}

static bool session_have_parts(struct session *s)
{
	if (!s->tail)
		s->tail = output_get_buffer(s->output);
	if (s->tail && !s->head)
		s->head = output_get_buffer(s->output);
	return s->tail && s->head;
}

/*
 * Ends the chunk and begins the next one, if that is due. All records up to AT_NS are written, so
 * that a chunk can end here. If there is no room, the split is postponed.
 */
static int session_write_split(struct session *s, uint64_t at_ns)
{
	struct recorder_end end;
	struct store_moment at;
	int r;

	if (!s->complete || *s->reason || !chunks_due(&s->chunks, &s->options, &s->status, at_ns))
		return 0;
	if (s->chunks.due_ns == 0)
		s->chunks.due_ns = at_ns;
	if (!recorder_can_split(&s->recorder, at_ns > s->chunks.due_ns + SPLIT_WAIT_NS) ||
	    !session_have_parts(s))
		return 0;
	end = session_end_since(s, chunks_now(&s->chunks), "rotated");
	r = recorder_split(&s->recorder, at_ns, &s->options, &end, s->tail, s->head);
	if (r < 0)
		return r;
	session_queue_buffer(s, STORE_BODY);
	session_write_put(s, TAKE_PTR(s->tail), STORE_TAIL);
	/* The time is converted once, so that the names of both chunks have the same time. */
	at = session_moment_of(at_ns);
	session_write_end_chunk(s, at);
	session_write_begin_chunk(s, at);
	session_write_put(s, TAKE_PTR(s->head), STORE_HEAD);
	return 0;
}

int session_rotate(struct session *s, uint64_t *ret_number)
{
	if (!session_options_splits(&s->options) || s->options.mode == SESSION_FLIGHT)
		return -EOPNOTSUPP;
	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	s->chunks.wanted = true;
	*ret_number = s->chunks.n + 1;
	return 0;
}

uint64_t session_chunks(const struct session *s)
{
	return s->status.n_begun;
}

/* ---- drains ---- */

/* Writes the head into a buffer of its own. Returns 0, 1 if there is no room for more, or a
 * negative errno. */
static int session_open_archive(struct session *s)
{
	int r = recorder_open(&s->recorder, &s->options);

	if (r < 0)
		return r;
	session_write_begin_chunk(s, session_moment_of(s->start_ns));
	return session_next_buffer(s, STORE_HEAD);
}

/* Writes the tail into a buffer of its own. Returns like session_open_archive(). */
static int session_close_archive(struct session *s)
{
	const struct recorder_end end = session_end_of_kept(s, s->reason);
	int r;

	if (session_next_buffer(s, STORE_BODY) != 0)
		return 1;
	r = recorder_close(&s->recorder, &end);
	session_queue_buffer(s, STORE_TAIL);
	session_write_end_chunk(s, session_moment_of(s->stop_ns));
	return r;
}

/*
 * Writes the records up to HORIZON_NS. Each full buffer is passed to the output, and the round
 * continues in the next buffer. Returns 0, 1 if there is no other buffer (the rest stays in the
 * rings), or a negative errno.
 */
static int session_write_records(struct session *s, uint64_t horizon_ns)
{
	int r;

	do
		r = recorder_round(&s->recorder, horizon_ns);
	while (r > 0 && (r = session_next_buffer(s, STORE_BODY)) == 0);
	return r;
}

/*
 * Returns true if the archive must not end yet, because answers of the worker are still awaited.
 * The function waits only for a limited time: if the answers do not come until then, it returns
 * false.
 */
static bool session_awaits_answers(struct session *s)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!recorder_awaits_answers(&s->recorder))
		return false;
	if (s->awaits_until_ns == 0)
		s->awaits_until_ns = now_ns + ANSWERS_NS_MAX;
	return now_ns < s->awaits_until_ns;
}

void session_drain(struct session *s)
{
	/* After the eBPF programs are detached, no more records come. */
	bool all = s->quiet || (s->pause == SESSION_PAUSES && s->shed_done >> SHED_SESSION & 1);
	uint64_t now_ns = clock_boot_ns(), horizon_ns = s->quiet ? MERGE_ALL
							: s->pause == SESSION_PAUSED
								? now_ns
								: now_ns - MERGE_MARGIN_NS;
	int r = 0;

	if (!session_writable(s))
		return;
	if (!s->recorder.opened)
		r = session_open_archive(s);
	r = r ?: session_write_steps(s) ?: session_continue_after_pause(s);
	if (r == 0 && !session_rests(s))
		r = session_write_records(s, all ? MERGE_ALL : horizon_ns);
	r = r ?: session_write_pause(s);
	if (r == 0 && horizon_ns >= s->snapshot_ns)
		s->n_snapshots = s->n_snapshots_read;
	if (r == 0 && (s->quiet || session_is_settled(s)))
		r = session_take_due_snapshot(s, horizon_ns);
	if (r == 0 && !s->quiet && session_is_settled(s))
		r = session_write_split(s, horizon_ns);
	if (r == 0 && s->detached && !session_awaits_answers(s))
		r = session_close_archive(s);
	if (r < 0) {
		session_fail(s, r, "write the archive");
		s->recorder.closed = true; /* nothing more can be written */
	}
	session_queue_buffer(s, STORE_BODY);
}
