/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "reader/why/wait-cause.h"
#include "tests/support/unit.h"

enum { FRAMES_MAX = 16 };

/* Splits TEXT at its spaces. */
static size_t split(char *text, const char *to[static FRAMES_MAX])
{
	size_t n = 0;

	for (char *word; (word = strsep(&text, " ")) && n < FRAMES_MAX;)
		to[n++] = strcmp(word, "?") == 0 ? NULL : word;
	return n;
}

/* Stacks are innermost first. Those of the kernel come from 6.1, 6.12 and 6.18. */
static const struct {
	const char *kernel, *user;
	char letter;
	enum wait_cause cause, second;
	const char *function;
} rows[] = {
	{ "schedule futex_wait_queue __futex_wait futex_wait do_futex", "__lll_lock_wait main", 'S',
	  WAIT_LOCK, WAIT_UNKNOWN, "__lll_lock_wait" },
	{ "schedule futex_wait_queue_me futex_wait do_futex", "pthread_cond_wait main", 'S',
	  WAIT_CONDITION, WAIT_UNKNOWN, "pthread_cond_wait" },
	{ "schedule __futex_wait futex_wait", "? __pthread_clockjoin_ex main", 'S', WAIT_JOIN,
	  WAIT_UNKNOWN, "__pthread_clockjoin_ex" },
	{ "schedule __futex_wait futex_wait", "main", 'S', WAIT_CONDITION, WAIT_UNKNOWN,
	  "__futex_wait" },
	{ "schedule futex_lock_pi do_futex", "main", 'S', WAIT_LOCK, WAIT_UNKNOWN,
	  "futex_lock_pi" },
	{ "schedule anon_pipe_read vfs_read", "read main", 'S', WAIT_PIPE, WAIT_UNKNOWN,
	  "anon_pipe_read" },
	{ "schedule_timeout wait_woken n_tty_read tty_read", "read", 'S', WAIT_TERMINAL,
	  WAIT_UNKNOWN, "n_tty_read" },
	{ "schedule io_schedule_timeout balance_dirty_pages balance_dirty_pages_ratelimited_flags",
	  "write", 'D', WAIT_WRITEBACK, WAIT_DISK, "balance_dirty_pages" },
	{ "schedule mutex_lock anon_pipe_write", "", 'D', WAIT_PIPE, WAIT_KERNEL_LOCK,
	  "anon_pipe_write" },
	{ "schedule do_nanosleep hrtimer_nanosleep common_nsleep", "clock_nanosleep", 'S',
	  WAIT_TIMER, WAIT_UNKNOWN, "do_nanosleep" },
	{ "schedule do_wait kernel_wait4", "wait4", 'S', WAIT_CHILD, WAIT_UNKNOWN, "do_wait" },
	{ "schedule io_schedule folio_wait_bit_common filemap_fault handle_mm_fault", "main", 'D',
	  WAIT_FAULT, WAIT_DISK, "filemap_fault" },
	{ "schedule io_schedule bit_wait_io jbd2_log_wait_commit ext4_sync_file", "fsync", 'D',
	  WAIT_FILE_SYSTEM, WAIT_DISK, "jbd2_log_wait_commit" },
	{ "schedule request_wait_answer __fuse_simple_request fuse_fsync", "fsync", 'D',
	  WAIT_SERVER, WAIT_UNKNOWN, "request_wait_answer" },
	{ "schedule io_schedule try_to_free_mem_cgroup_pages handle_mm_fault", "main", 'D',
	  WAIT_MEMORY, WAIT_DISK, "try_to_free_mem_cgroup_pages" },
	{ "schedule poll_schedule_timeout.constprop.0 do_sys_poll", "poll", 'S', WAIT_POLL,
	  WAIT_UNKNOWN, "poll_schedule_timeout.constprop.0" },
	{ "schedule sk_wait_data tcp_recvmsg_locked tcp_recvmsg", "recv", 'S', WAIT_SOCKET,
	  WAIT_UNKNOWN, "sk_wait_data" },
	{ "schedule worker_thread kthread", "", 'I', WAIT_WORK, WAIT_UNKNOWN, "worker_thread" },
	{ "schedule io_schedule process_one_work worker_thread kthread", "", 'D', WAIT_DISK,
	  WAIT_UNKNOWN, "io_schedule" },
	{ "schedule rwsem_down_read_slowpath down_read ext4_map_blocks", "main", 'D',
	  WAIT_KERNEL_LOCK, WAIT_UNKNOWN, "rwsem_down_read_slowpath" },
	{ "schedule do_signal_stop get_signal", "main", 'T', WAIT_STOPPED, WAIT_UNKNOWN, NULL },
	{ "schedule get_signal", "main", 'S', WAIT_FROZEN, WAIT_UNKNOWN, "get_signal" },
	{ "schedule wait_for_completion_state kernel_clone", "vfork", 'D', WAIT_CHILD, WAIT_KERNEL,
	  "kernel_clone" },
	{ "schedule mutex_lock kernel_clone", "vfork", 'D', WAIT_KERNEL_LOCK, WAIT_UNKNOWN,
	  "mutex_lock" },
	{ "schedule ? ptrace_stop", "main", 'S', WAIT_TRACED, WAIT_UNKNOWN, "ptrace_stop" },
	{ "schedule ?", "fsync main", 'D', WAIT_FILE_SYSTEM, WAIT_UNKNOWN, "fsync" },
	{ "", "foo main", 'D', WAIT_KERNEL, WAIT_UNKNOWN, NULL },
	{ "", "", 't', WAIT_TRACED, WAIT_UNKNOWN, NULL },
	{ "", "", 'S', WAIT_UNKNOWN, WAIT_UNKNOWN, NULL },
	{ "my_pipe_read pipe_readable", "", 'S', WAIT_UNKNOWN, WAIT_UNKNOWN, NULL },
};

