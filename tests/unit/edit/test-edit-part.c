/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of an edited archive fit one another, but not parts of its source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-parts.h"
#include "tests/support/unit.h"

enum { VARIANTS_MAX = 12 };

static int find_name(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static const struct frame frame = { "function", "", "", 0, 0 };

	*ret = &frame;
	return 1;
}

static const struct profile_names names = { .find = find_name };
static const struct edit_redact_options redacted = { .key = "0123456789abcdef", .key_size = 16 };

/* Archives that differ in their edits. */
struct variants {
	struct edit_output list[VARIANTS_MAX];
	unsigned n;
};

static struct edit_output *add(struct variants *v)
{
	assert_true(v->n < VARIANTS_MAX);
	return &v->list[v->n++];
}

/* Adds ARCHIVE itself, and what each edit makes of it without a selection. */
static void add_edits(struct variants *v, const struct outbuf *archive)
{
	struct edit_output *itself = add(v);
	struct edit_repair_counts counts;

	OK(edit_output_init(itself));
	itself->bytes.size = 0;
	OK(outbuf_append(&itself->bytes, archive->data, archive->size));
	symbolize_bytes(archive, &names, add(v));
	repair_bytes(archive, add(v), &counts);
	redact_bytes(archive, &redacted, add(v));
}

/* Of any two of V, a part of the one does not fit a part of the other. */
static void assert_all_foreign(struct variants *v)
{
	static const uint64_t place = 200;

	for (unsigned i = 0; i < v->n; i++) {
		for (unsigned j = 0; j < v->n; j++)
			if (i != j)
				assert_foreign(&v->list[i].bytes, &v->list[j].bytes);
		assert_whole(&v->list[i].bytes, &place, 1);
	}
	for (unsigned i = 0; i < v->n; i++)
		edit_output_deinit(&v->list[i]);
}

TEST(test_part_of_edited)
{
	const struct edit_cut_options all = { .to_ns = UINT64_MAX };
	const uint32_t pid = 10;
	struct edit_cut_options of_process = { .to_ns = UINT64_MAX, .pids = &pid, .n_pids = 1 };
	struct variants v = { .n = 0 };
	struct edit_cut_counts counts;
	struct source s, other;

	make_small(&s, "f", 10);
	source_init(&other);
	put_start_of(&other, 150, "other", "box", 1, 1700000000);
	put_event(&other, FXT_EVENT_INSTANT, 160, 10, "d", "other", 0);
	put_stop_of(&other, 250, "other");
	add_edits(&v, &s.bytes);
	cut_bytes(&s.bytes, &of_process, add(&v), &counts);
	/* (5 and 6: merged with the archive itself, and with it as it was symbolized) */
	for (unsigned i = 0; i < 2; i++)
		merge_bytes((const struct outbuf *[]){ &v.list[i].bytes, &other.bytes }, 2, NULL,
			    add(&v));
	/* (also in a copy of the whole) */
	cut_bytes(&v.list[5].bytes, &all, add(&v), &counts);
	symbolize_bytes(&v.list[1].bytes, &names, add(&v));
	assert_all_foreign(&v);
	source_deinit(&other);
	source_deinit(&s);
}

/* A part that was edited and cut again. */
TEST(test_part_of_part)
{
	const struct edit_cut_options to = { .to_ns = 280, .absolute = true };
	struct variants v = { .n = 0 };
	struct edit_cut_counts counts;
	struct edit_output part;
	struct source s;

	make_small(&s, "f", 10);
	cut_bytes(&s.bytes, &to, &part, &counts);
	add_edits(&v, &part.bytes);
	assert_all_foreign(&v);
	edit_output_deinit(&part);
	source_deinit(&s);
}

