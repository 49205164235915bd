/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of which each step is a story of its own (story.h), split in all places: each chunk
 * is valid by itself, and all of them together have the content of a recording that was not split.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/story-recorder.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

enum { CHUNKS_MAX = 128 };

struct fixture {
	struct story_recorder s;
	struct outbuf heads[CHUNKS_MAX], bodies[CHUNKS_MAX], tails[CHUNKS_MAX];
	size_t n; /* chunks so far, including the one being written */
};

/* ---- a recording of it ---- */

static void put_context(struct fixture *f, const char *name, uint32_t id, bool begins)
{
	const struct event ev = {
		.kind = EVENT_CONTEXT,
		.ts_ns = STORY_BASE,
		.context = { name, id, begins },
	};

	assert_int_equal(fxt_archive_event(&f->s.r.archive, &ev), 0);
}

static void begin(struct fixture *f)
{
	f->s.options.rotate_ns = ROTATE_NS_MIN;
	story_recorder_begin(&f->s, &f->heads[0]);
	put_context(f, "open", 1, true);
	put_context(f, "closed", 2, true);
	put_context(f, "closed", 2, false);
	f->n = 1;
	recorder_set_buffer(&f->s.r, &f->bodies[0], 0);
}

static struct fixture *let_go(struct fixture *f)
{
	if (!f)
		return NULL;
	story_recorder_deinit(&f->s);
	for (size_t i = 0; i < CHUNKS_MAX; i++) {
		outbuf_deinit(&f->heads[i]);
		outbuf_deinit(&f->bodies[i]);
		outbuf_deinit(&f->tails[i]);
	}
	free(f);
	return NULL;
}

DEFINE_CLEANUP(struct fixture *, let_go)

static const struct recorder_end rotated = { .reason = "rotated", .bytes = 1 };

static void split(struct fixture *f, uint64_t at_ns)
{
	assert_true(f->n < CHUNKS_MAX);
	assert_int_equal(recorder_split(&f->s.r, at_ns, &f->s.options, &rotated,
					&f->tails[f->n - 1], &f->heads[f->n]),
			 0);
	recorder_set_buffer(&f->s.r, &f->bodies[f->n++], 0);
}

/* Records all steps, and splits after each step whose bit is set in SPLITS. */
static void record(struct fixture *f, uint64_t splits)
{
	const struct recorder_end end = { .reason = "requested" };

	begin(f);
	for (unsigned n = 1; n < STORY_STEPS; n++) {
		story_play(&f->s.story, n);
		assert_int_equal(recorder_round(&f->s.r, STORY_AT(n)), 0);
		if (!(splits >> n & 1))
			continue;
		/* Step 39 is in the middle of a snapshot. */
		assert_int_equal(recorder_can_split(&f->s.r, false), n != 39);
		if (n != 39)
			split(f, STORY_AT(n));
	}
	recorder_set_end(&f->s.r, STORY_AT(STORY_STEPS));
	assert_int_equal(recorder_round(&f->s.r, MERGE_ALL), 0);
	recorder_set_buffer(&f->s.r, &f->tails[f->n - 1], 0);
	assert_int_equal(recorder_close(&f->s.r, &end), 0);
}

/* ---- its contents ---- */

static void add(struct outbuf *to, const struct outbuf *part)
{
	assert_int_equal(outbuf_append(to, part->data, part->size), 0);
}

/* Chunk I by itself. */
static void chunk_of(const struct fixture *f, size_t i, struct outbuf *ret)
{
	*ret = (struct outbuf){ 0 };
	add(ret, &f->heads[i]);
	add(ret, &f->bodies[i]);
	add(ret, &f->tails[i]);
}

/* The head of I, all bodies from there on, and the last tail. */
static void join_from(const struct fixture *f, size_t i, struct outbuf *ret)
{
	*ret = (struct outbuf){ 0 };
	add(ret, &f->heads[i]);
	for (size_t j = i; j < f->n; j++)
		add(ret, &f->bodies[j]);
	add(ret, &f->tails[f->n - 1]);
}

