/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as the programs write them, and what the archive says then
 * (tests/support/fixtures/archive-text.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/stages/activity.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/decode.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/unit.h"

enum { N_CPUS = 4, FROM = 100, TO = 200 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct pipeline pipe;
	struct activity a;
};

static int announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;
	const struct event ev = {
		.kind = EVENT_TASK,
		.pid = 2,
		.tid = tid,
		.task = { .comm = "kworker", .command_line = "" },
	};

	tasks_set_announced(&f->tasks, tid);
	return fxt_archive_event(&f->archive, &ev);
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (tasks_init(&f->tasks) < 0 || fxt_archive_init(&f->archive, &f->out, N_CPUS) < 0)
		return -1;
	f->pipe = (struct pipeline){ .archive = &f->archive,
				     .tasks = &f->tasks,
				     .from_ns = FROM,
				     .to_ns = TO,
				     .links = { .announce = announce, .userdata = f } };
	activity_init(&f->a, &f->pipe);
	return fxt_archive_begin(&f->archive);
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	activity_deinit(&f->a);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

#define HEAD    "magic\nprovider 1 'kymo'\nsection 1\nticks 1000000000\n"
#define IRQ     "process 4390912 'IRQ'\nthread 4390914 'irq cpu 1' process:koid=4390912\n"
#define SOFTIRQ "process 4521984 'Softirq'\nthread 4521986 'softirq cpu 1' process:koid=4521984\n"
#define POWER   "process 4653056 'Power'\nthread 4653058 'idle cpu 1' process:koid=4653056\n"
#define KWORKER "thread 30 'kworker' process:koid=2\n"

static void assert_archive(struct fixture *f, const char *want)
{
	_cleanup_free_ char *text = archive_text(&f->out);

	assert_string_equal(text, want);
}

/* ---- words, on CPU 1 ---- */

static void put_softirq(struct fixture *f, uint64_t begin, uint64_t end)
{
	uint64_t words[] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(5) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) |
			fxt_put_event_category(FXT_NAME_SOFTIRQ) |
			fxt_put_event_name(FXT_NAME_SOFTIRQ_NET_RX),
		begin,
		FXT_KOID_SOFTIRQ,
		FXT_KOID_SOFTIRQ + 2,
		end,
	};

	assert_int_equal(decode_ring_words(words, 5, CLASS_SOFTIRQ, 1), 5);
	assert_int_equal(activity_words(&f->a, CLASS_SOFTIRQ, 1, words, 5), 0);
}

static void put_idle(struct fixture *f, uint64_t begin, uint64_t end, uint32_t number)
{
	uint64_t words[] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) | fxt_put_event_n_args(1) |
			fxt_put_event_category(FXT_NAME_POWER),
		begin,
		FXT_KOID_POWER,
		FXT_KOID_POWER + 2,
		fxt_arg32(FXT_ARG_UINT32, FXT_NAME_STATE, number),
		end,
	};

	assert_int_equal(decode_ring_words(words, 6, CLASS_IDLE, 1), 6);
	assert_int_equal(activity_words(&f->a, CLASS_IDLE, 1, words, 6), 0);
}

static void put_irq(struct fixture *f, uint64_t begin, uint64_t end, const char *name)
{
	unsigned length = (unsigned)strlen(name), n = 7 + (length + 7) / 8;
	uint64_t words[12] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(n) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) | fxt_put_event_n_args(2) |
			fxt_put_event_category(FXT_NAME_IRQ) |
			fxt_put_event_name(fxt_put_string_ref_inline(1) | length),
		begin,
		FXT_KOID_IRQ,
		FXT_KOID_IRQ + 2,
	};

	memcpy(&words[4], name, length);
	words[n - 3] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_IRQ, 36);
	words[n - 2] = fxt_arg32(FXT_ARG_BOOL, FXT_NAME_HANDLED, 1);
	words[n - 1] = end;
	assert_int_equal(decode_ring_words(words, n, CLASS_IRQ, 1), n);
	assert_int_equal(activity_words(&f->a, CLASS_IRQ, 1, words, n), 0);
}

TEST(test_words)
{
	struct fixture *f = *state;

	put_softirq(f, 110, 120);
	put_irq(f, 112, 113, "virtio1-req.0");
	put_irq(f, 114, 114, "a name as long as they can be..");
	put_softirq(f, 130, 130);
	assert_archive(f, HEAD SOFTIRQ
		       "110 complete softirq/NET_RX of 4521984/4521986 to 120\n" IRQ
		       "112 complete irq/virtio1-req.0 of 4390912/4390914 to 113 irq:int32=36 "
		       "handled:bool=true\n"
		       "114 complete irq/a name as long as they can be.. of 4390912/4390914 to 114 "
		       "irq:int32=36 handled:bool=true\n"
		       "130 complete softirq/NET_RX of 4521984/4521986 to 130\n");
	assert_int_equal(f->a.n_events, 4);
}

