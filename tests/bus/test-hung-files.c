/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files on a file system that does not answer the daemon, passed to it in all possible ways. The
 * attacker gains nothing, and other users are not affected. hung-files.sh passes the daemon's pid
 * in KYMOD_PID, to which the file system (support/mute-fuse.h) is mute, and the mount point in
 * KYMO_TEST_MOUNT. Hanging threads cannot be killed: they end when this process ends, and the file
 * system with it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/files/close-queue.h"
#include "tests/bus/ask-service.h"
#include "tests/bus/hanging-sockets.h"
#include "tests/bus/latency-watch.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

static sd_bus *other;
static pid_t kymod, attacker;
static const char *mounted;
static struct latency_watch *latency_watch;

static int open_mute(int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" MUTE_FUSE_FILE, mounted);
	fd = open(path, flags | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

FIXTURE(setup)
{
	setup_bus(state);
	other = connect_bus();
	mute_fuse_be_mute_to(kymod);
	latency_watch = latency_watch_begin();
	return 0;
}

/* The number of descriptors of the mute file in the daemon. */
static int count_open(void)
{
	char directory[32], target[256];
	const struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", kymod);
	dir = opendir(directory);
	if (!dir)
		return 0; /* it has ended */
	while ((entry = readdir(dir))) {
		ssize_t size = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[size < 0 ? 0 : size] = '\0';
		n += strstr(target, MUTE_FUSE_FILE) != NULL;
	}
	closedir(dir);
	return n;
}

static void stop_latency_watch(void)
{
	struct latency_watch *l = latency_watch;

	latency_watch = NULL;
	if (l)
		latency_watch_end(l);
}

/* When the file system answers again, nothing is left behind. */
FIXTURE(teardown)
{
	int n = 1;

	stop_latency_watch();
	mute_fuse_be_mute_to(0);
	mute_fuse_keep_pages(false);
	for (int i = 0; i < SOON_MS / 10 && mute_fuse_waiting() > 0; i++)
		usleep(10000);
	if (attacker) {
		kill(attacker, SIGKILL);
		waitpid(attacker, NULL, 0);
		attacker = 0;
	}
	teardown_bus(state);
	other = sd_bus_flush_close_unref(other);
	for (int i = 0; i < SOON_MS / 10 && (n = count_open()) > 0; i++)
		usleep(10000);
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

/* The service works for all other users, and is queried continuously. */
static void assert_alive(void)
{
	assert_true(count_sessions(other) >= 0);
	assert_answered(MANAGER_PATH, "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
	assert_answered(MANAGER_PATH, "org.freedesktop.DBus.Properties", "GetAll",
			MANAGER_INTERFACE);
}

static void wait_for_waiting(unsigned n)
{
	assert_soon(mute_fuse_waiting() >= n);
}

/*
 * The file is not accessed while the session is made. Closing the message's own descriptor hangs in
 * a helper.
 */
TEST(test_output)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY);

	assert_done(create(bus, "hung", fd));
	wait_for_waiting(1);
	assert_alive();
	assert_done(call(bus, SESSION_PREFIX "hung", "Remove"));
	assert_alive();
}

/* A refused file is closed, too. */
TEST(test_refused)
{
	_cleanup_close_ int fd = open_mute(O_RDONLY);

	assert_refused(create(bus, "hung", fd), "InvalidOutput", "for reading only");
	wait_for_waiting(1);
	assert_alive();
}

TEST(test_allocator_fds)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_close_ int fd = open_mute(O_RDONLY), output = open_output();
	struct answer a = { 0 };

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

/* In calls that take no descriptor, and in messages that are no calls. */
TEST(test_uninvited)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *signal = NULL;
	_cleanup_close_ int fd = open_mute(O_RDWR);
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;

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

/* Passes FD N times, so N closes wait. */
static void hang(int fd, int n)
{
	for (int i = 0; i < n; i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;

		/* (this call costs little, so its rate is not limited) */
		assert_true(sd_bus_call_method(bus, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					       "GetSession", &e, NULL, "h", fd) < 0);
	}
}

/*
 * From a file system with too many hanging closes, no more descriptors are accepted. From a slow
 * one, and from others, they are.
 */
TEST(test_limit)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY), good = open_output();
	struct answer a;

	hang(fd, 20);
	/* (after the first one hangs, the line makes no progress after CLOSE_STUCK_NS) */
	wait_for_waiting(1);
	usleep(1100000);
	/* (a busy disk can leave this many waiting) */
	assert_done(create(bus, "slow", fd));
	assert_true((a = call(bus, SESSION_PREFIX "slow", "Remove")).r >= 0 || a.error.name);
	sd_bus_error_free(&a.error);
	hang(fd, CLOSE_QUEUED_MAX);
	a = create(bus, "hung", fd);
	assert_refused(a, "LimitReached", "the file system does not answer");
	assert_done(create(bus, "good", good));
	assert_done(call(bus, SESSION_PREFIX "good", "Remove"));
	assert_alive();
}

