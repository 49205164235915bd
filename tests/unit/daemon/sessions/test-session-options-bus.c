/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options are written into messages that are never sent: a connection without a peer makes and
 * reads them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/sessions/session-options-bus.h"
#include "tests/support/unit.h"

struct fixture {
	sd_bus *bus;
	int other_fd;
	int output[2];
};

FIXTURE(setup)
{
	static struct fixture f;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(pipe2(f.output, O_CLOEXEC), 0);
	f.other_fd = fds[1];
	assert_true(sd_bus_new(&f.bus) >= 0);
	assert_true(sd_bus_set_fd(f.bus, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_negotiate_fds(f.bus, true) >= 0);
	assert_true(sd_bus_start(f.bus) >= 0);
	*state = &f;
	return 0;
}

FIXTURE(teardown)
{
	struct fixture *f = *state;

	sd_bus_close_unref(f->bus);
	close(f->other_fd);
	close(f->output[0]);
	close(f->output[1]);
	return 0;
}

static sd_bus_message *begin(struct fixture *f)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, "a.b", "/", "a.b", "c") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	return m;
}

static void end(sd_bus_message *m)
{
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
}

/* It is refused with ERROR, and with TEXT in the message. */
static void assert_refused(sd_bus_message *m, int error, const char *text)
{
	struct create_request request = { .output_fd = -77 };
	sd_bus_error e = SD_BUS_ERROR_NULL;

	assert_int_equal(create_request_read(m, 1000, &request, &e), error);
	assert_int_equal(request.output_fd, -77); /* untouched */
	assert_non_null(e.message);
	if (!strstr(e.message, text))
		print_error("'%s' is not in: %s\n", text, e.message);
	assert_non_null(strstr(e.message, text));
	sd_bus_error_free(&e);
	sd_bus_message_unref(m);
}

