/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers on scripted streams: each firing is logged as "KIND at TIME: VALUE of TID, COUNT".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/option-table.h"
#include "capture/heap/heap-records.h"
#include "capture/stages/triggers.h"
#include "capture/proc/proc-records.h"
#include "tests/support/unit.h"
#include "model/event.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

struct fixture {
	struct triggers *triggers;
	char story[1024];
	unsigned n_notified; /* the owner */
	int answer;          /* of the functions */
	uint32_t n_owners;   /* earlier owners of tids */
};

static int on_trigger(const struct trigger *t, void *userdata)
{
	struct fixture *f = userdata;
	size_t n = strlen(f->story);

	assert_true(t->value >= t->limit);
	snprintf(f->story + n, sizeof(f->story) - n,
		 "%s at %" PRIu64 ": %" PRIu64 " of %u, %" PRIu64 "\n", trigger_names[t->kind],
		 t->ts_ns, t->value, t->koid, t->count);
	f->n_notified += t->notify;
	return f->answer;
}

static int name(uint32_t tid, uint32_t *ret, void *userdata)
{
	const struct fixture *f = userdata;

	*ret = tid + f->n_owners * 1000;
	return f->answer;
}

static void begin(struct fixture *f, struct trigger_options o, bool filtered)
{
	*f = (struct fixture){ 0 };
	assert_true(triggers_wanted(&o));
	assert_int_equal(triggers_new(&o, filtered, &(struct trigger_ops){ on_trigger, name, f },
				      &f->triggers),
			 0);
}

static void expect(struct fixture *f, const char *story)
{
	assert_string_equal(f->story, story);
	*f->story = '\0';
}

/* OUT is switched out in state LETTER (R, S, D, X, T), IN is switched in. */
static int turn(struct fixture *f, uint64_t ts_ns, uint32_t out, char letter, uint32_t in)
{
	enum fxt_name name = letter == 'D'   ? FXT_NAME_STATE_D
			     : letter == 'X' ? FXT_NAME_STATE_X
			     : letter == 'T' ? FXT_NAME_STATE_T
					     : 0;
	enum fxt_thread_state state = letter == 'R'   ? FXT_STATE_RUNNING
				      : letter == 'X' ? FXT_STATE_DEAD
				      : letter == 'T' ? FXT_STATE_SUSPENDED
						      : FXT_STATE_BLOCKED;
	unsigned n = name ? 7 : 6;
	uint64_t words[7] = { fxt_switch_header(n, n - 4, 0, state), ts_ns, out, in };

	words[4] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_OUTGOING_WEIGHT, 120);
	words[5] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_INCOMING_WEIGHT, 120);
	words[6] = fxt_arg32(FXT_ARG_STRING, FXT_NAME_PREV_STATE, name);
	return triggers_words(f->triggers, words, n);
}

static void wake(struct fixture *f, uint64_t ts_ns, uint32_t tid, bool on_rq)
{
	uint64_t words[4] = { fxt_wakeup_header(4, 1, 0), ts_ns, tid,
			      fxt_arg32(FXT_ARG_INT32, FXT_NAME_WEIGHT, 120) };

	if (on_rq)
		words[0] |= UINT64_C(1) << WAKE_ON_RQ_BIT;
	assert_int_equal(triggers_words(f->triggers, words, 4), 0);
}

/* ---- wakeups ---- */

TEST(test_wakeup)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100 }, false);
	turn(&f, 1000, 7, 'S', 0);
	wake(&f, 2000, 7, false);
	turn(&f, 2099, 0, 'R', 7);
	expect(&f, "");
	turn(&f, 3000, 7, 'S', 0);
	wake(&f, 4000, 7, false);
	/* Woken again, it has waited since the first wakeup. */
	wake(&f, 4050, 7, false);
	turn(&f, 4100, 0, 'R', 7);
	expect(&f, "wakeup at 4100: 100 of 7, 1\n");
	/* A preempted thread was not woken. */
	turn(&f, 5000, 7, 'R', 8);
	turn(&f, 9000, 8, 'S', 7);
	expect(&f, "");
	/* An unknown thread is a new one. */
	wake(&f, 10000, 9, false);
	turn(&f, 10500, 7, 'S', 9);
	expect(&f, "wakeup at 10500: 500 of 9, 1\n");
	assert_int_equal(triggers_count(f.triggers), 2);
	triggers_free(f.triggers);
}

