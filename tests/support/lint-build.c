/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/lint-build.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-lint.h"
#include "tests/support/unit.h"

void build_raw(struct build *b, const uint64_t *words, size_t n)
{
	OK(fxt_write_words(&b->w, words, n));
}

void build_process(struct build *b, uint64_t pid, const char *name)
{
	OK(fxt_write_kernel_object(&b->w,
				   &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, pid,
								fxt_interned(name), NULL, 0 }));
}

void build_thread(struct build *b, uint64_t pid, uint64_t tid, const char *name)
{
	const struct fxt_out_arg process = { FXT_ARG_KOID, fxt_interned("process"), .u64 = pid };

	OK(fxt_write_kernel_object(&b->w,
				   &(struct fxt_kernel_object){ FXT_OBJECT_THREAD, tid,
								fxt_interned(name), &process, 1 }));
}

void build_switch(struct build *b, uint64_t ts, uint32_t cpu, uint64_t out, uint64_t in)
{
	const struct fxt_out_arg weights[] = {
		{ FXT_ARG_INT32, fxt_interned("outgoing_weight"),
		  .i32 = out ? 120 : FXT_IDLE_WEIGHT },
		{ FXT_ARG_INT32, fxt_interned("incoming_weight"),
		  .i32 = in ? 120 : FXT_IDLE_WEIGHT },
	};

	OK(fxt_write_switch(&b->w, &(struct fxt_switch){ ts, cpu, FXT_STATE_BLOCKED, out, in,
							 weights, 2 }));
}

void build_wakeup(struct build *b, uint64_t ts, uint64_t tid)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_INT32, fxt_interned("weight"), .i32 = 120 },
		{ FXT_ARG_KOID, fxt_interned("waker"), .u64 = 10 },
	};

	OK(fxt_write_wakeup(&b->w, &(struct fxt_wakeup){ ts, 0, tid, args, 2 }));
}

void build_event(struct build *b, enum fxt_event_type type, uint64_t ts, uint64_t tid,
		 const char *name, uint64_t id)
{
	OK(fxt_write_event(&b->w, &(struct fxt_event){
					  .type = type,
					  .category = fxt_interned("category"),
					  .name = fxt_interned(name),
					  .ts_ticks = ts,
					  .thread = { 10, tid },
					  .id = id,
				  }));
}

void build_instant(struct build *b, uint64_t ts, const struct fxt_out_arg *arg)
{
	OK(fxt_write_event(&b->w, &(struct fxt_event){
					  .category = fxt_interned("category"),
					  .name = fxt_interned("instant"),
					  .ts_ticks = ts,
					  .thread = { 10, 10 },
					  .args = arg,
					  .n_args = arg ? 1 : 0,
				  }));
}

void build_begin(struct build *b, bool bare)
{
	*b = (struct build){ 0 };
	b->w.out = &b->out;
	OK(fxt_out_provider_init(&b->provider, 1));
	OK(fxt_write_magic(&b->w));
	if (bare) {
		b->w.provider = &b->provider;
		b->provider.introduced = true;
		return;
	}
	OK(fxt_write_provider_info(&b->w, &b->provider, "test"));
	OK(fxt_write_initialization(&b->w, 1000000000));
	build_process(b, 10, "process");
	build_thread(b, 10, 10, "main");
	build_thread(b, 10, 11, "second");
	build_thread(b, 10, 12, "third");
}

void build_deinit(struct build *b)
{
	fxt_out_provider_deinit(&b->provider);
	outbuf_deinit(&b->out);
}

static void make(const struct lint_case *c, bool bad, struct build *ret)
{
	build_begin(ret, c->bare);
	c->make(ret, bad);
	OK(ret->out.error);
}

static void count(void *userdata, const struct fxt_finding *f)
{
	struct lint_tally *t = userdata;
	char detail[FXT_FINDING_DETAIL_MAX];

	t->n[f->id]++;
	fxt_finding_detail(detail, f);
	assert_null(strchr(detail, '#'));
}

