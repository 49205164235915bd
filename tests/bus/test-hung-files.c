/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose file system does not answer the daemon, passed to it in every way that there is. Whoever passes them has nothing from that, and
 * nobody else notices. hung-files.sh says in KYMOD_PID whom the file system (support/mute-fuse.h) is mute to, and in KYMO_TEST_MOUNT
 * where it goes. What hangs cannot be killed: it ends with this process, and the file system with it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "daemon/close-queue.h"
#include "tests/bus/ask-service.h"
#include "tests/support/mute-fuse.h"

#define PATIENCE_USEC UINT64_C(20000000)

static sd_bus *other;
static pid_t kymod;
static const char *mounted;

static int open_mute(int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" MUTE_FUSE_FILE, mounted);
	fd = open(path, flags | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static int setup(void **state)
{
	setup_bus(state);
	other = connect_bus();
	assert_true(sd_bus_set_method_call_timeout(bus, PATIENCE_USEC) >= 0);
	assert_true(sd_bus_set_method_call_timeout(other, PATIENCE_USEC) >= 0);
	mute_fuse_be_mute_to(kymod);
	return 0;
}

/* How many descriptors the daemon has of the mute file. */
static int count_open(void)
{
	char folder[32], target[256];
	const struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", kymod);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t size = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[size < 0 ? 0 : size] = '\0';
		n += strstr(target, MUTE_FUSE_FILE) != NULL;
	}
	closedir(dir);
	return n;
}

/* When the file system answers again nothing is left behind. */
static int teardown(void **state)
{
	int n = 1;

	mute_fuse_be_mute_to(0);
	teardown_bus(state);
	other = sd_bus_flush_close_unref(other);
	for (int i = 0; i < 400 && (n = count_open()) > 0; i++)
		usleep(50000);
	return n == 0 ? 0 : -1;
}

static void assert_answered(const char *path, const char *interface, const char *method,
			    const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(other, NAME, path, interface, method, &e, NULL,
				   argument ? "s" : NULL, argument);

	if (r < 0)
		print_error("%s: %s\n", method, e.message);
	assert_true(r >= 0);
}

/* All is well with everybody else. */
static void assert_alive(void)
{
	assert_true(count_sessions(other) >= 0);
	assert_answered(MANAGER_PATH, "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
	assert_answered(MANAGER_PATH, "org.freedesktop.DBus.Properties", "GetAll",
			MANAGER_INTERFACE);
}

static void wait_for_waiting(unsigned n)
{
	for (int i = 0; i < 400 && mute_fuse_waiting() < n; i++)
		usleep(50000);
	assert_true(mute_fuse_waiting() >= n);
}

/* It is not looked into while the session is made; letting go of the message's own descriptor hangs somewhere. */
static void test_output(void **state)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY);

	(void)state;
	assert_done(create(bus, "hung", fd));
	wait_for_waiting(1);
	assert_alive();
	assert_done(call(bus, SESSION_PREFIX "hung", "Remove"));
	assert_alive();
}

/* A file that is refused is let go of all the same. */
static void test_refused(void **state)
{
	_cleanup_close_ int fd = open_mute(O_RDONLY);

	(void)state;
	assert_refused(create(bus, "hung", fd), "InvalidOutput", "for reading only");
	wait_for_waiting(1);
	assert_alive();
}

static void test_allocator_fds(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_close_ int fd = open_mute(O_RDONLY), output = open_output();
	struct answer a = { 0 };

	(void)state;
	assert_true(sd_bus_message_new_method_call(bus, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						   "CreateSession") >= 0);
	assert_true(sd_bus_message_append(m, "sa{sv}", "hung", 4, "output", "h", output,
					  "categories", "as", 1, "memory", "pids", "au", 1,
					  (uint32_t)getpid(), "allocator_fds", "ah", 1, fd) >= 0);
	a.r = sd_bus_call(bus, m, 0, &a.error, &reply);
	assert_done(a);
	wait_for_waiting(1);
	assert_alive();
	assert_done(call(bus, SESSION_PREFIX "hung", "Remove"));
	assert_alive();
}