/*
 * Intervals outside of the recording are left out; intervals that overlap its begin or end are cut.
 */
TEST(test_words_cut)
{
	struct fixture *f = *state;

	put_softirq(f, 10, 90);
	put_softirq(f, 90, 100);
	put_softirq(f, 90, 101);
	put_softirq(f, 199, 300);
	put_softirq(f, 201, 202);
	put_softirq(f, 300, 400);
	assert_archive(f, HEAD SOFTIRQ "100 complete softirq/NET_RX of 4521984/4521986 to 101\n"
				       "199 complete softirq/NET_RX of 4521984/4521986 to 200\n");
	assert_int_equal(f->a.n_events, 2);
}

/* Drivers can use any bytes in names; the archive is UTF-8. */
TEST(test_irq_name)
{
	struct fixture *f = *state;

	put_irq(f, 110, 111, "\xff\x80 eth0");
	put_irq(f, 112, 113, "gr\xc3\xbcn");
	assert_archive(f, HEAD IRQ "110 complete irq/?? eth0 of 4390912/4390914 to 111 "
				   "irq:int32=36 handled:bool=true\n"
				   "112 complete irq/gr\xc3\xbcn of 4390912/4390914 to 113 "
				   "irq:int32=36 handled:bool=true\n");
}

/* No driver has a name for these states, on any machine. */
TEST(test_idle)
{
	struct fixture *f = *state;

	put_idle(f, 50, 110, 4000);
	put_idle(f, 120, 130, 4001);
	assert_int_equal(activity_close_idle(&f->a, 1, 4000, 150), 0);
	assert_int_equal(activity_close_idle(&f->a, 1, 4000, 200), 0); /* began after the end */
	assert_int_equal(activity_close_idle(&f->a, 1, 4000, 300), 0);
	assert_archive(f, HEAD POWER
		       "100 complete power/state 4000 of 4653056/4653058 to 110 state:uint32=4000\n"
		       "120 complete power/state 4001 of 4653056/4653058 to 130 state:uint32=4001\n"
		       "150 complete power/state 4000 of 4653056/4653058 to 200 "
		       "state:uint32=4000\n");
	assert_int_equal(f->a.n_events, 3);
}

/* ---- work items ---- */

static void put_function(struct fixture *f, uint64_t address, const char *name)
{
	struct rec_function rec = {
		.head = { .kind = REC_FUNCTION, .size = sizeof(rec), .cpu = 1 },
		.function = address,
	};

	snprintf(rec.name, sizeof(rec.name), "%s", name);
	assert_int_equal(activity_record(&f->a, &rec.head), 0);
}

static void put_work(struct fixture *f, uint64_t begin, uint64_t end, uint64_t function,
		     bool in_softirq)
{
	const struct rec_work rec = {
		.head = { .kind = REC_WORK,
			  .size = sizeof(rec),
			  .ts_ns = end,
			  .cpu = 1,
			  .pid = in_softirq ? 77 : 2,
			  .tid = in_softirq ? 78 : 30 },
		.begin_ns = begin,
		.function = function,
		.in_softirq = in_softirq,
	};

	assert_int_equal(activity_record(&f->a, &rec.head), 0);
}

TEST(test_work)
{
	struct fixture *f = *state;

	put_function(f, 0xffffffff81000000, "psi_avgs_work");
	put_work(f, 110, 120, 0xffffffff81000000, false);
	put_work(f, 50, 130, 0xffffffff81000000, false);
	put_work(f, 50, 60, 0xffffffff81000000, false);
	put_work(f, 190, 210, 0xffffffff81000000, false);
	put_work(f, 205, 210, 0xffffffff81000000, false);
	assert_archive(f, HEAD KWORKER "110 complete workqueue/psi_avgs_work of 2/30 to 120\n"
				       "100 complete workqueue/psi_avgs_work of 2/30 to 130\n"
				       "190 complete workqueue/psi_avgs_work of 2/30 to 200\n");
}

/* An item in a softirq does not belong to the interrupted thread. */
TEST(test_work_in_softirq)
{
	struct fixture *f = *state;

	put_function(f, 1, "bh_fn [module]");
	put_work(f, 110, 120, 1, true);
	assert_archive(f, HEAD SOFTIRQ
		       "110 complete workqueue/bh_fn [module] of 4521984/4521986 to 120\n");
}