/*
 * Removes lines with names, which can be repeated in a body, and packets, which depend on the
 * places of the splits.
 */
static void drop_names(char *text)
{
	char *to = text, *next;

	for (char *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (strncmp(line, "process ", 8) == 0 || strncmp(line, "thread ", 7) == 0 ||
		    strncmp(line, "blob ", 5) == 0)
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
}

/* The text of PART of chunk I, with the strings and threads of that chunk. */
static char *part_text(const struct fixture *f, size_t i, const struct outbuf *part)
{
	_cleanup_(outbuf_deinit) struct outbuf both = { 0 };
	_cleanup_free_ char *head = archive_text(&f->heads[i]);
	_cleanup_free_ char *text = NULL;
	char *said;

	add(&both, &f->heads[i]);
	add(&both, part);
	text = archive_text(&both);
	assert_int_equal(strncmp(text, head, strlen(head)), 0);
	said = strdup(text + strlen(head));
	drop_names(said);
	return said;
}

static char *body_text(const struct fixture *f, size_t i)
{
	return part_text(f, i, &f->bodies[i]);
}

static char *tail_text(const struct fixture *f, size_t i)
{
	return part_text(f, i, &f->tails[i]);
}

/* Of all bodies from FROM on. */
static char *bodies_text(const struct fixture *f, size_t from)
{
	struct outbuf all = { 0 };

	for (size_t i = from; i < f->n; i++) {
		_cleanup_free_ char *body = body_text(f, i);

		assert_int_equal(outbuf_append(&all, body, strlen(body)), 0);
	}
	assert_int_equal(outbuf_append(&all, "", 1), 0);
	return (char *)all.data;
}

/* The same, of one archive. */
static char *joined_text(const struct fixture *f, size_t from)
{
	_cleanup_(outbuf_deinit) struct outbuf all = { 0 };
	_cleanup_free_ char *head = archive_text(&f->heads[from]);
	_cleanup_free_ char *text = NULL;
	char *bodies;

	add(&all, &f->heads[from]);
	for (size_t i = from; i < f->n; i++)
		add(&all, &f->bodies[i]);
	text = archive_text(&all);
	bodies = strdup(text + strlen(head));
	drop_names(bodies);
	return bodies;
}

/* Prints the first difference. */
static void assert_same_text(const char *is, const char *want, const char *what)
{
	size_t i = 0, line = 0;

	for (; is[i] && is[i] == want[i]; i++)
		if (is[i] == '\n')
			line = i + 1;
	if (is[i] == want[i])
		return;
	print_error("%s: has\n  %.*s\nand should have\n  %.*s\n", what,
		    (int)strcspn(is + line, "\n"), is + line, (int)strcspn(want + line, "\n"),
		    want + line);
	fail();
}

static void check_all(struct fixture *f, const char *want)
{
	char what[64];

	for (size_t i = 0; i < f->n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf chunk, join;
		_cleanup_free_ char *joined = joined_text(f, i), *bodies = bodies_text(f, i);

		chunk_of(f, i, &chunk);
		snprintf(what, sizeof(what), "chunk %zu of %zu", i + 1, f->n);
		story_recorder_check(&chunk, what);
		join_from(f, i, &join);
		snprintf(what, sizeof(what), "from chunk %zu of %zu on", i + 1, f->n);
		story_recorder_check(&join, what);
		assert_same_text(joined, bodies, what);
		if (i == 0)
			assert_same_text(bodies, want, "all chunks");
	}
}

/* ---- tests ---- */

/* Records it, split as in SPLITS. The caller frees it. */
static struct fixture *recorded(uint64_t splits)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	record(f, splits);
	return f;
}

static char *unsplit(void)
{
	_cleanup_(let_gop) struct fixture *f = recorded(0);

	return body_text(f, 0);
}

