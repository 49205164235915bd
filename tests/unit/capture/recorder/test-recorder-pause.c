/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that pauses at any step of a story (story.h) and goes on in another
 * world: nothing lasts over the pause, nothing that is left from before is believed, and who is who
 * is written anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/story-recorder.h"
#include "tests/support/unit.h"

/*
 * The time of the pause, after step N; of the first attached program afterwards, and of all of
 * them.
 */
#define FROM(n)  (STORY_AT(n) + 10)
#define ATTACHED STORY_AT(1000)
#define UNTIL    (ATTACHED + 1000)

struct fixture {
	struct story_recorder s;
	struct outbuf archive;
};

static void shed(struct fixture *f, uint64_t ts_ns, bool back)
{
	const struct event ev = {
		.kind = EVENT_SHED,
		.ts_ns = ts_ns,
		.shed = { budget_shed_names[SHED_SESSION], "s", 2000, 1000, 2, back },
	};

	assert_int_equal(recorder_shed(&f->s.r, &ev), 0);
}

/* Pauses like the session. */
static void pause_at(struct fixture *f, uint64_t at_ns)
{
	shed(f, at_ns, false);
	recorder_set_pause(&f->s.r, at_ns);
	/* Until the programs are detached. */
	story_put_switch(&f->s.story, at_ns + 5, 0, 999, 998, READY);
	assert_int_equal(recorder_round(&f->s.r, MERGE_ALL), 0);
	assert_int_equal(recorder_pause(&f->s.r), 0);
}

static void put_work(struct fixture *f, uint64_t begin_ns, uint64_t end_ns)
{
	const struct rec_work rec = {
		.head = { .ts_ns = end_ns,
			  .size = sizeof(rec),
			  .kind = REC_WORK,
			  .pid = 2,
			  .tid = 30 },
		.begin_ns = begin_ns,
		.function = 1,
	};

	fake_collector_put_record(f->s.collector, &rec, sizeof(rec));
}

/*
 * 11 has ended, 20 is another process, and so is 40 if there was one, 90 is new, and 10 executes
 * another program on CPU 0.
 */
static void resume(struct fixture *f)
{
	struct worker_results news = { .attach_ns = ATTACHED,
				       .start_ns = UNTIL,
				       .listed_ns = UNTIL };

	f->s.tasks.size = 0;
	story_list(&f->s.tasks, 1, 1, 100, "init", 0);
	story_list(&f->s.tasks, 2, 2, 200, "kthreadd", 0);
	story_list(&f->s.tasks, 2, 30, 3000, "kworker", 0);
	story_list(&f->s.tasks, 10, 10, 1000, "anew", IDENTITY_ON_CPU);
	story_list(&f->s.tasks, 20, 20, ATTACHED - 7, "other", 0);
	story_list(&f->s.tasks, 90, 90, ATTACHED - 8, "ninety", 0);
	story_list(&f->s.tasks, 40, 40, ATTACHED - 9, "again", 0);
	news.tasks = f->s.tasks;
	/*
	 * Records from before all programs ran: of intervals that began before the first program
	 * did, and since.
	 */
	story_put_switch(&f->s.story, UNTIL - 5, 0, 998, 997, READY);
	put_work(f, FROM(0), UNTIL + 10);
	put_work(f, ATTACHED + 1, UNTIL + 20);
	shed(f, UNTIL, true);
	recorder_set_resumed(&f->s.r, &news);
	assert_int_equal(recorder_resume(&f->s.r, &news), 0);
	assert_null(tasks_get(&f->s.r.tasks, 11));
	assert_true(f->s.r.schedule.cpus[0].known);
	for (unsigned cpu = 0; cpu < STORY_CPUS; cpu++)
		if (!f->s.r.schedule.cpus[cpu].known)
			assert_int_equal(schedule_open(&f->s.r.schedule, cpu, 0, 0), 0);
}

