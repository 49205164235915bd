/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables are compiled into loads, which this test runs in a stopped program and compares with
 * gdb's output at the same place.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/places/place-functions.h"
#include "reader/places/place-locals.h"
#include "model/moments/place-print.h"
#include "reader/places/places.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

#define SOURCE SOURCE_ROOT "/tests/support/loads/place-program.c"

enum { TEXT_MAX = 4096, STOPS = 7, NAMES_MAX = 64 };

#if defined(__x86_64__)

/* ---- a program that is stopped ---- */

struct stopped {
	pid_t pid;
	struct user_regs_struct regs;
	uint64_t bias;
};

static uint64_t read_bias(pid_t pid, const char *path)
{
	char name[64], line[4096], *real = realpath(path, NULL);
	unsigned long long start, offset;
	uint64_t bias = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	assert_non_null(f);
	assert_non_null(real);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, real) && sscanf(line, "%llx-%*x %*s %llx", &start, &offset) == 2 &&
		    offset == 0) {
			bias = start;
			break;
		}
	fclose(f);
	free(real);
	return bias;
}

static struct stopped start_program(const char *path)
{
	struct stopped s = { .pid = fork() };
	int status;

	if (s.pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	assert_true(WIFSTOPPED(status));
	s.bias = read_bias(s.pid, path);
	return s;
}

static bool next_stop(struct stopped *s)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, s->pid, 0, 0), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (!WIFSTOPPED(status))
		return false;
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
	return true;
}

static uint64_t register_value(const struct stopped *s, uint8_t reg)
{
	const struct user_regs_struct *r = &s->regs;
	const uint64_t values[PLACE_REGISTERS] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
						   r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
						   r->r12, r->r13, r->r14, r->r15, r->rip };

	assert_in_range(reg, 0, PLACE_REGISTERS - 1);
	return values[reg];
}

static bool read_memory(const struct stopped *s, uint64_t address, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)address, n };

	return process_vm_readv(s->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* Runs LOAD like the program in the kernel. Returns the number of bytes. */
static size_t carry_out(const struct stopped *s, const struct place_load *load, uint8_t *to)
{
	uint64_t address = (uint64_t)load->offset;

	assert_true(load->n_steps <= PLACE_STEPS_MAX && load->base < PLACE_BASE_MAX);
	assert_true(load->bytes > 0 && load->bytes <= PLACE_LOAD_BYTES_MAX);
	if (load->base == PLACE_REGISTER)
		address += register_value(s, load->reg);
	if (load->base == PLACE_IMAGE)
		address += s->bias;
	for (int i = 0; i < load->n_steps; i++) {
		if (!read_memory(s, address, &address, sizeof(address)))
			return 0;
		address += (uint64_t)load->steps[i];
	}
	if (load->is_value) {
		assert_true(load->bytes <= 8);
		memcpy(to, &address, load->bytes);
		return load->bytes;
	}
	for (size_t i = 0; load->is_string && i < load->bytes; i++)
		if (!read_memory(s, address + i, to + i, 1) || to[i] == 0)
			return i;
	return read_memory(s, address, to, load->bytes) ? load->bytes : 0;
}

static void print_variable(const struct stopped *s, const struct place_variable *v, char *to)
{
	static uint8_t data[2 * PLACE_LOAD_BYTES_MAX];
	uint64_t count = 0;
	size_t n = 0;

	if (v->reason) {
		assert_int_equal(v->n_loads, 0);
		assert_null(v->shape);
		snprintf(to, TEXT_MAX, "<%s>", place_reason_text(v->reason));
		return;
	}
	assert_true(v->n_loads > 0);
	for (size_t i = 0; i < v->n_loads; i++) {
		struct place_load load = v->loads[i];

		if (i == 0 && v->count.is_used) {
			assert_int_not_equal(carry_out(s, &v->count.load, (uint8_t *)&count), 0);
			assert_true(count * v->count.element_bytes <= load.bytes);
			load.bytes = (uint32_t)count * v->count.element_bytes;
		}
		n += carry_out(s, &load, data + n);
	}
	place_print(&(struct place_bytes){ v->shape, data, n }, to, TEXT_MAX);
}

/* ---- gdb ---- */

/* The output of gdb at a stop: lines of "NAME = VALUE". */
static struct said {
	char name[64], value[TEXT_MAX];
} gdb_said[STOPS][NAMES_MAX];
static size_t n_said[STOPS];

static void read_gdb(const char *program)
{
	char command_text[1024], line[TEXT_MAX];
	size_t stop = 0;
	FILE *f;

	memset(n_said, 0, sizeof(n_said));
	snprintf(
		command_text, sizeof(command_text),
		"gdb -nx -batch -ex 'set print elements 200' -ex 'set print repeats unlimited' "
		"-ex 'set print null-stop on' -ex 'set debuginfod enabled off' -ex run %s %s 2>/dev/null",
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex continue"
		" -ex 'echo @stop\\n' -ex 'info args' -ex 'info locals' -ex kill",
		directory_path(program));
	f = popen(command_text, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *equals = strstr(line, " = ");

		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "@stop") == 0)
			stop++;
		else if (equals && !strchr(line, '\t') && stop > 0 && stop <= STOPS &&
			 n_said[stop - 1] < NAMES_MAX) {
			struct said *s = &gdb_said[stop - 1][n_said[stop - 1]++];

			*equals = '\0';
			snprintf(s->name, sizeof(s->name), "%.60s", line);
			snprintf(s->value, sizeof(s->value), "%s", equals + 3);
		}
	}
	pclose(f);
	assert_int_equal(stop, STOPS);
}