TEST(test_split_behind_each_step)
{
	_cleanup_free_ char *want = unsplit();

	for (unsigned n = 1; n < STORY_STEPS; n++) {
		_cleanup_(let_gop) struct fixture *f = recorded(UINT64_C(1) << n);

		assert_int_equal(f->n, n == 39 ? 1 : 2);
		check_all(f, want);
	}
}

TEST(test_split_behind_all_steps)
{
	_cleanup_(let_gop) struct fixture *f = recorded(UINT64_MAX);
	_cleanup_free_ char *want = unsplit();

	assert_int_equal(f->n, STORY_STEPS - 1);
	check_all(f, want);
}

TEST(test_split_now_and_then)
{
	_cleanup_free_ char *want = unsplit();

	for (unsigned every = 2; every < 12; every += under_valgrind() ? 3 : 1) {
		_cleanup_(let_gop) struct fixture *f = NULL;
		uint64_t splits = 0;

		for (unsigned n = every; n < STORY_STEPS; n += every)
			splits |= UINT64_C(1) << n;
		f = recorded(splits);
		check_all(f, want);
	}
}

/* Names in chunk I: all threads but one have their names, also those that have ended. */
TEST(test_names)
{
	_cleanup_(let_gop) struct fixture *f = recorded(UINT64_MAX);

	for (size_t i = 0; i < f->n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf chunk;
		_cleanup_free_ char *story = NULL;
		const char *nobody;

		chunk_of(f, i, &chunk);
		story = archive_story(&chunk);
		/* (nothing is known of thread 77) */
		while ((nobody = strstr(story, "process 77 '?'")) ||
		       (nobody = strstr(story, "thread 77/77 '?'")))
			memset(strchr(nobody, '?'), '-', 1);
		assert_null(strstr(story, "'?'"));
	}
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

TEST(test_number_and_reason)
{
	_cleanup_(let_gop) struct fixture *f = recorded(UINT64_C(1) << 10 | UINT64_C(1) << 20);
	char first[32] = "";

	assert_int_equal(f->n, 3);
	for (size_t i = 0; i < f->n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf chunk;
		_cleanup_free_ char *text = NULL;
		char number[64], begin[32];
		const char *at;

		chunk_of(f, i, &chunk);
		text = archive_text(&chunk);
		snprintf(number, sizeof(number), " chunk:uint32=%zu ", i + 1);
		assert_int_equal(count(text, number), 1);
		/* Each one shows when the recording began. */
		at = strstr(text, " first:uint64=");
		assert_non_null(at);
		assert_int_equal(sscanf(at, " first:uint64=%31[0-9]", begin), 1);
		if (i == 0)
			memcpy(first, begin, sizeof(first));
		assert_string_equal(begin, first);
		assert_int_equal(count(text, "session_start"), 1);
		assert_int_equal(count(text, "session_stop"), 1);
		assert_int_equal(count(text, "reason:string='rotated'"), i + 1 < f->n);
	}
}

/* Shed parts are marked in each chunk that lacks them. */
TEST(test_sheds)
{
	struct event ev = {
		.kind = EVENT_SHED,
		.shed = { budget_shed_names[SHED_STACKS], "s", 2000, 1000 },
	};
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));

	begin(f);
	story_play(&f->s.story, 1);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(1)), 0);
	split(f, STORY_AT(1));
	ev.ts_ns = STORY_AT(1) + 1;
	assert_int_equal(recorder_shed(&f->s.r, &ev), 0);
	story_play(&f->s.story, 2);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(2)), 0);
	split(f, STORY_AT(2));
	/* After their return, no chunk has a mark. */
	ev.ts_ns = STORY_AT(2) + 1;
	ev.shed.back = true;
	assert_int_equal(recorder_shed(&f->s.r, &ev), 0);
	story_play(&f->s.story, 3);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(3)), 0);
	split(f, STORY_AT(3));
	for (size_t i = 0; i < f->n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf chunk;
		_cleanup_free_ char *text = NULL;

		chunk_of(f, i, &chunk);
		text = archive_text(&chunk);
		assert_int_equal(count(text, "kymo/shed "), i == 1 || i == 2);
		assert_int_equal(count(text, "kymo/returned "), i == 2);
	}
}