TEST(test_create_request_read_all)
{
	struct create_request request;
	struct fixture *f = *state;
	sd_bus_message *m = begin(f);

	/* clang-format off */
	assert_true(sd_bus_message_append(m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}",
					  "output", "h", f->output[1],
					  "ring_bytes", "t", UINT64_C(65536),
					  "duration_ns", "t", UINT64_C(5),
					  "linger", "b", 1,
					  "command", "s", "kymo record",
					  "categories", "as", 1, "sched",
					  "pids", "au", 2, 10, 20) >= 0);
	assert_true(sd_bus_message_append(m, "{sv}{sv}{sv}",
					  "uids", "au", 1, 0,
					  "comms", "as", 2, "bash", "a_name_that_is_too_long",
					  "cgroups", "a(tus)", 1, UINT64_C(42), 2, "x.service") >= 0);
	/* clang-format on */
	end(m);
	assert_int_equal(create_request_read(m, 1000, &request, NULL), 0);
	assert_true(request.output_fd >= 3);
	assert_true(fcntl(request.output_fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(request.options.ring_bytes, 65536);
	assert_int_equal(request.options.duration_ns, 5);
	assert_int_equal(request.options.flush_ns, 0);
	assert_true(request.linger);
	assert_string_equal(request.options.command, "kymo record");
	assert_int_equal(request.options.categories, CATEGORY_SCHED);
	assert_int_equal(request.options.filter.n_pids, 2);
	assert_int_equal(request.options.filter.pids[1], 20);
	assert_int_equal(request.options.filter.n_uids, 1);
	assert_int_equal(request.options.filter.uids[0], 0);
	assert_int_equal(request.options.filter.n_comms, 2);
	assert_string_equal(request.options.filter.comms[1], "a_name_that_is_");
	assert_int_equal(request.options.filter.n_cgroups, 1);
	assert_int_equal(request.options.filter.cgroups[0].parent_id, 42);
	assert_int_equal(request.options.filter.cgroups[0].level, 2);
	assert_string_equal(request.options.filter.cgroups[0].name, "x.service");
	create_request_deinit(&request);
	sd_bus_message_unref(m);
}

static sd_bus_message *flight_options(struct fixture *f, const char *mode, const char *option,
				      uint64_t value)
{
	sd_bus_message *m = begin(f);

	assert_true(sd_bus_message_append(m, "{sv}{sv}", "mode", "s", mode, option, "t", value) >=
		    0);
	end(m);
	return m;
}

TEST(test_create_request_read_flight)
{
	struct create_request request;
	struct fixture *f = *state;
	sd_bus_message *m = flight_options(f, "flight", "flight_ns", 5);

	assert_int_equal(create_request_read(m, 1000, &request, NULL), 0);
	assert_int_equal(request.options.mode, SESSION_FLIGHT);
	assert_int_equal(request.options.flight_ns, 5);
	assert_int_equal(request.options.flight_bytes, 0);
	assert_int_equal(request.output_fd, -1);
	create_request_deinit(&request);
	sd_bus_message_unref(m);
	m = flight_options(f, "flight", "flight_bytes", FLIGHT_BYTES_MIN);
	assert_int_equal(create_request_read(m, 1000, &request, NULL), 0);
	/* With a given size, the time is unlimited; with neither, it is ten seconds. */
	session_options_fill_flight(&request.options);
	assert_int_equal(request.options.flight_ns, 0);
	request.options.flight_bytes = 0;
	session_options_fill_flight(&request.options);
	assert_int_equal(request.options.flight_ns, FLIGHT_NS_DEFAULT);
	assert_int_equal(request.options.flight_bytes, FLIGHT_BYTES_DEFAULT);
	create_request_deinit(&request);
	sd_bus_message_unref(m);
	assert_refused(flight_options(f, "flight", "flight_bytes", 5), -EINVAL, "`flight_bytes`");
	assert_refused(flight_options(f, "flight", "max_bytes", 5), -EINVAL,
		       "`max_bytes`: needs mode");
	assert_refused(flight_options(f, "stream", "duration_ns", 5), -EINVAL, "`output`");
	assert_refused(flight_options(f, "", "flight_ns", 5), -EINVAL, "`");
	m = begin(f);
	assert_true(sd_bus_message_append(m, "{sv}{sv}", "output", "h", f->output[1], "mode", "s",
					  "flight") >= 0);
	end(m);
	assert_refused(m, -EINVAL, "pass it to Snapshot");
}

TEST(test_create_request_read_memory)
{
	struct create_request request;
	struct fixture *f = *state;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	sd_bus_message *m = begin(f);

	/* clang-format off */
	assert_true(sd_bus_message_append(m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}",
					  "output", "h", f->output[1],
					  "categories", "as", 2, "memory", "fd",
					  "pids", "au", 1, 10,
					  "memory_log", "b", 1,
					  "memory_interval", "t", UINT64_C(4096),
					  "memory_min_bytes", "t", UINT64_C(32),
					  "memory_blocks_max", "t", UINT64_C(2000),
					  "usage_interval_ns", "t", UINT64_C(20000000),
					  "reach", "s", "look",
					  "allocator_fds", "ah", 2, self, self) >= 0);
	/* clang-format on */
	end(m);
	assert_int_equal(create_request_read(m, 1000, &request, NULL), 0);
	assert_int_equal(request.options.categories, CATEGORY_MEMORY | CATEGORY_FD);
	assert_true(request.options.memory.log);
	assert_int_equal(request.options.memory.interval, 4096);
	assert_int_equal(request.options.memory.min_bytes, 32);
	assert_int_equal(request.options.memory.blocks_max, 2000);
	assert_int_equal(request.options.memory.usage_interval_ns, 20000000);
	assert_int_equal(request.options.memory.reach, MEMORY_REACH_LOOK);
	assert_int_equal(request.options.memory.allocators.n, 2);
	assert_true(request.options.memory.allocators.fds[0] !=
		    request.options.memory.allocators.fds[1]);
	create_request_deinit(&request);
	sd_bus_message_unref(m);
	close(self);
}

