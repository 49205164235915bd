/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data of this process, which is the only one that certainly exists.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "capture/proc/proc.h"
#include "tests/support/unit.h"

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

TEST(test_identity)
{
	struct rec_identity id;

	assert_int_equal(prctl(PR_SET_NAME, "exactly-fifteen"), 0);
	memset(&id, 0xa5, sizeof(id));
	assert_int_equal(proc_identity((uint32_t)getpid(), &id), 0);
	assert_int_equal(id.pid, getpid());
	assert_int_equal(id.tid, getpid());
	assert_int_equal(id.parent_pid, getppid());
	assert_int_equal(id.uid, geteuid());
	assert_int_equal(id.flags, 0);
	assert_int_equal(id.start_ns, 0);
	assert_int_equal(id.cgroup_id, 0);
	assert_string_equal(id.comm, "exactly-fifteen");
}

/* A name that looks like a line of the file is still a name. */
TEST(test_identity_name)
{
	static const char *const names[] = { "", "a b", "x\nTgid:\t1", ")\tUid:\t0", "\xff\xfe" };
	struct rec_identity id;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(proc_identity((uint32_t)getpid(), &id), 0);
		assert_int_equal(id.pid, getpid());
		assert_int_equal(id.uid, geteuid());
		assert_non_null(memchr(id.comm, '\0', sizeof(id.comm)));
		if (!strchr(names[i], '\n'))
			assert_string_equal(id.comm, names[i]);
	}
}

static void *identify(void *userdata)
{
	struct rec_identity *id = userdata;

	prctl(PR_SET_NAME, "second");
	if (proc_identity(own_tid(), id) < 0)
		id->tid = 0;
	return NULL;
}

TEST(test_identity_thread)
{
	struct rec_identity id = { 0 };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, identify, &id), 0);
	pthread_join(thread, NULL);
	assert_int_not_equal(id.tid, 0);
	assert_int_not_equal(id.tid, getpid());
	assert_int_equal(id.pid, getpid());
	assert_string_equal(id.comm, "second");
}

TEST(test_identity_gone)
{
	struct rec_identity id = { .pid = 4711 };
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(proc_identity((uint32_t)child, &id), -ESRCH);
	assert_int_equal(proc_identity(UINT32_MAX, &id), -ESRCH);
	assert_int_equal(id.pid, 4711);
}

TEST(test_command)
{
	char want[256] = { 0 }, is[256] = { 0 };
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n;

	assert_non_null(f);
	n = fread(want, 1, sizeof(want), f);
	fclose(f);
	assert_true(n > 5);
	assert_int_equal(proc_command((uint32_t)getpid(), is, sizeof(is), NULL), n);
	assert_memory_equal(is, want, sizeof(want));
	memset(is, 'x', sizeof(is));
	assert_int_equal(proc_command((uint32_t)getpid(), is, 5, NULL), 5);
	assert_memory_equal(is, want, 5);
	assert_int_equal(is[5], 'x');
}

/* An ended process that is not waited for has a name and no command line. */
TEST(test_zombie)
{
	struct rec_identity id;
	siginfo_t info;
	char command[64];
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_command((uint32_t)child, command, sizeof(command), NULL), 0);
	assert_int_equal(proc_identity((uint32_t)child, &id), 0);
	assert_int_equal(id.parent_pid, getpid());
	assert_true(proc_is_exiting((uint32_t)child));
	assert_false(proc_is_exiting((uint32_t)getpid()));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(proc_is_exiting((uint32_t)child));
	assert_int_equal(proc_command((uint32_t)child, command, sizeof(command), NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity),        cmocka_unit_test(test_identity_name),
		cmocka_unit_test(test_identity_thread), cmocka_unit_test(test_identity_gone),
		cmocka_unit_test(test_command),         cmocka_unit_test(test_zombie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