/*
 * Losses are counted once, in the chunk in which they begin. Later chunks mark that they continue.
 */
TEST(test_losses)
{
	_cleanup_(let_gop) struct fixture *f = recorded(UINT64_C(1) << 19 | UINT64_C(1) << 30);
	_cleanup_free_ char *head = archive_text(&f->heads[1]), *tail = tail_text(f, 0);
	_cleanup_free_ char *next = archive_text(&f->heads[2]);

	assert_int_equal(count(tail, " lost:uint64=12 "), 1);
	assert_int_equal(count(head, "class:string='sched' cpu:uint32=1 count:uint64=0 "), 1);
	assert_int_equal(count(head, "class:string='stacks' cpu:uint32=1 count:uint64=0 "), 1);
	assert_int_equal(count(head, "instant kymo/lost"), 2);
	assert_int_equal(count(next, "instant kymo/lost"), 0);
}

static void assert_all_clean(const struct fixture *f)
{
	for (size_t i = 0; i < f->n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf chunk, join;

		chunk_of(f, i, &chunk);
		story_recorder_check(&chunk, "chunk");
		join_from(f, i, &join);
		story_recorder_check(&join, "join");
	}
}

static void end_at(struct fixture *f, uint64_t end_ns)
{
	const struct recorder_end end = { .reason = "requested" };

	recorder_set_end(&f->s.r, end_ns);
	assert_int_equal(recorder_round(&f->s.r, MERGE_ALL), 0);
	recorder_set_buffer(&f->s.r, &f->tails[f->n - 1], 0);
	assert_int_equal(recorder_close(&f->s.r, &end), 0);
}

/* Records that come from a ring after their chunk was closed are at the begin of the next one. */
TEST(test_late_records)
{
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *body = NULL;

	begin(f);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	split(f, STORY_AT(10));
	story_put_switch(&f->s.story, STORY_AT(9), 0, 10, 20, BLOCKED);
	story_put_wakeup(&f->s.story, STORY_AT(9) + 1, 10, 0, false, 20);
	story_put_switch(&f->s.story, STORY_AT(10), 1, 0, 10, READY);
	story_put_switch(&f->s.story, STORY_AT(11), 0, 20, 0, BLOCKED);
	/* As old as the recording: not a part of it. */
	story_put_switch(&f->s.story, STORY_BASE, 1, 10, 11, READY);
	end_at(f, STORY_AT(12));
	body = body_text(f, 1);
	assert_same_text(body,
			 "1010000000 switch cpu 0 10>20 state 3 outgoing_weight:int32=120 "
			 "incoming_weight:int32=120\n"
			 "1010000000 wakeup cpu 0 10 weight:int32=120 waker:koid=20\n"
			 "1010000000 switch cpu 1 0>10 state 1 "
			 "outgoing_weight:int32=-2147483648 incoming_weight:int32=120\n"
			 "1011000000 switch cpu 0 20>0 state 3 outgoing_weight:int32=120 "
			 "incoming_weight:int32=-2147483648\n",
			 "late records");
	assert_all_clean(f);
}

