/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hostile caller, who may make sessions, and does everything that the bus allows. hostile.sh runs
 * it beside a daemon and a polkit that allows tracing to all, with the daemon's pid in KYMOD_PID.
 *
 * Each attack runs as its own user in its own process. Meanwhile, the session of another user runs,
 * is queried continuously, and must not be affected. At the end, the daemon's memory has not grown.
 *
 * With the argument `attack`, it only attacks, as the calling user.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

enum {
	VICTIM = OTHER_FOREIGN_USER,
	AT_ONCE = 100, /* calls under way; a bus may allow at most 128 */
	RSS_MARGIN_KB = 32 << 10,
	RSS_MARGIN_ASAN_KB = 400 << 10, /* a sanitizer keeps freed memory for a while */
};

/* ---- the victim ---- */

static sd_bus *victim;
static int victim_fd;
static struct answer victims;

static uint64_t events_of_victim(void)
{
	uint64_t n = 0;

	assert_true(sd_bus_get_property_trivial(victim, NAME, victims.path, SESSION_INTERFACE,
						"Events", NULL, 't', &n) >= 0);
	return n;
}

FIXTURE(setup)
{
	victim = connect_as(VICTIM);
	victim_fd = open_output();
	victims = create(victim, "victim", victim_fd);
	assert_done(victims);
	assert_done(call(victim, victims.path, "Start"));
	return 0;
}

FIXTURE(teardown)
{
	call(victim, SESSION_PREFIX "2/victim", "Remove");
	victim = sd_bus_flush_close_unref(victim);
	victim_fd = close_fd(victim_fd);
	return 0;
}

/*
 * Runs FN as user STRANGER, while the victim queries its session. Afterwards, the session is
 * unchanged.
 */
static void attack(void (*fn)(void))
{
	uint64_t before = events_of_victim();
	pid_t pid = start_as_user(FOREIGN_USER, fn);
	int status = -1;

	/* (once more afterwards: on a busy machine, the attack can end at once) */
	do {
		assert_state(victim, victims.path, "running");
		assert_int_equal(count_sessions(victim), 1);
		usleep(5000);
	} while (waitpid(pid, &status, WNOHANG) == 0);
	assert_int_equal(status, 0);
	assert_soon(events_of_victim() > before);
	assert_done(call(victim, victims.path, "Stop"));
	assert_content(victim_fd, "start\nstop requested\n");
}

static long rss_kb(void)
{
	char path[64], line[256];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", getenv("KYMOD_PID") ?: "");
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld kB", &kb);
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

static bool has_asan(void)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/maps", getenv("KYMOD_PID") ?: "");
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, "libasan") || strstr(line, "libclang_rt.asan");
	fclose(f);
	return found;
}

/* ---- the attacker ---- */

struct tally {
	size_t n_open, n_done, n_limited, n_refused, n_other;
	char path[128]; /* of the last session */
};

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	struct tally *t = userdata;
	const char *path;

	(void)reterr;
	t->n_open--;
	if (!e) {
		t->n_done++;
		if (sd_bus_message_read(m, "o", &path) > 0)
			snprintf(t->path, sizeof(t->path), "%s", path);
	} else if (strcmp(e->name, ERROR_PREFIX "LimitReached") == 0) {
		t->n_limited++;
	} else if (strncmp(e->name, ERROR_PREFIX, strlen(ERROR_PREFIX)) == 0) {
		t->n_refused++;
	} else {
		t->n_other++;
	}
	return 0;
}

static void process(sd_bus *b, const struct tally *t, size_t until_open)
{
	while (t->n_open > until_open) {
		int r = sd_bus_process(b, NULL);

		CHECK(r >= 0);
		if (r == 0)
			CHECK(sd_bus_wait(b, ANSWER_USEC) > 0);
	}
}

/* Sends M, with at most AT_ONCE calls under way. */
static void send_call(sd_bus *b, sd_bus_message *m, struct tally *t)
{
	process(b, t, AT_ONCE - 1);
	CHECK(sd_bus_call_async(b, NULL, m, on_answer, t, ANSWER_USEC) >= 0);
	t->n_open++;
	sd_bus_message_unref(m);
}