/* Wakeups that come before the switch-out of their thread, and false ones. */
TEST(test_wakeup_in_doubt)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100 }, false);
	turn(&f, 1000, 0, 'R', 7);
	wake(&f, 1900, 7, false);
	turn(&f, 2000, 7, 'S', 0);
	turn(&f, 2150, 0, 'R', 7);
	expect(&f, "wakeup at 2150: 150 of 7, 1\n");
	/* It did not sleep after all. */
	wake(&f, 2900, 7, false);
	turn(&f, 3000, 7, 'R', 8);
	turn(&f, 4000, 8, 'S', 7);
	/* Seen on the queue while it waits there: no wakeup. */
	turn(&f, 5000, 7, 'R', 8);
	wake(&f, 5100, 7, true);
	turn(&f, 6000, 8, 'S', 7);
	expect(&f, "");
	/* Seen on the queue, but it sleeps: the dequeue was delayed. */
	turn(&f, 7000, 7, 'S', 0);
	wake(&f, 7100, 7, true);
	turn(&f, 7300, 0, 'R', 7);
	expect(&f, "wakeup at 7300: 200 of 7, 1\n");
	triggers_free(f.triggers);
}

TEST(test_loss)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100, .offcpu_ns = 100 }, true);
	turn(&f, 1000, 7, 'S', 0);
	wake(&f, 2000, 7, false);
	triggers_loss(f.triggers);
	turn(&f, 9000, 0, 'R', 7);
	expect(&f, "");
	turn(&f, 9100, 7, 'S', 0);
	turn(&f, 9300, 0, 'R', 7);
	expect(&f, "offcpu at 9300: 200 of 7, 1\n");
	triggers_free(f.triggers);
}

/* ---- off CPU ---- */

TEST(test_offcpu)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .offcpu_ns = 1000 }, false);
	turn(&f, 1000, 7, 'D', 0);
	wake(&f, 2900, 7, false);
	turn(&f, 3000, 0, 'R', 7);
	expect(&f, "offcpu at 3000: 2000 of 7, 1\n");
	/* Interruptible sleep; a stop; waiting for a CPU. */
	turn(&f, 4000, 7, 'S', 0);
	turn(&f, 9000, 0, 'R', 7);
	turn(&f, 10000, 7, 'T', 0);
	turn(&f, 19000, 0, 'R', 7);
	turn(&f, 20000, 7, 'R', 8);
	turn(&f, 29000, 8, 'S', 7);
	/* Short. */
	turn(&f, 30000, 7, 'D', 0);
	turn(&f, 30999, 0, 'R', 7);
	/* Another thread with the id of a dead one. */
	turn(&f, 31000, 7, 'X', 0);
	turn(&f, 90000, 0, 'R', 7);
	expect(&f, "");
	triggers_free(f.triggers);

	/* With a filter, any sleep counts. */
	begin(&f, (struct trigger_options){ .offcpu_ns = 1000 }, true);
	turn(&f, 4000, 7, 'S', FXT_KOID_OTHER);
	turn(&f, 9000, FXT_KOID_OTHER, 'S', 7);
	turn(&f, 19000, 7, 'S', FXT_KOID_OTHER + 1);
	expect(&f, "offcpu at 9000: 5000 of 7, 1\n");
	triggers_free(f.triggers);
}

/* ---- pressure ---- */

static void pressure(struct fixture *f, uint64_t ts_ns, const char *name, double percent)
{
	struct rec_counters rec = {
		.head = { .ts_ns = ts_ns, .kind = REC_COUNTERS, .size = sizeof(rec) },
		.name = "pressure",
		.n_values = 2,
	};

	strcpy(rec.values[0].name, "CPU full (%)");
	memcpy(&rec.values[0].value, &(double){ 100 }, sizeof(double));
	strcpy(rec.values[1].name, name);
	memcpy(&rec.values[1].value, &percent, sizeof(percent));
	assert_int_equal(triggers_record(f->triggers, &rec.head), 0);
}

