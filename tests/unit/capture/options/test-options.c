/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/options/option-table.h"
#include "capture/options/options-complete.h"
#include "tests/support/unit.h"

TEST(test_categories_parse)
{
	static const struct {
		const char *text;
		int r;
		size_t word, n; /* the place of the unknown one */
	} rows[] = {
		{ "sched", 0, 0, 0 },
		{ "sched,sched", 0, 0, 0 },
		{ "", -EINVAL, 0, 0 },
		{ ",", -EINVAL, 0, 0 },
		{ "sched,", -EINVAL, 6, 0 },
		{ ",sched", -EINVAL, 0, 0 },
		{ "sche", -EINVAL, 0, 4 },
		{ "sched2", -EINVAL, 0, 6 },
		{ "Sched", -EINVAL, 0, 5 },
		{ " sched", -EINVAL, 0, 6 },
		{ "sched,memery,sched", -EINVAL, 6, 6 },
		{ "irqs", -EINVAL, 0, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t bits = 77;
		const char *word = NULL;
		size_t n = 99;

		assert_int_equal(categories_parse(rows[i].text, &bits, &word, &n), rows[i].r);
		if (rows[i].r == 0) {
			assert_int_equal(bits, CATEGORY_SCHED);
			continue;
		}
		assert_int_equal(bits, 77);
		assert_ptr_equal(word, rows[i].text + rows[i].word);
		assert_int_equal(n, rows[i].n);
		assert_int_equal(categories_parse(rows[i].text, &bits, NULL, NULL), -EINVAL);
	}
}

TEST(test_categories_format)
{
	char text[CATEGORIES_TEXT_MAX];
	uint32_t all = 0, bits;

	assert_string_equal(categories_format(text, 0), "");
	assert_string_equal(categories_format(text, CATEGORY_IRQ), "irq");
	for (const struct category_row *row = category_rows; row->name; row++)
		all |= row->bit;
	categories_format(text, all);
	assert_true(strlen(text) + 1 < sizeof(text)); /* nothing was cut */
	assert_int_equal(categories_parse(text, &bits, NULL, NULL), 0);
	assert_int_equal(bits, all);
}

TEST(test_filter_is_set)
{
	const struct capture_filter filters[] = {
		{ .n_pids = 1 }, { .n_uids = 1 }, { .n_comms = 1 }, { .n_cgroups = 1 }
	};

	assert_false(capture_filter_is_set(&(struct capture_filter){ 0 }));
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		assert_true(capture_filter_is_set(&filters[i]));
}

static size_t complaints_of(const struct session_options *o)
{
	return option_check(o, 0, NULL, NULL);
}

TEST(test_categories_need_filter)
{
	struct session_options o = { .categories = CATEGORIES_DEFAULT };

	assert_int_equal(complaints_of(&o), 0);
	for (const struct category_row *row = category_rows; row->name; row++) {
		o.categories = row->bit;
		assert_int_equal(complaints_of(&o),
				 (row->bit &
				  (CATEGORIES_MEMORY | CATEGORIES_CALLS | CATEGORY_MOMENTS |
				   CATEGORY_TRACEPOINTS | CATEGORY_WAKER_STACKS)) != 0);
		assert_int_equal(categories_need_filter(row->bit, &o.filter),
				 (row->bit & CATEGORIES_MEMORY) != 0);
		assert_int_equal(option_check(&o, OPTION_CHECK_CHOSEN, NULL, NULL),
				 (row->bit & (CATEGORIES_CALLS | CATEGORY_MOMENTS |
					      CATEGORY_TRACEPOINTS | CATEGORY_WAKER_STACKS)) != 0);
	}
	o.categories = CATEGORY_OFFCPU | CATEGORY_WAKER_STACKS;
	assert_int_equal(complaints_of(&o), 0);
	o = (struct session_options){ .categories = CATEGORY_MEMORY };
	o.filter.n_uids = 1;
	assert_int_equal(complaints_of(&o), 0);
}

/* A user's own processes are a selection, too. An invalid user is refused. */
TEST(test_own)
{
	struct session_options o = { .categories = CATEGORY_MEMORY };
	char *text;

	assert_false(session_options_filtered(&o));
	assert_int_equal(complaints_of(&o), 1);
	session_options_set_own(&o, 0);
	assert_true(o.own);
	assert_int_equal(o.own_uid, 0);
	assert_int_equal(o.n_own_gids, 0);
	assert_true(session_options_filtered(&o));
	for (const struct category_row *row = category_rows; row->name; row++) {
		o.categories = row->bit;
		assert_int_equal(complaints_of(&o),
				 (row->bit & (CATEGORIES_NOT_OWN | CATEGORIES_CALLS |
					      CATEGORY_MOMENTS | CATEGORY_WAKER_STACKS)) != 0
					 ? 1 + (row->bit == CATEGORY_TRACEPOINTS)
					 : 0);
	}
	o.categories = CATEGORY_MEMORY;
	text = session_options_describe(&o);
	assert_non_null(strstr(text, " own"));
	free(text);
	o.memory.triage = true;
	assert_int_equal(complaints_of(&o), 1);
	/* No user has this number. */
	session_options_set_own(&o, UINT32_MAX - 2);
	assert_int_equal(o.own_uid, UINT32_MAX - 2);
	assert_int_equal(o.n_own_gids, 0);
	/* Existing users have at least one group. */
	for (uid_t uid = 1; uid < 100; uid++) {
		const struct passwd *user = getpwuid(uid);
		gid_t gid = user ? user->pw_gid : 0;

		session_options_set_own(&o, uid);
		assert_int_equal(o.n_own_gids > 0, user != NULL);
		if (user)
			assert_int_equal(o.own_gids[0], gid);
	}
}

/* A copy has its own descriptors. */
TEST(test_copy_descriptors)
{
	int fds[] = { STDIN_FILENO, STDERR_FILENO }, bad = -1;
	const struct session_options o = {
		.memory = { .allocators = { fds, ARRAY_SIZE(fds) } },
	};
	const struct session_options wrong = {
		.memory = { .allocators = { &bad, 1 } },
	};
	struct session_options copy;

	assert_int_equal(session_options_copy(&copy, &o), 0);
	assert_int_equal(copy.memory.allocators.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(copy.memory.allocators.fds[i] >= 3);
		assert_true(fcntl(copy.memory.allocators.fds[i], F_GETFD) & FD_CLOEXEC);
	}
	bad = copy.memory.allocators.fds[1];
	session_options_deinit(&copy);
	assert_int_equal(fcntl(bad, F_GETFD), -1);
	bad = -1;
	assert_int_equal(session_options_copy(&copy, &wrong), -EBADF);
}

TEST(test_describe_memory)
{
	struct session_options o = {
		.categories = CATEGORY_MEMORY,
		.memory = { .blocks_max = 5000, .usage_interval_ns = 1000000000 },
	};
	char *text;

	text = session_options_describe(&o);
	assert_non_null(strstr(text, "categories=memory"));
	assert_non_null(strstr(text, " usage=1.00 s blocks_max=5000"));
	assert_null(strstr(text, "log"));
	assert_null(strstr(text, "interval="));
	free(text);
	o.memory.log = true;
	o.memory.interval = 4096;
	o.memory.min_bytes = 16;
	o.memory.reach = MEMORY_REACH_FREEZE;
	text = session_options_describe(&o);
	assert_non_null(strstr(text, " log interval=4.0 KiB min=16 B reach=freeze"));
	free(text);
	o.categories = CATEGORY_SCHED;
	text = session_options_describe(&o);
	assert_null(strstr(text, "blocks_max"));
	free(text);
}

/* Each row of the table is one bit, has a name that can be parsed, and is explained. */
TEST(test_category_rows)
{
	uint32_t all = 0;

	for (const struct category_row *row = category_rows; row->name; row++) {
		uint32_t bits;

		assert_int_equal(categories_parse(row->name, &bits, NULL, NULL), 0);
		assert_int_equal(bits, row->bit);
		assert_int_equal(__builtin_popcount(row->bit), 1);
		assert_int_equal(all & row->bit, 0);
		assert_true(*row->what && *row->cost);
		all |= row->bit;
	}
	assert_true(all & CATEGORY_SCHED);
}

#define TEN(s)     s s s s s s s s s s
#define SIXTY_FOUR TEN("a_9Zxy") "last"

TEST(test_name_valid)
{
	static const struct {
		const char *name;
		bool valid;
	} rows[] = {
		{ "a", true },         { "Z", true },
		{ "0", true },         { "_", true },
		{ "a_B_9", true },     { SIXTY_FOUR, true },
		{ "", false },         { SIXTY_FOUR "x", false },
		{ "a-b", false },      { "a b", false },
		{ "a/b", false },      { "a.b", false },
		{ "\xc3\xa4", false }, { "a\n", false },
	};

	assert_int_equal(strlen(SIXTY_FOUR), 64);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(session_name_valid(rows[i].name), rows[i].valid);
}

TEST(test_copy)
{
	uint32_t pids[] = { 1, 2, 3 }, uids[] = { 1000 };
	char comms[][REC_COMM_BYTES] = { "bash", "exactly-fifteen" };
	struct filter_cgroup cgroups[] = { { .parent_id = 5, .level = 2, .name = "user" } };
	char command[] = "kymo record";
	const struct session_options from = {
		.name = "n",
		.categories = CATEGORY_SCHED,
		.ring_bytes = 1 << 20,
		.flush_ns = 2,
		.duration_ns = 3,
		.max_bytes = 4,
		.command = command,
		.filter = { .pids = pids,
			    .n_pids = 3,
			    .uids = uids,
			    .n_uids = 1,
			    .comms = comms,
			    .n_comms = 2,
			    .cgroups = cgroups,
			    .n_cgroups = 1 },
	};
	struct session_options to;

	memset(&to, 0xa5, sizeof(to));
	assert_int_equal(session_options_copy(&to, &from), 0);
	assert_string_equal(to.name, "n");
	assert_int_equal(to.categories, CATEGORY_SCHED);
	assert_int_equal(to.ring_bytes, 1 << 20);
	assert_int_equal(to.flush_ns, 2);
	assert_int_equal(to.duration_ns, 3);
	assert_int_equal(to.max_bytes, 4);
	assert_int_equal(to.filter.n_pids, 3);
	assert_int_equal(to.filter.n_uids, 1);
	assert_int_equal(to.filter.n_comms, 2);
	assert_int_equal(to.filter.n_cgroups, 1);

	/* Everything that the options own is a copy. */
	memset(command, 'x', 4);
	memset(pids, 0xff, sizeof(pids));
	memset(uids, 0xff, sizeof(uids));
	memset(comms, 'x', sizeof(comms));
	memset(cgroups, 0xff, sizeof(cgroups));
	assert_string_equal(to.command, "kymo record");
	assert_memory_equal(to.filter.pids, ((uint32_t[]){ 1, 2, 3 }), sizeof(pids));
	assert_int_equal(to.filter.uids[0], 1000);
	assert_string_equal(to.filter.comms[1], "exactly-fifteen");
	assert_int_equal(to.filter.cgroups[0].parent_id, 5);
	assert_string_equal(to.filter.cgroups[0].name, "user");

	session_options_deinit(&to);
	assert_null(to.command);
	assert_null(to.filter.pids);
	assert_int_equal(to.filter.n_pids, 0);
	session_options_deinit(&to);
}

TEST(test_copy_empty)
{
	const struct session_options from = { .name = "" };
	struct session_options to;

	memset(&to, 0xa5, sizeof(to));
	assert_int_equal(session_options_copy(&to, &from), 0);
	assert_null(to.command);
	assert_null(to.filter.pids);
	assert_null(to.filter.uids);
	assert_null(to.filter.comms);
	assert_null(to.filter.cgroups);
	session_options_deinit(&to);
}

TEST(test_describe)
{
	struct session_options o = {
		.ring_bytes = 4 << 20,
		.flush_ns = 250000000,
		.duration_ns = 0,
		.max_bytes = UINT64_MAX,
	};
	_cleanup_free_ char *text = session_options_describe(&o), *packed = NULL;

	assert_string_equal(
		text, "ring=4.0 MiB flush=250 ms duration_ns=0 max_bytes=18446744073709551615");
	o.compress = PACK_GZIP;
	o.categories = CATEGORY_SCHED | CATEGORY_COUNTERS;
	o.counter_interval_ns = 500000000;
	packed = session_options_describe(&o);
	assert_non_null(strstr(packed, " max_bytes=18446744073709551615 compress=gzip "
				       "categories=sched,counters counters=500 ms"));
}

/* Archives contain this text: it must not change. */
TEST(test_describe_all)
{
	const struct session_options o = {
		.ring_bytes = 1 << 20,
		.flush_ns = 500000000,
		.duration_ns = 5,
		.compress = PACK_ZSTD,
		.categories = CATEGORY_SCHED | CATEGORY_COUNTERS | CATEGORY_PROFILE |
			      CATEGORY_OFFCPU | CATEGORY_MEMORY,
		.counter_interval_ns = 2000000000,
		.frequency = 199,
		.offcpu_min_ns = 3000000,
		.no_perfetto_blobs = true,
		.own = true,
		.memory = { .log = true,
			    .interval = 4096,
			    .min_bytes = 16,
			    .blocks_max = 5000,
			    .usage_interval_ns = 1000000000,
			    .reach = MEMORY_REACH_LOOK,
			    .triage = true,
			    .triage_interval_ns = UINT64_C(5000000000) },
		.mode = SESSION_FLIGHT,
		.flight_bytes = 64 << 20,
		.max_overhead_ppm = 20000,
		.max_overhead_machine_ppm = 300,
		.triggers = { .wakeup_ns = 5000,
			      .pressure_ppm = { 700, 0, 800 },
			      .leak_bytes = 1 << 20,
			      .interval_ns = 1000000 },
	};
	_cleanup_free_ char *text = session_options_describe(&o);

	assert_string_equal(
		text,
		"ring=1.0 MiB flush=500 ms duration_ns=5 max_bytes=0 compress=zstd "
		"categories=sched,counters,profile,offcpu,memory counters=2.00 s frequency=199 "
		"offcpu_min=3.00 ms no_perfetto_blobs own usage=1.00 s blocks_max=5000 log "
		"interval=4.0 KiB min=16 B reach=look triage=5.00 s mode=flight keep=all "
		"keep_size=64.0 MiB max_overhead_ppm=20000 max_overhead_machine_ppm=300 "
		"trigger_wakeup=5000ns trigger_pressure_cpu=700ppm trigger_pressure_io=800ppm "
		"trigger_leak=1048576B trigger_interval=1000000ns");
}

/* Defaults are filled in, and values must be within their bounds. */
TEST(test_complete)
{
	static const struct session_options wrong[] = {
		{ .name = "a b" },
		{ .name = "x", .flush_ns = FLUSH_NS_MIN - 1 },
		{ .name = "x", .ring_bytes = RING_BYTES_MAX + 1 },
		{ .name = "x", .frequency = FREQUENCY_MAX + 1 },
		{ .name = "x", .mode = SESSION_MODE_MAX },
		{ .name = "x", .mode = SESSION_FLIGHT, .flight_bytes = FLIGHT_BYTES_MAX + 1 },
		{ .name = "x", .mode = SESSION_FLIGHT, .rotate_ns = ROTATE_NS_MIN },
		{ .name = "x", .rotate_bytes = ROTATE_BYTES_MIN - 1 },
		{ .name = "x", .max_overhead_ppm = OVERHEAD_PPM_MIN - 1 },
		{ .name = "x", .memory.blocks_max = MEMORY_BLOCKS_MAX + 1 },
		{ .name = "x", .categories = CATEGORY_MEMORY }, /* without a process */
	};
	struct session_options o = { .name = "x" },
			       flight = { .name = "x", .mode = SESSION_FLIGHT };

	assert_int_equal(session_options_complete(&o), 0);
	assert_int_equal(o.categories, CATEGORIES_DEFAULT);
	assert_int_equal(o.flush_ns, FLUSH_NS_DEFAULT);
	assert_int_equal(o.frequency, FREQUENCY_DEFAULT);
	assert_int_equal(o.memory.blocks_max, MEMORY_BLOCKS_DEFAULT);
	assert_int_equal(o.flight_bytes, 0);
	assert_int_equal(session_options_complete(&flight), 0);
	assert_int_equal(flight.flight_bytes, FLIGHT_BYTES_DEFAULT);
	assert_int_equal(flight.flight_ns, FLIGHT_NS_DEFAULT);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		o = wrong[i];
		assert_int_equal(session_options_complete(&o), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_categories_parse),
		cmocka_unit_test(test_category_rows),
		cmocka_unit_test(test_categories_need_filter),
		cmocka_unit_test(test_copy_descriptors),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_describe_memory),
		cmocka_unit_test(test_categories_format),
		cmocka_unit_test(test_filter_is_set),
		cmocka_unit_test(test_name_valid),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_copy_empty),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_describe_all),
		cmocka_unit_test(test_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