void build_lint(const struct build *b, struct lint_tally *ret)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *l = NULL;
	const struct fxt_record *record;
	int r;

	*ret = (struct lint_tally){ 0 };
	OK(fxt_reader_new_memory(&reader, b->out.data, b->out.size));
	OK(fxt_lint_new(&l, count, ret));
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		if (r == FXT_READER_RECORD)
			assert_true(fxt_lint_record(l, record) >= 0);
		else
			fxt_lint_damage(l, fxt_reader_damage(reader));
	}
	OK(r);
	OK(fxt_lint_finish(l));
	ret->not_judged = fxt_lint_not_judged(l);
}

static bool is_expected(const struct lint_case *c, bool bad, enum fxt_finding_id id)
{
	if (!bad)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(c->also); i++)
		if (c->also[i] == id && id != 0)
			return true;
	return c->id == id;
}

/* Finds what it should, and nothing else that is more than a note. */
static void check(const struct lint_case *c, bool bad)
{
	struct build b;
	struct lint_tally t;

	make(c, bad, &b);
	build_lint(&b, &t);
	build_deinit(&b);
	assert_int_equal(t.not_judged, 0);
	if ((t.n[c->id] > 0) != bad)
		fail_msg("%s: found %lu times in the %s archive", fxt_finding_kinds[c->id].id,
			 (unsigned long)t.n[c->id], bad ? "bad" : "good");
	for (unsigned i = 0; i < FXT_FINDING_MAX; i++) {
		bool note = fxt_finding_kinds[i].severity == FXT_SEVERITY_NOTE;

		if (t.n[i] > 0 && !note && !is_expected(c, bad, i))
			fail_msg("%s: the %s archive has %s, too", fxt_finding_kinds[c->id].id,
				 bad ? "bad" : "good", fxt_finding_kinds[i].id);
	}
}

TEST(test_case)
{
	const struct lint_case *c = *state;

	check(c, true);
	check(c, false);
}

static int write_case(const struct lint_case *c, bool bad, const char *directory)
{
	_cleanup_free_ char *path = NULL;
	struct build b;
	size_t n;
	FILE *f;

	if (asprintf(&path, "%s/%s.%s.fxt", directory, fxt_finding_kinds[c->id].id,
		     bad ? "bad" : "good") < 0)
		return -1;
	make(c, bad, &b);
	f = fopen(path, "w");
	n = f ? fwrite(b.out.data, b.out.size, 1, f) : 0;
	if (!f || fclose(f) != 0 || n != 1) {
		perror(path);
		build_deinit(&b);
		return -1;
	}
	build_deinit(&b);
	return 0;
}

static bool is_first(const struct lint_cases *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cases->list[i].id == cases->list[n].id)
			return false;
	return true;
}

static int write_all(const struct lint_cases *cases, const char *directory)
{
	for (size_t i = 0; i < cases->n; i++)
		if (is_first(cases, i) && (write_case(&cases->list[i], true, directory) < 0 ||
					   write_case(&cases->list[i], false, directory) < 0))
			return 1;
	return 0;
}

/* How many kinds in R have no case. */
static int n_missing(const struct lint_cases *cases, const struct lint_range *r)
{
	int n = 0;

	for (unsigned id = r->first; id <= r->last; id++) {
		size_t i = 0;

		while (i < cases->n && cases->list[i].id != id)
			i++;
		if (i < cases->n)
			continue;
		fprintf(stderr, "no case for %s\n", fxt_finding_kinds[id].id);
		n++;
	}
	return n;
}

int lint_cases_run(int argc, char **argv, const struct lint_cases *cases)
{
	_cleanup_free_ struct CMUnitTest *tests = calloc(cases->n, sizeof(*tests));
	int missing = 0;

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_all(cases, argv[2]);
	if (!tests)
		return 1;
	for (size_t i = 0; i < cases->n; i++)
		tests[i] = (struct CMUnitTest){
			.name = fxt_finding_kinds[cases->list[i].id].id,
			.test_func = test_case,
			.initial_state = (void *)&cases->list[i],
		};
	for (size_t i = 0; i < cases->n_ranges; i++)
		missing += n_missing(cases, &cases->ranges[i]);
	return _cmocka_run_group_tests("lint", tests, cases->n, NULL, NULL) || missing;
}
