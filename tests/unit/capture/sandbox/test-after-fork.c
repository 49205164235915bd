/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/sandbox/after-fork.h"
#include "tests/support/unit.h"

/* More than the mappings of all programs that can connect, in several sessions. */
enum { MAPPINGS = 2000, PAGE = 4096 };

/* Returns the number of shared mappings of this process. */
static int count_shared(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], shared;
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		n += sscanf(line, "%*x-%*x %*3c%c", &shared) == 1 && shared == 's';
	fclose(f);
	return n;
}

/* A child has none of them, however many there are, and the parent keeps them. */
TEST(test_many)
{
	siginfo_t info;
	char *pages[MAPPINGS];
	pid_t pid;

	for (int i = 0; i < MAPPINGS; i++) {
		pages[i] =
			mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(pages[i], MAP_FAILED);
	}
	assert_true(count_shared() >= MAPPINGS);
	pid = fork();
	if (pid == 0) {
		if (after_fork_unmap_shared() != 0)
			_exit(1);
		_exit(count_shared() == 0 ? 0 : 2);
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 0);
	for (int i = 0; i < MAPPINGS; i++) {
		pages[i][0] = 1;
		munmap(pages[i], PAGE);
	}
}

/* A process without shared memory has nothing to do. */
TEST(test_none)
{
	assert_int_equal(after_fork_unmap_shared(), 0);
	assert_int_equal(count_shared(), 0);
	assert_int_equal(after_fork_unmap_shared(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
