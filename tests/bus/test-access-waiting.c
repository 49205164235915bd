/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that wait for polkit, as callers of the daemon see it: access.sh runs it with a
 * fake-polkit, which holds its answers back where it is told to. Sessions need no kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

enum { ANSWERS_MAX = 64 };

struct answers {
	size_t n, n_errors, n_limited;
	char order[ANSWERS_MAX][64]; /* the answers, in their order */
	char sentence[512];          /* the message of the last error */
};

struct one_answer {
	struct answers *all;
	const char *what;
};

static int keep_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	struct one_answer *one = userdata;

	(void)reterr;
	one->all->n_errors += e != NULL;
	if (e)
		snprintf(one->all->sentence, sizeof(one->all->sentence), "%s", e->message);
	one->all->n_limited += e && strcmp(e->name, ERROR_PREFIX "LimitReached") == 0;
	if (one->all->n < ANSWERS_MAX)
		snprintf(one->all->order[one->all->n++], 64, "%s%s", one->what, e ? " failed" : "");
	free(one);
	return 0;
}

/* Calls M without waiting for the answer, which is logged as WHAT. */
static void ask_later(sd_bus *b, struct answers *all, const char *what, sd_bus_message *m)
{
	struct one_answer *one = malloc(sizeof(*one));

	CHECK(one);
	*one = (struct one_answer){ all, what };
	CHECK(sd_bus_call_async(b, NULL, m, keep_answer, one, ANSWER_USEC) >= 0);
	sd_bus_message_unref(m);
	CHECK(sd_bus_flush(b) >= 0);
}

static sd_bus_message *new_create(sd_bus *b, const char *name, int fd)
{
	sd_bus_message *m = NULL;

	CHECK(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					     "CreateSession") >= 0);
	CHECK(sd_bus_message_append(m, "sa{sv}", name, 1, "output", "h", fd) >= 0);
	return m;
}

static sd_bus_message *new_call(sd_bus *b, const char *path, const char *method)
{
	sd_bus_message *m = NULL;

	CHECK(sd_bus_message_new_method_call(b, &m, NAME, path, SESSION_INTERFACE, method) >= 0);
	return m;
}

static void wait_for_answers(sd_bus *b, const struct answers *all, size_t n)
{
	while (all->n < n) {
		int r = sd_bus_process(b, NULL);

		CHECK(r >= 0);
		if (r == 0)
			CHECK(sd_bus_wait(b, ANSWER_USEC) > 0);
	}
}

/* Waits until polkit has N waiting questions. */
static void wait_for_held(sd_bus *b, uint32_t n)
{
	for (int i = 0; i < SOON_MS && counts_of(b, VIEW).held != n; i++)
		usleep(1000);
	CHECK(counts_of(b, VIEW).held == n);
}

/* Sessions of a closed connection end a little later than it. */
static void wait_for_sessions(int n)
{
	assert_soon(count_sessions(bus) == n);
}

