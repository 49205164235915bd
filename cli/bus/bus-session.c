/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of a session, and waiting for them.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

#define STUCK_USEC UINT64_C(5000000) /* limit for an output that makes no progress after Stop */

int bus_client_start(struct bus_client *c, const char *path)
{
	return bus_call_with(c, path, "Start", NULL, "");
}

int bus_client_start_unless(struct bus_client *c, const char *path, bool (*interrupted)(void))
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = bus_new_call(c, path, "Start", &m);

	return r < 0 ? r : bus_call_unless(c, m, ANSWER_USEC, interrupted, NULL);
}

int bus_client_remove(struct bus_client *c, const char *path)
{
	return bus_call_with(c, path, "Remove", NULL, "");
}

int bus_client_snapshot_memory(struct bus_client *c, const char *path)
{
	return bus_call_with(c, path, "SnapshotMemory", NULL, "");
}

int bus_client_rotate(struct bus_client *c, const char *path)
{
	return bus_call_with(c, path, "Rotate", NULL, "");
}

static int bus_session_on_snapshot(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	c->snapshot_state = 1;
	if (sd_bus_message_is_method_error(m, NULL))
		c->snapshot_state = bus_fail_call(c, -sd_bus_message_get_errno(m) ?: -EIO,
						  sd_bus_message_get_error(m));
	return 0;
}

int bus_client_request_snapshot(struct bus_client *c, const char *path, int fd)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = bus_new_call(c, path, "Snapshot", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "h", fd);
	/* (the duration depends on the output) */
	if (r >= 0)
		r = sd_bus_call_async(c->bus, NULL, m, bus_session_on_snapshot, c, UINT64_MAX);
	c->snapshot_state = 0;
	c->snapshot_asked = r >= 0;
	bus_expect_answer(c);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

int bus_client_snapshot_state(struct bus_client *c)
{
	if (c->snapshot_state == 0 && c->gone)
		return bus_fail(c, -ECONNRESET,
				"the service kymod ended before it had written the snapshot");
	return c->snapshot_state;
}

static int bus_session_on_search(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_search *search = userdata;

	search->state = 1;
	if (sd_bus_message_is_method_error(m, KYMO_BUS_NAME ".Error.NotRunning"))
		search->state = -ESHUTDOWN;
	else if (sd_bus_message_is_method_error(m, NULL))
		search->state = bus_fail_call(search->client, -sd_bus_message_get_errno(m) ?: -EIO,
					      sd_bus_message_get_error(m));
	return 0;
}

int bus_client_request_search(struct bus_client *c, const char *path, uint32_t pid)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	struct bus_search *search = c->searches;
	int r;

	while (search < c->searches + BUS_SEARCHES_MAX && search->pid)
		search++;
	if (search == c->searches + BUS_SEARCHES_MAX)
		return bus_fail(c, -EBUSY, "too many searches of processes are pending");
	r = bus_new_call(c, path, "SearchMemory", &m);
	if (r < 0)
		return r;
	*search = (struct bus_search){ c, pid, 0 };
	r = sd_bus_message_append(m, "u", pid);
	if (r >= 0)
		r = sd_bus_call_async(c->bus, NULL, m, bus_session_on_search, search, UINT64_MAX);
	bus_expect_answer(c);
	if (r >= 0)
		return 0;
	search->pid = 0;
	return bus_fail_call(c, r, NULL);
}

int bus_client_search_state(struct bus_client *c, uint32_t pid)
{
	for (unsigned i = 0; i < BUS_SEARCHES_MAX; i++) {
		if (c->searches[i].pid != pid)
			continue;
		if (c->searches[i].state)
			c->searches[i].pid = 0;
		return c->searches[i].state;
	}
	return -ENOENT;
}

int bus_client_wait_snapshot(struct bus_client *c)
{
	int r = 0;

	bus_note_message(c);
	while (r >= 0 && c->snapshot_state == 0) {
		r = sd_bus_process(c->bus, NULL);
		if (r > 0)
			bus_note_message(c);
		if (r == 0)
			r = sd_bus_wait(c->bus, BUS_SILENCE_NS / 1000);
		if (r == -EINTR)
			r = 0;
		if (r == 0 && bus_check_silence(c) < 0)
			return -ETIMEDOUT;
	}
	if (c->snapshot_state == 0)
		return bus_fail_call(c, r, NULL);
	return c->snapshot_state < 0 ? c->snapshot_state : 0;
}

