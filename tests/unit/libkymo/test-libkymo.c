/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that uses only libkymo's header and shared library reads, writes and queries. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libkymo/kymo.h"
#include "tests/support/unit.h"

/* Counts of the events. */
struct counts {
	unsigned kinds[KYMO_EVENT_LOG + 1], damages, named;
	uint64_t arguments;
};

static struct counts read_all(kymo_archive *a)
{
	struct counts n = { 0 };
	int r;

	while ((r = kymo_archive_next(a)) != KYMO_END) {
		const kymo_event *e = kymo_archive_event(a);

		assert_in_range(r, KYMO_EVENT, KYMO_DAMAGE);
		if (r == KYMO_DAMAGE) {
			uint64_t offset, bytes;

			n.damages++;
			assert_int_not_equal(kymo_archive_damage(a, &offset, &bytes)[0], 0);
			continue;
		}
		n.kinds[kymo_event_kind(e)]++;
		n.named += *kymo_event_name(e) != '\0';
		n.arguments += kymo_event_arguments(e);
		if (kymo_event_kind(e) != KYMO_EVENT_DURATION_COMPLETE)
			assert_int_equal(kymo_event_end_ns(e), kymo_event_time_ns(e));
	}
	return n;
}

static kymo_archive *open_golden(const char *name)
{
	kymo_archive *a;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), GOLDEN_DIR "/fxt/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(kymo_archive_open_fd(&a, fd), 0);
	return a;
}

/* "kymo dump --json | jq -r .record": 16 events, 2 + 3 switches, 2 wakeups, 2 log records. */
TEST(test_events_of_every_kind)
{
	kymo_archive *a = open_golden("everything.fxt");
	struct counts n = read_all(a);
	unsigned events = 0;

	for (unsigned kind = 0; kind <= KYMO_EVENT_FLOW_END; kind++) {
		assert_int_not_equal(n.kinds[kind], 0);
		events += n.kinds[kind];
	}
	assert_int_equal(events, 16);
	assert_int_equal(n.kinds[KYMO_EVENT_SWITCH], 5);
	assert_int_equal(n.kinds[KYMO_EVENT_WAKEUP], 2);
	assert_int_equal(n.kinds[KYMO_EVENT_LOG], 2);
	assert_int_equal(kymo_archive_full_buffers(a), 1);
	assert_int_equal(n.damages, 0);
	assert_string_equal(kymo_archive_compression(a), "none");
	kymo_archive_free(a);
}

TEST(test_arguments)
{
	kymo_archive *a = open_golden("events.fxt");
	unsigned n_lost = 0, n_marks = 0;
	uint64_t lost = 0;
	int r;

	while ((r = kymo_archive_next(a)) == KYMO_EVENT) {
		const kymo_event *e = kymo_archive_event(a);
		int count = kymo_event_find_argument(e, "count");

		if (strcmp(kymo_event_category(e), "kymo") != 0)
			continue;
		n_marks += strcmp(kymo_event_name(e), "mark") == 0;
		/* (a counter has the same name) */
		if (kymo_event_kind(e) != KYMO_EVENT_INSTANT ||
		    strcmp(kymo_event_name(e), "lost") != 0)
			continue;
		n_lost++;
		assert_true(count >= 0);
		assert_int_equal(kymo_event_argument_type(e, (size_t)count), KYMO_ARGUMENT_UINT64);
		lost += kymo_event_argument_unsigned(e, (size_t)count);
		assert_true(kymo_event_argument_double(e, (size_t)count) > 0);
		count = kymo_event_find_argument(e, "class");
		assert_non_null(kymo_event_argument_bytes(e, (size_t)count, NULL));
		assert_null(kymo_event_argument_bytes(e, 99, NULL));
		assert_int_equal(kymo_event_argument_signed(e, 99), 0);
	}
	assert_int_equal(r, KYMO_END);
	assert_int_not_equal(n_lost, 0);
	assert_int_not_equal(n_marks, 0);
	assert_int_equal(kymo_archive_lost(a), lost);
	kymo_archive_free(a);
}