/* Without a name, the address is left out, too. */
TEST(test_work_names)
{
	struct fixture *f = *state;

	put_work(f, 110, 111, 1, false);
	put_function(f, 1, "0xffffffff81000000");
	put_work(f, 112, 113, 1, false);
	put_function(f, 1, "");
	put_work(f, 114, 115, 1, false);
	put_function(f, 0, "nothing");
	put_work(f, 116, 117, 0, false);
	put_function(f, 1, "first");
	put_function(f, 1, "again\xff");
	put_work(f, 118, 119, 1, false);
	assert_archive(f, HEAD KWORKER "110 complete workqueue/? of 2/30 to 111\n"
				       "112 complete workqueue/? of 2/30 to 113\n"
				       "114 complete workqueue/? of 2/30 to 115\n"
				       "116 complete workqueue/? of 2/30 to 117\n"
				       "118 complete workqueue/again\xef\xbf\xbd of 2/30 to 119\n");
}

/* ---- counters ---- */

static void put_frequency(struct fixture *f, uint64_t ts)
{
	const struct rec_frequency rec = {
		.head = { .kind = REC_FREQUENCY, .size = sizeof(rec), .ts_ns = ts, .cpu = 1 },
		.khz = 2400000,
		.cpu = 3,
	};

	assert_int_equal(activity_record(&f->a, &rec.head), 0);
}

static void put_sample(struct fixture *f, uint64_t ts)
{
	struct rec_counters rec = {
		.head = { .kind = REC_COUNTERS, .size = sizeof(rec), .ts_ns = ts },
		.name = "load",
		.n_values = 2,
		.whole = 2,
		.values = { { .name = "1 minute" }, { .name = "runnable", .value = 7 } },
	};
	double load = 1.5;

	memcpy(&rec.values[0].value, &load, sizeof(load));
	assert_int_equal(activity_record(&f->a, &rec.head), 0);
}

TEST(test_counters)
{
	struct fixture *f = *state;

	put_frequency(f, 99);
	put_frequency(f, 110);
	put_frequency(f, 201);
	put_sample(f, 99);
	put_sample(f, 100); /* takes the first sample immediately */
	put_sample(f, 201);
	assert_archive(f,
		       HEAD "process 4653056 'Power'\nthread 4653056 'Power' process:koid=4653056\n"
			    "110 counter power/CPU frequency of 4653056/4653056 id 3 "
			    "kHz:uint64=2400000\n"
			    "process 4784128 'Counters'\nthread 4784128 'Counters' "
			    "process:koid=4784128\n"
			    "100 counter counters/load of 4784128/4784128 id 0 1 minute:double=1.5 "
			    "runnable:uint64=7\n");
	assert_int_equal(f->a.n_events, 2);
}

/* ---- losses ---- */

static void lose(struct fixture *f, enum event_class class, uint64_t first, uint64_t last)
{
	const struct rec_lost lost = { .count = 3, .first_ns = first, .last_ns = last };

	assert_int_equal(activity_lost(&f->a, class, 1, &lost), 0);
}

TEST(test_lost)
{
	struct fixture *f = *state;

	lose(f, CLASS_IRQ, 10, 100);
	lose(f, CLASS_IRQ, 10, 101);
	lose(f, CLASS_IRQ, 110, 120);
	lose(f, CLASS_FREQUENCY, 190, 300);
	lose(f, CLASS_FREQUENCY, 201, 300);
	assert_archive(f, HEAD
		       "provider event 0\n"
		       "100 instant kymo/lost of 4194304/4194306 class:string='irq' cpu:uint32=1 "
		       "count:uint64=3 first:uint64=10 last:uint64=101\n"
		       "100 counter kymo/lost of 4194304/4194304 id 1 irq:uint64=3\n"
		       "provider event 0\n"
		       "110 instant kymo/lost of 4194304/4194306 class:string='irq' cpu:uint32=1 "
		       "count:uint64=3 first:uint64=110 last:uint64=120\n"
		       "110 counter kymo/lost of 4194304/4194304 id 1 irq:uint64=6\n"
		       "provider event 0\n"
		       "190 instant kymo/lost of 4194304/4194306 class:string='frequency' "
		       "cpu:uint32=1 count:uint64=3 first:uint64=190 last:uint64=300\n"
		       "190 counter kymo/lost of 4194304/4194304 id 1 frequency:uint64=3\n");
	assert_int_equal(f->a.lost[CLASS_IRQ], 6);
	assert_int_equal(f->a.lost[CLASS_FREQUENCY], 3);
	assert_int_equal(f->a.n_events, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_words),      CASE(test_words_cut), CASE(test_irq_name),
		CASE(test_idle),       CASE(test_work),      CASE(test_work_in_softirq),
		CASE(test_work_names), CASE(test_counters),  CASE(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