/* Addresses differ from one run to the next. */
static void strip_addresses(char *text)
{
	char *at;

	while ((at = strstr(text, "0x"))) {
		size_t n = 2 + strspn(at + 2, "0123456789abcdef");

		memmove(at, at + n, strlen(at + n) + 1);
		memmove(at + 1, at, strlen(at) + 1);
		*at = '&';
	}
}

static unsigned n_same, n_vector, n_gone, n_else;

static void compare(const char *program, int stop, const struct said *said, const char *ours)
{
	char a[TEXT_MAX], b[TEXT_MAX];

	if (strstr(ours, "vector register")) {
		n_vector++;
		return;
	}
	/* (gdb 13 does not parse numbers with types beside numbers without) */
	if (strncmp(said->value, "<error reading", 14) == 0) {
		n_else++;
		return;
	}
	if (strcmp(said->value, "<optimized out>") == 0) {
		assert_int_equal(ours[0], '<');
		n_gone++;
		return;
	}
	snprintf(a, sizeof(a), "%s", said->value);
	snprintf(b, sizeof(b), "%s", ours);
	strip_addresses(a);
	strip_addresses(b);
	if (strcmp(a, b) == 0) {
		n_same++;
		return;
	}
	/*
	 * Unavailable values are reported, never guessed. gdb knows the callers' registers, kymo
	 * does not.
	 */
	if (strstr(ours, "is not kept") || strstr(ours, "points to something") ||
	    strstr(ours, "too complex")) {
		n_else++;
		return;
	}
	print_error("%s, stop %d: %s: gdb says %s, we say %s\n", program, stop, said->name,
		    said->value, ours);
	fail();
}

static const struct place_variable *find_variable(const struct place_locals *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->list[i].name, name) == 0)
			return &l->list[i];
	return NULL;
}

static bool was_said(int stop, const char *name)
{
	for (size_t i = 0; i < n_said[stop]; i++)
		if (strcmp(gdb_said[stop][i].name, name) == 0)
			return true;
	return false;
}

