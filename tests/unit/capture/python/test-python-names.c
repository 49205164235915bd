/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of Python come to their places between the native frames, with their names and lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python/python-code.h"
#include "capture/python/python-names.h"
#include "tests/support/unit.h"

enum { LINES_BYTES = 512, NATIVE = 0x10000 };

#define EVAL(address)  ((address) | PYTHON_EVAL)
#define BARE(address)  (EVAL(address) | PYTHON_IS_BARE)
#define SHORT(address) (EVAL(address) | PYTHON_IS_SHORT)
#define CALLED(id)     (PYTHON_WORD | (id))
#define ENTRY(id)      (PYTHON_WORD | PYTHON_IS_ENTRY | (id))
#define CUT            (PYTHON_WORD | PYTHON_IS_CUT)

struct names {
	struct python_names names;
	uint32_t koid;      /* of all names; 0 = 70 */
	char written[2048]; /* the names that were written: "function:line@place " each */
	unsigned n_held;    /* number of names that were noted */
};

/* The texts of the event stay valid as long as the names. */
static int keep_name(void *userdata, const struct event *ev)
{
	*(struct event *)userdata = *ev;
	return 0;
}

static int ignore_name(void *userdata, const struct event *ev)
{
	(void)userdata;
	assert_int_equal(ev->kind, EVENT_FRAME);
	return 0;
}

static int write_name(void *userdata, const struct event *ev)
{
	struct names *n = userdata;
	size_t used = strlen(n->written);

	assert_int_equal(ev->kind, EVENT_FRAME);
	assert_int_equal(ev->frame.process, n->koid ?: 70);
	snprintf(n->written + used, sizeof(n->written) - used, "%s:%u@%u ", ev->frame.function,
		 ev->frame.line, (unsigned)(ev->frame.address - PYTHON_FIRST_ADDRESS) / 16);
	return 0;
}

static int hold_name(void *userdata, const struct event *ev)
{
	struct names *n = userdata;

	assert_int_equal(ev->kind, EVENT_FRAME);
	assert_string_equal(ev->frame.function, "f");
	n->n_held++;
	return 0;
}

/* Adds the function NAME with ID. Each of its code units is in the next line after FIRST. */
static void add(struct names *n, uint64_t id, const char *name, uint32_t first)
{
	struct {
		struct rec_python_code rec;
		uint8_t lines[LINES_BYTES];
	} code = { .rec = { .id = id,
			    .first_line = first,
			    .n_name = (uint16_t)strlen(name),
			    .n_file = 4,
			    .name_kind = 1,
			    .file_kind = 1,
			    .n_lines = 2 * 100 } };

	memcpy(code.rec.name, name, strlen(name));
	memcpy(code.rec.file, "x.py", 4);
	for (unsigned i = 0; i < 100; i++) {
		code.rec.lines[2 * i] = 0x80 | 13 << 3;
		code.rec.lines[2 * i + 1] = 2; /* +1 */
	}
	assert_int_equal(python_names_add(&n->names, &code.rec), 0);
}

/*
 * Expands the N FRAMES. The result must be EXPECTED: the number of a native address, or that of a
 * place with a letter: 'p', or 'r' for a return address.
 */
static void expect(struct names *n, const uint64_t *frames, unsigned n_frames, bool returns,
		   const char *expected)
{
	const struct python_stack stack = { .frames = frames,
					    .n = n_frames,
					    .koid = 70,
					    .returns = returns,
					    .ts_ns = 5,
					    .write = write_name,
					    .userdata = n };
	uint64_t to[STACK_FRAMES_MAX];
	char text[2048] = "";
	int got = python_names_expand(&n->names, &stack, to);

	assert_true(got >= 0 && (unsigned)got <= n_frames);
	for (int i = 0; i < got; i++) {
		size_t used = strlen(text);
		uint64_t place = to[i] - PYTHON_FIRST_ADDRESS;

		if (to[i] < PYTHON_FIRST_ADDRESS)
			snprintf(text + used, sizeof(text) - used, "%u ",
				 (unsigned)(to[i] - NATIVE));
		else
			snprintf(text + used, sizeof(text) - used, "%c%u ", place % 16 ? 'r' : 'p',
				 (unsigned)place / 16);
	}
	assert_string_equal(text, expected);
}