/* A session that writes there hangs alone, and can be removed. */
TEST(test_recording)
{
	_cleanup_close_ int fd = open_mute(O_WRONLY), good = open_output();
	struct answer a;

	assert_done(create(bus, "hung", fd));
	assert_done(create(other, "good", good));
	assert_done(call(bus, SESSION_PREFIX "hung", "Start"));
	assert_done(call(other, SESSION_PREFIX "good", "Start"));
	wait_for_waiting(2); /* for the message's own descriptor, and for the output's thread */
	assert_alive();
	assert_done(call(other, SESSION_PREFIX "good", "Stop"));
	assert_true(lseek(good, 0, SEEK_END) > 0);
	a = call(bus, SESSION_PREFIX "hung", "Remove");
	assert_true(a.r < 0);
	assert_non_null(strstr(a.error.message, "the last bytes could not be written"));
	sd_bus_error_free(&a.error);
	assert_alive();
	assert_done(call(other, SESSION_PREFIX "good", "Remove"));
}

/*
 * A hanging descriptor of the service must not delay its children: one reads the program whose
 * memory is watched.
 */
TEST(test_children)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_close_ int fd = open_mute(O_RDWR), output = open_output();
	struct answer a = { 0 };

	/*
	 * One is being closed, and is no longer in the table of descriptors. The other waits there
	 * for it.
	 */
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
	/* Only the request of the service waits. */
	assert_true(mute_fuse_waiting() == 1);
}

/* ---- attacks of unprivileged users ---- */

/*
 * Runs FN as an unprivileged user. The daemon is stopped until FN is complete, so that the bus has
 * closed its descriptors by then: the last one is the daemon's, so that the bus does not hang.
 */
static void begin_attack(void (*fn)(void))
{
	int status;

	stop_latency_watch();
	assert_int_equal(kill(kymod, SIGSTOP), 0);
	attacker = start_as_user(FOREIGN_USER, fn);
	assert_int_equal(waitpid(attacker, &status, WUNTRACED), attacker);
	assert_int_equal(kill(kymod, SIGCONT), 0);
	latency_watch = latency_watch_begin();
	assert_true(WIFSTOPPED(status));
}

/*
 * In FN: sent messages are on their way, and descriptors that were not received only belong to the
 * daemon.
 */
static void end_attack(sd_bus *b)
{
	for (int i = 0; i < 2; i++)
		CHECK(sd_bus_call_method(b, "org.freedesktop.DBus", "/org/freedesktop/DBus",
					 "org.freedesktop.DBus.Peer", "Ping", NULL, NULL,
					 NULL) >= 0);
	raise(SIGSTOP);
	pause();
}

enum { LINGERING = CLOSE_AT_ONCE_MAX + 6 };