TEST(test_pressure)
{
	struct fixture f;
	struct rec_counters load = {
		.head = { .ts_ns = 5, .kind = REC_COUNTERS, .size = sizeof(load) },
		.name = "load",
		.n_values = 1,
	};

	begin(&f, (struct trigger_options){ .pressure_ppm = { 200000, 0, 10000 } }, false);
	pressure(&f, 10, "CPU some (%)", 19.9);
	pressure(&f, 20, "memory some (%)", 100);
	pressure(&f, 30, "I/O full (%)", 100);
	expect(&f, "");
	pressure(&f, 40, "I/O some (%)", 1);
	pressure(&f, 50, "CPU some (%)", 20.5);
	expect(&f, "pressure_io at 40: 10000 of 0, 1\npressure_cpu at 50: 205000 of 0, 1\n");
	strcpy(load.values[0].name, "CPU some (%)");
	memcpy(&load.values[0].value, &(double){ 100 }, sizeof(double));
	assert_int_equal(triggers_record(f.triggers, &load.head), 0);
	expect(&f, "");
	triggers_free(f.triggers);
}

/* ---- leaks ---- */

static void usage(struct fixture *f, uint64_t ts_ns, uint64_t stack, uint64_t allocated,
		  uint64_t freed)
{
	struct rec_usage rec = {
		.head = { .ts_ns = ts_ns, .kind = REC_USAGE, .size = sizeof(rec), .pid = 77 },
		.stack = stack,
		.allocated_bytes = allocated,
		.freed_bytes = freed,
		.instance = 3,
		.resource = RESOURCE_MEMORY,
	};

	assert_int_equal(triggers_record(f->triggers, &rec.head), 0);
}

TEST(test_leak)
{
	struct rec_watched end = { .head = { .kind = REC_WATCHED, .size = sizeof(end) },
				   .instance = 3 };
	struct fixture f;

	begin(&f, (struct trigger_options){ .leak_bytes = 1000 }, true);
	usage(&f, 1 * SECOND, 1, 500, 0);
	usage(&f, 1 * SECOND, 2, 400, 0);
	expect(&f, "");
	usage(&f, 2 * SECOND, 2, 500, 0);
	expect(&f, "leak at 2000000000: 1000 of 77, 1\n");
	/* From here on, it must grow by the same amount again. Freed bytes do not count. */
	usage(&f, 3 * SECOND, 2, 5000, 4000);
	expect(&f, "");
	usage(&f, 4 * SECOND, 2, 6000, 4000);
	expect(&f, "leak at 4000000000: 1500 of 77, 1\n");
	/* Slowly: less than the limit within a minute. */
	for (unsigned i = 1; i <= 20; i++)
		usage(&f, (4 + 30 * i) * SECOND, 2, 6000 + 400 * i, 4000);
	expect(&f, "");
	/* Twice as fast. */
	for (unsigned i = 1; i <= 2; i++)
		usage(&f, (604 + 30 * i) * SECOND, 2, 14000 + 700 * i, 4000);
	assert_int_equal(strncmp(f.story, "leak at ", 8), 0);
	*f.story = '\0';
	/*
	 * It has ended. Another program begins from 0. A free before its allocation is known counts
	 * nothing.
	 */
	assert_int_equal(triggers_record(f.triggers, &end.head), 0);
	usage(&f, 700 * SECOND, 2, 999, 0);
	usage(&f, 701 * SECOND, 0, 10, 5000);
	expect(&f, "");
	/* Descriptors are no bytes. */
	assert_int_equal(triggers_record(f.triggers,
					 &(struct rec_usage){
						 .head = { .ts_ns = 702 * SECOND,
							   .kind = REC_USAGE,
							   .size = sizeof(struct rec_usage) },
						 .allocated_bytes = 100000,
						 .instance = 3,
						 .resource = RESOURCE_FD,
					 }
						  .head),
			 0);
	expect(&f, "");
	triggers_free(f.triggers);
}

/* ---- frequency ---- */

TEST(test_interval)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100, .offcpu_ns = 200, .interval_ns = MS },
	      true);
	for (uint64_t ts = 1000; ts < 5000; ts += 1000) {
		turn(&f, ts, 7, 'S', 0);
		wake(&f, ts + 250, 7, false);
		turn(&f, ts + 500, 0, 'R', 7);
	}
	expect(&f, "wakeup at 1500: 250 of 7, 1\n");
	turn(&f, 2 * MS, 7, 'S', 0);
	turn(&f, 2 * MS + 300, 0, 'R', 7);
	expect(&f, "offcpu at 1500: 500 of 7, 4\n"
		   "offcpu at 2000300: 300 of 7, 1\n");
	assert_int_equal(f.n_notified, 2);
	turn(&f, 4 * MS, 7, 'S', 0);
	wake(&f, 4 * MS + 50, 7, false);
	turn(&f, 4 * MS + 150, 0, 'R', 7);
	expect(&f, "wakeup at 2500: 250 of 7, 3\n"
		   "wakeup at 4000150: 100 of 7, 1\n");
	assert_int_equal(f.n_notified, 3);
	assert_int_equal(triggers_count(f.triggers), 10);
	triggers_free(f.triggers);
}