/* A loss has begun, and its mark is not in the ring: the running thread is known until then. */
TEST(test_pending_loss)
{
	const struct collector_lost pending = { .count = 3,
						.first_ns = STORY_AT(8),
						.last_ns = STORY_AT(9) };
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *tail = NULL, *head = NULL;

	begin(f);
	fake_collector_set_pending(f->s.collector, CLASS_SCHED, 0, &pending);
	fake_collector_set_pending(f->s.collector, CLASS_STACKS, 1, &pending);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	split(f, STORY_AT(10));
	fake_collector_set_pending(f->s.collector, CLASS_SCHED, 0, &(struct collector_lost){ 0 });
	fake_collector_set_pending(f->s.collector, CLASS_STACKS, 1, &(struct collector_lost){ 0 });
	story_put_loss(&f->s.story, 0, STORY_AT(8), STORY_AT(12), 5, 20);
	story_put_switch(&f->s.story, STORY_AT(13), 0, 20, 0, BLOCKED);
	end_at(f, STORY_AT(14));
	tail = tail_text(f, 0);
	head = archive_text(&f->heads[1]);
	assert_int_equal(count(tail, "instant kymo/lost"), 2);
	assert_int_equal(count(tail, "1008000000 switch cpu 0 10>0 "), 1);
	assert_int_equal(count(tail, "1010000000 switch cpu 1 0>0 "), 1);
	assert_int_equal(count(head, "1008000000 switch cpu 0 0>10 "), 1);
	assert_all_clean(f);
}

/* Malformed records are shown with the losses, also after the collector was freed. */
TEST(test_malformed)
{
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *body = NULL, *tail = NULL;

	begin(f);
	fake_collector_set_malformed(f->s.collector, 3);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_MALFORMED), 3);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_MALFORMED), 3);
	fake_collector_set_malformed(f->s.collector, 4);
	end_at(f, STORY_AT(12));
	tail = tail_text(f, 0);
	body = body_text(f, 0);
	assert_int_equal(count(body, "class:string='malformed'"), 2);
	assert_int_equal(count(tail, " lost:uint64=4 "), 1);
	recorder_release(&f->s.r);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_MALFORMED), 4);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_LIFECYCLE), 0);
}

/* Command lines that could not be read are missing. */
TEST(test_unread_commands)
{
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	const struct worker_results news = { .n_unread = 2 };
	_cleanup_free_ char *body = NULL, *tail = NULL;

	begin(f);
	assert_int_equal(recorder_learn(&f->s.r, &news, true), 0);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_LIFECYCLE), 2);
	end_at(f, STORY_AT(12));
	tail = tail_text(f, 0);
	body = body_text(f, 0);
	assert_int_equal(count(body, "class:string='lifecycle' cpu:uint32=0 count:uint64=2 "), 1);
	assert_int_equal(count(tail, " lost:uint64=2 "), 1);
}

/* Samples that find no room, because no round has run for long, are counted. */
TEST(test_lost_samples)
{
	enum { N_FIT = MERGE_SPARE_BYTES / sizeof(struct rec_counters) + 1, N_LOST = 500 };
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *body = NULL, *tail = NULL;
	struct worker_results news = { 0 };
	struct rec_counters rec = {
		.head = { .size = sizeof(rec), .kind = REC_COUNTERS },
		.name = "load",
		.n_values = 1,
		.values = { { .name = "1m" } },
	};

	begin(f);
	for (unsigned i = 0; i < N_FIT + N_LOST - 1; i++) {
		rec.head.ts_ns = STORY_AT(1) + i;
		assert_int_equal(outbuf_append(&news.samples, &rec, sizeof(rec)), 0);
	}
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	/* (and those of the next time) */
	news.samples.size = 0;
	rec.head.ts_ns++;
	assert_int_equal(outbuf_append(&news.samples, &rec, sizeof(rec)), 0);
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	/* (those after the end, or only for triggers, are not missing) */
	f->s.r.pipe.to_ns = rec.head.ts_ns - 1;
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	f->s.r.pauses = true;
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_COUNTERS), N_LOST);
	/* (those after the known end of a pause are) */
	f->s.r.start_ns = rec.head.ts_ns;
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_COUNTERS), N_LOST + 1);
	f->s.r.lost_samples.count--;
	f->s.r.start_ns = STORY_AT(0);
	f->s.r.pauses = false;
	f->s.r.pipe.to_ns = UINT64_MAX;
	f->s.r.pipe.categories &= ~CATEGORY_COUNTERS;
	assert_int_equal(recorder_add_samples(&f->s.r, &news), 0);
	f->s.r.pipe.categories |= CATEGORY_COUNTERS;
	outbuf_deinit(&news.samples);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_COUNTERS), N_LOST);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_COUNTERS), N_LOST);
	end_at(f, STORY_AT(12));
	tail = tail_text(f, 0);
	body = body_text(f, 0);
	assert_int_equal(count(body, "class:string='counters' cpu:uint32=0 count:uint64=500 "), 1);
	assert_int_equal(count(tail, " lost:uint64=500 "), 1);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_COUNTERS), N_LOST);
}