static sd_bus_message *new_call(sd_bus *b, const char *path, const char *interface,
				const char *member)
{
	sd_bus_message *m = NULL;

	CHECK(sd_bus_message_new_method_call(b, &m, NAME, path, interface, member) >= 0);
	return m;
}

static sd_bus_message *new_create(sd_bus *b, const char *name, int fd)
{
	sd_bus_message *m = new_call(b, MANAGER_PATH, MANAGER_INTERFACE, "CreateSession");

	CHECK(sd_bus_message_append(m, "sa{sv}", name, 1, "output", "h", fd) >= 0);
	return m;
}

/* Makes more sessions than allowed, faster than allowed. Only the allowed number is made. */
static size_t make_as_many_as_may_be(sd_bus *b)
{
	const unsigned n = unit_rounds(10000);
	struct tally t = { 0 };
	int fd = open_output();
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		send_call(b, new_create(b, name, fd), &t);
	}
	process(b, &t, 0);
	/* Some calls do not fit while their caller is unknown. */
	CHECK(t.n_done <= 8);
	CHECK(t.n_done + t.n_limited == n);
	CHECK(count_sessions(b) == (int)t.n_done);
	return t.n_done;
}

static void make_eight(void)
{
	CHECK(make_as_many_as_may_be(connect_bus()) == 8);
}

/* By a user whose rate can be limited by now. */
static void make_many(void)
{
	make_as_many_as_may_be(connect_bus());
}

TEST(test_many_sessions)
{
	attack(make_eight);
}

static bool is_limited(const struct answer *a)
{
	return a->r < 0 && strcmp(a->error.name, ERROR_PREFIX "LimitReached") == 0;
}

/* Makes a session, as soon as the rate limit allows it. */
static struct answer create_in_time(sd_bus *b, const char *name)
{
	struct answer a = { .r = -1 };
	int fd = open_output();

	for (int i = 0; i < 600 && a.r < 0; i++) {
		if (i > 0)
			usleep(100000);
		a = create(b, name, fd);
	}
	CHECK(a.r >= 0);
	return a;
}

/* Continuous creation and removal is not forbidden, but slowed down. */
static void make_again_and_again(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	CHECK(call(b, create_in_time(b, "first").path, "Remove").r >= 0);
	for (int i = 0; i < 1000; i++) {
		struct answer a = create(b, "fail_start", fd);

		if (a.r < 0) {
			CHECK_ERROR(a, ERROR_PREFIX "LimitReached");
			CHECK(strstr(a.error.message, "try again in"));
			return;
		}
		a = call(b, SESSION_PREFIX "1/fail_start", "Start");
		if (!is_limited(&a))
			CHECK_ERROR(a, ERROR_PREFIX "CannotCapture");
		CHECK(call(b, SESSION_PREFIX "1/fail_start", "Remove").r >= 0);
	}
	CHECK(!"nothing slows it down");
}

TEST(test_sessions_in_a_loop)
{
	attack(make_again_and_again);
}

/* Start in a loop: it starts once. */
static void start_again_and_again(void)
{
	sd_bus *b = connect_bus();
	struct answer a = create_in_time(b, "started");
	struct tally t = { 0 };
	size_t n = 0;

	/* (the earlier calls have used this user's rate) */
	for (int tries = 0; tries < 600 && t.n_done == 0; tries++) {
		if (tries > 0)
			usleep(100000);
		for (int i = 0; i < 3000; i++)
			send_call(b, new_call(b, a.path, SESSION_INTERFACE, "Start"), &t);
		process(b, &t, 0);
		n += 3000;
	}
	CHECK(t.n_done == 1);
	CHECK(t.n_done + t.n_refused + t.n_limited == n);
	CHECK(call(b, a.path, "Remove").r >= 0);
}

TEST(test_start_in_a_loop)
{
	attack(start_again_and_again);
}