static void check_stop(struct places *p, const struct stopped *s, const char *program, int stop)
{
	static const char *const items[] = { "args", "locals" };
	struct place_query query = {
		.vaddr = s->regs.rip - s->bias, .items = items, .n_items = 2, .strings = true
	};
	struct place_locals locals;
	char why[PLACES_WHY_MAX], text[TEXT_MAX];

	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), 0);
	for (size_t i = 0; i < n_said[stop]; i++) {
		const struct place_variable *v = find_variable(&locals, gdb_said[stop][i].name);

		if (!v)
			print_error("%s, stop %d: no %s\n", program, stop, gdb_said[stop][i].name);
		assert_non_null(v);
		print_variable(s, v, text);
		compare(program, stop, &gdb_said[stop][i], text);
	}
	for (size_t i = 0; i < locals.n; i++)
		/* (gdb lists no constants) */
		if (!was_said(stop, locals.list[i].name) &&
		    (locals.list[i].n_loads == 0 || locals.list[i].loads[0].base != PLACE_ZERO))
			fail_msg("%s, stop %d: gdb knows no %s", program, stop,
				 locals.list[i].name);
	place_locals_deinit(&locals);
}

static void check_build(const char *compiler, const char *flags)
{
	const struct places_options options = { 0 };
	char why[PLACES_WHY_MAX], path[512];
	struct places *p;
	struct stopped s;
	int stop = 0;

	command("%s -g %s -o program %s", compiler, flags, SOURCE);
	snprintf(path, sizeof(path), "%s", directory_path("program"));
	read_gdb("program");
	if (places_open(&p, path, &options, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_true(places_have_debug(p));
	s = start_program(path);
	n_same = n_vector = n_gone = n_else = 0;
	if (strstr(flags, "-no-pie"))
		s.bias = 0;
	while (next_stop(&s)) {
		assert_true(stop < STOPS);
		check_stop(p, &s, flags, stop++);
	}
	assert_int_equal(stop, STOPS);
	print_message(
		"%s %s: %u same, %u in vector registers, %u optimised out, %u not to be compared\n",
		compiler, flags, n_same, n_vector, n_gone, n_else);
	assert_true(n_same >= 40 && n_else <= 2);
	places_free(p);
}

static void test_locals_of_gcc(void **state)
{
	static const char *const flags[] = { "-O0",          "-O0 -no-pie",
					     "-O1",          "-O2",
					     "-O3",          "-O2 -fno-omit-frame-pointer",
					     "-O2 -gdwarf-4" };

	(void)state;
	if (!have_command("gcc") || !have_command("gdb"))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		check_build("gcc", flags[i]);
}

static void test_locals_of_cpp(void **state)
{
	static const char *const flags[] = { "-O0", "-O2" };

	(void)state;
	if (!have_command("g++") || !have_command("gdb"))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		check_build("g++ -x c++ -std=c++20", flags[i]);
}

static void test_locals_of_clang(void **state)
{
	static const char *const flags[] = { "-O0", "-O2", "-O3" };

	(void)state;
	if (!have_command("clang") || !have_command("gdb"))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		check_build("clang", flags[i]);
}

/* ---- names and pointers ---- */

static const struct item_row {
	const char *item, *value; /* NULL = an error is expected ... */
	const char *why;          /* ... with this text */
	int error;
} item_rows[] = {
	{ "counter", "41", NULL, 0 },
	{ "hidden", "-7", NULL, 0 },
	{ "title", "& \"a \\\"title\\\"\"", NULL, 0 },
	{ "n", "5", NULL, 0 },
	{ "*ptr", "5", NULL, 0 },
	{ "*ptr@3", "{5, 2, 3}", NULL, 0 },
	{ "*ptr@len", "{5, 2, 3}", NULL, 0 },
	{ "*table@2", "{5, 2}", NULL, 0 },
	{ "*text@4", "\"text\"", NULL, 0 },
	{ "mode", "(MODE_READ | MODE_EXEC)", NULL, 0 },
	{ "c0unter", NULL, "did you mean 'counter'?", -ENOENT },
	{ "*n", NULL, "this is no pointer", -EINVAL },
	{ "*", NULL, "name of a pointer is missing", -EINVAL },
	{ "*ptr@0", NULL, "1 to 65536", -EINVAL },
	{ "*ptr@title", NULL, "is not an integer", -EINVAL },
	{ "*ptr@nothing_like_it", NULL, "no variable 'nothing_like_it'", -ENOENT },
};

static void check_item(struct places *p, const struct stopped *s, const struct item_row *row)
{
	struct place_query query = {
		.vaddr = s->regs.rip - s->bias, .items = &row->item, .n_items = 1, .strings = true
	};
	struct place_locals locals = { 0 };
	char why[PLACES_WHY_MAX] = "", text[TEXT_MAX];

	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), row->error);
	if (row->error) {
		assert_non_null(strstr(why, row->why));
		return;
	}
	assert_int_equal(locals.n, 1);
	assert_string_equal(locals.list[0].name, row->item);
	print_variable(s, &locals.list[0], text);
	strip_addresses(text);
	assert_string_equal(text, row->value);
	place_locals_deinit(&locals);
}