/* The same, but its mark is in the ring by then, after the records that were read. */
TEST(test_loss_in_the_ring)
{
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *tail = NULL;

	begin(f);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(10)), 0);
	story_put_loss(&f->s.story, 0, STORY_AT(8), STORY_AT(12), 5, 20);
	story_put_switch(&f->s.story, STORY_AT(13), 0, 20, 0, BLOCKED);
	split(f, STORY_AT(10));
	end_at(f, STORY_AT(14));
	tail = tail_text(f, 0);
	assert_int_equal(count(tail, "1008000000 switch cpu 0 10>0 "), 1);
	assert_all_clean(f);
}

/*
 * A snapshot of a flight recorder at any time: the data so far, and a tail. The recording is not
 * affected.
 */
TEST(test_tails)
{
	const struct recorder_end end = { .reason = "snapshot" };
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *want = unsplit(), *text = NULL;

	begin(f);
	for (unsigned n = 1; n < STORY_STEPS; n++) {
		_cleanup_(outbuf_deinit) struct outbuf taken = { 0 };

		story_play(&f->s.story, n);
		assert_int_equal(recorder_round(&f->s.r, STORY_AT(n)), 0);
		add(&taken, &f->heads[0]);
		add(&taken, &f->bodies[0]);
		assert_int_equal(recorder_tail(&f->s.r, STORY_AT(n), &end, &taken), 0);
		if (n != 39)
			story_recorder_check(&taken, "snapshot");
	}
	end_at(f, STORY_AT(STORY_STEPS));
	text = body_text(f, 0);
	assert_same_text(text, want, "with snapshots");
}

/* With a filter: no record is about a thread that the filter has not shown. */
TEST(test_filtered)
{
	uint32_t pid = 10;

	for (unsigned n = 0; n < STORY_STEPS; n++) {
		_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
		_cleanup_free_ char *head = NULL;

		f->s.options.filter = (struct capture_filter){ .pids = &pid, .n_pids = 1 };
		record(f, n ? UINT64_C(1) << n | UINT64_C(1) << 33 : UINT64_MAX);
		assert_all_clean(f);
		head = archive_text(&f->heads[f->n - 1]);
		assert_null(strstr(head, "'init'"));
		assert_non_null(strstr(head, "'other cpu 1'"));
	}
}

static void assert_in_head(const struct fixture *f, size_t i, const char *what, unsigned n)
{
	_cleanup_free_ char *head = archive_text(&f->heads[i]);

	assert_int_equal(count(head, what), n);
}

static bool first_child_is_gone(uint32_t tid)
{
	return tid == 40;
}

/*
 * The end of a process that the filter no longer selects is not reported. Heads contain living
 * processes and their mappings.
 */