/* The thread of each switch has its name and its process from its kernel object. */
TEST(test_names)
{
	kymo_archive *a = open_golden("events.fxt");
	unsigned n = 0;

	while (kymo_archive_next(a) == KYMO_EVENT) {
		const kymo_event *e = kymo_archive_event(a);
		uint64_t thread = kymo_event_thread(e);

		if (kymo_event_kind(e) != KYMO_EVENT_SWITCH || thread == 0)
			continue;
		assert_int_equal(kymo_event_process(e), kymo_archive_thread_process(a, thread));
		n += kymo_archive_thread_name(a, thread) != NULL &&
		     kymo_archive_process_name(a, kymo_event_process(e)) != NULL;
		assert_true(kymo_event_cpu(e) >= 0);
		assert_int_equal(kymo_koid_tid(thread), thread & 0x3fffff);
	}
	assert_int_not_equal(n, 0);
	assert_null(kymo_archive_thread_name(a, 0));
	kymo_archive_free(a);
}

TEST(test_not_an_archive)
{
	char zeroes[64] = { 0 };
	kymo_points *p = NULL;
	kymo_archive *a = NULL;

	assert_int_equal(kymo_archive_open_memory(&a, zeroes, sizeof(zeroes)), -EBADMSG);
	assert_int_equal(kymo_archive_open_memory(&a, "", 0), -EBADMSG);
	assert_int_equal(kymo_archive_open_fd(&a, -1), -EBADF);
	assert_int_equal(kymo_points_load_memory(&p, zeroes, sizeof(zeroes)), -EBADMSG);
	assert_int_equal(kymo_points_load_fd(&p, -1), -EBADF);
	assert_null(a);
	assert_null(p);
	assert_null(kymo_archive_free(NULL));
}

static char *slurp(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "re");
	char *bytes = malloc(1 << 20);

	assert_non_null(f);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

/* All errors in an archive are reported as damage. */
TEST(test_damaged_archives)
{
	size_t size;
	char *bytes = slurp(GOLDEN_DIR "/fxt/everything.fxt", &size), *copy = malloc(size);
	kymo_archive *a;

	assert_non_null(copy);
	for (size_t at = 8; at < size; at += 7) {
		memcpy(copy, bytes, size);
		copy[at] = (char)~copy[at];
		assert_int_equal(kymo_archive_open_memory(&a, copy, at % 3 ? size : at), 0);
		read_all(a);
		kymo_archive_free(a);
	}
	free(copy);
	free(bytes);
}

/* ---- columns ---- */

enum { BLOCK = 7 };

/* A block of all columns. */
struct block {
	int64_t time_ns[BLOCK], end_ns[BLOCK];
	uint8_t kind[BLOCK], out_state[BLOCK];
	int32_t cpu[BLOCK];
	uint64_t process[BLOCK], thread[BLOCK], out_thread[BLOCK], id[BLOCK];
	uint32_t category[BLOCK], name[BLOCK];
};

static void set_columns(kymo_archive *a, struct block *b)
{
	void *const arrays[] = { b->time_ns, b->end_ns,   b->kind,       b->cpu,
				 b->process, b->thread,   b->out_thread, b->out_state,
				 b->id,      b->category, b->name };

	for (int i = 0; i < (int)(sizeof(arrays) / sizeof(arrays[0])); i++)
		assert_int_equal(kymo_archive_set_column(a, (enum kymo_column)i, arrays[i]), 0);
}

static int64_t signed_time(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* Row I is E, which was read from another archive with the same content. */
static void check_row(const kymo_archive *a, const struct block *b, size_t i, const kymo_event *e)
{
	assert_int_equal(b->time_ns[i], signed_time(kymo_event_time_ns(e)));
	assert_int_equal(b->end_ns[i], signed_time(kymo_event_end_ns(e)));
	assert_int_equal(b->kind[i], kymo_event_kind(e));
	assert_int_equal(b->cpu[i], kymo_event_cpu(e));
	assert_int_equal(b->process[i], kymo_event_process(e));
	assert_int_equal(b->thread[i], kymo_event_thread(e));
	assert_int_equal(b->out_thread[i], kymo_event_out_thread(e));
	assert_int_equal(b->out_state[i], kymo_event_out_state(e));
	assert_int_equal(b->id[i], kymo_event_id(e));
	assert_string_equal(kymo_archive_text(a, b->category[i]), kymo_event_category(e));
	assert_string_equal(kymo_archive_text(a, b->name[i]), kymo_event_name(e));
}

/* The blocks of a file have the events of kymo_archive_next(), in the same order. */
static void check_blocks(const char *file)
{
	kymo_archive *a = open_golden(file), *events = open_golden(file);
	struct block b;
	size_t n, n_all = 0;
	int r;

	set_columns(a, &b);
	do {
		r = kymo_archive_next_block(a, BLOCK, &n);
		assert_true(r == KYMO_EVENT || r == KYMO_END);
		assert_true(r == KYMO_EVENT ? n == BLOCK : n < BLOCK);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(kymo_archive_next(events), KYMO_EVENT);
			check_row(a, &b, i, kymo_archive_event(events));
		}
		n_all += n;
	} while (r == KYMO_EVENT);
	assert_int_equal(kymo_archive_next(events), KYMO_END);
	assert_true(n_all > BLOCK);
	assert_int_equal(kymo_archive_next_block(a, BLOCK, &n), KYMO_END);
	assert_int_equal(n, 0);
	assert_int_equal(kymo_archive_lost(a), kymo_archive_lost(events));
	kymo_archive_free(a);
	kymo_archive_free(events);
}