int bus_client_mark(struct bus_client *c, const char *path, const char *text)
{
	return bus_call_with(c, path, "Mark", NULL, "s", text);
}

int bus_client_begin_context(struct bus_client *c, const char *path, const char *name,
			     uint32_t *ret_bit)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = bus_call_with(c, path, "BeginContext", &reply, "s", name);

	if (r < 0)
		return r;
	r = sd_bus_message_read(reply, "u", ret_bit);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

/* Returns the bit of the open context NAME in M, a{su}; 0 = not open. */
static int bus_session_find_context(sd_bus_message *m, const char *name, uint32_t *ret_bit)
{
	int r = sd_bus_message_enter_container(m, 'a', "{su}");
	const char *other;
	uint32_t bit;

	*ret_bit = 0;
	while (r >= 0 && (r = sd_bus_message_read(m, "{su}", &other, &bit)) > 0)
		if (strcmp(other, name) == 0)
			*ret_bit = bit;
	return r;
}

int bus_client_end_context(struct bus_client *c, const char *path, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	uint32_t bit = 0;
	int r = sd_bus_get_property(c->bus, KYMO_BUS_NAME, path, KYMO_SESSION_INTERFACE, "Contexts",
				    &e, &reply, "a{su}");

	if (r >= 0)
		r = bus_session_find_context(reply, name, &bit);
	if (r < 0)
		return bus_fail_call(c, r, &e);
	if (bit == 0)
		return bus_fail(c, -ENOENT, "the context '%s' is not open", name);
	return bus_call_with(c, path, "EndContext", NULL, "u", bit);
}

int bus_client_view(struct bus_client *c, const char *path, struct session_view *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int r = sd_bus_message_new_method_call(c->bus, &m, c->service, path,
					       "org.freedesktop.DBus.Properties", "GetAll");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", KYMO_SESSION_INTERFACE);
	if (r < 0)
		return bus_fail_call(c, r, NULL);
	r = bus_call(c, m, ANSWER_USEC, &reply);
	if (r < 0)
		return r;
	r = bus_read_view(reply, &v);
	if (r < 0)
		return bus_fail_call(c, r, NULL);
	*ret = v;
	v.options = NULL;
	return 0;
}

/* Waits for ANSWER while the output of the session at PATH makes progress. */
static int bus_session_wait_stopped(struct bus_client *c, const char *path, sd_bus_message **answer)
{
	uint64_t now, moved = clock_read_ns(CLOCK_MONOTONIC), bytes = UINT64_MAX;
	int r;

	for (;;) {
		_cleanup_(session_view_deinit) struct session_view v = { 0 };

		while ((r = sd_bus_process(c->bus, NULL)) > 0 && !*answer)
			;
		if (*answer)
			return 0;
		if (r < 0)
			return bus_fail_call(c, r, NULL);
		r = sd_bus_wait(c->bus, STUCK_USEC / 5);
		if (r < 0 && r != -EINTR)
			return bus_fail_call(c, r, NULL);
		if (r > 0)
			continue;
		r = bus_client_view(c, path, &v);
		if (r < 0)
			return r;
		now = clock_read_ns(CLOCK_MONOTONIC);
		if (v.counters.bytes != bytes)
			moved = now;
		else if (now - moved > STUCK_USEC * 1000)
			return bus_fail(c, -ETIMEDOUT, "the output of the session has stalled");
		bytes = v.counters.bytes;
	}
}

int bus_client_stop(struct bus_client *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *answer = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	int r = bus_new_call(c, path, "Stop", &m);

	if (r < 0)
		return r;
	r = sd_bus_call_async(c->bus, &slot, m, bus_keep_answer, &answer, UINT64_MAX);
	if (r < 0)
		return bus_fail_call(c, r, NULL);
	r = bus_session_wait_stopped(c, path, &answer);
	if (r < 0)
		return r;
	return bus_check_answer(c, answer);
}