TEST(test_between_native_frames)
{
	const uint64_t frames[] = { NATIVE + 1, EVAL(NATIVE + 2), NATIVE + 3, EVAL(NATIVE + 4),
				    NATIVE + 5, CALLED(1),        ENTRY(2),   ENTRY(3) };
	struct names n = { 0 };

	add(&n, 1, "inner", 10);
	add(&n, 2, "outer", 20);
	add(&n, 3, "main", 30);
	expect(&n, frames, 8, false, "1 r0 r1 2 3 r2 4 5 ");
	assert_string_equal(n.written, "inner:11@0 outer:21@1 main:31@2 ");
	expect(&n, frames, 8, false, "1 r0 r1 2 3 r2 4 5 ");
	assert_string_equal(n.written, "inner:11@0 outer:21@1 main:31@2 ");
	/* In a new part of the archive, the names are written again, at the same places. */
	n.written[0] = '\0';
	python_names_forget_written(&n.names);
	expect(&n, frames, 8, false, "1 r0 r1 2 3 r2 4 5 ");
	assert_string_equal(n.written, "inner:11@0 outer:21@1 main:31@2 ");
	python_names_deinit(&n.names);
}

TEST(test_innermost)
{
	const uint64_t frames[] = { EVAL(NATIVE), NATIVE + 1, ENTRY(1) };
	struct names n = { 0 };

	/* The interrupted function is at its address, and after a call behind it. */
	add(&n, 1, "f", 1);
	expect(&n, frames, 3, false, "p0 0 1 ");
	expect(&n, frames, 3, true, "r0 0 1 ");
	python_names_deinit(&n.names);
}

TEST(test_lines)
{
	const uint64_t at = 7ull << PYTHON_UNIT_SHIFT;
	const uint64_t unknown = (uint64_t)PYTHON_UNIT_MAX << PYTHON_UNIT_SHIFT;
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) | at };
	const uint64_t too_far[] = { EVAL(NATIVE), ENTRY(1) | 100ull << PYTHON_UNIT_SHIFT };
	const uint64_t nowhere[] = { EVAL(NATIVE), ENTRY(1) | unknown };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	expect(&n, frames, 2, false, "p0 0 ");
	expect(&n, too_far, 2, false, "p1 0 ");
	expect(&n, nowhere, 2, false, "p1 0 ");
	assert_string_equal(n.written, "f:9@0 f:0@1 ");
	python_names_deinit(&n.names);
}

/* The innermost native frame has no frame of Python yet, or no longer. */
TEST(test_called_just_now)
{
	const uint64_t frames[] = { BARE(NATIVE), NATIVE + 1, EVAL(NATIVE + 2), ENTRY(1) };
	const uint64_t outer[] = { BARE(NATIVE), EVAL(NATIVE + 1), EVAL(NATIVE + 2), ENTRY(1) };
	const uint64_t has_frame[] = { BARE(NATIVE), NATIVE + 1, EVAL(NATIVE + 2), ENTRY(1),
				       ENTRY(1) };
	const uint64_t cut[] = { BARE(NATIVE), EVAL(NATIVE + 1), CUT };
	const uint64_t none[] = { BARE(NATIVE), NATIVE + 1 };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	expect(&n, frames, 4, false, "0 1 r0 2 ");
	expect(&n, outer, 4, false, "0 r0 1 2 ");
	/* The bit is not believed if there are as many frames as executing functions. */
	expect(&n, has_frame, 5, false, "p0 0 1 r0 2 ");
	expect(&n, cut, 3, false, "p1 0 1 ");
	expect(&n, none, 2, false, "0 1 ");
	python_names_deinit(&n.names);
}