TEST(test_blocks)
{
	check_blocks("everything.fxt");
	check_blocks("events.fxt");
}

/* Equal texts have one number, and each number another text. */
TEST(test_texts_of_columns)
{
	kymo_archive *a = open_golden("events.fxt");
	uint32_t names[BLOCK], n_texts;
	size_t n;

	assert_int_equal(kymo_archive_texts(a), 1);
	assert_int_equal(kymo_archive_set_column(a, KYMO_COLUMN_NAME, names), 0);
	while (kymo_archive_next_block(a, BLOCK, &n) == KYMO_EVENT)
		for (size_t i = 0; i < n; i++)
			assert_true(names[i] < kymo_archive_texts(a));
	n_texts = kymo_archive_texts(a);
	assert_true(n_texts > 5);
	for (uint32_t i = 0; i < n_texts; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(kymo_archive_text(a, i), kymo_archive_text(a, k));
	assert_string_equal(kymo_archive_text(a, 0), "");
	assert_string_equal(kymo_archive_text(a, n_texts), "");
	assert_string_equal(kymo_archive_text(a, KYMO_NO_TEXT), "");
	kymo_archive_free(a);
}

/* Both functions return only the wanted kinds, and write only the wanted columns. */
TEST(test_kinds_of_columns)
{
	kymo_archive *a = open_golden("everything.fxt");
	uint8_t kinds[BLOCK];
	size_t n;

	kymo_archive_set_kinds(a, UINT64_C(1) << KYMO_EVENT_SWITCH | UINT64_C(1) << KYMO_EVENT_LOG);
	assert_int_equal(kymo_archive_set_column(a, KYMO_COLUMN_KIND, kinds), 0);
	assert_int_equal(kymo_archive_set_column(a, (enum kymo_column)99, kinds), -EINVAL);
	assert_int_equal(kymo_archive_set_column(a, (enum kymo_column) - 1, kinds), -EINVAL);
	assert_int_equal(kymo_archive_next_block(a, 0, &n), -EINVAL);
	assert_int_equal(n, 0);
	assert_int_equal(kymo_archive_next_block(a, 5, &n), KYMO_EVENT);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		assert_true(kinds[i] == KYMO_EVENT_SWITCH || kinds[i] == KYMO_EVENT_LOG);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kymo_archive_next(a), KYMO_EVENT);
	assert_int_equal(kymo_archive_next(a), KYMO_END);
	assert_int_equal(kymo_archive_texts(a), 1);
	kymo_archive_free(a);
}

/* Damage ends a block, with the events before it. */
TEST(test_blocks_of_damaged_archives)
{
	size_t size, n, n_damages = 0;
	char *bytes = slurp(GOLDEN_DIR "/fxt/everything.fxt", &size), *copy = malloc(size);
	kymo_archive *a;
	struct block b;
	int r;

	assert_non_null(copy);
	for (size_t at = 8; at < size; at += 7) {
		struct counts expected;
		size_t n_events = 0, n_expected = 0;

		memcpy(copy, bytes, size);
		copy[at] = (char)~copy[at];
		assert_int_equal(kymo_archive_open_memory(&a, copy, size), 0);
		expected = read_all(a);
		kymo_archive_free(a);
		for (size_t i = 0; i <= KYMO_EVENT_LOG; i++)
			n_expected += expected.kinds[i];
		assert_int_equal(kymo_archive_open_memory(&a, copy, size), 0);
		set_columns(a, &b);
		while ((r = kymo_archive_next_block(a, BLOCK, &n)) != KYMO_END) {
			assert_in_range(r, KYMO_EVENT, KYMO_DAMAGE);
			n_damages += r == KYMO_DAMAGE;
			n_events += n;
		}
		assert_int_equal(n_events + n, n_expected);
		kymo_archive_free(a);
	}
	assert_int_not_equal(n_damages, 0);
	free(copy);
	free(bytes);
}