TEST(test_create_request_read_memory_refuses)
{
	static const struct {
		const char *path;
		int flags;
		const char *sentence;
	} rows[] = {
		{ "/dev/null", O_RDONLY, "regular files are needed" },
		{ "/", O_RDONLY, "regular files are needed" },
		{ "/etc/passwd", O_PATH, "regular files are needed" },
	};
	sd_bus_message *m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = open(rows[i].path, rows[i].flags | O_CLOEXEC);

		assert_true(fd >= 0);
		m = begin(*state);
		sd_bus_message_append(m, "{sv}", "allocator_fds", "ah", 1, fd);
		end(m);
		assert_refused(m, -EBADF, rows[i].sentence);
		close(fd);
	}
	m = begin(*state);
	sd_bus_message_append(m, "{sv}{sv}", "output", "h", ((struct fixture *)*state)->output[1],
			      "categories", "as", 1, "threads");
	end(m);
	assert_refused(m, -EINVAL, "`categories`: only allocations of selected");
}

TEST(test_create_request_read_refuses)
{
	static const struct {
		const char *name, *type, *text, *sentence;
		uint64_t number;
		int error;
	} rows[] = {
		{ "ring_bytes", "t", NULL, "`ring_bytes`: 1 is out of range", 1, -EINVAL },
		{ "ring_bytes", "t", NULL, "`ring_bytes`", UINT64_MAX, -EINVAL },
		{ "flush_ns", "t", NULL, "`flush_ns`: 9999999 is out of range", 9999999, -EINVAL },
		{ "duration_ns", "t", NULL, "`duration_ns`", UINT64_MAX, -EINVAL },
		{ "counter_interval_ns", "t", NULL,
		  "`counter_interval_ns`: 99999999 is out of range", 99999999, -EINVAL },
		{ "linger", "t", NULL, "`linger` must be of type b, not t", 1, -EINVAL },
		{ "command", "t", NULL, "`command` must be of type s, not t", 1, -EINVAL },
		{ "output", "t", NULL, "`output` must be of type h, not t", 1, -EINVAL },
		{ "compress", "s", "lzma",
		  "`compress`: 'lzma' is not one of no, yes, snappy, zstd, gzip, columns", 0,
		  -EINVAL },
		{ "compress", "s", "none", "`compress`: 'none'", 0, -EINVAL },
		{ "memory_interval", "t", NULL, "`memory_interval`", UINT64_C(1) << 32, -EINVAL },
		{ "memory_min_bytes", "t", NULL, "`memory_min_bytes`", UINT64_MAX, -EINVAL },
		{ "memory_blocks_max", "t", NULL, "`memory_blocks_max`: 1023 is out of range", 1023,
		  -EINVAL },
		{ "usage_interval_ns", "t", NULL, "`usage_interval_ns`: 9999999 is out of range",
		  9999999, -EINVAL },
		{ "memory_log", "s", "yes", "`memory_log` must be of type b, not s", 0, -EINVAL },
		{ "reach", "s", "far", "`reach`: 'far' is not one of no, look, freeze", 0,
		  -EINVAL },
		{ "allocator_fds", "s", "x", "`allocator_fds` must be of type ah, not s", 0,
		  -EINVAL },
		{ "compress", "t", NULL, "`compress` must be of type s, not t", 1, -EINVAL },
		{ "pids", "s", "1", "`pids` must be of type au, not s", 0, -EINVAL },
		{ "profile", "t", NULL, "`profile` must be of type s, not t", 1, -EINVAL },
		{ "Ring_bytes", "t", NULL, "no option `Ring_bytes`", 1, -EINVAL },
		{ "", "t", NULL, "no option ``", 1, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sd_bus_message *m = begin(*state);

		if (rows[i].text)
			assert_true(sd_bus_message_append(m, "{sv}", rows[i].name, rows[i].type,
							  rows[i].text) >= 0);
		else
			assert_true(sd_bus_message_append(m, "{sv}", rows[i].name, rows[i].type,
							  rows[i].number) >= 0);
		end(m);
		assert_refused(m, rows[i].error, rows[i].sentence);
	}
}

/* The profile contains all options. Only the owner of the session can be set beside it. */
TEST(test_create_request_read_profile)
{
	struct create_request request = { .output_fd = -1 };
	sd_bus_error e = SD_BUS_ERROR_NULL;
	sd_bus_message *m = begin(*state);

	sd_bus_message_append(m, "{sv}{sv}", "profile", "s", "x", "linger", "b", 1);
	end(m);
	assert_int_equal(create_request_read(m, 1000, &request, &e), 0);
	assert_string_equal(request.profile, "x");
	assert_true(request.linger);
	assert_int_equal(request.output_fd, -1);
	create_request_deinit(&request);
	assert_null(request.profile);
	sd_bus_message_unref(m);
	m = begin(*state);
	sd_bus_message_append(m, "{sv}{sv}", "ring_bytes", "t", UINT64_C(1) << 20, "profile", "s",
			      "x");
	end(m);
	assert_refused(m, -EINVAL, "`ring_bytes`: cannot be combined with `profile`");
}

TEST(test_create_request_read_refuses_lists)
{
	sd_bus_message *m = begin(*state);
	uint32_t many[4097];

	sd_bus_message_append(m, "{sv}", "categories", "as", 1, "nonsense");
	end(m);
	assert_refused(m, -EINVAL, "unknown category 'nonsense'");
	m = begin(*state);
	assert_true(sd_bus_message_append(m, "{sv}", "max_overhead_ppm", "t", UINT64_C(999)) >= 0);
	end(m);
	assert_refused(m, -EINVAL, "`max_overhead_ppm`: 999 is out of range: 1000 to");
	m = begin(*state);
	assert_true(sd_bus_message_append(m, "{sv}", "triggers", "a{st}", 1, "wake",
					  UINT64_C(5000)) >= 0);
	end(m);
	assert_refused(m, -EINVAL, "`triggers`: unknown trigger 'wake'");
	m = begin(*state);
	assert_true(sd_bus_message_append(m, "{sv}", "triggers", "a{st}", 1, "pressure_io",
					  UINT64_C(1000001)) >= 0);
	end(m);
	assert_refused(m, -EINVAL, "'pressure_io': 1000001 is out of range: 100 to 1000000");
	m = begin(*state);
	assert_true(sd_bus_message_append(m, "{sv}{sv}{sv}", "output", "h",
					  ((struct fixture *)*state)->output[1], "categories", "as",
					  1, "irq", "triggers", "a{st}", 1, "offcpu",
					  UINT64_C(5000)) >= 0);
	end(m);
	assert_refused(m, -EINVAL, "`triggers`, offcpu: needs 'sched' among the categories");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "pids", "au", 2, 1, 0);
	end(m);
	assert_refused(m, -EINVAL, "`pids`: 0 is not the id of a process");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "pids", "au", 1, UINT32_C(1) << 31);
	end(m);
	assert_refused(m, -EINVAL, "`pids`: 2147483648 is not");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "uids", "au", 1, UINT32_MAX);
	end(m);
	assert_refused(m, -EINVAL, "`uids`: 4294967295 is not");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "comms", "as", 1, "");
	end(m);
	assert_refused(m, -EINVAL, "`comms`: '' is not a valid name");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "cgroups", "a(tus)", 1, UINT64_C(1), 1, "a/b");
	end(m);
	assert_refused(m, -EINVAL, "`cgroups`");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}", "cgroups", "a(tus)", 1, UINT64_C(1), 0, "a");
	end(m);
	assert_refused(m, -EINVAL, "`cgroups`");
	for (size_t i = 0; i < 4097; i++)
		many[i] = 1;
	m = begin(*state);
	sd_bus_message_open_container(m, 'e', "sv");
	sd_bus_message_append(m, "s", "pids");
	sd_bus_message_open_container(m, 'v', "au");
	sd_bus_message_append_array(m, 'u', many, sizeof(many));
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
	end(m);
	assert_refused(m, -EINVAL, "`pids`: at most 4096 values");
	m = begin(*state);
	sd_bus_message_append(m, "{sv}{sv}", "linger", "b", 1, "linger", "b", 1);
	end(m);
	assert_refused(m, -EINVAL, "`linger` is given twice");
	m = begin(*state);
	end(m);
	assert_refused(m, -EINVAL, "`output` is missing");
}

