/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as its callers see it, over a real bus, with sessions that need no kernel
 * (support/fake-session.c). manager.sh starts both and passes the bus in KYMO_TEST_BUS. For
 * the rights of callers, see test-access.c.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "bus/option-bus.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

TEST(test_create_session_options)
{
	_cleanup_close_ int fd = open_output();
	const uint64_t text = (uint64_t)(uintptr_t) "x";

	assert_refused(create(bus, "x", -1), "InvalidOption", "`output` is missing");
	assert_refused(create_with(bus, "x", fd, "colour", "t", 1), "InvalidOption", "`colour`");
	assert_refused(create_with(bus, "x", fd, "ring_bytes", "s", text), "InvalidOption",
		       "`ring_bytes` must be of type t, not s");
	assert_refused(create_with(bus, "x", fd, "ring_bytes", "t", 1), "InvalidOption",
		       "`ring_bytes`: 1 is out of range");
	assert_refused(create_with(bus, "x", fd, "flush_ns", "t", UINT64_MAX), "InvalidOption",
		       "`flush_ns`");
	assert_refused(create_with(bus, "x", fd, "profile", "s", text), "InvalidOption",
		       "`output`: cannot be combined with `profile`");
	assert_refused(create_with(bus, "x", fd, "output", "h", (uint64_t)fd), "InvalidOption",
		       "`output` is given twice");
	assert_refused(create(bus, "", fd), "InvalidOption", "name for a session");
	assert_refused(create(bus, "a/b", fd), "InvalidOption", "'a/b'");
	assert_false(exists(bus, "x"));
}