/* Sends a call of GetSession, or a signal if CALL is false, with FD. There may be no answer. */
static void send_uninvited(sd_bus *b, int fd, bool call)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	if (call)
		CHECK(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						     "GetSession") >= 0);
	else
		CHECK(sd_bus_message_new_signal(b, &m, "/", "org.example.Any", "Thing") >= 0);
	CHECK(sd_bus_message_append(m, "h", fd) >= 0);
	CHECK(sd_bus_send_to(b, m, NAME, NULL) >= 0);
	CHECK(sd_bus_flush(b) >= 0);
}

/*
 * Sockets whose queues contain the last descriptors of files with a dirty page: closing them writes
 * the page. The process that has written the page keeps its file open, since its close would have
 * written the page, too.
 */
static void send_queued(int n)
{
	static const char page[MUTE_FUSE_BYTES] = "dirty";
	int writer = open_mute(O_RDWR), sockets[LINGERING][2];
	sd_bus *b = connect_bus();

	for (int i = 0; i < n; i++) {
		int fd = open_mute(O_RDWR);

		CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets[i]) == 0);
		CHECK(hanging_sockets_send(sockets[i][0], fd));
		close(fd);
		close(sockets[i][0]);
	}
	CHECK(write(writer, page, sizeof(page)) == sizeof(page));
	mute_fuse_keep_pages(true);
	for (int i = 0; i < n; i++) {
		send_uninvited(b, sockets[i][1], i % 2 == 0);
		close(sockets[i][1]);
	}
	end_attack(b);
}

static void send_queued_file(void)
{
	send_queued(2);
}

TEST(test_queued_file)
{
	begin_attack(send_queued_file);
	wait_for_waiting(1);
	assert_alive();
}

/* A pipe whose lock its writer holds, in a page fault that is never answered. */
static void send_held_pipe(void)
{
	sd_bus *b = connect_bus();
	int ends[2], fd = open_mute(O_RDONLY);
	const void *page = mmap(NULL, MUTE_FUSE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	pid_t pid;

	CHECK(page != MAP_FAILED && pipe2(ends, O_CLOEXEC) == 0);
	mute_fuse_keep_pages(true);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		_exit(write(ends[1], page, MUTE_FUSE_BYTES) < 0);
	}
	close(ends[1]);
	for (int i = 0; i < SOON_MS && mute_fuse_waiting() == 0; i++)
		usleep(1000);
	CHECK(mute_fuse_waiting() > 0);
	send_uninvited(b, ends[0], true);
	close(ends[0]);
	end_attack(b);
}

TEST(test_held_pipe)
{
	begin_attack(send_held_pipe);
	assert_alive();
}

/* io_uring may be unavailable, and newer kernels do not allow passing it. */
static void send_uring(void)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	unsigned char parameters[256] = { 0 };
	sd_bus *b = connect_bus();
	int fd = (int)syscall(SYS_io_uring_setup, 4, parameters);

	if (fd >= 0 && sd_bus_message_new_signal(b, &m, "/", "org.example.Any", "Thing") >= 0 &&
	    sd_bus_message_append(m, "h", fd) >= 0 && sd_bus_send_to(b, m, NAME, NULL) >= 0)
		sd_bus_flush(b);
	sd_bus_close_unref(b);
	if (fd >= 0)
		close(fd);
}

/* Descriptors of every other kind. */
static void send_kinds(void)
{
	sd_bus *b = connect_bus();
	int file = open_mute(O_RDWR), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	const int fds[] = {
		epoll,
		eventfd(0, EFD_CLOEXEC),
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC),
		(int)syscall(SYS_memfd_create, "x", 0),
		inotify_init1(IN_CLOEXEC),
		open("/dev/zero", O_RDWR | O_CLOEXEC),
		open_mute(O_PATH),
	};

	epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		CHECK(fds[i] >= 0);
		send_uninvited(b, fds[i], true);
		close(fds[i]);
	}
	send_uring();
	close(file);
	end_attack(b);
}

