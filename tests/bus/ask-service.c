/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bus/ask-service.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"

sd_bus *bus;

sd_bus *connect_bus(void)
{
	sd_bus *b = NULL;

	assert_int_equal(sd_bus_new(&b), 0);
	assert_true(sd_bus_set_address(b, getenv("KYMO_TEST_BUS")) >= 0);
	assert_true(sd_bus_set_bus_client(b, true) >= 0);
	assert_true(sd_bus_set_method_call_timeout(b, ANSWER_USEC) >= 0);
	assert_true(sd_bus_start(b) >= 0);
	return b;
}

int setup_bus(void **state __attribute__((unused)))
{
	bus = connect_bus();
	return 0;
}

int teardown_bus(void **state __attribute__((unused)))
{
	bus = sd_bus_flush_close_unref(bus);
	return 0;
}

sd_bus *connect_as(uid_t uid)
{
	sd_bus *b;

	/* The kernel returns the credentials at the time of connecting. */
	assert_true(setegid(uid) == 0 && seteuid(uid) == 0);
	b = connect_bus();
	assert_true(seteuid(0) == 0 && setegid(0) == 0);
	return b;
}

int open_output(void)
{
	/* (in memory: on a disk with other writers, closing a file takes time) */
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

void assert_content(int fd, const char *expected)
{
	char text[512];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

struct answer create_with(sd_bus *b, const char *name, int fd, const char *option, const char *type,
			  uint64_t value)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	struct answer a = { 0 };
	const char *path;

	assert_true(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						   "CreateSession") >= 0);
	assert_true(sd_bus_message_append(m, "s", name) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	if (fd >= 0)
		assert_true(sd_bus_message_append(m, "{sv}", "output", "h", fd) >= 0);
	if (option && *type == 's')
		assert_true(sd_bus_message_append(m, "{sv}", option, "s",
						  (const char *)(uintptr_t)value) >= 0);
	else if (option && *type == 'b')
		assert_true(sd_bus_message_append(m, "{sv}", option, "b", (int)value) >= 0);
	else if (option)
		assert_true(sd_bus_message_append(m, "{sv}", option, type, value) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	a.r = sd_bus_call(b, m, 0, &a.error, &reply);
	if (a.r >= 0) {
		assert_true(sd_bus_message_read(reply, "o", &path) > 0);
		snprintf(a.path, sizeof(a.path), "%s", path);
	}
	return a;
}

struct answer create(sd_bus *b, const char *name, int fd)
{
	return create_with(b, name, fd, NULL, NULL, 0);
}

struct answer call(sd_bus *b, const char *path, const char *method)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(b, NAME, path, SESSION_INTERFACE, method, &a.error, NULL, NULL);
	return a;
}

void assert_done(struct answer a)
{
	if (a.r < 0)
		print_error("%s: %s\n", a.error.name, a.error.message);
	assert_true(a.r >= 0);
}

void assert_refused(struct answer a, const char *name, const char *text)
{
	char full[128];

	snprintf(full, sizeof(full), ERROR_PREFIX "%s", name);
	assert_true(a.r < 0);
	assert_string_equal(a.error.name, full);
	if (!strstr(a.error.message, text))
		print_error("'%s' is not in: %s\n", text, a.error.message);
	assert_non_null(strstr(a.error.message, text));
	sd_bus_error_free(&a.error);
}

void assert_state(sd_bus *b, const char *path, const char *expected)
{
	_cleanup_free_ char *state = NULL;

	assert_true(sd_bus_get_property_string(b, NAME, path, SESSION_INTERFACE, "State", NULL,
					       &state) >= 0);
	assert_string_equal(state, expected);
}

bool is_in_state(sd_bus *b, const char *path, const char *expected)
{
	_cleanup_free_ char *state = NULL;

	return sd_bus_get_property_string(b, NAME, path, SESSION_INTERFACE, "State", NULL,
					  &state) >= 0 &&
	       strcmp(state, expected) == 0;
}

uint64_t count_events(sd_bus *b, const char *path)
{
	uint64_t events = 0;

	assert_true(sd_bus_get_property_trivial(b, NAME, path, SESSION_INTERFACE, "Events", NULL,
						't', &events) >= 0);
	return events;
}

static bool is_on_bus(const char *unique_name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int there = 0;

	assert_true(sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
				       unique_name) >= 0);
	assert_true(sd_bus_message_read(reply, "b", &there) > 0);
	return there;
}