/* The value of OPTION, a basic TYPE, of the session at PATH. */
static uint64_t shown_option(const char *path, const char *option, const char *type)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus_error e = SD_BUS_ERROR_NULL;
	uint64_t value = UINT64_MAX;
	const char *name;
	int boolean = 0;

	assert_true(sd_bus_get_property(bus, NAME, path, SESSION_INTERFACE, "Options", &e, &m,
					"a{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &name) > 0);
		if (strcmp(name, option) != 0)
			assert_true(sd_bus_message_skip(m, "v") >= 0);
		else if (*type == 'b' && sd_bus_message_read(m, "v", type, &boolean) > 0)
			value = boolean != 0;
		else
			assert_true(sd_bus_message_read(m, "v", type, &value) > 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	return value;
}

/* Options of the profiler: bounds, types, and the properties of a session with them. */
/* A session with this value of option ROW, and with the options that it requires. */
static struct answer create_of(const struct option_row *row, int fd, uint64_t value)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	bool triage = row->needs != 0, flight = row->mode == OPTION_IN(SESSION_FLIGHT);
	char categories[CATEGORIES_TEXT_MAX];
	struct answer a = { 0 };
	const char *path;

	assert_true(sd_bus_message_new_method_call(bus, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						   "CreateSession") >= 0);
	assert_true(sd_bus_message_append(m, "s", "x") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	if (flight)
		sd_bus_message_append(m, "{sv}", "mode", "s", "flight");
	else
		sd_bus_message_append(m, "{sv}", "output", "h", fd);
	/* (the first one of them) */
	*strchrnul(categories_format(categories, row->categories), ',') = '\0';
	if (row->categories)
		sd_bus_message_append(m, "{sv}", "categories", "as", 1, categories);
	if (triage)
		sd_bus_message_append(m, "{sv}", "triage", "b", 1);
	else if (row->categories & CATEGORIES_MEMORY)
		sd_bus_message_append(m, "{sv}", "uids", "au", 1, 0);
	sd_bus_message_append(m, "{sv}", row->bus, "t", value);
	assert_true(sd_bus_message_close_container(m) >= 0);
	a.r = sd_bus_call(bus, m, 0, &a.error, &reply);
	if (a.r >= 0 && sd_bus_message_read(reply, "o", &path) > 0)
		snprintf(a.path, sizeof(a.path), "%s", path);
	return a;
}

/* Each number is shown as requested, at its limits, and refused beyond them. */
TEST(test_create_session_every_option)
{
	_cleanup_close_ int fd = open_output();

	OPTION_FOR_EACH(row) {
		if (!row->bus || !option_is_number(row))
			continue;
		for (int end = 0; end < 2; end++) {
			uint64_t value = end ? row->max : row->min;
			struct answer a = create_of(row, fd, value);

			/* (the limit of all sessions can be below that of one) */
			if (end && a.r < 0) {
				assert_refused(a, "LimitReached", "");
				continue;
			}
			assert_done(a);
			assert_int_equal(shown_option(a.path, row->bus, "t"), value);
			assert_done(call(bus, a.path, "Remove"));
		}
		assert_refused(create_of(row, fd, row->max + 1), "InvalidOption", row->bus);
		if (row->min > 1)
			assert_refused(create_of(row, fd, row->min - 1), "InvalidOption", row->bus);
		assert_false(exists(bus, "x"));
	}
}

TEST(test_create_session_output)
{
	static const struct {
		const char *path;
		int flags;
		const char *text;
	} rows[] = {
		{ "/dev/null", O_WRONLY, "a character device" },
		{ "/tmp", O_RDONLY, "a directory" },
		{ "/proc/self/status", O_RDONLY, "for reading only" },
		{ "/proc/self/status", O_PATH, "O_PATH" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_close_ int fd = open(rows[i].path, rows[i].flags | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_refused(create(bus, "x", fd), "InvalidOutput", rows[i].text);
	}
}

TEST(test_create_session_name_taken)
{
	_cleanup_close_ int fd = open_output();
	struct answer a;

	a = create(bus, "taken", fd);
	assert_done(a);
	assert_string_equal(a.path, SESSION_PREFIX "taken");
	assert_refused(create(bus, "taken", fd), "SessionExists", "'taken'");
	assert_done(call(bus, a.path, "Remove"));
	assert_done(create(bus, "taken", fd));
}

static struct answer begin_context(const char *path, const char *name)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(bus, NAME, path, SESSION_INTERFACE, "BeginContext", &a.error, NULL,
				 "s", name);
	return a;
}

static struct answer end_context(const char *path, uint32_t bit)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(bus, NAME, path, SESSION_INTERFACE, "EndContext", &a.error, NULL,
				 "u", bit);
	return a;
}

static void check_contexts(const char *path)
{
	assert_refused(begin_context(path, "no name"), "InvalidOption", "A-Z a-z 0-9 _");
	assert_done(begin_context(path, "work"));
	assert_refused(begin_context(path, "work"), "InvalidOption", "open already");
	assert_refused(end_context(path, 2), "InvalidOption", "no context with bit 2 is open");
	assert_done(end_context(path, 1));
	assert_refused(end_context(path, 1), "InvalidOption", "no context with bit 1 is open");
}

TEST(test_session_life)
{
	_cleanup_close_ int fd = open_output();
	struct answer a;

	a = create(bus, "life", fd);
	assert_done(a);
	assert_state(bus, a.path, "ready");
	assert_refused(call(bus, a.path, "Stop"), "NotRunning", "never been started");
	assert_done(call(bus, a.path, "Start"));
	assert_state(bus, a.path, "running");
	assert_refused(call(bus, a.path, "Start"), "AlreadyStarted", "before");
	assert_true(sd_bus_call_method(bus, NAME, a.path, SESSION_INTERFACE, "Mark", NULL, NULL,
				       "s", "here") >= 0);
	check_contexts(a.path);
	assert_soon(count_events(bus, a.path) > 0);
	assert_done(call(bus, a.path, "Stop"));
	assert_state(bus, a.path, "stopped");
	assert_content(fd, "start\nmark here\nbegin work 1\nend work\nstop requested\n");
	assert_refused(begin_context(a.path, "late"), "NotRunning", "is not running");
	assert_true(count_events(bus, a.path) > 0);
	assert_done(call(bus, a.path, "Stop"));
	a.r = sd_bus_call_method(bus, NAME, a.path, SESSION_INTERFACE, "Mark", &a.error, NULL, "s",
				 "late");
	assert_refused(a, "NotRunning", "is not running");
	assert_done(call(bus, a.path, "Remove"));
	assert_false(exists(bus, "life"));
}

static int count(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	(void)reterr;
	(void)m;
	++*(int *)userdata;
	return 0;
}

static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *name, *state;

	(void)reterr;
	assert_true(sd_bus_message_skip(m, "s") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &name) > 0);
		if (strcmp(name, "State") == 0) {
			assert_true(sd_bus_message_read(m, "v", "s", &state) > 0);
			strcat(strcat(userdata, state), " ");
		} else {
			assert_true(sd_bus_message_skip(m, "v") >= 0);
		}
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	return 0;
}