/* The events after the pause. */
static void go_on(struct fixture *f)
{
	story_put_mapping(&f->s.story, UNTIL + 25, 90, 0x400000, "/bin/ninety");
	story_put_switch(&f->s.story, UNTIL + 30, 0, 10, 0, BLOCKED);
	story_put_wakeup(&f->s.story, UNTIL + 40, 20, 0, false, 0);
	story_put_switch(&f->s.story, UNTIL + 50, 0, 0, 20, READY);
	story_put_switch(&f->s.story, UNTIL + 60, 1, 0, 90, READY);
	assert_int_equal(recorder_round(&f->s.r, UNTIL + 100), 0);
}

static void end(struct fixture *f, uint64_t end_ns)
{
	const struct recorder_end end = { .reason = "requested" };

	recorder_set_end(&f->s.r, end_ns);
	assert_int_equal(recorder_round(&f->s.r, MERGE_ALL), 0);
	assert_int_equal(recorder_close(&f->s.r, &end), 0);
}

static struct fixture *let_go(struct fixture *f)
{
	if (!f)
		return NULL;
	story_recorder_deinit(&f->s);
	outbuf_deinit(&f->archive);
	free(f);
	return NULL;
}

DEFINE_CLEANUP(struct fixture *, let_go)

/* ---- its contents ---- */

static void assert_clean(const struct outbuf *archive, unsigned step)
{
	char what[64];

	snprintf(what, sizeof(what), "pause behind step %u", step);
	story_recorder_check(archive, what);
}

struct seen {
	uint64_t from_ns;
	unsigned n_work, n_closed, n_opened;
};