static void test_locals_by_name(void **state)
{
	static const char *const items[] = { "n" };
	const struct place_query nowhere = { .vaddr = 1, .items = items, .n_items = 1 };
	struct place_locals locals;
	char why[PLACES_WHY_MAX];
	struct places *p;
	struct stopped s;

	(void)state;
	command("cc -g -O0 -o named %s", SOURCE);
	assert_int_equal(places_open(&p, directory_path("named"), &(struct places_options){ 0 },
				     why, sizeof(why)),
			 0);
	s = start_program(directory_path("named"));
	assert_true(next_stop(&s));
	for (size_t i = 0; i < ARRAY_SIZE(item_rows); i++)
		check_item(p, &s, &item_rows[i]);
	assert_int_equal(place_locals_find(p, &nowhere, &locals, why, sizeof(why)), -ENODATA);
	while (next_stop(&s))
		;
	places_free(p);
}

/* ---- shapes ---- */

static void test_print_shapes(void **state)
{
	static const uint8_t bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	static const struct {
		const char *shape;
		size_t n;
		const char *text;
	} rows[] = {
		{ "i4", 4, "67305985" },
		{ "i4", 3, "<unavailable>" },
		{ "s8{a@0i4,b@4i4,}", 4, "{a = 67305985, b = <unavailable>}" },
		{ "!4+4;s8{a@0u1,b@4i4,}", 4, "{a = 1, b = <optimized out>}" },
		{ "!0+4;s8{a@0u1,b@4u1,}", 4, "{a = <optimized out>, b = 1}" },
		{ "i16", 16, "21345817372864405881847059188222722561" },
		{ "u16", 15, "<unavailable>" },
		{ "a0u1", 3, "{1, 2, 3}" },
		{ "a4a2u1", 4, "{{1, 2}, {3, 4}}" },
		{ "e1{A=1,B=2,}", 1, "A" },
		{ "s1{f@0:1+2u1,}", 1, "{f = 0}" },
		{ "(#0 255 & 3 + n)i4", 8, "-4" },
		{ "(#0 #1 -)i8", 16, "-578721382704613384" },
		{ "(#0 #1 -)i8", 8, "<unavailable>" },
		{ "(+)i8", 8, "<bad shape>" },
		{ "(1 0 /)i8", 8, "0" },
		{ "", 4, "<bad shape>" },
		{ "y4", 4, "<bad shape>" },
		{ "i", 4, "<bad shape>" },
		{ "s8{", 8, "<bad shape>" },
		{ "s8{a@0", 8, "<bad shape>" },
		{ "a99999999999999999999u1", 8, "<bad shape>" },
		{ "e1{", 1, "<bad shape>" },
		{ "i4i4", 8, "<bad shape>" },
		{ "!4", 4, "<bad shape>" },
	};
	char text[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		place_print(&(struct place_bytes){ rows[i].shape, bytes, rows[i].n }, text,
			    sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
	assert_int_equal(place_print(&(struct place_bytes){ "a16u1", bytes, 16 }, text, 10), 9);
	assert_string_equal(text, "{1, 2,...");
}

static void test_print_wide(void **state)
{
	static const uint64_t lowest[2] = { 0, UINT64_C(1) << 63 };
	static const double number[2] = { 1.5, -2 };
	char text[TEXT_MAX];

	(void)state;
	place_print(&(struct place_bytes){ "i16", lowest, 16 }, text, sizeof(text));
	assert_string_equal(text, "-170141183460469231731687303715884105728");
	place_print(&(struct place_bytes){ "u16", lowest, 16 }, text, sizeof(text));
	assert_string_equal(text, "170141183460469231731687303715884105728");
	place_print(&(struct place_bytes){ "z16", number, 16 }, text, sizeof(text));
	assert_string_equal(text, "1.5 + -2i");
}

/*
 * A global variable that is optimised out is shown with the reason, also if another file has one of
 * its name; a declaration is none. One that is not found among too many is no missing one.
 */
static void test_removed_global(void **state)
{
	static const char *const items[] = { "removed" }, *const others[] = { "elsewhere" },
				 *const far[] = { "far" };
	struct place_query query = { .items = items, .n_items = 1 };
	struct place_functions f;
	struct place_locals locals;
	char why[PLACES_WHY_MAX];
	struct places *p;

	(void)state;
	command("printf 'static int removed[4]; extern int elsewhere;\n"
		"int main(int n, char **v) { (void)v; removed[n & 3] = n; return n; }\n"
		"int other(void); int other(void) { return elsewhere; }\n"
		"int elsewhere_too;\n' >r.c && "
		"printf 'int first; int removed = 77; int far = 3;\n' >other.c && "
		"cc -g -O2 -shared -fPIC -o removed other.c r.c");
	assert_int_equal(places_open(&p, directory_path("removed"), &(struct places_options){ 0 },
				     why, sizeof(why)),
			 0);
	assert_int_equal(place_functions_find(p, "main", &f), 0);
	assert_int_equal(f.n, 1);
	query.vaddr = f.list[0].vaddr;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), 0);
	assert_int_equal(locals.n, 1);
	assert_int_equal(locals.list[0].reason, PLACE_REASON_OPTIMISED);
	place_locals_deinit(&locals);
	query.items = others;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), -ENOENT);
	query.items = far;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), 0);
	assert_int_equal(locals.list[0].reason, PLACE_REASON_NONE);
	place_locals_deinit(&locals);
	query.globals_max = 2;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "too many global variables"));
	place_functions_deinit(&f);
	places_free(p);
}