TEST(test_session_signals)
{
	int added = 0, removed = 0, finished = 0;
	_cleanup_close_ int fd = open_output();
	char states[128] = "";
	struct answer a;

	sd_bus_match_signal(bus, NULL, NAME, MANAGER_PATH, MANAGER_INTERFACE, "SessionAdded", count,
			    &added);
	sd_bus_match_signal(bus, NULL, NAME, MANAGER_PATH, MANAGER_INTERFACE, "SessionRemoved",
			    count, &removed);
	sd_bus_match_signal(bus, NULL, NAME, SESSION_PREFIX "signals", SESSION_INTERFACE,
			    "Finished", count, &finished);
	sd_bus_match_signal(bus, NULL, NAME, SESSION_PREFIX "signals",
			    "org.freedesktop.DBus.Properties", "PropertiesChanged", on_changed,
			    states);
	a = create(bus, "signals", fd);
	assert_done(call(bus, a.path, "Start"));
	assert_done(call(bus, a.path, "Stop"));
	assert_done(call(bus, a.path, "Remove"));
	while (sd_bus_process(bus, NULL) > 0)
		;
	assert_int_equal(added, 1);
	assert_int_equal(removed, 1);
	assert_int_equal(finished, 1);
	/* (A state can be over before it is reported.) */
	if (!strstr(states, "draining"))
		assert_string_equal(states, "starting running stopped ");
	else
		assert_string_equal(states, "starting running draining stopped ");
}

TEST(test_session_ends_itself)
{
	_cleanup_close_ int fd = open_output();
	struct answer a;

	a = create_with(bus, "short", fd, "duration_ns", "t", 50000000);
	assert_done(call(bus, a.path, "Start"));
	assert_soon(is_in_state(bus, a.path, "stopped"));
	assert_content(fd, "start\nstop duration\n");
}

TEST(test_session_fails)
{
	_cleanup_close_ int fd = open_output();
	struct answer a;

	a = create(bus, "fail_start", fd);
	assert_refused(call(bus, a.path, "Start"), "CannotCapture", "refuses the programs");
	/* The reason is reported at once. The session reaches its end a moment later. */
	assert_refused(call(bus, a.path, "Stop"), "OutputFailed", "refuses the programs");
	assert_state(bus, a.path, "failed");
	a = create(bus, "fail_output", fd);
	assert_done(call(bus, a.path, "Start"));
	assert_soon(is_in_state(bus, a.path, "failed"));
	assert_refused(call(bus, a.path, "Stop"), "OutputFailed", "output is full");
}

struct shed {
	char what[32];
	uint64_t when, cost, limit;
};

/* Whether the session at PATH has shed a part. *RET is the first one. */
static bool sheds(const char *path, struct shed *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus_error e = SD_BUS_ERROR_NULL;
	const char *what;

	assert_true(sd_bus_get_property(bus, NAME, path, SESSION_INTERFACE, "Shed", &e, &m,
					"a(sttt)") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "(sttt)") >= 0);
	if (sd_bus_message_read(m, "(sttt)", &what, &ret->when, &ret->cost, &ret->limit) <= 0)
		return false;
	snprintf(ret->what, sizeof(ret->what), "%s", what);
	return true;
}