void leave_bus(sd_bus *b)
{
	const char *name;
	char copy[64];

	assert_true(sd_bus_get_unique_name(b, &name) >= 0);
	snprintf(copy, sizeof(copy), "%s", name);
	sd_bus_flush_close_unref(b);
	assert_soon(!is_on_bus(copy));
}

bool exists(sd_bus *b, const char *name)
{
	return sd_bus_call_method(b, NAME, MANAGER_PATH, MANAGER_INTERFACE, "GetSession", NULL,
				  NULL, "s", name) >= 0;
}

int count_sessions(sd_bus *b)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int n = 0;

	if (sd_bus_call_method(b, NAME, MANAGER_PATH, MANAGER_INTERFACE, "ListSessions", NULL,
			       &reply, NULL) < 0 ||
	    sd_bus_message_enter_container(reply, 'a', "(sos)") < 0)
		return -1;
	while (sd_bus_message_skip(reply, "(sos)") > 0)
		n++;
	return n;
}

uint64_t count_lost(sd_bus *b, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	uint64_t n = 0, of_class;
	const char *name;

	assert_true(sd_bus_get_property(b, NAME, path, SESSION_INTERFACE, "Lost", NULL, &reply,
					"a{st}") >= 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{st}") > 0);
	while (sd_bus_message_read(reply, "{st}", &name, &of_class) > 0)
		n += of_class;
	return n;
}

unsigned count_files(pid_t pid)
{
	char path[32];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int set_polkit(sd_bus *b, const char *method)
{
	return sd_bus_call_method(b, POLKIT_NAME, POLKIT_PATH, "org.kymo.Test.Polkit", method, NULL,
				  NULL, NULL);
}

int set_answer(sd_bus *b, const char *action, const char *how)
{
	return sd_bus_call_method(b, POLKIT_NAME, POLKIT_PATH, "org.kymo.Test.Polkit", "SetAnswer",
				  NULL, NULL, "ss", action, how);
}

struct counts counts_of(sd_bus *b, const char *action)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct counts c = { 0 };

	if (sd_bus_call_method(b, POLKIT_NAME, POLKIT_PATH, "org.kymo.Test.Polkit", "GetCounts",
			       NULL, &reply, "s", action) < 0 ||
	    sd_bus_message_read(reply, "uuuu", &c.asked, &c.dialogues, &c.held, &c.cancelled) < 0)
		c.asked = UINT32_MAX;
	return c;
}

int setup_polkit(void **state)
{
	setup_bus(state);
	assert_true(set_answer(bus, VIEW, "no") >= 0);
	assert_true(set_answer(bus, CONTROL, "no") >= 0);
	assert_true(set_answer(bus, CONTROL_OWN, "yes") >= 0);
	assert_true(set_answer(bus, MANAGE, "no") >= 0);
	assert_true(set_polkit(bus, "Change") >= 0);
	return 0;
}

pid_t start_as_user(uid_t uid, void (*fn)(void))
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		CHECK(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0);
		CHECK(setresuid(uid, uid, uid) == 0);
		/* (after a failure of the test, it would keep its output open; a change of the user
		 * resets this) */
		CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent);
		fn();
		_exit(0);
	}
	return pid;
}

void as_user(uid_t uid, void (*fn)(void))
{
	pid_t pid = start_as_user(uid, fn);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