TEST(test_gone)
{
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	uint32_t pid = 10;

	f->s.options.filter = (struct capture_filter){ .pids = &pid, .n_pids = 1 };
	begin(f);
	f->s.r.pipe.owner.is_gone = first_child_is_gone;
	story_put_mapping(&f->s.story, STORY_AT(1), 10, 0x1000, "/lib/a");
	story_put_stack(&f->s.story, STORY_AT(1), 5, 0x1010);
	story_put_stack_sample(&f->s.story, STORY_AT(2), 10, 10, 5);
	story_put_fork(&f->s.story, STORY_AT(3), 10, 40, 40);
	story_put_fork(&f->s.story, STORY_AT(3), 10, 41, 41);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(4)), 0);
	/* (the first check; events that it finds may still be on their way) */
	split(f, STORY_AT(4));
	assert_in_head(f, 1, "/lib/a", 6);
	assert_in_head(f, 1, "'child'", 4);
	for (unsigned n = 2; n < 4; n++) {
		const uint64_t now_ns = clock_boot_ns() + n;

		assert_int_equal(recorder_round(&f->s.r, now_ns), 0);
		split(f, now_ns);
		assert_in_head(f, n, "/lib/a", 4);
		assert_in_head(f, n, "'child'", 2);
	}
	/* A later record contains it: then it is named again. */
	story_put_switch(&f->s.story, clock_boot_ns(), 0, 10, 40, READY);
	end_at(f, clock_boot_ns() + 10);
	assert_all_clean(f);
}

static bool ten_is_gone(uint32_t tid)
{
	return tid == 10;
}

/* Each of LINES comes after the previous one in the head of chunk I, and only once. */
static void assert_lines_in_head(const struct fixture *f, size_t i, const char *const *lines,
				 size_t n_lines)
{
	_cleanup_free_ char *head = archive_text(&f->heads[i]);
	const char *at = head;

	for (size_t k = 0; k < n_lines; k++) {
		assert_int_equal(count(head, lines[k]), 1);
		at = strstr(at, lines[k]);
		assert_non_null(at);
	}
}

/*
 * Heads repeat data from bodies: names of contexts, open or not, and watches, also of an ended
 * process; and the files that processes use instead of files with probes.
 */
TEST(test_marks)
{
	static const char *const lines[] = {
		"name:string='open' id:uint32=1 begin:bool=true",
		"name:string='closed' id:uint32=2 begin:bool=true",
		"name:string='closed' id:uint32=2 begin:bool=false",
		" instant memory/watch of 10/10 ",
		"complete:bool=false",
		" instant memory/stack of 10/10 id:uint64=7",
		"file:string='libc.so.6' path:string='/lib/libc'",
	};
	const struct event other = {
		.kind = EVENT_OTHER_FILE,
		.ts_ns = STORY_AT(36),
		.pid = 20,
		.tid = 20,
		.other_file = { "libc.so.6", "/lib/libc" },
	};
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	uint32_t pid = 10;

	f->s.options.filter = (struct capture_filter){ .pids = &pid, .n_pids = 1 };
	begin(f);
	f->s.r.pipe.owner.is_gone = ten_is_gone;
	for (unsigned n = 1; n <= 36; n++)
		story_play(&f->s.story, n);
	/* (the running thread is named, too) */
	story_put_switch(&f->s.story, STORY_AT(36) + 1, 0, 10, 0, BLOCKED);
	assert_int_equal(recorder_round(&f->s.r, STORY_AT(37)), 0);
	assert_int_equal(fxt_archive_event(&f->s.r.archive, &other), 0);
	for (unsigned n = 1; n <= 3; n++) {
		const uint64_t now_ns = clock_boot_ns() + n;

		assert_int_equal(recorder_round(&f->s.r, now_ns), 0);
		split(f, now_ns);
		assert_lines_in_head(f, n, lines, ARRAY_SIZE(lines));
		assert_in_head(f, n, "\nthread 10 ", 1);
	}
	assert_null(tasks_get(&f->s.r.tasks, 10));
	end_at(f, clock_boot_ns() + 10);
	assert_all_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_behind_each_step),
		cmocka_unit_test(test_split_behind_all_steps),
		cmocka_unit_test(test_split_now_and_then),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_number_and_reason),
		cmocka_unit_test(test_sheds),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_late_records),
		cmocka_unit_test(test_pending_loss),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_unread_commands),
		cmocka_unit_test(test_lost_samples),
		cmocka_unit_test(test_loss_in_the_ring),
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