/* An address that was named before a cut has its name behind it, too. */
TEST(test_part_of_symbolized)
{
	struct edit_output symbolized, parts[2];
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	struct source s;
	char *merged;

	make_small(&s, NULL, 0);
	symbolize_bytes(&s.bytes, &names, &symbolized);
	for (unsigned i = 0; i < 2; i++) {
		cut_at_200(&s.bytes, 0, &parts[0], &counts);
		cut_at_200(i ? &s.bytes : &symbolized.bytes, 1, &parts[1], &counts);
		merged = merge_parts(parts, views);
		/* (of two addresses) */
		assert_int_equal(count_lines(merged, "profile/frame"), i ? 0 : 2);
		free(merged);
	}
	edit_output_deinit(&symbolized);
	source_deinit(&s);
}

static void get_part_id(const struct outbuf *archive, char to[32])
{
	_cleanup_free_ char *text = edited_text(archive);
	const char *at = strstr(text, "kymo/part");

	assert_non_null(at);
	at = strstr(at, " id:uint64=");
	assert_non_null(at);
	assert_int_equal(sscanf(at, " id:uint64=%31s", to), 1);
}

/* Parts that were edited are none any more. A redacted one does not show its id. */
TEST(test_part_edited)
{
	struct edit_output parts[2], edited[2];
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	char id[32], redacted_id[32];
	struct source s;
	char *merged;

	make_small(&s, "f", 10);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_repair_counts repaired_counts;
		char *repaired;

		cut_at_200(&s.bytes, i, &parts[i], &counts);
		repaired = repair_text(&parts[i].bytes, &repaired_counts);
		assert_int_equal(count_lines(repaired, "kymo/part"), 1);
		assert_int_equal(count_lines(repaired, "class:string=edited"), 1);
		free(repaired);
		redact_bytes(&parts[i].bytes, &redacted, &edited[i]);
		get_part_id(&parts[i].bytes, id);
		get_part_id(&edited[i].bytes, redacted_id);
		assert_string_not_equal(id, redacted_id);
		edit_output_deinit(&parts[i]);
	}
	merged = merge_parts(edited, views);
	assert_int_equal(count_lines(merged, "session_start"), 2);
	assert_int_equal(views[0].repeated + views[1].repeated, 0);
	free(merged);
	source_deinit(&s);
}

/*
 * A part that was cut again and merged is the same part: an event that began before it keeps the
 * begin that it has there. So does an edited part.
 */
TEST(test_part_clipped)
{
	const struct edit_cut_options from = { .from_ns = 150,
					       .to_ns = UINT64_MAX,
					       .absolute = true };
	const uint64_t places[] = { 160, 200, 205 };
	struct variants v = { .n = 0 };
	struct edit_cut_counts counts;
	struct source s, other;
	struct edit_output part;

	make_small(&s, "f", 10);
	source_init(&other);
	put_start_of(&other, 250, "other", "box", 1, 1700000000);
	put_stop_of(&other, 260, "other");
	cut_bytes(&s.bytes, &from, &part, &counts);
	add_edits(&v, &part.bytes);
	merge_bytes((const struct outbuf *[]){ &part.bytes, &other.bytes }, 2, NULL, add(&v));
	for (unsigned i = 0; i < v.n; i++) {
		_cleanup_free_ char *text = edited_text(&v.list[i].bytes);

		assert_int_equal(count_lines(text, "kymo: 150 complete calls/"), 1);
		assert_int_equal(count_lines(text, " 10/10 ..210 began at:uint64=115 "), 1);
		assert_whole(&v.list[i].bytes, places, ARRAY_SIZE(places));
		edit_output_deinit(&v.list[i]);
	}
	edit_output_deinit(&part);
	source_deinit(&other);
	source_deinit(&s);
}