static sd_bus_message *new_options(sd_bus *b)
{
	sd_bus_message *m = new_call(b, MANAGER_PATH, MANAGER_INTERFACE, "CreateSession");

	CHECK(sd_bus_message_append(m, "s", "huge") >= 0);
	CHECK(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	return m;
}

/* Options of excessive size, of all kinds. */
static void be_huge(void)
{
	enum { BYTES = 8 << 20, MANY = 100000 };
	sd_bus *b = connect_bus();
	char *text = malloc(BYTES + 1), name[32];
	uint32_t *numbers = calloc(BYTES / 4, 4);
	struct tally t = { 0 };
	sd_bus_message *m;

	CHECK(text && numbers);
	memset(text, 'x', BYTES);
	text[BYTES] = '\0';
	for (int round = 0; round < 5; round++) {
		m = new_options(b);
		CHECK(sd_bus_message_append(m, "{sv}", "command", "s", text) >= 0);
		CHECK(sd_bus_message_close_container(m) >= 0);
		send_call(b, m, &t);
		m = new_options(b);
		CHECK(sd_bus_message_append(m, "{sv}", text, "s", "x") >= 0);
		CHECK(sd_bus_message_close_container(m) >= 0);
		send_call(b, m, &t);
		m = new_options(b);
		CHECK(sd_bus_message_open_container(m, 'e', "sv") >= 0);
		CHECK(sd_bus_message_append(m, "s", "pids") >= 0);
		CHECK(sd_bus_message_open_container(m, 'v', "au") >= 0);
		CHECK(sd_bus_message_append_array(m, 'u', numbers, BYTES) >= 0);
		CHECK(sd_bus_message_close_container(m) >= 0);
		CHECK(sd_bus_message_close_container(m) >= 0);
		CHECK(sd_bus_message_close_container(m) >= 0);
		send_call(b, m, &t);
		m = new_options(b);
		for (int i = 0; i < MANY; i++) {
			snprintf(name, sizeof(name), "option%d", i);
			CHECK(sd_bus_message_append(m, "{sv}", name, "b", i & 1) >= 0);
		}
		CHECK(sd_bus_message_close_container(m) >= 0);
		send_call(b, m, &t);
		m = new_call(b, MANAGER_PATH, MANAGER_INTERFACE, "GetSession");
		CHECK(sd_bus_message_append(m, "s", text) >= 0);
		send_call(b, m, &t);
		process(b, &t, 0);
	}
	CHECK(t.n_limited == 25);
	CHECK(t.n_done == 0);
}

TEST(test_huge_options)
{
	attack(be_huge);
}

static int kernel_fd; /* as if a privileged process had passed it */

/* Descriptors of all kinds: each is refused or a usable output, and each call is answered. */
static void pass_descriptors(void)
{
	sd_bus *b = connect_bus();
	int closed_pipe[2], closed_pair[2],
		sealed = memfd_create("x", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int n_taken = 0;

	CHECK(pipe2(closed_pipe, O_CLOEXEC) == 0 && close(closed_pipe[0]) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, closed_pair) == 0 &&
	      close(closed_pair[0]) == 0);
	CHECK(sealed >= 0 && fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW) == 0);
	const int fds[] = {
		closed_pipe[1],
		closed_pair[1],
		sealed,
		eventfd(0, EFD_CLOEXEC),
		epoll_create1(EPOLL_CLOEXEC),
		inotify_init1(IN_CLOEXEC),
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC),
		socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		sd_bus_get_fd(b),
		open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		open("/tmp", O_PATH | O_CLOEXEC),
		open("/dev/full", O_WRONLY | O_CLOEXEC),
		open("/dev/zero", O_RDWR | O_CLOEXEC),
		kernel_fd,
	};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		struct answer a = create(b, "strange", fds[i]);

		CHECK(fds[i] >= 0);
		if (a.r < 0) {
			CHECK(strcmp(a.error.name, ERROR_PREFIX "InvalidOutput") == 0 ||
			      strcmp(a.error.name, ERROR_PREFIX "LimitReached") == 0);
			continue;
		}
		n_taken++;
		/* not the bus's own socket: data written there would go to the attacker */
		if (fds[i] != sd_bus_get_fd(b))
			call(b, a.path, "Start");
		CHECK(call(b, a.path, "Remove").r >= 0);
	}
	CHECK(n_taken <= 5);
	CHECK(count_sessions(b) == 0);
}

TEST(test_strange_descriptors)
{
	kernel_fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	attack(pass_descriptors);
	kernel_fd = close_fd(kernel_fd);
}