/* Where none is wanted, and in what is no call. */
static void test_uninvited(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *signal = NULL;
	_cleanup_close_ int fd = open_mute(O_RDWR);
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;

	(void)state;
	assert_true(sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE, "GetSession", &e,
				       NULL, "h", fd) < 0);
	wait_for_waiting(1);
	assert_alive();
	assert_true(sd_bus_message_new_signal(bus, &signal, "/", "org.example.Any", "Thing") >= 0);
	assert_true(sd_bus_message_append(signal, "h", fd) >= 0);
	assert_true(sd_bus_send_to(bus, signal, NAME, NULL) >= 0);
	assert_true(sd_bus_flush(bus) >= 0);
	assert_true(count_sessions(bus) >= 0);
	assert_alive();
}

/* From a file system of which too much hangs, no more is taken; others are. */
static void test_limit(void **state)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY), good = open_output();
	struct answer a;

	(void)state;
	for (int i = 0; i < 20; i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;

		/* (no effort is made for it, so it may be asked as often as one likes) */
		assert_true(sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					       "GetSession", &e, NULL, "h", fd) < 0);
	}
	/* (with more than these, one that is merely slow would have been refused) */
	usleep(CLOSE_PATIENCE_NS / 1000 + 100000);
	a = create(bus, "hung", fd);
	assert_refused(a, "LimitReached", "the file system does not answer");
	assert_done(create(bus, "good", good));
	assert_done(call(bus, SESSION_PREFIX "good", "Remove"));
	assert_alive();
}

/* A session that writes there hangs alone, and can be removed. */
static void test_recording(void **state)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY), good = open_output();
	struct answer a;

	(void)state;
	assert_done(create(bus, "hung", fd));
	assert_done(create(other, "good", good));
	assert_done(call(bus, SESSION_PREFIX "hung", "Start"));
	assert_done(call(other, SESSION_PREFIX "good", "Start"));
	wait_for_waiting(2); /* the message's own, and the output's thread */
	assert_alive();
	assert_done(call(other, SESSION_PREFIX "good", "Stop"));
	assert_true(lseek(good, 0, SEEK_END) > 0);
	a = call(bus, SESSION_PREFIX "hung", "Remove");
	assert_true(a.r < 0);
	assert_non_null(strstr(a.error.message, "its output did not take the last bytes"));
	sd_bus_error_free(&a.error);
	assert_alive();
	assert_done(call(other, SESSION_PREFIX "good", "Remove"));
}

/* What hangs in the service is not what its children have to let go of: one looks into the program whose memory is watched. */
static void test_children(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_close_ int fd = open_mute(O_RDWR), output = open_output();
	struct answer a = { 0 };

	(void)state;
	/* One is being closed, and has gone from the table of descriptors; the other waits for it there. */
	assert_true(sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE, "GetSession", &e,
				       NULL, "hh", fd, fd) < 0);
	wait_for_waiting(1);
	assert_true(sd_bus_message_new_method_call(other, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						   "CreateSession") >= 0);
	assert_true(sd_bus_message_append(m, "sa{sv}", "good", 3, "output", "h", output,
					  "categories", "as", 1, "memory", "pids", "au", 1,
					  (uint32_t)getpid()) >= 0);
	a.r = sd_bus_call(other, m, 0, &a.error, &reply);
	assert_done(a);
	assert_done(call(other, SESSION_PREFIX "good", "Start"));
	assert_done(call(other, SESSION_PREFIX "good", "Stop"));
	assert_done(call(other, SESSION_PREFIX "good", "Remove"));
	/* Nobody but who waits in the service. */
	assert_true(mute_fuse_waiting() == 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		/* (first, as what has been looked at once is known) */
		CASE(test_children),      CASE(test_output),    CASE(test_refused),
		CASE(test_allocator_fds), CASE(test_uninvited), CASE(test_limit),
		CASE(test_recording),
	};
	int r;

	kymod = (pid_t)strtol(getenv("KYMOD_PID"), NULL, 10);
	mounted = getenv("KYMO_TEST_MOUNT");
	r = mute_fuse_mount(mounted);
	if (r < 0)
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
	return r < 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