/* A greenlet: the outermost native frames are of other ones, and so have no frames of Python. */
TEST(test_greenlet)
{
	const uint64_t frames[] = { EVAL(NATIVE),     NATIVE + 1,       EVAL(NATIVE + 2),
				    EVAL(NATIVE + 3), EVAL(NATIVE + 4), ENTRY(1),
				    CALLED(2),        ENTRY(3) };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	add(&n, 2, "g", 1);
	add(&n, 3, "h", 1);
	expect(&n, frames, 8, false, "p0 0 1 r1 r2 2 3 4 ");
	expect(&n, frames, 8, true, "r0 0 1 r1 r2 2 3 4 ");
	python_names_deinit(&n.names);
}

/* If frames of Python are missing, the others are the innermost ones. */
TEST(test_cut_python)
{
	const uint64_t frames[] = { EVAL(NATIVE),     NATIVE + 1, EVAL(NATIVE + 2),
				    EVAL(NATIVE + 3), ENTRY(1),   CUT };
	const uint64_t inside[] = { EVAL(NATIVE), EVAL(NATIVE + 1), CALLED(1), CUT };
	const uint64_t all[] = { EVAL(NATIVE), CUT };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	expect(&n, frames, 6, false, "p0 0 1 r1 2 3 ");
	assert_string_equal(n.written, "f:2@0 " PYTHON_NAME_CUT ":0@1 ");
	expect(&n, inside, 4, false, "p0 r1 0 1 ");
	expect(&n, all, 2, false, "p1 0 ");
	assert_int_equal(n.names.n_unknown, 0);
	python_names_deinit(&n.names);
}

/* The state of the thread was not found: the native frames lose their marks. */
TEST(test_no_python)
{
	const uint64_t frames[] = { NATIVE, EVAL(NATIVE + 1), EVAL(NATIVE + 2) };
	struct names n = { 0 };

	expect(&n, frames, 3, false, "0 1 2 ");
	assert_string_equal(n.written, "");
	python_names_deinit(&n.names);
}

/* Each process has its own places. */
TEST(test_processes)
{
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) };
	struct names n = { 0 };
	struct python_stack stack = {
		.frames = frames, .n = 2, .koid = 70, .write = write_name, .userdata = &n
	};
	uint64_t first[2], second[2];

	add(&n, 1, "f", 1);
	assert_int_equal(python_names_expand(&n.names, &stack, first), 2);
	n.koid = 71;
	stack.koid = 71;
	assert_int_equal(python_names_expand(&n.names, &stack, second), 2);
	assert_int_not_equal(first[0], second[0]);
	assert_string_equal(n.written, "f:2@0 f:2@1 ");
	python_names_deinit(&n.names);
}

/* Names in stacks that are repeated are noted, also if another stack has written them. */
TEST(test_repeated)
{
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) };
	struct names n = { 0 };
	struct python_stack stack = {
		.frames = frames, .n = 2, .koid = 70, .write = write_name, .userdata = &n
	};
	uint64_t to[2];

	add(&n, 1, "f", 1);
	assert_int_equal(python_names_expand(&n.names, &stack, to), 2);
	assert_int_equal(n.n_held, 0);
	stack.hold = hold_name;
	assert_int_equal(python_names_expand(&n.names, &stack, to), 2);
	assert_int_equal(n.n_held, 1);
	assert_string_equal(n.written, "f:2@0 ");
	python_names_deinit(&n.names);
}

/*
 * If native frames are missing, the functions that they execute are outermost. Otherwise nothing is
 * outside the native frames.
 */
TEST(test_cut_native)
{
	const uint64_t cut[] = { SHORT(NATIVE), NATIVE + 1, ENTRY(1), CALLED(2), ENTRY(3) };
	const uint64_t whole[] = { EVAL(NATIVE), EVAL(NATIVE + 1), NATIVE + 2, ENTRY(1),
				   CALLED(2),    ENTRY(2),         ENTRY(3),   CUT };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	add(&n, 2, "g", 1);
	add(&n, 3, "h", 1);
	expect(&n, cut, 5, false, "p0 0 1 r1 r2 ");
	expect(&n, whole, 8, false, "p0 0 r1 r1 r2 r3 1 2 ");
	python_names_deinit(&n.names);
}