/* Parts that were shed because of their cost are a property, and Cost contains the cost. */
TEST(test_sheds)
{
	_cleanup_close_ int fd = open_output();
	struct shed first = { .limit = 1 };
	sd_bus_error e = SD_BUS_ERROR_NULL;
	sd_bus_message *m = NULL;
	uint64_t cost = 0, before = clock_boot_ns();
	const char *what = "";
	struct answer a;

	a = create(bus, "dear", fd);
	assert_done(call(bus, a.path, "Start"));
	assert_soon(sheds(a.path, &first));
	assert_string_equal(first.what, "stacks");
	assert_int_equal(first.cost, 70000);
	assert_int_equal(first.limit, 0);
	assert_in_range(first.when, before, clock_boot_ns());
	assert_true(sd_bus_get_property(bus, NAME, a.path, SESSION_INTERFACE, "Cost", &e, &m,
					"a{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_skip(m, "{sv}") >= 0);
	assert_true(sd_bus_message_read(m, "{sv}", &what, "t", &cost) >= 0);
	assert_string_equal(what, "bpf_ns");
	assert_int_equal(cost, 2000);
	sd_bus_message_unref(m);
	assert_done(call(bus, a.path, "Remove"));
}

TEST(test_remove_hanging_output)
{
	_cleanup_close_ int fd = open_output();
	uint64_t begin = clock_boot_ns();
	struct answer a;

	a = create(bus, "hang", fd);
	assert_done(call(bus, a.path, "Start"));
	assert_refused(call(bus, a.path, "Remove"), "TimedOut", "the archive is truncated");
	assert_in_range((clock_boot_ns() - begin) / 1000000000, 4, SOON_MS / 1000);
	assert_false(exists(bus, "hang"));
}

/* The maximum number of calls of Stop wait for the session that hangs. */
static sd_bus *crowd(int *answers)
{
	sd_bus *b = connect_bus();

	/* For unknown callers, fewer messages are kept. */
	assert_state(b, SESSION_PREFIX "hang", "running");
	for (int i = 0; i < 32; i++)
		assert_true(sd_bus_call_method_async(b, NULL, NAME, SESSION_PREFIX "hang",
						     SESSION_INTERFACE, "Stop", count, answers,
						     NULL) >= 0);
	assert_state(b, SESSION_PREFIX "hang", "draining"); /* all have been served */
	return b;
}

TEST(test_remove_in_a_crowd)
{
	_cleanup_close_ int fd = open_output();
	int answers = 0;
	sd_bus *other;

	assert_done(call(bus, create_with(bus, "hang", fd, "linger", "b", true).path, "Start"));
	other = crowd(&answers);
	assert_refused(call(bus, SESSION_PREFIX "hang", "Stop"), "LimitReached", "limit");
	assert_refused(call(bus, SESSION_PREFIX "hang", "Remove"), "LimitReached",
		       "will be removed");
	assert_soon(!exists(bus, "hang"));
	sd_bus_flush_close_unref(other);
}

TEST(test_waiters_leave)
{
	_cleanup_close_ int fd = open_output();
	int answers = 0, finished = 0;

	sd_bus_match_signal(bus, NULL, NAME, SESSION_PREFIX "hang", SESSION_INTERFACE, "Finished",
			    count, &finished);
	assert_done(call(bus, create_with(bus, "hang", fd, "linger", "b", true).path, "Start"));
	leave_bus(crowd(&answers));
	assert_refused(call(bus, SESSION_PREFIX "hang", "Remove"), "TimedOut",
		       "the archive is truncated");
	while (sd_bus_process(bus, NULL) > 0)
		;
	assert_int_equal(finished, 1);
}

/*
 * Messages that are sent at once on a fresh connection are served in their order, although the
 * service must first wait for the caller's identity.
 */
TEST(test_order_of_first_calls)
{
	static const char *const methods[] = { "Start", "Stop", "Remove" };
	_cleanup_close_ int fd = open_output();
	sd_bus *other = connect_bus();
	int answers = 0;

	assert_done(create_with(bus, "order", fd, "linger", "b", true));
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		assert_true(sd_bus_call_method_async(other, NULL, NAME, SESSION_PREFIX "order",
						     SESSION_INTERFACE, methods[i], count, &answers,
						     NULL) >= 0);
	while (answers < 3) {
		if (sd_bus_process(other, NULL) == 0)
			assert_true(sd_bus_wait(other, 5000000) > 0);
	}
	assert_content(fd, "stop requested\n");
	assert_false(exists(bus, "order"));
	sd_bus_flush_close_unref(other);
}

TEST(test_owner_gone)
{
	_cleanup_close_ int fd = open_output();
	sd_bus *other = connect_bus();

	assert_done(call(other, create(other, "orphan", fd).path, "Start"));
	sd_bus_flush_close_unref(other);
	assert_soon(!exists(bus, "orphan"));
	assert_content(fd, "start\nstop owner gone\n");
}

TEST(test_linger)
{
	_cleanup_close_ int fd = open_output();
	sd_bus *other = connect_bus();
	uint64_t events;

	assert_done(
		call(other, create_with(other, "stays", fd, "linger", "b", true).path, "Start"));
	leave_bus(other);
	/* It continues after the service has handled the disconnection. */
	events = count_events(bus, SESSION_PREFIX "stays");
	assert_soon(count_events(bus, SESSION_PREFIX "stays") > events);
	assert_state(bus, SESSION_PREFIX "stays", "running");
	assert_done(call(bus, SESSION_PREFIX "stays", "Remove"));
	assert_content(fd, "start\nstop requested\n");
}

/* The service removes sessions of the previous test when it learns that their owner has left. */
static void await_no_sessions(void)
{
	assert_soon(count_sessions(bus) == 0);
}

TEST(test_limits)
{
	_cleanup_close_ int fd = open_output();
	char name[16];

	await_no_sessions();
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_done(create(bus, name, fd));
	}
	assert_refused(create(bus, "n8", fd), "LimitReached", "8 sessions");
}

TEST(test_limit_of_rings)
{
	_cleanup_close_ int fd = open_output();

	/* (the rings of 8 CPUs of the fake sessions, in 2 GiB) */
	await_no_sessions();
	assert_done(create_with(bus, "r0", fd, "ring_bytes", "t", 128 << 20));
	assert_done(create_with(bus, "r1", fd, "ring_bytes", "t", 128 << 20));
	assert_refused(create_with(bus, "r2", fd, "ring_bytes", "t", RING_BYTES_MIN),
		       "LimitReached", "`ring_bytes`");
}

static struct answer create_blocks(const char *name, int fd, const char *category, uint64_t blocks)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct answer a = { 0 };

	a.r = sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE, "CreateSession",
				 &a.error, &reply, "sa{sv}", name, 4, "output", "h", fd,
				 "categories", "as", 1, category, "pids", "au", 1,
				 (uint32_t)getpid(), "memory_blocks_max", "t", blocks);
	return a;
}

