/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error messages about programs that cannot be loaded, with libbpf's messages before.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/programs/load-error.h"
#include "tests/support/unit.h"

static const struct load_rights none = { .locks_freely = true };
static const struct load_rights all = { .capable = true, .locks_freely = true };
static const struct load_rights limited = { .capable = true, .locks_bytes = 65536 };

static libbpf_print_fn_t libbpf_print;

static void say(enum libbpf_print_level level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	libbpf_print(level, format, ap);
	va_end(ap);
}

/* libbpf's messages go to the listener. */
static void begin(void)
{
	load_error_begin();
	libbpf_print = libbpf_set_print(NULL);
	libbpf_set_print(libbpf_print);
}

TEST(test_plain)
{
	_cleanup_free_ char *text = NULL;

	begin();
	load_error_assume(&none);
	say(LIBBPF_DEBUG, "libbpf: this and that\n");
	say(LIBBPF_WARN, "libbpf: map '%s': failed\n", "tasks");
	assert_int_equal(load_error(-EPERM, "load it", &text), -EPERM);
	assert_string_equal(
		text, "cannot load it: Operation not permitted; kymo needs root, or CAP_BPF and "
		      "CAP_PERFMON (libbpf: map 'tasks': failed)");
	load_error_assume(NULL);
}

TEST(test_nothing_said)
{
	_cleanup_free_ char *text = NULL;

	begin();
	say(LIBBPF_WARN, "before\n");
	begin();
	assert_int_equal(load_error(-ENOMEM, "make it", &text), -ENOMEM);
	assert_string_equal(text, "cannot make it: Cannot allocate memory; try smaller rings (-b)");
}

/* The advice for a process with these RIGHTS. */
static void assert_advice(const struct load_rights *rights, int error, const char *wanted,
			  const char *unwanted)
{
	_cleanup_free_ char *text = NULL;

	load_error_assume(rights);
	begin();
	assert_int_equal(load_error(error, "load it", &text), error);
	load_error_assume(NULL);
	if (wanted && !strstr(text, wanted))
		fail_msg("'%s' is not in: %s", wanted, text);
	if (unwanted && strstr(text, unwanted))
		fail_msg("'%s' is in: %s", unwanted, text);
}

/* Advice names neither capabilities that the process has nor limits that do not apply. */
TEST(test_refusals)
{
	static const struct {
		enum load_obstacle obstacle;
		const char *advice;
	} obstacles[] = {
		{ LOAD_OBSTACLE_USER_NAMESPACE, "user namespace" },
		{ LOAD_OBSTACLE_LOCKDOWN, "boot with lockdown=integrity" },
		{ LOAD_OBSTACLE_FILTER, "seccomp=unconfined" },
	};

	assert_advice(&none, -EPERM, "needs root, or CAP_BPF", "LimitMEMLOCK");
	assert_advice(&all, -EPERM, "system call filters", "CAP_BPF");
	assert_advice(&all, -EPERM, "lockdown", "LimitMEMLOCK");
	assert_advice(&limited, -EPERM, "LimitMEMLOCK", "CAP_BPF");
	assert_advice(&limited, -EACCES, "lockdown", "CAP_BPF");
	for (size_t i = 0; i < ARRAY_SIZE(obstacles); i++) {
		const struct load_rights rights = { .capable = true,
						    .locks_freely = true,
						    .obstacle = obstacles[i].obstacle };

		assert_advice(&rights, -EPERM, obstacles[i].advice, "CAP_BPF");
	}
}

TEST(test_locked_memory)
{
	_cleanup_free_ char *text = NULL;

	load_error_assume(&limited);
	begin();
	assert_int_equal(load_error_memlock("watch", &text), -EPERM);
	load_error_assume(NULL);
	assert_non_null(strstr(text, "RLIMIT_MEMLOCK (64 KiB)"));
	assert_non_null(strstr(text, "LimitMEMLOCK"));
	assert_null(strstr(text, "CAP_BPF"));
}

TEST(test_descriptors)
{
	assert_advice(&all, -EMFILE, "LimitNOFILE", "smaller rings");
	assert_advice(&all, -ENFILE, "fs.file-max", "LimitNOFILE");
}

/* The end of a long log is kept. The advice mentions neither rights nor smaller rings. */
TEST(test_verifier)
{
	char log[3000];
	_cleanup_free_ char *text = NULL;

	memset(log, 'x', sizeof(log) - 1);
	log[sizeof(log) - 1] = '\0';
	begin();
	say(LIBBPF_WARN, "libbpf: prog 'p': BPF program load failed: %s\n", strerror(EACCES));
	say(LIBBPF_WARN,
	    "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s\nR1 unbounded memory access\n"
	    "processed 12 insns (limit 1000000)\n-- END PROG LOAD LOG --\n",
	    "p", log);
	say(LIBBPF_WARN, "libbpf: prog 'p': failed to load: -13\n");
	assert_int_equal(load_error(-EACCES, "load it", &text), -EACCES);
	assert_non_null(strstr(text, "load failed: Permission denied"));
	assert_non_null(strstr(text, "verifier refuses a program of kymo"));
	assert_non_null(strstr(text, "xxx R1 unbounded memory access)"));
	assert_null(strstr(text, "CAP_BPF"));
	assert_null(strstr(text, "processed"));
	assert_true(strlen(text) < 600);
}

/*
 * With too few descriptors, the advice does not blame the verifier, although libbpf shows its log.
 */
TEST(test_verifier_without_descriptors)
{
	_cleanup_free_ char *text = NULL;

	begin();
	say(LIBBPF_WARN, "libbpf: prog 'p': BPF program load failed: %s\n", strerror(EMFILE));
	say(LIBBPF_WARN, "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n-- END PROG LOAD LOG --\n",
	    "p");
	assert_int_equal(load_error(-EMFILE, "load it", &text), -EMFILE);
	assert_non_null(strstr(text, "LimitNOFILE"));
	assert_null(strstr(text, "verifier"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_verifier),
		cmocka_unit_test(test_verifier_without_descriptors),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_locked_memory),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