/* As many descriptors as messages can have, all of which wait for polkit. */
static void have_descriptors_held(void)
{
	enum { CONNECTIONS = 12, MESSAGES = 16, DESCRIPTORS = 16 };
	sd_bus *others = connect_bus(), *b[CONNECTIONS];
	struct tally t[CONNECTIONS] = { 0 };
	int fd = open_output();
	size_t n_limited = 0, n_open = 0;

	CHECK(set_answer(others, "org.kymo.Trace1.control", "hold") >= 0);
	for (size_t i = 0; i < CONNECTIONS; i++) {
		b[i] = connect_bus();
		for (int j = 0; j < MESSAGES; j++) {
			sd_bus_message *m = new_options(b[i]);

			CHECK(sd_bus_message_open_container(m, 'e', "sv") >= 0);
			CHECK(sd_bus_message_append(m, "s", "allocator_fds") >= 0);
			CHECK(sd_bus_message_open_container(m, 'v', "ah") >= 0);
			CHECK(sd_bus_message_open_container(m, 'a', "h") >= 0);
			for (int k = 0; k < DESCRIPTORS; k++)
				CHECK(sd_bus_message_append(m, "h", fd) >= 0);
			for (int k = 0; k < 4; k++)
				CHECK(sd_bus_message_close_container(m) >= 0);
			send_call(b[i], m, &t[i]);
			CHECK(sd_bus_flush(b[i]) >= 0);
		}
	}
	/* Descriptors above the limit are refused at once. */
	for (int i = 0; i < SOON_MS / 5 && (i == 0 || n_open > 32); i++) {
		if (i > 0)
			usleep(5000);
		n_limited = n_open = 0;
		for (size_t j = 0; j < CONNECTIONS; j++) {
			while (sd_bus_process(b[j], NULL) > 0)
				;
			n_limited += t[j].n_limited;
			n_open += t[j].n_open;
		}
	}
	CHECK(n_open <= 32);
	CHECK(n_limited > 0);
	CHECK(set_answer(others, "org.kymo.Trace1.control", "yes") >= 0);
	CHECK(set_polkit(others, "Release") >= 0);
	for (size_t i = 0; i < CONNECTIONS; i++)
		process(b[i], &t[i], 0);
	CHECK(count_sessions(others) == 0);
}

TEST(test_held_descriptors)
{
	attack(have_descriptors_held);
}

/* Unusual names and paths. */
static void say_strange_names(void)
{
	static const char *const names[] = {
		"",
		"a/b",
		"../victim",
		"2/victim",
		"/",
		"a b",
		"a\nb",
		"a.b",
		"\xc3\xa9",
		"%n%s",
		"0123456789012345678901234567890123456789012345678901234567890123456789",
	};
	static const char *const asked[] = {
		"",          "2/victim",          "02/victim", "+2/victim",
		" 2/victim", "4294967298/victim", "-1/victim", "2//victim",
		"2/victim/", "2/../2/victim",     "victim",    "/",
		"%n%s",
	};
	sd_bus *b = connect_bus();
	int fd = open_output();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct answer a = create(b, names[i], fd);

		/* (a busy service still closes the files of earlier calls) */
		for (int n = 0; n < SOON_MS / 100 && is_limited(&a); n++) {
			usleep(100000);
			a = create(b, names[i], fd);
		}
		CHECK_ERROR(a, ERROR_PREFIX "InvalidOption");
	}
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
		CHECK(!exists(b, asked[i]));
	CHECK(count_sessions(b) == 0);
}

TEST(test_strange_names)
{
	attack(say_strange_names);
}