TEST(test_kinds)
{
	begin_attack(send_kinds);
	assert_alive();
}

static void send_lingering(void)
{
	int listener = hanging_sockets_listen(), peer;
	sd_bus *b = connect_bus();

	for (int i = 0; i < LINGERING; i++) {
		int fd = hanging_sockets_new(listener, &peer);

		send_uninvited(b, fd, true);
		close(fd);
	}
	end_attack(b);
}

/* Root's archive is closed in any case: its reader sees the end. */
static void assert_archive_ends(void)
{
	struct pollfd end = { .events = POLLIN };
	char bytes[4096];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	end.fd = ends[0];
	assert_done(create(other, "piped", ends[1]));
	close(ends[1]);
	assert_done(call(other, SESSION_PREFIX "piped", "Remove"));
	for (;;) {
		assert_int_equal(poll(&end, 1, 10000), 1);
		if (read(ends[0], bytes, sizeof(bytes)) <= 0)
			break;
	}
	close(ends[0]);
}

TEST(test_lingering)
{
	begin_attack(send_lingering);
	assert_alive();
	assert_archive_ends();
}

/* More sockets with hanging files than there can be closers. */
static void send_many_queued(void)
{
	send_queued(LINGERING);
}

TEST(test_many_queued)
{
	begin_attack(send_many_queued);
	wait_for_waiting(1);
	assert_alive();
	assert_archive_ends();
}

/* ---- programs that write events of their own ---- */

/* More than the service accepts of a user: 1/16 of its descriptors, and full queues. */
enum { PROGRAMS = 800, CLOSE_USEC = 100000 };

/* A list of root, which makes the socket of programs. */
static void list_programs(void)
{
	assert_answered(MANAGER_PATH, MANAGER_INTERFACE, "ListProviders", NULL);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* The service can have closed its copy already. Then this close hangs, unless it is interrupted. */
static void close_a_copy(int fd)
{
	ualarm(CLOSE_USEC, 0);
	close(fd);
	ualarm(0, 0);
}

static void send_to_program_socket(void)
{
	const struct sigaction interrupts = { .sa_handler = on_alarm };
	int listener = hanging_sockets_listen(), peer, n = 0;

	sigaction(SIGALRM, &interrupts, NULL);
	for (; n < PROGRAMS; n++) {
		int program = hanging_sockets_connect_program(), fd;

		if (program < 0)
			break;
		fd = hanging_sockets_new(listener, &peer);
		/* (a wrong packet, which the service does not receive; or it has no place) */
		if (hanging_sockets_send(program, fd))
			close_a_copy(fd);
		else
			hanging_sockets_close(fd);
		close(program);
	}
	/* The service has stopped accepting. */
	CHECK(n < PROGRAMS);
	raise(SIGSTOP);
	pause();
}

/* Whether the service accepts a program: it ends the connection after a wrong packet. */
static bool accepts_programs(void)
{
	_cleanup_close_ int program = -1;
	struct pollfd end = { .events = POLLIN };

	list_programs();
	program = hanging_sockets_connect_program();
	if (program < 0)
		return false;
	end.fd = program;
	return send(program, "x", 1, MSG_NOSIGNAL) == 1 && poll(&end, 1, 1000) == 1;
}

/*
 * Descriptors whose close hangs, in packets of programs. They neither use up the descriptors of the
 * service, nor delay the lists of root.
 */
TEST(test_programs)
{
	unsigned before;
	int status = 0;

	list_programs();
	before = count_files(kymod);
	attacker = start_as_user(FOREIGN_USER, send_to_program_socket);
	do {
		list_programs();
	} while (waitpid(attacker, &status, WUNTRACED | WNOHANG) == 0);
	if (!WIFSTOPPED(status))
		attacker = 0;
	assert_true(WIFSTOPPED(status));
	assert_alive();
	/* (1/16 of 4096, those of links that were accepted at once, and some of other work) */
	assert_true(count_files(kymod) < before + 512);
	/* When they are closed, the next program is accepted. */
	kill(attacker, SIGKILL);
	waitpid(attacker, NULL, 0);
	attacker = 0;
	assert_soon(accepts_programs());
}

/* Whether the service of the program FD has ended. */
static bool has_no_service(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* ---- the end of the service ---- */

/* Whether the name of the service is free: then all of its files are closed. */
static bool name_is_free(void)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	return sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				  "org.freedesktop.DBus", "GetNameOwner", &e, &reply, "s",
				  NAME) < 0;
}

