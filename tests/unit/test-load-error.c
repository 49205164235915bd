/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is said when programs cannot be loaded, with what libbpf says before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "capture/load-error.h"

static libbpf_print_fn_t libbpf_print;

static void say(enum libbpf_print_level level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	libbpf_print(level, format, ap);
	va_end(ap);
}

/* What libbpf says goes to whoever was told to listen. */
static void begin(void)
{
	load_error_begin();
	libbpf_print = libbpf_set_print(NULL);
	libbpf_set_print(libbpf_print);
}

static void test_plain(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	begin();
	say(LIBBPF_DEBUG, "libbpf: this and that\n");
	say(LIBBPF_WARN, "libbpf: map '%s': failed\n", "tasks");
	assert_int_equal(load_error(-EPERM, "load it", &text), -EPERM);
	assert_string_equal(
		text, "cannot load it: Operation not permitted; kymo needs root, or CAP_BPF and "
		      "CAP_PERFMON (libbpf: map 'tasks': failed)");
}

static void test_nothing_said(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	begin();
	say(LIBBPF_WARN, "before\n");
	begin();
	assert_int_equal(load_error(-ENOMEM, "make it", &text), -ENOMEM);
	assert_string_equal(text, "cannot make it: Cannot allocate memory; try smaller rings (-b)");
}

/* Of a long log the end is kept; nobody is sent for rights, or for smaller rings. */
static void test_verifier(void **state)
{
	char log[3000];
	_cleanup_free_ char *text = NULL;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_verifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
