/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of system calls: each row is a valid specification, and matches the kernel's
 * description in tracefs.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/calls/call-sets.h"
#include "model/calls/call-syscalls.h"
#include "model/calls/call-variants.h"
#include "base/cleanup.h"
#include "capture/calls/call-packs.h"
#include "capture/options/call-spec.h"
#include "tests/support/unit.h"

#define EVENTS "/sys/kernel/tracing/events/syscalls"

enum {
	NUMBERS_MAX = 600, /* greater than all numbers */
};

static struct call_spec parse_signature(const char *name, const char *signature)
{
	struct call_spec spec;
	struct call_spec_error error;
	char text[CALL_SPEC_TEXT_MAX];

	snprintf(text, sizeof(text), "kernel:%s%s", name, signature);
	if (call_spec_parse(text, &spec, &error) < 0)
		fail_msg("%s: at %zu: %s", text, error.at, error.why);
	return spec;
}

static struct call_spec parse(const struct call_syscall *call)
{
	return parse_signature(call->name, call->signature);
}

/* ---- the table by itself ---- */

/* Whether the programs copy argument ARG of SPEC: it is memory, and has a slot. */
static bool is_copied(const struct call_spec *spec, size_t arg)
{
	uint8_t args[CALL_TEXTS_MAX], n_in, n = call_spec_slots(spec, args, &n_in);
	struct call_pack_plan plan;

	if (call_pack_plan(spec, &plan))
		return call_type_is_memory(&spec->args[arg].type);
	for (uint8_t slot = 0; slot < n; slot++)
		if (args[slot] == arg)
			return true;
	return false;
}

static void check_variant(const struct call_syscall *call, const struct call_variant *variant)
{
	struct call_spec spec = parse(call);
	struct call_spec shown = parse_signature(call->name, variant->signature);

	assert_true(variant->arg < spec.n_args);
	assert_int_equal(variant->value & ~variant->mask, 0);
	assert_true(shown.n_args <= spec.n_args);
	for (size_t i = 0; i < shown.n_args; i++) {
		size_t at = call_spec_register(&shown, i);

		assert_true(at < spec.n_args);
		if (call_type_is_memory(&shown.args[i].type) && !is_copied(&spec, at))
			fail_msg("%s%s: %s is not copied", call->name, variant->signature,
				 shown.args[i].name);
	}
}

/* The row of the call copies the memory that its variants show. */
TEST(test_variants)
{
	size_t n = 0, n_all = 0;

	for (long number = 0; number < NUMBERS_MAX; number++) {
		const struct call_syscall *call = call_syscall_by_number(number);
		const struct call_variant *rows = call ? call_variants_of(call->name, &n) : NULL;

		for (size_t i = 0; rows && i < n; i++, n_all++) {
			assert_string_equal(rows[i].call, call->name);
			check_variant(call, &rows[i]);
		}
	}
	assert_true(n_all > 50);
	assert_null(call_variants_of("read", &n));
	assert_int_equal(n, 0);
}

TEST(test_rows)
{
	size_t n = 0;

	for (long number = 0; number < NUMBERS_MAX; number++) {
		const struct call_syscall *call = call_syscall_by_number(number);

		if (!call)
			continue;
		n++;
		parse(call);
		assert_int_equal(call->number, number);
		/* (of two with the same name, the first is found) */
		assert_ptr_equal(call_syscall_by_name(call->name), call);
	}
	assert_true(n > 300);
#ifdef __x86_64__
	for (long number = 0; number <= SYS_rseq; number++)
		if (!call_syscall_by_number(number))
			fail_msg("there is no row for %ld", number);
	for (long number = SYS_pidfd_send_signal; number <= SYS_set_mempolicy_home_node; number++)
		if (!call_syscall_by_number(number))
			fail_msg("there is no row for %ld", number);
#endif
}

TEST(test_lookup)
{
	assert_string_equal(call_syscall_by_number(SYS_openat)->name, "openat");
	assert_string_equal(call_syscall_by_number(SYS_openat)->signature,
			    "(dirfd dir, str path, flags:open flags, flags:perm mode) -> errno");
	assert_int_equal(call_syscall_by_name("openat")->number, SYS_openat);
	assert_null(call_syscall_by_name("opena"));
	assert_null(call_syscall_by_name("openatt"));
	assert_null(call_syscall_by_name(""));
	assert_int_equal(call_syscall_by_name("unknown")->number, CALL_SYSCALL_UNKNOWN);
	assert_null(call_syscall_by_number(-1));
	assert_null(call_syscall_by_number(400));
	assert_null(call_syscall_by_number(NUMBERS_MAX));
	assert_null(call_syscall_by_number(0x40000000));
}

static int on_match(const struct call_syscall *call, void *context)
{
	char *names = context;

	if (strcmp(call->name, "timerfd_gettime") == 0)
		return -ECANCELED;
	strcat(strcat(names, call->name), " ");
	return 0;
}

