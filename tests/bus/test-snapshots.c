/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of running sessions, from the callers' view: snapshots of allocations, searches of
 * memory, and the contents of flight recorders. manager.sh runs it like test-manager.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

static int keep_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct answer *a = userdata;

	(void)reterr;
	a->r = sd_bus_message_is_method_error(m, NULL) ? -1 : 1;
	if (a->r < 0)
		sd_bus_error_copy(&a->error, sd_bus_message_get_error(m));
	return 0;
}

/* Calls without waiting. RET->r is 0 until the answer arrives. */
static void ask_for_snapshot(const char *path, struct answer *ret)
{
	*ret = (struct answer){ 0 };
	assert_true(sd_bus_call_method_async(bus, NULL, NAME, path, SESSION_INTERFACE,
					     "SnapshotMemory", keep_answer, ret, NULL) >= 0);
}

static void wait_for_answer(const struct answer *a)
{
	while (a->r == 0) {
		assert_true(sd_bus_wait(bus, 10000000) >= 0);
		while (sd_bus_process(bus, NULL) > 0)
			;
	}
}

static struct answer search(const char *path, uint32_t pid)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(bus, NAME, path, SESSION_INTERFACE, "SearchMemory", &a.error, NULL,
				 "u", pid);
	return a;
}

/* A session of the memory of user 0, which searches blocks in the way HOW. */
static struct answer create_reach(const char *name, int fd, const char *how)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct answer a = { 0 };
	const char *path;

	a.r = sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE, "CreateSession",
				 &a.error, &reply, "sa{sv}", name, 4, "output", "h", fd,
				 "categories", "as", 1, "memory", "uids", "au", 1, 0, "reach", "s",
				 how);
	if (a.r >= 0) {
		assert_true(sd_bus_message_read(reply, "o", &path) > 0);
		snprintf(a.path, sizeof(a.path), "%s", path);
	}
	return a;
}

TEST(test_search_of_memory)
{
	_cleanup_close_ int fd = open_output();
	struct answer a, pending = { 0 };

	a = create(bus, "no_reach", fd);
	assert_done(a);
	assert_done(call(bus, a.path, "Start"));
	assert_refused(search(a.path, 1), "NotSupported", "reach");
	assert_done(call(bus, a.path, "Remove"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);

	a = create_reach("search", fd, "freeze");
	assert_done(a);
	assert_refused(search(a.path, 1), "NotRunning", "is not running");
	assert_done(call(bus, a.path, "Start"));
	assert_refused(search(a.path, 0), "InvalidOption", "0 is not a valid process id");
	assert_done(search(a.path, 42));
	assert_content(fd, "start\nsearch 42\n");
	assert_done(call(bus, a.path, "Remove"));

	/* A session that never searches, and ends. */
	a = create_reach("no_search", fd, "look");
	assert_done(a);
	assert_done(call(bus, a.path, "Start"));
	assert_true(sd_bus_call_method_async(bus, NULL, NAME, a.path, SESSION_INTERFACE,
					     "SearchMemory", keep_answer, &pending, "u",
					     UINT32_C(42)) >= 0);
	assert_done(call(bus, a.path, "Stop"));
	wait_for_answer(&pending);
	assert_refused(pending, "NotRunning", "ended before");
	assert_done(call(bus, a.path, "Remove"));
}

TEST(test_snapshot_of_memory)
{
	_cleanup_close_ int fd = open_output();
	struct answer a, first, second;

	a = create(bus, "no_memory", fd);
	assert_done(a);
	assert_done(call(bus, a.path, "Start"));
	assert_refused(call(bus, a.path, "SnapshotMemory"), "NotSupported",
		       "does not record allocations");
	assert_done(call(bus, a.path, "Remove"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);

	a = create(bus, "memory", fd);
	assert_done(a);
	assert_refused(call(bus, a.path, "SnapshotMemory"), "NotRunning", "is not running");
	assert_done(call(bus, a.path, "Start"));
	assert_done(call(bus, a.path, "SnapshotMemory"));
	assert_content(fd, "start\nsnapshot\n");
	ask_for_snapshot(a.path, &first);
	ask_for_snapshot(a.path, &second);
	wait_for_answer(&first);
	wait_for_answer(&second);
	assert_done(first);
	assert_done(second);
	assert_done(call(bus, a.path, "Remove"));

	a = create(bus, "no_snapshot", fd);
	assert_done(a);
	assert_done(call(bus, a.path, "Start"));
	ask_for_snapshot(a.path, &first);
	assert_done(call(bus, a.path, "Stop"));
	wait_for_answer(&first);
	assert_refused(first, "NotRunning", "ended before");
	assert_done(call(bus, a.path, "Remove"));
}

/* ---- flight recorders ---- */

static struct answer create_flight(sd_bus *b, const char *name)
{
	return create_with(b, name, -1, "mode", "s", (uintptr_t) "flight");
}

static struct answer snapshot(sd_bus *b, const char *path, int fd)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(b, NAME, path, SESSION_INTERFACE, "Snapshot", &a.error, NULL, "h",
				 fd);
	return a;
}

/* Makes N calls of Snapshot without waiting. ANSWERS gets their answers. */
static void ask_for_flights(sd_bus *b, const char *path, int fd, struct answer *answers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		answers[i] = (struct answer){ 0 };
		assert_true(sd_bus_call_method_async(b, NULL, NAME, path, SESSION_INTERFACE,
						     "Snapshot", keep_answer, &answers[i], "h",
						     fd) >= 0);
	}
}