/*
 * Hanging threads do not delay the end of the service, by SIGTERM or by a crash. This comes last,
 * since the service is gone afterwards.
 */
static void end_by(int signal)
{
	struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, kymod, 0), .events = POLLIN };
	int program;

	begin_attack(send_many_queued);
	wait_for_waiting(1);
	assert_alive();
	list_programs();
	program = hanging_sockets_connect_program();
	assert_true(program >= 0);
	assert_true(ended.fd >= 0);
	stop_latency_watch();
	assert_int_equal(kill(kymod, signal), 0);
	assert_int_equal(poll(&ended, 1, 15000), 1);
	close(ended.fd);
	assert_soon(name_is_free());
	/* Programs notice the end, too, although other files are still being closed. */
	assert_soon(has_no_service(program));
	close(program);
}

TEST(test_end)
{
	end_by(SIGTERM);
}

TEST(test_kill)
{
	end_by(SIGKILL);
}

/* ---- a file system that only its owner may access ---- */

static void send_private(void)
{
	sd_bus *b = connect_bus();
	int fd = open_mute(O_RDWR);

	send_uninvited(b, fd, true);
	send_uninvited(b, fd, false);
	sd_bus_unref(b);
}

TEST(test_private)
{
	as_user(FOREIGN_USER, send_private);
	wait_for_waiting(1);
	assert_alive();
}

static void create_private(void)
{
	sd_bus *b = connect_bus();
	struct answer a = create(b, "private", open_mute(O_WRONLY));

	CHECK(a.r < 0 && strstr(a.error.message, "FUSE without allow_other"));
	sd_bus_unref(b);
}

TEST(test_private_output)
{
	as_user(MEMBER, create_private);
	assert_alive();
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		/* (first, since files that were read once are cached) */
		CASE(test_children),      CASE(test_output),      CASE(test_refused),
		CASE(test_allocator_fds), CASE(test_uninvited),   CASE(test_limit),
		CASE(test_recording),     CASE(test_queued_file), CASE(test_held_pipe),
		CASE(test_kinds),         CASE(test_lingering),   CASE(test_many_queued),
		CASE(test_end),
	};
	const struct CMUnitTest private_tests[] = {
		CASE(test_private),
	};
	const struct CMUnitTest programs_tests[] = {
		CASE(test_programs),
	};
	const struct CMUnitTest kill_tests[] = {
		CASE(test_kill),
	};
	const struct CMUnitTest member_tests[] = {
		CASE(test_private_output),
	};
	const char *which = argc > 1 ? argv[1] : "";
	int r;

	kymod = (pid_t)strtol(getenv("KYMOD_PID"), NULL, 10);
	mounted = getenv("KYMO_TEST_MOUNT");
	r = mute_fuse_mount(mounted, strcmp(which, "private") == 0  ? FOREIGN_USER
				     : strcmp(which, "member") == 0 ? MEMBER
								    : 0);
	if (r < 0) {
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
		return 77;
	}
	if (strcmp(which, "private") == 0)
		return cmocka_run_group_tests(private_tests, NULL, NULL);
	if (strcmp(which, "programs") == 0)
		return cmocka_run_group_tests(programs_tests, NULL, NULL);
	if (strcmp(which, "kill") == 0)
		return cmocka_run_group_tests(kill_tests, NULL, NULL);
	if (strcmp(which, "member") == 0)
		return cmocka_run_group_tests(member_tests, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