/* As a client can send it, although no library does. */
TEST(test_create_request_read_output_not_sent)
{
	struct fixture *f = *state;
	sd_bus_message *m = begin(f);
	const uint32_t index = 7;
	const char *name;

	sd_bus_message_append(m, "{sv}", "output", "h", f->output[1]);
	end(m);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	assert_true(sd_bus_message_enter_container(m, 'e', "sv") > 0);
	assert_true(sd_bus_message_read(m, "s", &name) > 0);
	/* In the body: the name, its 0, the type with its length and 0, two bytes of padding. */
	memcpy((char *)(uintptr_t)name + 12, &index, sizeof(index));
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_refused(m, -EBADF, "did not come with the message");
}

/* The result of output_fd_acquire() for FD. The copy is closed. */
static int acquire_output(int fd, uid_t uid, sd_bus_error *reterr)
{
	int copy = -1, r = output_fd_acquire(fd, uid, &copy, reterr);

	assert_true((r == 0) == (copy >= 0));
	close_fd(copy);
	return r;
}

TEST(test_output_fd_take)
{
	static const struct {
		const char *path;
		int flags;
		const char *sentence;
	} rows[] = {
		{ "/dev/null", O_WRONLY, "is a character device" },
		{ "/", O_RDONLY, "is a directory" },
		{ "/", O_PATH, "is a directory" },
		{ "/proc/self/status", O_PATH, "only names a file" },
		{ "/proc/self/status", O_RDONLY, "for reading only" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sd_bus_error e = SD_BUS_ERROR_NULL;
		int fd = open(rows[i].path, rows[i].flags | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(acquire_output(fd, 0, &e), -EBADF);
		assert_non_null(strstr(e.message, rows[i].sentence));
		assert_string_equal(e.name, "org.kymo.Trace1.Error.InvalidOutput");
		sd_bus_error_free(&e);
		close(fd);
	}
	assert_int_equal(acquire_output(f->output[1], 0, NULL), 0);
	assert_int_equal(acquire_output(f->output[0], 0, NULL), -EBADF);
	assert_int_equal(acquire_output(-1, 0, NULL), -EBADF);
	assert_int_equal(acquire_output(f->other_fd, 0, NULL), 0);
}

/*
 * kymod's data could be mistaken for another user's: only the caller's own programs, or another
 * machine, may receive it.
 */
TEST(test_output_fd_take_peer)
{
	struct fixture *f = *state;
	uid_t own = getuid() ?: 4711; /* (root may use any output) */
	int messages[2];
	const int refused[] = {
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), /* it can be connected later */
		socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0),
		f->other_fd, /* its peer belongs to another user */
		-1,
	};

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, messages), 0);
	for (size_t i = 0; refused[i] >= 0; i++) {
		sd_bus_error e = SD_BUS_ERROR_NULL;

		assert_int_equal(acquire_output(refused[i], own + 1, &e), -EBADF);
		assert_non_null(strstr(e.message, "use a pipe"));
		sd_bus_error_free(&e);
		assert_int_equal(acquire_output(refused[i], 0, NULL), 0);
		if (refused[i] != f->other_fd)
			close(refused[i]);
	}
	assert_int_equal(acquire_output(messages[0], own, NULL), -EBADF);
	close(messages[0]);
	close(messages[1]);
	if (getuid() == 0)
		assert_int_equal(seteuid(own), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, messages), 0);
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(acquire_output(messages[0], own, NULL), 0);
	close(messages[0]);
	close(messages[1]);
	assert_int_equal(acquire_output(f->output[1], own, NULL), 0);
}