TEST(test_limit_of_blocks)
{
	_cleanup_close_ int fd = open_output();

	await_no_sessions();
	assert_done(create_blocks("b0", fd, "memory", MEMORY_BLOCKS_MAX - MEMORY_BLOCKS_MIN));
	assert_done(create_blocks("b1", fd, "memory", MEMORY_BLOCKS_MIN));
	assert_refused(create_blocks("b2", fd, "fd", MEMORY_BLOCKS_MIN), "LimitReached",
		       "`memory_blocks_max`");
	assert_refused(create_blocks("b3", fd, "sched", MEMORY_BLOCKS_MAX), "InvalidOption",
		       "needs one of");
}

TEST(test_limit_of_tables)
{
	const uint64_t most = UINT64_C(1) << 30;
	_cleanup_close_ int fd = open_output();

	await_no_sessions();
	assert_done(create_with(bus, "t0", fd, "stack_tables_bytes", "t", most));
	assert_done(create_with(bus, "t1", fd, "stack_tables_bytes", "t", most));
	assert_refused(create_with(bus, "t2", fd, "stack_tables_bytes", "t", 1 << 20),
		       "LimitReached", "`stack_tables_bytes`");
}

/* Sends one message on each of many connections, waits for no answer, and leaves. */
static void be_in_a_hurry(void)
{
	for (int i = 0; i < 600; i++) {
		sd_bus *b = connect_bus();
		sd_bus_message *m = NULL;

		CHECK(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						     "ListSessions") >= 0);
		CHECK(sd_bus_message_set_expect_reply(m, false) >= 0);
		CHECK(sd_bus_send(b, m, NULL) >= 0);
		sd_bus_message_unref(m);
		sd_bus_flush_close_unref(b);
	}
}

/* The number of matches of the service on the bus, or -1 if unknown. */
static int count_matches(void)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *key, *contents;
	uint32_t n;

	if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", NULL,
			       &reply, "s", NAME) < 0 ||
	    sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
		return -1;
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(reply, "s", &key) > 0);
		assert_true(sd_bus_message_peek_type(reply, NULL, &contents) > 0);
		if (strcmp(key, "MatchRules") == 0) {
			assert_true(sd_bus_message_read(reply, "v", "u", &n) > 0);
			return (int)n;
		}
		assert_true(sd_bus_message_skip(reply, "v") >= 0);
		assert_true(sd_bus_message_exit_container(reply) >= 0);
	}
	return -1;
}

/* Many short-lived connections leave nothing behind. */
TEST(test_access_strangers_in_a_hurry)
{
	int matches = count_matches();

	for (int round = 0; round < 2; round++) {
		as_user(FOREIGN_USER, be_in_a_hurry);
		assert_false(exists(bus, "nothing"));
		assert_int_equal(sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						    "ListSessions", NULL, NULL, NULL) < 0,
				 0);
		assert_int_equal(count_matches(), matches);
	}
	assert_true(matches < 8);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_bus, teardown_bus)
	const struct CMUnitTest tests[] = {
		CASE(test_create_session_options),
		CASE(test_create_session_every_option),
		CASE(test_create_session_output),
		CASE(test_create_session_name_taken),
		CASE(test_session_life),
		CASE(test_session_signals),
		CASE(test_session_ends_itself),
		CASE(test_session_fails),
		CASE(test_sheds),
		CASE(test_remove_hanging_output),
		CASE(test_remove_in_a_crowd),
		CASE(test_waiters_leave),
		CASE(test_order_of_first_calls),
		CASE(test_owner_gone),
		CASE(test_linger),
		CASE(test_limits),
		CASE(test_limit_of_rings),
		CASE(test_limit_of_blocks),
		CASE(test_limit_of_tables),
		CASE(test_access_strangers_in_a_hurry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