/* Another user's session, in all ways. Each call fails as if the session did not exist. */
static void inspect_other_sessions(void)
{
	static const char *const paths[] = {
		SESSION_PREFIX "2/victim", SESSION_PREFIX "2/nobody", SESSION_PREFIX "2",
		SESSION_PREFIX "victim",   SESSION_PREFIX "1/victim", SESSION_PREFIX "2/victim/x",
	};
	static const struct {
		const char *interface, *member, *types, *one, *two;
	} calls[] = {
		{ SESSION_INTERFACE, "Stop", "", NULL, NULL },
		{ SESSION_INTERFACE, "Remove", "", NULL, NULL },
		{ SESSION_INTERFACE, "Mark", "s", "x", NULL },
		{ SESSION_INTERFACE, "BeginContext", "s", "x", NULL },
		{ NULL, "Stop", "", NULL, NULL },
		{ NULL, "GetAll", "s", SESSION_INTERFACE, NULL },
		{ "org.freedesktop.DBus.Properties", "Get", "ss", SESSION_INTERFACE, "Options" },
		{ "org.freedesktop.DBus.Properties", "GetAll", "s", SESSION_INTERFACE, NULL },
		{ "org.freedesktop.DBus.Properties", "GetAll", "s", "", NULL },
		{ "org.example.None", "Stop", "", NULL, NULL },
	};
	sd_bus *b = connect_bus();

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		char first[128] = "";

		for (size_t j = 0; j < ARRAY_SIZE(paths); j++) {
			sd_bus_error e = SD_BUS_ERROR_NULL;
			sd_bus_message *m =
				new_call(b, paths[j], calls[i].interface, calls[i].member);

			if (*calls[i].types)
				CHECK(sd_bus_message_append(m, calls[i].types, calls[i].one,
							    calls[i].two) >= 0);
			CHECK(sd_bus_call(b, m, 0, &e, NULL) < 0);
			sd_bus_message_unref(m);
			if (j == 0)
				snprintf(first, sizeof(first), "%s", e.name);
			CHECK(strcmp(e.name, first) == 0);
			sd_bus_error_free(&e);
		}
	}
}

TEST(test_others_sessions)
{
	attack(inspect_other_sessions);
}

/* Forged signals of the bus and of polkit, and unrequested answers. */
static void tell_lies(void)
{
	static const char *const matches[] = { "org.freedesktop.DBus", "org.freedesktop.DBus.Local",
					       "org.freedesktop.PolicyKit1.Authority" };
	static const char *const paths[] = { "/org/freedesktop/DBus", "/org/freedesktop/DBus/X",
					     "/org/freedesktop/PolicyKit1/Authority" };
	static const char *const members[] = { "NameOwnerChanged", "Disconnected", "Changed" };
	const char *names = getenv("VICTIM_NAME");
	sd_bus *b = connect_bus();

	CHECK(names);
	for (size_t i = 0; i < ARRAY_SIZE(matches); i++) {
		for (int n = 0; n < 20; n++) {
			sd_bus_message *m = NULL;

			CHECK(sd_bus_message_new_signal(b, &m, paths[i], matches[i], members[i]) >=
			      0);
			if (i == 0)
				CHECK(sd_bus_message_append(m, "sss", names, names, "") >= 0);
			sd_bus_send_to(b, m, NAME, NULL);
			sd_bus_message_unref(m);
		}
		/* The bus may disconnect a client that sends such messages. */
		if (count_sessions(b) < 0)
			b = connect_bus();
	}
	CHECK(count_sessions(b) == 0);
}

TEST(test_lies)
{
	const char *name;

	assert_true(sd_bus_get_unique_name(victim, &name) >= 0);
	setenv("VICTIM_NAME", name, true);
	attack(tell_lies);
}

/* Invalid calls, and calls without an answer. */
static void call_wrongly(void)
{
	sd_bus *b = connect_bus();
	struct tally t = { 0 };

	for (int i = 0; i < 300; i++) {
		sd_bus_message *m = new_call(b, MANAGER_PATH, NULL, "CreateSession");

		CHECK(sd_bus_message_append(m, i % 2 ? "i" : "as", i % 2 ? 7 : 0) >= 0);
		send_call(b, m, &t);
		m = new_call(b, MANAGER_PATH, MANAGER_INTERFACE,
			     i % 2 ? "Nothing" : "ListSessions");
		CHECK(sd_bus_message_append(m, "v", "t", UINT64_MAX) >= 0);
		send_call(b, m, &t);
		m = new_call(b, "/", "org.freedesktop.DBus.Introspectable", "Introspect");
		CHECK(sd_bus_message_set_expect_reply(m, false) >= 0);
		CHECK(sd_bus_send(b, m, NULL) >= 0);
		sd_bus_message_unref(m);
	}
	process(b, &t, 0);
	CHECK(t.n_done == 0);
	CHECK(count_sessions(b) == 0);
}