/* A cut of processes that has the whole time lacks nothing before its begin. */
LARGE_TEST(test_part_of_processes)
{
	/* (a cut can sort some 200,000 of them) */
	enum { N = 300000 };
	static const uint64_t begins[] = { 115, 100, 50 };
	static const uint64_t places[] = { 160, 200 };
	const uint32_t pid = 10;
	const struct edit_cut_options of_process = { .to_ns = UINT64_MAX,
						     .pids = &pid,
						     .n_pids = 1 };

	for (unsigned i = 0; i < ARRAY_SIZE(begins); i++) {
		struct edit_cut_counts counts;
		struct edit_output part;
		struct source s;

		make_small(&s, NULL, N);
		put_complete(&s, begins[i], 230, "calls", "f", NULL, 0);
		cut_bytes(&s.bytes, &of_process, &part, &counts);
		assert_whole(&part.bytes, places, ARRAY_SIZE(places));
		edit_output_deinit(&part);
		source_deinit(&s);
	}
}

/* Cuts ARCHIVE at N places, merges the parts, and asserts that it still has its calls. */
static void assert_same_calls(const struct outbuf *archive, const uint64_t *places, unsigned n)
{
	_cleanup_free_ char *original = edited_text(archive), *merged = NULL;
	struct edit_output parts[PARTS_MAX];
	const struct outbuf *list[PARTS_MAX];
	struct edit_cut_counts counts;

	for (unsigned i = 0; i <= n; i++) {
		cut_bytes(archive,
			  &(struct edit_cut_options){ .from_ns = i == 0 ? 0 : places[i - 1],
						      .to_ns = i == n ? UINT64_MAX : places[i],
						      .absolute = true },
			  &parts[i], &counts);
		list[i] = &parts[i].bytes;
	}
	merged = merge_text(list, n + 1, NULL);
	assert_int_equal(count_lines(merged, "complete calls/"),
			 count_lines(original, "complete calls/"));
	for (const char *line = strtok(original, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, "complete calls/"))
			assert_line(merged, line);
	for (unsigned i = 0; i <= n; i++)
		edit_output_deinit(&parts[i]);
}

/* Parts with a gap between them: an event that crosses it ends before it and begins after it. */
TEST(test_part_after_gap)
{
	static const struct edit_cut_options options[] = {
		{ .to_ns = 120, .absolute = true },
		{ .from_ns = 130, .to_ns = 170, .absolute = true },
		{ .from_ns = 190, .to_ns = UINT64_MAX, .absolute = true },
	};
	static const uint64_t places[][2] = { { 116, 150 }, { 150, 200 }, { 160, 205 } };
	const struct outbuf *list[ARRAY_SIZE(options)];
	struct edit_output parts[ARRAY_SIZE(options)];
	struct edit_cut_counts counts;
	struct variants v = { .n = 0 };
	struct source s;

	make_small(&s, "f", 10);
	for (unsigned i = 0; i < ARRAY_SIZE(options); i++) {
		cut_bytes(&s.bytes, &options[i], &parts[i], &counts);
		list[i] = &parts[i].bytes;
	}
	merge_bytes(list, ARRAY_SIZE(options), NULL, add(&v));
	add_edits(&v, &v.list[0].bytes);
	for (unsigned i = 0; i < v.n; i++) {
		_cleanup_free_ char *text = edited_text(&v.list[i].bytes);

		assert_int_equal(count_lines(text, "kymo: 115 complete calls/"), 1);
		assert_int_equal(count_lines(text, "kymo: 130 complete calls/"), 1);
		assert_int_equal(count_lines(text, "kymo: 190 complete calls/"), 1);
		for (unsigned k = 0; k < ARRAY_SIZE(places); k++)
			assert_same_calls(&v.list[i].bytes, places[k], 2);
		edit_output_deinit(&v.list[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(options); i++)
		edit_output_deinit(&parts[i]);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_of_edited),     cmocka_unit_test(test_part_of_part),
		cmocka_unit_test(test_part_of_symbolized), cmocka_unit_test(test_part_edited),
		cmocka_unit_test(test_part_clipped),       cmocka_unit_test(test_part_of_processes),
		cmocka_unit_test(test_part_after_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