/* Values that are no addresses are not frames of Python. */
TEST(test_nonsense)
{
	const uint64_t values[] = { NATIVE, EVAL(PYTHON_NATIVE_END), UINT64_MAX, PYTHON_WORD | 5 };
	const uint64_t frames[] = { NATIVE, EVAL(PYTHON_NATIVE_END - 1) };
	const uint64_t between[] = { EVAL(NATIVE), CALLED(7), NATIVE + 1 };
	uint64_t to[3];
	struct names n = { 0 };
	const struct python_stack stack = { .frames = between, .n = 3, .userdata = &n };

	assert_false(python_names_are_in(values, 4));
	assert_false(python_names_are_in(NULL, 0));
	assert_true(python_names_are_in(frames, 2));
	/* A frame of Python is never between native ones. Readers of the stack handle the value. */
	assert_int_equal(python_names_expand(&n.names, &stack, to), 3);
	assert_int_equal(to[0], NATIVE);
	assert_int_equal(to[1], CALLED(7));
	assert_int_equal(to[2], NATIVE + 1);
}

/* Any values: nothing is written beyond the frames. */
TEST(test_random)
{
	struct names n = { 0 };
	uint64_t frames[32], to[33];
	struct python_stack stack = {
		.frames = frames, .koid = 70, .write = ignore_name, .userdata = &n
	};

	add(&n, 1, "f", 1);
	srandom(1);
	for (unsigned round = 0; round < unit_rounds(20000); round++) {
		int got;

		stack.n = (unsigned)random() % 33;
		for (unsigned i = 0; i < stack.n; i++)
			frames[i] = (uint64_t)random() % 16 << 60 | (uint64_t)random() % 3;
		to[stack.n] = 42;
		got = python_names_expand(&n.names, &stack, to);
		assert_in_range(got, 0, stack.n);
		assert_int_equal(to[stack.n], 42);
	}
	python_names_deinit(&n.names);
}

TEST(test_unknown)
{
	const uint64_t frames[] = { EVAL(NATIVE), CALLED(0), ENTRY(9) };
	struct names n = { 0 };

	expect(&n, frames, 3, false, "p0 r0 0 ");
	assert_string_equal(n.written, PYTHON_NAME_UNKNOWN ":0@0 ");
	assert_int_equal(n.names.n_unknown, 2);
	python_names_deinit(&n.names);
}

/* The name of a function was not readable when it was sent for the first time. */
TEST(test_name_later)
{
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) };
	struct names n = { 0 };

	add(&n, 1, "", 1);
	expect(&n, frames, 2, false, "p0 0 ");
	assert_int_equal(n.names.n_unknown, 1);
	add(&n, 1, "f", 1);
	expect(&n, frames, 2, false, "p1 0 ");
	add(&n, 1, "", 1);
	expect(&n, frames, 2, false, "p1 0 ");
	assert_string_equal(n.written, PYTHON_NAME_UNKNOWN ":2@0 f:2@1 ");
	assert_int_equal(n.names.n_unknown, 1);
	python_names_deinit(&n.names);
}

/* Texts that are cut show it: the end of a name, and the begin of a path. */
TEST(test_long_texts)
{
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) };
	struct rec_python_code rec = { .id = 1,
				       .n_name = PYTHON_NAME_BYTES,
				       .n_file = PYTHON_FILE_BYTES,
				       .name_kind = 1,
				       .file_kind = 2,
				       .name_is_cut = 1,
				       .file_is_cut = 1 };
	struct names n = { 0 };
	struct event last = { 0 };
	char name[1024], file[2048];
	const struct python_stack stack = {
		.frames = frames, .n = 2, .write = keep_name, .userdata = &last
	};
	uint64_t to[2];

	memset(rec.name, 0xe9, sizeof(rec.name));
	memset(rec.file, 0x30, sizeof(rec.file));
	assert_int_equal(python_names_add(&n.names, &rec), 0);
	assert_int_equal(python_names_expand(&n.names, &stack, to), 2);
	snprintf(name, sizeof(name), "%s", last.frame.function);
	snprintf(file, sizeof(file), "%s", last.frame.source);
	assert_int_equal(strlen(name), 2 * PYTHON_NAME_BYTES + 3);
	assert_string_equal(name + 2 * PYTHON_NAME_BYTES - 2, "\u00e9...");
	assert_int_equal(strlen(file), 3 * PYTHON_FILE_BYTES / 2 + 3);
	assert_memory_equal(file, "...\u3030", 6);
	python_names_deinit(&n.names);
}

