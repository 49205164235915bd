/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Very many descriptors whose close never ends: more than the daemon can have. The attacker gains
 * nothing. The daemon keeps its connection to the bus and its sessions, and answers at once.
 * starve.sh passes the daemon's pid in KYMOD_PID, to which the file system (support/mute-fuse.h) is
 * mute, and limits that daemon's descriptors.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"
#include "tests/bus/latency-watch.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

enum {
	PER_MESSAGE = 16, /* the limit of a bus */
	ROUNDS = 2,       /* the daemon is sent this many times its limit */
	FILES_MORE = 16,  /* a closer, reading a file */
	RSS_MORE_KB = 32 << 10,
};

static sd_bus *root;
static int archive;
static pid_t kymod;
static const char *mounted;
static unsigned long files_max; /* the daemon's limit */
static unsigned files_before;

static int open_mute(int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" MUTE_FUSE_FILE, mounted);
	fd = open(path, flags | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static unsigned long rss_kb(void)
{
	char path[64], line[128];
	unsigned long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", kymod);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "VmRSS: %lu", &kb) != 1)
		;
	fclose(f);
	return kb;
}

/* A session of root, which must lose nothing. */
FIXTURE(setup)
{
	root = connect_bus();
	archive = open_output();
	assert_done(create(root, "victim", archive));
	assert_done(call(root, SESSION_PREFIX "victim", "Start"));
	/* All files that the daemon opens for a session are open when the session has events. */
	assert_soon(count_events(root, SESSION_PREFIX "victim") > 0);
	files_before = count_files(kymod);
	mute_fuse_be_mute_to(kymod);
	return 0;
}

/* When the file system answers again, all of its descriptors are freed. */
FIXTURE(teardown)
{
	unsigned n = 0;

	mute_fuse_be_mute_to(0);
	for (int i = 0; i < SOON_MS / 10 && (n = count_files(kymod)) > files_before + FILES_MORE;
	     i++)
		usleep(10000);
	print_message("  %u descriptors before, %u after\n", files_before, n);
	if (n > files_before + FILES_MORE)
		return -1;
	root = sd_bus_flush_close_unref(root);
	archive = close_fd(archive);
	return 0;
}

/* Calls CreateSession with the maximum number of descriptors, without waiting for the answer. */
static void send_one(sd_bus *b, int fd)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	CHECK(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					     "CreateSession") >= 0);
	CHECK(sd_bus_message_append(m, "sa{sv}", "hung", 1, "allocator_fds", "ah", PER_MESSAGE, fd,
				    fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd,
				    fd) >= 0);
	CHECK(sd_bus_message_set_expect_reply(m, false) >= 0);
	CHECK(sd_bus_send(b, m, NULL) >= 0);
	CHECK(sd_bus_flush(b) >= 0);
}