/*
 * Firings that the owner is not notified of are still in the archive, a second later or at the end.
 */
TEST(test_settle)
{
	static const uint64_t waits[] = { 200, 150, 700, 300 };
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100, .interval_ns = 60 * SECOND }, false);
	for (unsigned i = 0; i < 4; i++) {
		wake(&f, 1000 * i + 1000, 7 + i, false);
		turn(&f, 1000 * i + 1000 + waits[i], 0, 'R', 7 + i);
	}
	expect(&f, "wakeup at 1200: 200 of 7, 1\n");
	assert_int_equal(triggers_settle(f.triggers, SECOND), 0);
	expect(&f, "");
	assert_int_equal(triggers_settle(f.triggers, SECOND + 2150), 0);
	expect(&f, "wakeup at 3700: 700 of 9, 3\n");
	assert_int_equal(triggers_settle(f.triggers, UINT64_MAX), 0);
	expect(&f, "");
	wake(&f, 2 * SECOND, 11, false);
	turn(&f, 2 * SECOND + 100, 0, 'R', 11);
	assert_int_equal(triggers_settle(f.triggers, UINT64_MAX), 0);
	expect(&f, "wakeup at 2000000100: 100 of 11, 1\n");
	assert_int_equal(f.n_notified, 1);
	triggers_free(f.triggers);
}

/* A tid that belongs to another thread by then. */
TEST(test_other_owner)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .wakeup_ns = 100, .interval_ns = 60 * SECOND }, false);
	for (unsigned i = 0; i < 2; i++) {
		wake(&f, 1000 * i + 1000, 7, false);
		turn(&f, 1000 * i + 1200, 0, 'R', 7);
		turn(&f, 1000 * i + 1300, 7, 'X', 0);
	}
	expect(&f, "wakeup at 1200: 200 of 7, 1\n");
	f.n_owners = 1;
	assert_int_equal(triggers_settle(f.triggers, UINT64_MAX), 0);
	expect(&f, "wakeup at 2200: 200 of 7, 1\n");
	triggers_free(f.triggers);
}

TEST(test_error_is_handed_on)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .offcpu_ns = 1 }, true);
	f.answer = -ENOMEM;
	assert_int_equal(turn(&f, 10, 7, 'S', 0), 0);
	assert_int_equal(turn(&f, 20, 0, 'R', 7), -ENOMEM);
	triggers_free(f.triggers);
}

/* More threads than there is room for: older ones are dropped, and memory is bounded. */
TEST(test_many_threads)
{
	struct fixture f;

	begin(&f, (struct trigger_options){ .offcpu_ns = 100 }, true);
	for (uint32_t tid = 1; tid < 300000; tid++)
		turn(&f, tid, tid, 'S', 0);
	turn(&f, 400000, 0, 'R', 299999);
	expect(&f, "offcpu at 400000: 100001 of 299999, 1\n");
	turn(&f, 400001, 0, 'R', 5);
	expect(&f, "");
	triggers_free(f.triggers);
}

TEST(test_rows)
{
	struct trigger_options o = { 0 };

	assert_false(triggers_wanted(&o));
	o.interval_ns = 5;
	assert_false(triggers_wanted(&o));
	for (unsigned i = 0; i < TRIGGER_CONFIGURED_MAX; i++) {
		const struct option_row *row =
			option_of_trigger(trigger_names[i], strlen(trigger_names[i]));
		struct session_options all = { 0 };

		assert_non_null(row);
		option_set(row, &all, row->min);
		assert_true(triggers_wanted(&all.triggers));
	}
	assert_null(option_of_trigger("wake", 4));
	assert_non_null(option_of_trigger("leak=5", 4));
	assert_null(option_of_trigger("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakeup),       cmocka_unit_test(test_wakeup_in_doubt),
		cmocka_unit_test(test_loss),         cmocka_unit_test(test_offcpu),
		cmocka_unit_test(test_pressure),     cmocka_unit_test(test_leak),
		cmocka_unit_test(test_interval),     cmocka_unit_test(test_settle),
		cmocka_unit_test(test_other_owner),  cmocka_unit_test(test_error_is_handed_on),
		cmocka_unit_test(test_many_threads), cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