/* There are no events in the pause, and nothing lasts over it. */
static void see(const struct event *ev, void *userdata)
{
	struct seen *seen = userdata;
	uint64_t end_ns = ev->kind == EVENT_INTERVAL ? ev->interval.end_ns
			  : ev->kind == EVENT_OFFCPU ? ev->offcpu.end_ns
						     : ev->ts_ns;

	if (ev->kind == EVENT_TASK)
		return;
	assert_false(ev->ts_ns > seen->from_ns && ev->ts_ns < UNTIL);
	assert_false(ev->ts_ns <= seen->from_ns && end_ns > seen->from_ns);
	if (ev->kind == EVENT_INTERVAL && ev->interval.kind == INTERVAL_WORK && ev->ts_ns >= UNTIL)
		seen->n_work++;
	seen->n_closed += ev->kind == EVENT_SWITCH && ev->sw.synthetic &&
			  ev->ts_ns == seen->from_ns && ev->sw.next_tid == 0;
	seen->n_opened += ev->kind == EVENT_SWITCH && ev->sw.synthetic && ev->ts_ns == UNTIL;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

TEST(test_anywhere)
{
	for (unsigned n = 1; n < STORY_STEPS; n++) {
		_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
		_cleanup_free_ char *text = NULL, *story = NULL;
		struct seen seen = { .from_ns = FROM(n) };

		/*
		 * In the middle of a snapshot: the worker pauses after it has written the snapshot.
		 */
		if (n == 39)
			continue;
		story_recorder_begin(&f->s, &f->archive);
		for (unsigned i = 1; i <= n; i++) {
			story_play(&f->s.story, i);
			assert_int_equal(recorder_round(&f->s.r, STORY_AT(i)), 0);
		}
		pause_at(f, FROM(n));
		resume(f);
		go_on(f);
		end(f, UNTIL + 200);
		assert_clean(&f->archive, n);
		archive_events(&f->archive, see, &seen);
		assert_int_equal(seen.n_work, 1);
		assert_int_equal(seen.n_opened, STORY_CPUS);
		assert_in_range(seen.n_closed, 1, STORY_CPUS);
		text = archive_text(&f->archive);
		story = archive_story(&f->archive);
		assert_int_equal(count(text, "kymo/shed "), 1);
		assert_int_equal(count(text, "kymo/returned "), 1);
		/* Threads that were only seen between T1 and T2 are not in the archive. */
		assert_null(strstr(text, "koid=998"));
		/*
		 * The new owner of its tid is another process. A process with another name is the
		 * same one.
		 */
		assert_true(count(story, "'other' parent 1 uid 0 cgroup 0 '' real 20") >= 1);
		assert_int_equal(count(story, "process 90 'ninety'"), 1);
		/* (step 23 reports the end of one) */
		assert_int_equal(count(story, "process 40 'again'"), n < 9);
		assert_true(count(story, "process 10 'anew'") >= 1);
	}
}

/* Earlier losses are reported before the pause, once. Losses that are read later are not. */
TEST(test_losses)
{
	const struct collector_lost lost = { 7, STORY_AT(2), STORY_AT(2) + 5 };
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *text = NULL;

	story_recorder_begin(&f->s, &f->archive);
	story_play(&f->s.story, 1);
	fake_collector_set_pending(f->s.collector, CLASS_SCHED, 1, &lost);
	pause_at(f, FROM(2));
	assert_int_equal(recorder_lost(&f->s.r, CLASS_SCHED), 7);
	resume(f);
	go_on(f);
	end(f, UNTIL + 200);
	assert_int_equal(recorder_lost(&f->s.r, CLASS_SCHED), 7);
	assert_clean(&f->archive, 1);
	text = archive_text(&f->archive);
	assert_int_equal(count(text, "instant kymo/lost"), 1);
}

/*
 * Chunks continue: one that begins in a pause says so, and records that come before all tasks are
 * listed are not at its begin.
 */
TEST(test_chunks)
{
	const struct recorder_end rotated = { .reason = "rotated" };
	_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_(outbuf_deinit) struct outbuf tail = { 0 }, head = { 0 };
	_cleanup_free_ char *text = NULL, *begun = NULL;

	f->s.options.rotate_ns = ROTATE_NS_MIN;
	story_recorder_begin(&f->s, &f->archive);
	for (unsigned i = 1; i <= 9; i++)
		story_play(&f->s.story, i);
	pause_at(f, FROM(9));
	assert_int_equal(
		recorder_split(&f->s.r, FROM(9) + 100, &f->s.options, &rotated, &tail, &head), 0);
	begun = archive_text(&head);
	assert_int_equal(count(begun, "kymo/shed "), 1);
	assert_null(strstr(begun, "switch"));
	/* Strings are written again from here on. */
	outbuf_reset(&f->archive);
	assert_int_equal(outbuf_append(&f->archive, head.data, head.size), 0);
	resume(f);
	go_on(f);
	end(f, UNTIL + 200);
	assert_clean(&f->archive, 9);
	text = archive_text(&f->archive);
	assert_null(strstr(text, "koid=998"));
	assert_int_equal(count(text, "kymo/returned "), 1);
}

/* It can end during a pause, and in the middle of its begin or of its end. */
TEST(test_end)
{
	for (unsigned how = 0; how < 3; how++) {
		_cleanup_(let_gop) struct fixture *f = calloc(1, sizeof(*f));
		struct seen seen = { .from_ns = FROM(9) };
		_cleanup_free_ char *text = NULL;

		story_recorder_begin(&f->s, &f->archive);
		for (unsigned i = 1; i <= 9; i++)
			story_play(&f->s.story, i);
		if (how == 0) {
			shed(f, FROM(9), false);
			recorder_set_pause(&f->s.r, FROM(9));
			story_put_switch(&f->s.story, FROM(9) + 5, 0, 999, 998, READY);
		} else {
			pause_at(f, FROM(9));
		}
		if (how == 2)
			story_put_switch(&f->s.story, UNTIL + 1, 0, 999, 998, READY);
		end(f, UNTIL + 2);
		assert_clean(&f->archive, 9);
		text = archive_text(&f->archive);
		assert_int_equal(count(text, "session_stop"), 1);
		assert_null(strstr(text, "koid=998"));
		archive_events(&f->archive, see, &seen);
		assert_int_equal(seen.n_opened, 0);
		assert_in_range(seen.n_closed, 1, STORY_CPUS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anywhere),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