/* ---- trace points ---- */

/* Two points: a write of 40 bytes into a block with 24 left, and one of 3. */
static kymo_writer *write_points(enum kymo_layout layout)
{
	int u, p, text, count, buf, t_u, t_p, t_text, t_d;
	kymo_writer *w;

	assert_int_equal(kymo_writer_new(&w, layout), 0);
	u = kymo_writer_add_name(w, "u");
	p = kymo_writer_add_name(w, "p");
	text = kymo_writer_add_name(w, "text");
	count = kymo_writer_add_name(w, "count");
	buf = kymo_writer_add_name(w, "buf");
	assert_int_equal(kymo_writer_add_type(w, 99, KYMO_UNSIGNED, 8), -EINVAL);
	assert_int_equal(kymo_writer_add_type(w, u, KYMO_FLOAT, 3), -EINVAL);
	t_u = kymo_writer_add_type(w, u, KYMO_UNSIGNED, 8);
	t_p = kymo_writer_add_type(w, p, KYMO_POINTER, 8);
	t_text = kymo_writer_add_type(w, text, KYMO_BLOB, 0);
	t_d = kymo_writer_add_type(w, u, KYMO_FLOAT, 8);
	assert_int_equal(kymo_writer_end_point(w), -EINVAL);
	assert_int_equal(kymo_writer_begin(w), 0);
	assert_int_equal(kymo_writer_add_name(w, "late"), -EBUSY);

	kymo_writer_statement(w, 0x11);
	kymo_writer_buffer(w, 0x1000, 32);
	kymo_writer_unsigned(w, count, t_u, 40);
	kymo_writer_pointer(w, buf, t_p, 0x1008);
	kymo_writer_blob(w, text, t_text, "hi", 2);
	kymo_writer_auxiliary(w, 7);
	assert_int_equal(kymo_writer_end_point(w), 0);

	/* Nothing of this point is written. */
	kymo_writer_statement(w, 0x13);
	assert_int_equal(kymo_writer_signed(w, count, t_u, -1), -EINVAL);
	kymo_writer_pointer(w, buf, t_p, 0x1008);
	assert_int_equal(kymo_writer_end_point(w), -EINVAL);

	kymo_writer_statement(w, 0x12);
	kymo_writer_unsigned(w, count, t_u, 3);
	kymo_writer_pointer(w, buf, t_p, 0x1018);
	kymo_writer_float(w, text, t_d, 1.5);
	assert_int_equal(kymo_writer_end_point(w), 0);
	return w;
}

static kymo_points *load_written(enum kymo_layout layout, size_t without)
{
	kymo_writer *w = write_points(layout);
	kymo_points *p;
	size_t n;
	const void *bytes = kymo_writer_bytes(w, &n);

	assert_int_equal(kymo_points_load_memory(&p, bytes, n - without), 0);
	kymo_writer_free(w);
	return p;
}

static void check_first(const kymo_point *p)
{
	uint64_t size = 0;
	const char *bytes;
	size_t n;

	assert_int_equal(kymo_point_number(p), 0);
	assert_int_equal(kymo_point_statement(p), 0x11);
	assert_int_equal(kymo_point_variables(p), 3);
	assert_int_equal(kymo_point_find(p, "buf"), 1);
	assert_int_equal(kymo_point_find(p, "bug"), -1);
	assert_string_equal(kymo_point_name(p, 0), "count");
	assert_string_equal(kymo_point_type(p, 0), "u");
	assert_int_equal(kymo_point_unsigned(p, 0), 40);
	assert_true(kymo_point_float(p, 0) == 40);
	assert_int_equal(kymo_point_format(p, 1), KYMO_POINTER);
	assert_true(kymo_point_buffer_size(p, 1, &size));
	assert_int_equal(size, 24);
	assert_false(kymo_point_buffer_size(p, 0, &size));
	bytes = kymo_point_blob(p, 2, &n);
	assert_int_equal(n, 2);
	assert_memory_equal(bytes, "hi", 2);
	assert_null(kymo_point_blob(p, 1, &n));
	assert_int_equal(kymo_point_auxiliaries(p), 1);
	assert_int_equal(kymo_point_auxiliary(p, 0), 7);
	assert_int_equal(kymo_point_auxiliary(p, 1), 0);
	assert_string_equal(kymo_point_name(p, 3), "");
}