/* A search that reaches its limit in a namespace does not go on after the namespace. */
static void test_global_limit(void **state)
{
	const char *const items[] = { "last" };
	struct place_query query = { .items = items, .n_items = 1 };
	struct place_functions f;
	struct place_locals locals;
	char why[PLACES_WHY_MAX];
	struct places *p;

	(void)state;
	command("printf 'namespace outer { namespace inner { int a, b, c, d, e, f, g, h; } }\n"
		"int last = 1;\nint main() { return last; }\n' >n.cc && g++ -g -o namespaces n.cc");
	assert_int_equal(places_open(&p, directory_path("namespaces"),
				     &(struct places_options){ 0 }, why, sizeof(why)),
			 0);
	assert_int_equal(place_functions_find(p, "main", &f), 0);
	assert_int_equal(f.n, 1);
	query.vaddr = f.list[0].vaddr;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), 0);
	place_locals_deinit(&locals);
	query.globals_max = 4;
	assert_int_equal(place_locals_find(p, &query, &locals, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "too many global variables"));
	place_functions_deinit(&f);
	places_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_shapes),   cmocka_unit_test(test_print_wide),
		cmocka_unit_test(test_removed_global), cmocka_unit_test(test_locals_by_name),
		cmocka_unit_test(test_locals_of_gcc),  cmocka_unit_test(test_locals_of_clang),
		cmocka_unit_test(test_locals_of_cpp),  cmocka_unit_test(test_global_limit),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}

#else

int main(void)
{
	return 77;
}

#endif