TEST(test_stacks)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *kernel = strdup(rows[i].kernel), *user = strdup(rows[i].user);
		const char *in_kernel[FRAMES_MAX], *in_user[FRAMES_MAX];
		struct wait_facts facts = {
			.letter = rows[i].letter,
			.kernel = in_kernel,
			.n_kernel = split(kernel, in_kernel),
			.user = in_user,
			.n_user = split(user, in_user),
		};
		struct wait_verdict v = wait_cause_of(&facts);

		if (v.cause != rows[i].cause || v.second != rows[i].second)
			fail_msg("'%s' is %s, %s", rows[i].kernel, wait_cause_rows[v.cause].key,
				 wait_cause_rows[v.second].key);
		if (rows[i].function)
			assert_string_equal(v.function, rows[i].function);
		else
			assert_null(v.function);
	}
}

/* Evidence in its order, the weakest first: each overrides those before it. */
TEST(test_evidence)
{
	static const char *const fsync[] = { "fsync" }, *const pipe[] = { "pipe_read" };
	struct wait_facts f = { .letter = 'D' };

	assert_int_equal(wait_cause_of(&f).evidence, WAIT_BY_STATE);
	f.user = fsync;
	f.n_user = 1;
	assert_int_equal(wait_cause_of(&f).evidence, WAIT_BY_USER_STACK);
	f.syscall = "read";
	f.object = "tcp";
	assert_int_equal(wait_cause_of(&f).cause, WAIT_SOCKET);
	assert_int_equal(wait_cause_of(&f).evidence, WAIT_BY_SYSCALL);
	f.is_peer_here = true;
	assert_int_equal(wait_cause_of(&f).cause, WAIT_LOCAL);
	f.kernel = pipe;
	f.n_kernel = 1;
	assert_int_equal(wait_cause_of(&f).cause, WAIT_PIPE);
	assert_int_equal(wait_cause_of(&f).evidence, WAIT_BY_KERNEL_STACK);
	f.throttled = true;
	assert_int_equal(wait_cause_of(&f).cause, WAIT_THROTTLED);
	assert_int_equal(wait_cause_of(&f).evidence, WAIT_BY_FACT);
	f = (struct wait_facts){ .letter = 'S', .syscall = "futex" };
	assert_int_equal(wait_cause_of(&f).cause, WAIT_CONDITION);
	f.has_owner = true;
	assert_int_equal(wait_cause_of(&f).cause, WAIT_LOCK);
	f = (struct wait_facts){ .letter = 'S', .is_kernel_thread = true };
	assert_int_equal(wait_cause_of(&f).cause, WAIT_WORK);
}

TEST(test_sources)
{
	static const char *const timer[] = { "try_to_wake_up", "hrtimer_wakeup" };

	assert_int_equal(wait_source_of(timer, 2, "NET_RX"), WAIT_SOURCE_TIMER);
	assert_int_equal(wait_source_of(timer, 1, "NET_RX"), WAIT_SOURCE_NETWORK);
	assert_int_equal(wait_source_of(NULL, 0, "nvme0q1"), WAIT_SOURCE_DISK);
	assert_int_equal(wait_source_of(NULL, 0, "i8042"), WAIT_SOURCE_DEVICE);
	assert_int_equal(wait_source_of(NULL, 0, "RCU"), WAIT_SOURCE_UNKNOWN);
	assert_int_equal(wait_source_of(NULL, 0, NULL), WAIT_SOURCE_UNKNOWN);
}

TEST(test_tables)
{
	for (size_t i = 0; i < WAIT_CAUSES; i++) {
		assert_non_null(wait_cause_rows[i].key);
		assert_non_null(wait_cause_rows[i].title);
	}
	for (size_t i = 0; i < WAIT_EVIDENCES; i++)
		assert_non_null(wait_evidence_keys[i]);
	for (size_t i = 0; i < WAIT_SOURCES; i++)
		assert_non_null(wait_source_keys[i]);
	assert_int_equal(wait_function_find("rwsem_down_write_slowpath.isra.0")->cause,
			 WAIT_KERNEL_LOCK);
	assert_null(wait_function_find("rwsem_down"));
	assert_null(wait_function_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