TEST(test_points_in_both_layouts)
{
	for (int layout = KYMO_LAYOUT_W16; layout <= KYMO_LAYOUT_W64; layout++) {
		kymo_points *p = load_written((enum kymo_layout)layout, 0);
		const kymo_point *point;
		kymo_cursor *c;

		assert_int_equal(kymo_points_layout(p), layout);
		assert_int_equal(kymo_points_count(p), 2);
		assert_null(kymo_points_damage(p, NULL));
		assert_int_equal(kymo_cursor_new(&c, p), 0);
		assert_int_equal(kymo_cursor_next(c, &point), 1);
		check_first(point);
		assert_int_equal(kymo_cursor_next(c, &point), 1);
		assert_int_equal(kymo_point_statement(point), 0x12);
		assert_true(kymo_point_float(point, 2) == 1.5);
		assert_int_equal(kymo_point_unsigned(point, 2), 0);
		assert_int_equal(kymo_cursor_next(c, &point), 0);
		kymo_cursor_free(c);
		kymo_points_free(p);
	}
}

TEST(test_cut_points)
{
	kymo_points *p = load_written(KYMO_LAYOUT_W64, 3);
	uint64_t offset = 0;

	assert_int_equal(kymo_points_count(p), 1);
	assert_non_null(kymo_points_damage(p, &offset));
	assert_int_not_equal(offset, 0);
	kymo_points_free(p);
}

TEST(test_too_much_for_w16)
{
	kymo_writer *w;
	char name[1000];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(kymo_writer_new(&w, (enum kymo_layout)7), -EINVAL);
	assert_int_equal(kymo_writer_new(&w, KYMO_LAYOUT_W16), 0);
	for (int i = 0; i < 66; i++)
		assert_int_equal(kymo_writer_add_name(w, name), i);
	assert_int_equal(kymo_writer_begin(w), -EOVERFLOW);
	kymo_writer_free(w);
}

TEST(test_flushed_to_a_pipe)
{
	kymo_writer *w = write_points(KYMO_LAYOUT_W64);
	kymo_points *p;
	int fds[2];
	size_t n;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(kymo_writer_flush(w, -1), -EBADF);
	assert_int_equal(kymo_writer_flush(w, fds[1]), 0);
	kymo_writer_bytes(w, &n);
	assert_int_equal(n, 0);
	close(fds[1]);
	assert_int_equal(kymo_points_load_fd(&p, fds[0]), 0);
	assert_int_equal(kymo_points_count(p), 2);
	close(fds[0]);
	kymo_points_free(p);
	kymo_writer_free(w);
}

/* ---- queries ---- */

struct found {
	unsigned n;
	uint64_t statement, earlier, value;
	unsigned n_earlier; /* number of earlier points */
	int answer;
};

static int take(void *userdata, const kymo_result *r)
{
	struct found *found = userdata;
	const kymo_point *of = kymo_result_variable_point(r, 0);

	found->n++;
	found->statement = kymo_point_statement(kymo_result_point(r));
	if (kymo_result_earlier(r))
		found->earlier = kymo_point_statement(kymo_result_earlier(r));
	assert_null(kymo_result_earlier_nth(r, 0));
	assert_ptr_equal(kymo_result_earlier_nth(r, 1), kymo_result_earlier(r));
	found->n_earlier = 0;
	while (kymo_result_earlier_nth(r, found->n_earlier + 1))
		found->n_earlier++;
	if (of)
		found->value = kymo_point_unsigned(of, kymo_result_variable(r, 0));
	else
		assert_true(kymo_result_variable(r, 0) == SIZE_MAX);
	return found->answer;
}

static struct found ask(const char *variable, const char *expression, int answer, int expected)
{
	kymo_points *p = load_written(KYMO_LAYOUT_W64, 0);
	struct found found = { .answer = answer };
	kymo_query *q;

