/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lint of archives of kymo with events of programs: their ids are used again, and their scopes
 * can stay open.
 */
#include <string.h>

#include "reader/fxt/fxt-finding.h"
#include "tests/support/fixtures/lint-build.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-archive.h"

enum { PROVIDER = 16 };

struct archive {
	struct build b;
	struct fxt_archive of_kymo;
	struct fxt_out_provider of_program;
};

static void begin_archive(struct archive *a)
{
	memset(a, 0, sizeof(*a));
	OK(fxt_archive_init(&a->of_kymo, &a->b.out, 1));
	OK(fxt_archive_begin(&a->of_kymo));
	OK(fxt_out_provider_init(&a->of_program, PROVIDER));
}

static void end_archive(struct archive *a, struct lint_tally *ret)
{
	build_lint(&a->b, ret);
	fxt_out_provider_deinit(&a->of_program);
	fxt_archive_deinit(&a->of_kymo);
	outbuf_deinit(&a->b.out);
}

static void introduce(struct archive *a)
{
	struct fxt_writer *w = &a->of_kymo.writer;

	OK(fxt_out_provider_forget(&a->of_program));
	OK(fxt_write_provider_info(w, &a->of_program, "app"));
	OK(fxt_write_section(w, &a->of_program));
	OK(fxt_write_initialization(w, 1000000000));
}

static void write_event(struct archive *a, enum fxt_event_type type, uint64_t ts, uint64_t pid)
{
	OK(fxt_write_event(&a->of_kymo.writer, &(struct fxt_event){
						       .type = type,
						       .category = fxt_interned("category"),
						       .name = fxt_interned("scope"),
						       .ts_ticks = ts,
						       .thread = { pid, pid },
					       }));
}

TEST(an_id_is_used_again_by_another_program)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	for (unsigned i = 0; i < 300; i++) {
		introduce(&a);
		write_event(&a, FXT_EVENT_INSTANT, 100 + i, 10 + i);
		write_event(&a, FXT_EVENT_INSTANT, 100 + i, 10 + i);
	}
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_PROVIDER_AGAIN], 0);
}

TEST(an_id_is_not_used_again_by_the_same_program)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	introduce(&a);
	write_event(&a, FXT_EVENT_INSTANT, 100, 10);
	introduce(&a);
	write_event(&a, FXT_EVENT_INSTANT, 101, 10);
	write_event(&a, FXT_EVENT_INSTANT, 102, 10);
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_PROVIDER_AGAIN], 1);
}

TEST(kymo_is_introduced_once)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	OK(fxt_archive_begin(&a.of_kymo));
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_PROVIDER_AGAIN], 1);
}

/* The program, its thread or the recording can end in a scope. */
TEST(a_scope_of_a_program_is_open)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	introduce(&a);
	write_event(&a, FXT_EVENT_DURATION_BEGIN, 100, 10);
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_DURATION_OPEN], 0);
}

TEST(kymo_ends_its_own_durations)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	write_event(&a, FXT_EVENT_DURATION_BEGIN, 100, 10);
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_DURATION_OPEN], 1);
}

TEST(an_end_needs_a_begin)
{
	struct lint_tally tally;
	struct archive a;

	begin_archive(&a);
	introduce(&a);
	write_event(&a, FXT_EVENT_DURATION_END, 100, 10);
	end_archive(&a, &tally);
	assert_int_equal(tally.n[FXT_FINDING_DURATION_END_ALONE], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_is_used_again_by_another_program),
		cmocka_unit_test(an_id_is_not_used_again_by_the_same_program),
		cmocka_unit_test(kymo_is_introduced_once),
		cmocka_unit_test(a_scope_of_a_program_is_open),
		cmocka_unit_test(kymo_ends_its_own_durations),
		cmocka_unit_test(an_end_needs_a_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