TEST(test_match)
{
	char names[200] = "";

	assert_int_equal(call_syscall_match("epoll_pwait*", on_match, names), 2);
	assert_string_equal(names, "epoll_pwait epoll_pwait2 ");
	assert_int_equal(call_syscall_match("openat", on_match, names), 1);
	assert_int_equal(call_syscall_match("opena[x-z]", on_match, names), 0);
	/* (return probes make it, and not the program) */
	assert_int_equal(call_syscall_match("uretprobe*", on_match, names), 0);
	assert_int_equal(call_syscall_match("uretprobe", on_match, names), 1);
	*names = '\0';
	assert_int_equal(call_syscall_match("un[k-l]*", on_match, names), 3);
	assert_string_equal(names, "unlink unlinkat unknown ");
	*names = '\0';
	assert_int_equal(call_syscall_match("timerfd_*", on_match, names), -ECANCELED);
}

/* ---- the kernel's descriptions ---- */

/* Calls with other names in the kernel. */
static const struct {
	const char *event, *name;
} renamed[] = {
	{ "newstat", "stat" },   { "newfstat", "fstat" },      { "newlstat", "lstat" },
	{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
};

static const char *name_of_event(const char *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(event, renamed[i].event) == 0)
			return renamed[i].name;
	return event;
}

static bool has_word(const char *type, const char *const *words)
{
	for (; *words; words++)
		if (strstr(type, *words))
			return true;
	return false;
}

static bool is_pointer(const char *type)
{
	return strchr(type, '*') || strstr(type, "cap_user");
}

static unsigned bits_of(const char *type)
{
	static const char *const words[] = { "long",  "size_t",        "off_t",
					     "__u64", "aio_context_t", NULL };

	return has_word(type, words) ? 64 : 32;
}

static bool is_signed(const char *type)
{
	static const char *const words[] = { "unsigned", "size_t", "uid_t", "gid_t",
					     "qid_t",    "u32",    NULL };

	return !has_word(type, words);
}

/* Whether TYPE can show the C type of the kernel. */
static bool type_fits(const struct call_type *type, const char *c)
{
	if (is_pointer(c))
		return type->form == CALL_PTR || call_type_is_memory(type);
	/* addresses that are integers in the kernel */
	if (type->form == CALL_PTR || type->form == CALL_STRUCT)
		return bits_of(c) == 64;
	if (type->form == CALL_FD || type->set != CALL_SET_NONE)
		return type->bits <= bits_of(c);
	if (type->form != CALL_INT && type->form != CALL_UINT)
		return type->form == CALL_HEX && type->bits == bits_of(c);
	/* (halves of a position are unsigned long) */
	return type->bits == bits_of(c) &&
	       (type->bits == 64 || call_type_is_signed(type) == is_signed(c));
}

/* Parses "field:const char * filename;": the type, without the name. */
static bool read_field(const char *line, char *type, size_t size)
{
	const char *begin = strstr(line, "field:"), *end = begin ? strchr(begin, ';') : NULL;
	int n;

	if (!end || strstr(line, "common_") || strstr(line, "__syscall_nr"))
		return false;
	begin += strlen("field:");
	while (end > begin && end[-1] != ' ')
		end--;
	n = snprintf(type, size, "%.*s", (int)(end - begin), begin);
	return n > 0 && (size_t)n < size;
}

static void check_event(const struct call_syscall *call, FILE *format)
{
	struct call_spec spec = parse(call);
	char line[512], type[256];
	size_t n = 0;

	while (fgets(line, sizeof(line), format)) {
		if (!read_field(line, type, sizeof(type)))
			continue;
		if (n == spec.n_args)
			fail_msg("%s has more than %zu arguments", call->name, n);
		if (!type_fits(&spec.args[n].type, type))
			fail_msg("%s%s: %s is %s", call->name, call->signature, spec.args[n].name,
				 type);
		n++;
	}
	/* (its argument is the frame on the stack) */
	if (strcmp(call->name, "rt_sigreturn") == 0)
		n++;
	if (n != spec.n_args)
		fail_msg("%s has %zu arguments, not %zu", call->name, n, spec.n_args);
}

/*
 * Opens the directory of the events, in a new mount namespace if necessary; NULL = not available.
 */
static DIR *open_events(void)
{
	DIR *dir = opendir(EVENTS);

	if (dir || geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0)
		return dir;
	return opendir(EVENTS);
}

TEST(test_kernel)
{
	static const char prefix[] = "sys_enter_";
	DIR *dir = open_events();
	struct dirent *entry;
	size_t n = 0;

	if (!dir) {
		print_message("skip: cannot read %s: %s\n", EVENTS, strerror(errno));
		skip();
	}
	while ((entry = readdir(dir))) {
		const struct call_syscall *call;
		char path[512];
		FILE *format;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		call = call_syscall_by_name(name_of_event(entry->d_name + strlen(prefix)));
		snprintf(path, sizeof(path), "%s/%s/format", EVENTS, entry->d_name);
		format = fopen(path, "re");
		if (call && format) {
			check_event(call, format);
			n++;
		} else {
			print_message("%s: not compared\n", entry->d_name);
		}
		if (format)
			fclose(format);
	}
	closedir(dir);
	print_message("%zu calls compared\n", n);
	assert_true(n > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_variants),
		cmocka_unit_test(test_lookup), cmocka_unit_test(test_match),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