/* The bus has forwarded some or all of B's messages. */
static void pass_by_bus(sd_bus *b)
{
	CHECK(sd_bus_call_method(b, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				 "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, NULL) >= 0);
}

static void send_masses(void)
{
	sd_bus *b = connect_bus();
	int fd = open_mute(O_RDONLY);

	for (unsigned long n = 0; n < ROUNDS * files_max; n += PER_MESSAGE) {
		send_one(b, fd);
		if (n % (16 * PER_MESSAGE) == 0)
			pass_by_bus(b);
	}
	pass_by_bus(b);
	CHECK(count_sessions(b) >= 0);
}

/*
 * A new connection for each message: its user is unknown when the message arrives, and some have
 * left by then.
 */
static void send_by_many(void)
{
	int fd = open_mute(O_RDONLY);

	for (unsigned long n = 0; n < ROUNDS * files_max; n += 4 * PER_MESSAGE) {
		sd_bus *b = connect_bus();

		for (int i = 0; i < 4; i++)
			send_one(b, fd);
		pass_by_bus(b);
		sd_bus_close_unref(b);
	}
}

/* Users without hanging descriptors can pass descriptors as before. */
static void assert_others_may(void)
{
	sd_bus *b = connect_as(OTHER_FOREIGN_USER);
	int good = open_output();

	/* (the bus rejects messages until the service has read the last ones of the attacker) */
	assert_soon(count_sessions(root) >= 0 && count_sessions(b) >= 0);
	assert_done(create(root, "good", good));
	assert_done(call(root, SESSION_PREFIX "good", "Remove"));
	assert_refused(create(b, "good", good), "AccessDenied", "");
	sd_bus_flush_close_unref(b);
	close(good);
}

/* Other users are not affected while UID runs FN, nor while its closes hang afterwards. */
static void starve_by(uid_t uid, void (*fn)(void))
{
	struct latency_watch *latency_watch = latency_watch_begin();
	unsigned long kb = rss_kb();
	unsigned n;

	as_user(uid, fn);
	assert_others_may();
	assert_state(root, SESSION_PREFIX "victim", "running");
	n = count_files(kymod);
	latency_watch_end(latency_watch);
	print_message("  %u descriptors open, %lu kB before, %lu kB after\n", n, kb, rss_kb());
	assert_true(n < files_max / 2);
	assert_true(rss_kb() < kb + RSS_MORE_KB);
}

static void end_victim(void)
{
	assert_done(call(root, SESSION_PREFIX "victim", "Stop"));
	assert_int_equal(count_lost(root, SESSION_PREFIX "victim"), 0);
	assert_true(lseek(archive, 0, SEEK_END) > 0);
	assert_done(call(root, SESSION_PREFIX "victim", "Remove"));
}

TEST(test_stranger)
{
	starve_by(FOREIGN_USER, send_masses);
	end_victim();
}

/* The error contains the reason. */
TEST(test_member)
{
	sd_bus *b = connect_as(MEMBER);
	int good = open_output();

	starve_by(MEMBER, send_masses);
	assert_true(count_sessions(b) >= 0);
	assert_refused(create(b, "good", good), "LimitReached", "could not be closed yet");
	end_victim();
	mute_fuse_be_mute_to(0);
	assert_soon(count_files(kymod) <= files_before + FILES_MORE);
	assert_done(create(b, "good", good));
	assert_done(call(b, SESSION_PREFIX "65534/good", "Remove"));
	sd_bus_flush_close_unref(b);
	close(good);
}

/*
 * A user who is unknown by then is refused at the first call, even root, but not at the next one.
 */
TEST(test_many_connections)
{
	sd_bus *b;
	int good = open_output();

	starve_by(FOREIGN_USER, send_by_many);
	b = connect_bus();
	assert_refused(create(b, "good", good), "LimitReached", "try again");
	assert_done(create(b, "good", good));
	assert_done(call(b, SESSION_PREFIX "good", "Remove"));
	sd_bus_flush_close_unref(b);
	end_victim();
	close(good);
}

/* Whether the name of the service is free. */
static bool name_is_free(void)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;

	return sd_bus_call_method(root, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				  "org.freedesktop.DBus", "GetNameOwner", &e, NULL, "s", NAME) < 0;
}

/*
 * This comes last, since the service is gone afterwards. The next one can start, although each
 * process with its connection hangs: a sink that has just received a descriptor cannot even be
 * killed.
 */
static void end_starved_by(int signal)
{
	struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, kymod, 0), .events = POLLIN };

	as_user(FOREIGN_USER, send_masses);
	assert_true(ended.fd >= 0);
	assert_int_equal(kill(kymod, signal), 0);
	assert_int_equal(poll(&ended, 1, SOON_MS), 1);
	close(ended.fd);
	assert_soon(name_is_free());
	assert_true(lseek(archive, 0, SEEK_END) > 0);
}

TEST(test_end)
{
	end_starved_by(SIGTERM);
}

TEST(test_kill)
{
	end_starved_by(SIGKILL);
}

FIXTURE(teardown_end)
{
	mute_fuse_be_mute_to(0);
	root = sd_bus_flush_close_unref(root);
	archive = close_fd(archive);
	return 0;
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_stranger),
		CASE(test_member),
		CASE(test_many_connections),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown_end),
	};
	const struct CMUnitTest kill_tests[] = {
		cmocka_unit_test_setup_teardown(test_kill, setup, teardown_end),
	};
	struct rlimit files;
	int r;

	kymod = (pid_t)strtol(getenv("KYMOD_PID"), NULL, 10);
	mounted = getenv("KYMO_TEST_MOUNT");
	if (prlimit(kymod, RLIMIT_NOFILE, NULL, &files) < 0)
		return 1;
	files_max = files.rlim_cur;
	r = mute_fuse_mount(mounted, 0);
	if (r < 0) {
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
		return 77;
	}
	if (argc > 1 && strcmp(argv[1], "kill") == 0)
		return cmocka_run_group_tests(kill_tests, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