TEST(test_wrong_calls)
{
	attack(call_wrongly);
}

static int list_providers(sd_bus *b)
{
	return sd_bus_call_method(b, NAME, MANAGER_PATH, MANAGER_INTERFACE, "ListProviders", NULL,
				  NULL, NULL);
}

/* Few lists of a user wait at once. The others are refused. */
static void list_again_and_again(void)
{
	const unsigned n = unit_rounds(3000);
	sd_bus *b = connect_bus();
	struct tally t = { 0 };

	for (unsigned i = 0; i < n; i++)
		send_call(b, new_call(b, MANAGER_PATH, MANAGER_INTERFACE, "ListProviders"), &t);
	process(b, &t, 0);
	CHECK(t.n_done > 0);
	CHECK(t.n_refused > 0);
	CHECK(t.n_done + t.n_refused + t.n_limited == n);
}

/* Root is answered meanwhile. Its lists keep the socket, so those of the user wait, too. */
TEST(test_flood_of_lists)
{
	sd_bus *root = connect_bus();
	int status = -1;
	pid_t pid;

	assert_true(list_providers(root) >= 0);
	pid = start_as_user(FOREIGN_USER, list_again_and_again);
	do {
		assert_true(list_providers(root) >= 0);
	} while (waitpid(pid, &status, WNOHANG) == 0);
	assert_int_equal(status, 0);
	sd_bus_flush_close_unref(root);
}

static int n_disappearing = 300;

/* Connections that leave while their calls are under way. */
static void disappear(void)
{
	int fd = open_output();

	for (int i = 0; i < n_disappearing; i++) {
		sd_bus *b = connect_bus();
		struct tally t = { 0 };

		send_call(b, new_create(b, "gone", fd), &t);
		send_call(b, new_call(b, SESSION_PREFIX "1/gone", SESSION_INTERFACE, "Start"), &t);
		send_call(b, new_call(b, SESSION_PREFIX "1/gone", SESSION_INTERFACE, "Stop"), &t);
		if (i % 3 == 0)
			process(b, &t, 2);
		CHECK(sd_bus_flush(b) >= 0);
		sd_bus_close(b);
		sd_bus_unref(b);
	}
	for (int i = 0; i < 3000; i++) {
		sd_bus *b = connect_bus();
		int n = count_sessions(b);

		sd_bus_flush_close_unref(b);
		if (n == 0)
			return;
		usleep(10000);
	}
	CHECK(!"sessions of those who left stay");
}

TEST(test_disappearing)
{
	attack(disappear);
}

/* More attackers, and all attacks again: memory does not grow. */
TEST(test_memory_is_bounded)
{
	static void (*const attacks[])(void) = { make_many, be_huge, disappear, call_wrongly };
	long before, after, margin = has_asan() ? RSS_MARGIN_ASAN_KB : RSS_MARGIN_KB;

	/* After each attack has run once, all necessary memory is allocated. */
	before = rss_kb();
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		teardown(NULL);
		setup(NULL);
		attack(attacks[i]);
	}
	after = rss_kb();
	print_message("%ld kB before, %ld kB after\n", before, after);
	assert_true(after - before < margin);
}

static int only_attack(void)
{
	static void (*const attacks[])(void) = { make_many, be_huge, disappear };

	/* Real sessions take longer. */
	n_disappearing = 12;
	/* Each leaves the bus before the next one comes. */
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			attacks[i]();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_many_sessions),
		CASE(test_huge_options),
		CASE(test_strange_descriptors),
		CASE(test_held_descriptors),
		CASE(test_strange_names),
		CASE(test_others_sessions),
		CASE(test_lies),
		CASE(test_wrong_calls),
		CASE(test_flood_of_lists),
		CASE(test_disappearing),
		CASE(test_sessions_in_a_loop),
		CASE(test_start_in_a_loop),
		CASE(test_memory_is_bounded),
	};

	if (argc == 2 && strcmp(argv[1], "attack") == 0)
		return only_attack();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