	assert_int_equal(kymo_query_new(&q), 0);
	if (variable)
		assert_int_equal(kymo_query_declare(q, variable), 0);
	if (expression)
		assert_int_equal(kymo_query_set_expression(q, expression), 0);
	assert_int_equal(kymo_query_run(q, p, take, &found), expected);
	kymo_query_free(q);
	kymo_points_free(p);
	return found;
}

TEST(test_queries)
{
	struct found found = ask(NULL, "(> (v/value count) (v/size buf))", 0, 0);

	assert_int_equal(found.n, 1);
	assert_int_equal(found.statement, 0x11);
	assert_int_equal(found.value, 40);
	found = ask("any:u,p", "(> (v/value any) 39)", 0, 0);
	assert_int_equal(found.n, 3);
	assert_int_equal(ask(NULL, NULL, 0, 0).n, 2);
	assert_int_equal(ask(NULL, NULL, 5, 5).n, 1);
	found = ask(NULL, "(< (v/value count) (e/value count))", 0, 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.earlier, 0x11);
	assert_int_equal(found.n_earlier, 1);
	/* (the variable of `none` is in no point of the result) */
	found = ask(NULL, "(and (none (= (b/value count) 77)) (< (v/value count) (e/value count)))",
		    0, 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.value, 0);
	ask("any:unknown", NULL, 0, -EINVAL);
}

TEST(test_query_settings)
{
	kymo_points *p = load_written(KYMO_LAYOUT_W64, 0);
	struct found found = { 0 };
	kymo_query *q;

	assert_int_equal(kymo_query_new(&q), 0);
	assert_int_equal(kymo_query_declare(q, "any"), 0);
	assert_int_equal(kymo_query_add_soft(q, ""), -EBUSY);
	assert_int_equal(kymo_query_set_expression(q, "(> (v/value any) 2)"), 0);
	assert_int_equal(kymo_query_add_soft(q, "(= (v/value any) 3)"), 0);
	assert_int_equal(kymo_query_variables(q), 1);
	assert_string_equal(kymo_query_variable_name(q, 0), "any");
	assert_true(kymo_query_variable_is_free(q, 0));
	kymo_query_set_statement(q, 0x12, UINT64_MAX);
	kymo_query_set_keep_duplicates(q, true);
	assert_int_equal(kymo_query_run(q, p, take, &found), 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.value, 3);
	kymo_query_set_statement(q, 0, 0);
	kymo_query_set_limit(q, 1);
	assert_int_equal(kymo_query_run(q, p, take, &found), 0);
	assert_int_equal(found.n, 2);
	kymo_query_free(q);
	kymo_points_free(p);
}

TEST(test_wrong_expressions)
{
	kymo_query *q;
	size_t at = 0;

	assert_int_equal(kymo_query_new(&q), 0);
	assert_int_equal(kymo_query_set_expression(q, "(> 1 (v/valve x))"), -EINVAL);
	assert_non_null(strstr(kymo_query_error(q, &at), "v/valve"));
	assert_int_equal(at, 6);
	assert_int_equal(kymo_query_set_expression(q, ""), -EBUSY);
	kymo_query_free(q);
	assert_int_equal(kymo_query_new(&q), 0);
	assert_int_equal(kymo_query_set_expression(q, ""), 0);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(kymo_query_add_soft(q, "(> 2 1)"), 0);
	assert_string_equal(kymo_query_error(q, NULL), "");
	assert_int_equal(kymo_query_add_soft(q, "(> 2 1)"), -E2BIG);
	assert_string_equal(kymo_query_error(q, &at), "more than 16 soft expressions");
	assert_int_equal(at, 0);
	kymo_query_free(q);
	assert_int_equal(strncmp(kymo_version(), "0.", 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_of_every_kind),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_not_an_archive),
		cmocka_unit_test(test_damaged_archives),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_texts_of_columns),
		cmocka_unit_test(test_kinds_of_columns),
		cmocka_unit_test(test_blocks_of_damaged_archives),
		cmocka_unit_test(test_points_in_both_layouts),
		cmocka_unit_test(test_cut_points),
		cmocka_unit_test(test_too_much_for_w16),
		cmocka_unit_test(test_flushed_to_a_pipe),
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_query_settings),
		cmocka_unit_test(test_wrong_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