/* Calls are served in their order, and do not delay other callers. */
static void be_orderly(void)
{
	static const char *const expected[] = { "x", "stop x failed", "y", "stop y failed",
						"stop x failed" };
	sd_bus *b = connect_bus(), *other = connect_bus();
	const char *x = SESSION_PREFIX "1/x", *y = SESSION_PREFIX "1/y";
	struct answers all = { 0 };
	int fd = open_output();

	CHECK(count_sessions(b) == 0);
	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	ask_later(b, &all, "x", new_create(b, "x", fd));
	ask_later(b, &all, "stop x", new_call(b, x, "Stop"));
	ask_later(b, &all, "y", new_create(b, "y", fd));
	ask_later(b, &all, "stop y", new_call(b, y, "Stop"));
	wait_for_held(other, 1);
	ask_later(b, &all, "stop x", new_call(b, x, "Stop"));
	CHECK(count_sessions(other) == 0);
	CHECK(sd_bus_process(b, NULL) >= 0);
	CHECK(all.n == 0);
	CHECK(set_polkit(other, "Release") >= 0);
	wait_for_answers(b, &all, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		CHECK(strcmp(all.order[i], expected[i]) == 0);
	/* They are sessions. */
	CHECK(count_sessions(other) == 2);
}

TEST(test_order)
{
	as_user(FOREIGN_USER, be_orderly);
	wait_for_sessions(0);
}

/*
 * The number of waiting calls per connection is limited: further ones are refused, and the waiting
 * ones are served.
 */
static void be_many(void)
{
	sd_bus *b = connect_bus(), *other = connect_bus();
	struct answers all = { 0 };

	CHECK(count_sessions(b) == 0);
	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	ask_later(b, &all, "create", new_create(b, "x", open_output()));
	for (int i = 0; i < 40; i++)
		ask_later(b, &all, "get", new_call(b, SESSION_PREFIX "1/x", "Stop"));
	wait_for_held(other, 1);
	/* fewer, if descriptors are limited */
	wait_for_answers(b, &all, 41 - 16);
	CHECK(all.n_limited >= 41 - 16);
	CHECK(set_polkit(other, "Release") >= 0);
	wait_for_answers(b, &all, 41);
	CHECK(all.n_limited < 41);
	CHECK(strcmp(all.order[all.n_limited], "create") == 0);
	/* The number of connections per user is limited, too. */
	all = (struct answers){ 0 };
	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	for (int i = 0; i < 12; i++) {
		sd_bus *more = connect_bus();

		ask_later(more, &all, "create", new_create(more, "z", open_output()));
	}
	wait_for_held(other, 8);
	CHECK(count_sessions(connect_bus()) < 0);
	CHECK(set_polkit(other, "Release") >= 0);
}

TEST(test_many)
{
	as_user(FOREIGN_USER, be_many);
	assert_true(count_sessions(bus) >= 0);
}

/* When a caller leaves, its question is cancelled. An answer that still comes makes no session. */
static void leave(void)
{
	sd_bus *b = connect_bus(), *other = connect_bus();
	uint32_t cancelled = counts_of(other, VIEW).cancelled;
	struct answers all = { 0 };

	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	ask_later(b, &all, "create", new_create(b, "x", open_output()));
	ask_later(b, &all, "create", new_create(b, "y", open_output()));
	wait_for_held(other, 1);
	sd_bus_flush_close_unref(b);
	for (int i = 0; i < SOON_MS && counts_of(other, VIEW).cancelled == cancelled; i++)
		usleep(1000);
	CHECK(counts_of(other, VIEW).cancelled == cancelled + 1);
	CHECK(set_polkit(other, "Release") >= 0);
	CHECK(count_sessions(other) == 0);
}

TEST(test_caller_leaves)
{
	as_user(FOREIGN_USER, leave);
	wait_for_sessions(0);
}

/*
 * A question without an answer is given up, and polkit is notified. Meanwhile, others are served.
 */
static void be_unanswered(void)
{
	sd_bus *b = connect_bus(), *other = connect_bus();
	uint32_t cancelled = counts_of(other, VIEW).cancelled;
	struct answers all = { 0 };

	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	ask_later(b, &all, "create", new_create(b, "x", open_output()));
	wait_for_held(other, 1);
	CHECK(count_sessions(other) == 0);
	CHECK(all.n == 0);
	wait_for_answers(b, &all, 1);
	CHECK(all.n_errors == 1);
	CHECK(counts_of(other, VIEW).cancelled == cancelled + 1);
	CHECK(strstr(all.sentence, "(cannot call polkit: it does not answer)"));
	CHECK(set_polkit(other, "Release") >= 0);
	CHECK(set_answer(other, CONTROL, "yes") >= 0);
	CHECK(create(b, "x", open_output()).r >= 0);
}

TEST(test_no_answer)
{
	as_user(FOREIGN_USER, be_unanswered);
}
int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_polkit, teardown_bus)
	const struct CMUnitTest tests[] = {
		CASE(test_order),
		CASE(test_many),
		CASE(test_caller_leaves),
		CASE(test_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