TEST(test_flight)
{
	_cleanup_close_ int fd = open_output(), plain_fd = open_output();
	_cleanup_close_ int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct answer a;

	assert_refused(create_with(bus, "box", fd, "mode", "s", (uintptr_t) "flight"),
		       "InvalidOption", "`output`: not valid in mode 'flight'");
	assert_refused(create_with(bus, "box", fd, "mode", "s", (uintptr_t) "fright"),
		       "InvalidOption", "`mode`: 'fright'");
	assert_refused(create_with(bus, "box", fd, "flight_ns", "t", 5), "InvalidOption",
		       "`flight_ns`: needs mode 'flight'");
	a = create_flight(bus, "box");
	assert_done(a);
	assert_refused(snapshot(bus, a.path, fd), "NotRunning", "never been started");
	assert_done(call(bus, a.path, "Start"));
	assert_done(snapshot(bus, a.path, fd));
	assert_content(fd, "flight\n");
	assert_refused(snapshot(bus, a.path, read_only), "InvalidOutput", "`output`");
	assert_refused(call(bus, a.path, "Rotate"), "NotSupported", "no chunks");
	/* Also after its end. */
	assert_done(call(bus, a.path, "Stop"));
	assert_done(snapshot(bus, a.path, fd));
	assert_content(fd, "flight\nflight\n");
	assert_done(call(bus, a.path, "Remove"));
	a = snapshot(bus, a.path, fd);
	assert_true(a.r < 0);
	sd_bus_error_free(&a.error);

	a = create(bus, "plain", plain_fd);
	assert_done(call(bus, a.path, "Start"));
	assert_refused(snapshot(bus, a.path, fd), "NotSupported", "not a flight recorder");
	assert_refused(call(bus, a.path, "Rotate"), "NotSupported", "no chunks");
	assert_done(call(bus, a.path, "Remove"));
}

/*
 * Outputs that nobody reads: only a few can wait, other users are not delayed, and they end with
 * their callers.
 */
TEST(test_flight_hangs)
{
	struct answer answers[4], mine = { .r = -1 }, a = create_flight(bus, "hang");
	_cleanup_close_ int fd = open_output();
	sd_bus *other = connect_bus();

	assert_done(call(bus, a.path, "Start"));
	assert_state(other, a.path, "running");
	ask_for_flights(other, a.path, fd, answers, 4);
	assert_refused(snapshot(other, a.path, fd), "TryAgain",
		       "snapshots of the session are waiting");
	assert_state(bus, a.path, "running");
	sd_bus_flush_close_unref(other);
	/* There is room again as soon as the service has learned of it. */
	for (int i = 0; i < SOON_MS / 10 && mine.r != 0; i++) {
		sd_bus_error_free(&mine.error);
		ask_for_flights(bus, a.path, fd, &mine, 1);
		assert_state(bus, a.path, "running");
		while (sd_bus_process(bus, NULL) > 0)
			;
		usleep(10000);
	}
	assert_int_equal(mine.r, 0);
	/* Its session is removed, with the data that it had to write. */
	assert_refused(call(bus, a.path, "Remove"), "TimedOut", "the archive is truncated");
	wait_for_answer(&mine);
	assert_refused(mine, "NotRunning", "removed");
}

static void keep_too_much(void)
{
	sd_bus *own = connect_bus();
	char name[16];

	/* 64 MiB each, of 256. */
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		if (create_flight(own, name).r < 0)
			_exit(1);
	}
	assert_refused(create_flight(own, "f9"), "LimitReached", "`flight_bytes`");
	sd_bus_flush_close_unref(own);
}

TEST(test_limit_of_flights)
{
	as_user(MEMBER, keep_too_much);
	/* Root can have more, up to the limit of all users. */
	assert_done(create_with(bus, "f0", -1, "mode", "s", (uintptr_t) "flight"));
	for (int i = 1; i < 6; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		assert_done(create_flight(bus, name));
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_bus, teardown_bus)
	const struct CMUnitTest tests[] = {
		CASE(test_snapshot_of_memory), CASE(test_search_of_memory), CASE(test_flight),
		CASE(test_flight_hangs),       CASE(test_limit_of_flights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
