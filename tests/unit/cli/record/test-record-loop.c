/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that come once, twice at once, and again, in the loop of a fake recording with a fake
 * clock.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/record/record-loop.h"
#include "tests/support/unit.h"

/* Longer than the time in which two signals count as one. */
#define SLOW_NS  UINT64_C(310000000)
#define NS_PER_S UINT64_C(1000000000)

/* ---- the recording ---- */

static struct {
	int while_it_stops, later; /* signals that come then; 0 = none */
	uint64_t now_ns, stop_ns;  /* the time, and the duration of a stop */
	unsigned rounds;           /* before it is written, since it was stopped */
	unsigned n_stops;
} recording;

/* The clock of this program. */
int clock_gettime(clockid_t id, struct timespec *ret)
{
	(void)id;
	*ret = (struct timespec){ .tv_sec = (time_t)(recording.now_ns / NS_PER_S),
				  .tv_nsec = (long)(recording.now_ns % NS_PER_S) };
	return 0;
}

int recording_stop(struct recording *r)
{
	(void)r;
	recording.n_stops++;
	if (recording.while_it_stops)
		raise(recording.while_it_stops);
	recording.now_ns += recording.stop_ns;
	return 0;
}

int recording_dispatch(struct recording *r)
{
	(void)r;
	if (recording.n_stops == 0) {
		raise(SIGTERM);
	} else if (recording.rounds-- == 0) {
		return 1;
	} else if (recording.later) {
		recording.now_ns += SLOW_NS;
		raise(recording.later);
	}
	return 0;
}

int recording_pollfd(struct recording *r, struct pollfd *ret)
{
	(void)r;
	*ret = (struct pollfd){ .fd = -1 };
	return 0;
}

int recording_snapshot_state(struct recording *r)
{
	(void)r;
	return 1;
}

static bool wants_nothing(void *userdata)
{
	(void)userdata;
	return false;
}

static int run(void)
{
	struct record_loop loop = RECORD_LOOP_NULL;
	int r;

	loop.wants_stop = wants_nothing;
	assert_int_equal(record_loop_init(&loop), 0);
	r = record_loop_run(&loop);
	record_loop_deinit(&loop);
	return r;
}

/* ---- tests ---- */

FIXTURE(set_up)
{
	(void)state;
	memset(&recording, 0, sizeof(recording));
	recording.rounds = 2;
	return 0;
}

TEST(test_once)
{
	(void)state;
	assert_int_equal(run(), 0);
	assert_int_equal(recording.n_stops, 1);
}

/* A signal that comes twice at once is one, also when the first one takes a while to handle. */
TEST(test_twice_at_once)
{
	(void)state;
	recording.while_it_stops = SIGTERM;
	assert_int_equal(run(), 0);
	assert_int_equal(recording.n_stops, 1);
	set_up(state);
	recording.while_it_stops = SIGTERM;
	recording.stop_ns = SLOW_NS;
	assert_int_equal(run(), 0);
	assert_int_equal(recording.n_stops, 1);
}

/* A later one ends the wait. */
TEST(test_again)
{
	(void)state;
	recording.later = SIGINT;
	assert_int_equal(run(), -EINTR);
	assert_int_equal(recording.n_stops, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_once, set_up),
		cmocka_unit_test_setup(test_twice_at_once, set_up),
		cmocka_unit_test_setup(test_again, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