/* The options that a session shows can be given to another one. */
TEST(test_session_options_append_round_trip)
{
	uint32_t pids[] = { 1, 2 }, uids[] = { 0, UINT32_MAX - 1 };
	char comms[1][REC_COMM_BYTES] = { "bash" };
	struct filter_cgroup cgroup = { .parent_id = 42, .level = 2, .name = "x.service" };
	char command[] = "me";
	const struct session_options o = {
		.categories = CATEGORY_SCHED | CATEGORY_POWER | CATEGORY_COUNTERS,
		.ring_bytes = 1 << 20,
		.flush_ns = FLUSH_NS_DEFAULT,
		.counter_interval_ns = COUNTER_NS_MIN,
		.max_bytes = 99,
		.max_overhead_ppm = 20000,
		.triggers = { .wakeup_ns = 5000,
			      .pressure_ppm = { 0, 700, 800 },
			      .interval_ns = 1000000 },
		.compress = PACK_SNAPPY,
		.command = command,
		.filter = { pids, 2, uids, 2, comms, 1, &cgroup, 1 },
	};
	struct fixture *f = *state;
	sd_bus_message *m = NULL, *again = begin(f);
	struct create_request request;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, "a.b", "/", "a.b", "c") >= 0);
	assert_true(session_options_append(m, &o, true) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	/* The output is not shown. */
	assert_true(sd_bus_message_append(again, "{sv}", "output", "h", f->output[1]) >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_at_end(m, false) == 0)
		assert_true(sd_bus_message_copy(again, m, false) >= 0);
	end(again);
	assert_int_equal(create_request_read(again, 1000, &request, NULL), 0);
	assert_true(request.linger);
	assert_int_equal(request.options.categories, o.categories);
	assert_int_equal(request.options.ring_bytes, o.ring_bytes);
	assert_int_equal(request.options.compress, o.compress);
	assert_int_equal(request.options.flush_ns, o.flush_ns);
	assert_int_equal(request.options.counter_interval_ns, COUNTER_NS_MIN);
	assert_int_equal(request.options.duration_ns, 0);
	assert_int_equal(request.options.max_bytes, 99);
	assert_int_equal(request.options.max_overhead_ppm, 20000);
	assert_memory_equal(&request.options.triggers, &o.triggers, sizeof(o.triggers));
	assert_string_equal(request.options.command, "me");
	assert_int_equal(request.options.filter.n_pids, 2);
	assert_memory_equal(request.options.filter.pids, pids, sizeof(pids));
	assert_int_equal(request.options.filter.n_uids, 2);
	assert_memory_equal(request.options.filter.uids, uids, sizeof(uids));
	assert_string_equal(request.options.filter.comms[0], "bash");
	assert_memory_equal(&request.options.filter.cgroups[0], &cgroup, sizeof(cgroup));
	create_request_deinit(&request);
	sd_bus_message_unref(m);
	sd_bus_message_unref(again);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_create_request_read_all),
		CASE(test_create_request_read_flight),
		CASE(test_create_request_read_memory),
		CASE(test_create_request_read_memory_refuses),
		CASE(test_create_request_read_refuses),
		CASE(test_create_request_read_profile),
		CASE(test_create_request_read_refuses_lists),
		CASE(test_create_request_read_output_not_sent),
		CASE(test_output_fd_take),
		CASE(test_output_fd_take_peer),
		CASE(test_session_options_append_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