TEST(test_turn)
{
	const uint64_t frames[] = { EVAL(NATIVE), ENTRY(1) };
	struct names n = { 0 };

	add(&n, 1, "f", 1);
	assert_false(python_names_turn(&n.names));
	n.names.bytes = PYTHON_CODES_BYTES_MAX + 1;
	assert_true(python_names_turn(&n.names));
	expect(&n, frames, 2, false, "p0 0 ");
	assert_string_equal(n.written, "f:2@0 ");
	n.names.bytes = PYTHON_CODES_BYTES_MAX + 1;
	assert_true(python_names_turn(&n.names));
	python_names_forget_written(&n.names);
	expect(&n, frames, 2, false, "p1 0 ");
	assert_string_equal(n.written, "f:2@0 " PYTHON_NAME_UNKNOWN ":0@1 ");
	python_names_deinit(&n.names);
}

/* ---- code ---- */

TEST(test_texts)
{
	static const uint16_t two[] = { 'a', 0x3b1, 0xd800 };
	static const uint32_t four[] = { 0x1f600, 'b', 0x110000 };
	char to[32];

	python_code_text((const uint8_t *)"a\xe9\n", 3, 1, to, sizeof(to));
	assert_string_equal(to, "a\u00e9\ufffd");
	python_code_text((const uint8_t *)two, sizeof(two), 2, to, sizeof(to));
	assert_string_equal(to, "a\u03b1\ufffd");
	python_code_text((const uint8_t *)four, sizeof(four), 4, to, sizeof(to));
	assert_string_equal(to, "\U0001f600b\ufffd");
	python_code_text((const uint8_t *)four, 7, 4, to, sizeof(to));
	assert_string_equal(to, "\U0001f600");
	python_code_text((const uint8_t *)"abc", 3, 1, to, 3);
	assert_string_equal(to, "ab");
	python_code_text((const uint8_t *)"\xe9", 1, 1, to, 2);
	assert_string_equal(to, "");
	python_code_text((const uint8_t *)"abc", 3, 3, to, sizeof(to));
	assert_string_equal(to, "");
}

/* The kinds of entries, as a compiler writes them. */
TEST(test_tables)
{
	static const uint8_t table[] = {
		0x80 | 0 << 3 | 1,
		0x12, /* units 0 and 1: the same line */
		0x80 | 12 << 3 | 0,
		0x04,
		0x08, /* unit 2: two lines below */
		0x80 | 13 << 3 | 0,
		0x03,               /* unit 3: a line above */
		0x80 | 15 << 3 | 2, /* units 4 to 6: no line */
		0x80 | 14 << 3 | 7,
		0x48,
		0x03,
		0x00,
		0x01,
		0x02, /* units 7 to 14: 100 lines below */
	};
	static const uint32_t lines[] = { 10, 10, 12, 11, 0, 0, 0, 111, 111 };

	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(python_code_line(table, sizeof(table), 10, i), lines[i]);
	assert_int_equal(python_code_line(table, sizeof(table), 10, 14), 111);
	assert_int_equal(python_code_line(table, sizeof(table), 10, 15), 0);
	assert_int_equal(python_code_line(NULL, 0, 10, 0), 0);
	/* damaged: no entry begins here; a number without end */
	assert_int_equal(python_code_line((const uint8_t[]){ 0x12 }, 1, 10, 0), 0);
	assert_int_equal(python_code_line((const uint8_t[]){ 0xe8, 0x41 }, 2, 10, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between_native_frames),
		cmocka_unit_test(test_innermost),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_called_just_now),
		cmocka_unit_test(test_greenlet),
		cmocka_unit_test(test_cut_python),
		cmocka_unit_test(test_no_python),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_cut_native),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_name_later),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
