/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may do what, as callers of the daemon see it (daemon/access.h, daemon/rights.h). guard.sh runs
 * it twice: `without` polkit on the bus, and `with` fake-polkit, whose answers are chosen here. Sessions
 * need no kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

#define KEPT_NS UINT64_C(4000000000) /* so long, at least, an answer is kept */

#define VIEW        "org.kymo.Trace1.view"
#define CONTROL_OWN "org.kymo.Trace1.control-own"
#define CONTROL     "org.kymo.Trace1.control"
#define MANAGE      "org.kymo.Trace1.manage"

#define UNKNOWN_OBJECT SD_BUS_ERROR_UNKNOWN_OBJECT
#define CHALLENGED     SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED

/* ---- what users ask ---- */

/* In the child: A failed with an error called NAME and a sentence with TEXT in it. */
#define CHECK_REFUSED(a, name_, text)                                                              \
	do {                                                                                       \
		struct answer a_ = (a);                                                            \
		CHECK(a_.r < 0);                                                                   \
		if (strcmp(a_.error.name, name_) != 0 || !strstr(a_.error.message, text))          \
			fprintf(stderr, "%s: %s\n", a_.error.name, a_.error.message);              \
		CHECK(strcmp(a_.error.name, name_) == 0);                                          \
		CHECK(strstr(a_.error.message, text));                                             \
		sd_bus_error_free(&a_.error);                                                      \
	} while (0)

#define DENIED ERROR_PREFIX "AccessDenied"

static struct answer state_of(sd_bus *b, const char *path)
{
	_cleanup_free_ char *value = NULL;
	struct answer a = { 0 };

	a.r = sd_bus_get_property_string(b, NAME, path, SESSION_INTERFACE, "State", &a.error,
					 &value);
	return a;
}

static struct answer get_session(sd_bus *b, const char *name, bool dialogue)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	struct answer a = { 0 };

	a.r = sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					     "GetSession");
	if (a.r >= 0)
		a.r = sd_bus_message_append(m, "s", name);
	if (a.r >= 0)
		a.r = sd_bus_message_set_allow_interactive_authorization(m, dialogue);
	if (a.r >= 0)
		a.r = sd_bus_call(b, m, 0, &a.error, &reply);
	return a;
}

/* A METHOD without arguments that may lead to a dialogue. */
static struct answer call_with_dialogue(sd_bus *b, const char *path, const char *interface,
					const char *method)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	struct answer a = { 0 };

	a.r = sd_bus_message_new_method_call(b, &m, NAME, path, interface, method);
	if (a.r >= 0)
		a.r = sd_bus_message_set_allow_interactive_authorization(m, true);
	if (a.r >= 0)
		a.r = sd_bus_call(b, m, 0, &a.error, &reply);
	return a;
}

static struct answer call_manager(sd_bus *b, const char *interface, const char *method)
{
	struct answer a = { 0 };

	a.r = sd_bus_call_method(b, NAME, MANAGER_PATH, interface, method, &a.error, NULL, NULL);
	return a;
}

/* Whether what the service says of the folder of sessions has TEXT in it. */
static bool introspection_has(sd_bus *b, const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *xml;

	return sd_bus_call_method(b, NAME, "/org/kymo/Trace1/session",
				  "org.freedesktop.DBus.Introspectable", "Introspect", NULL, &reply,
				  NULL) >= 0 &&
	       sd_bus_message_read(reply, "s", &xml) > 0 && strstr(xml, text);
}

/* What is everybody's, and what a session of another is to who may not see it: the same as one
 * that is not there. */
static void check_stranger(sd_bus *b)
{
	static const char *const paths[] = { SESSION_PREFIX "roots", SESSION_PREFIX "nobodys",
					     SESSION_PREFIX "7/nobodys" };

	CHECK(count_sessions(b) == 0);
	CHECK(call_manager(b, MANAGER_INTERFACE, "GetCapabilities").r >= 0);
	CHECK(call_manager(b, "org.freedesktop.DBus.Introspectable", "Introspect").r >= 0);
	CHECK(call_manager(b, "org.freedesktop.DBus.Peer", "Ping").r >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK_REFUSED(state_of(b, paths[i]), UNKNOWN_OBJECT, paths[i]);
		CHECK_REFUSED(call(b, paths[i], "Stop"), UNKNOWN_OBJECT, paths[i]);
	}
	CHECK_REFUSED(get_session(b, "roots", false), ERROR_PREFIX "NoSuchSession", "'roots'");
	CHECK_REFUSED(get_session(b, "0/roots", false), ERROR_PREFIX "NoSuchSession", "'0/roots'");
	CHECK(!introspection_has(b, "roots"));
	/* What there will be some day is root's until somebody thinks of it. */
	CHECK_REFUSED(call_manager(b, MANAGER_INTERFACE, "NoSuchMethod"), DENIED, "only root");
	CHECK_REFUSED(create_with(b, "x", -1, "profile", "s", (uint64_t)(uintptr_t) "x"), DENIED,
		      "only root");
}

/* ---- without polkit ---- */

static void be_stranger(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	check_stranger(b);
	CHECK_REFUSED(
		create(b, "x", fd), DENIED,
		"user daemon may not trace the system, being neither root nor in group 65534: "
		"add them with `adduser daemon 65534` and log in again");
	CHECK_REFUSED(create_with(b, "x", fd, "own", "b", true), DENIED,
		      "user daemon may not trace processes, being neither");
}

TEST(test_stranger_without_polkit)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(STRANGER, be_stranger);
	assert_state(bus, SESSION_PREFIX "roots", "ready");
}

/* A member sees all and records, but changes its own only. */
static void be_member(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();
	struct answer a;

	CHECK(count_sessions(b) == 1);
	CHECK(state_of(b, SESSION_PREFIX "roots").r >= 0);
	CHECK(get_session(b, "0/roots", false).r >= 0);
	CHECK(get_session(b, "roots", false).r >= 0);
	CHECK(introspection_has(b, "\"roots\""));
	CHECK_REFUSED(call(b, SESSION_PREFIX "roots", "Stop"), DENIED,
		      "may not change the session of another user: only root and its owner may");
	CHECK_REFUSED(call(b, SESSION_PREFIX "nobodys", "Stop"), UNKNOWN_OBJECT, "nobodys");
	a = create_with(b, "x", fd, "linger", "b", true);
	CHECK(a.r >= 0);
	CHECK(strcmp(a.path, SESSION_PREFIX "65534/x") == 0);
	CHECK(count_sessions(b) == 2);
	CHECK(call(b, a.path, "Start").r >= 0);
}

TEST(test_member_without_polkit)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(MEMBER, be_member);
	assert_int_equal(count_sessions(bus), 2);
	assert_true(exists(bus, "65534/x"));
	assert_state(bus, SESSION_PREFIX "roots", "ready");
	assert_state(bus, SESSION_PREFIX "65534/x", "running");
	assert_done(call(bus, SESSION_PREFIX "65534/x", "Remove"));
}

/* ---- with polkit ---- */

struct counts {
	uint32_t asked, dialogues; /* of one action */
	uint32_t held, cancelled;  /* of all */
};

static struct counts counts_of(sd_bus *b, const char *action)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct counts c = { 0 };

	if (sd_bus_call_method(b, POLKIT_NAME, POLKIT_PATH, "org.kymo.Test.Polkit", "GetCounts",
			       NULL, &reply, "s", action) < 0 ||
	    sd_bus_message_read(reply, "uuuu", &c.asked, &c.dialogues, &c.held, &c.cancelled) < 0)
		c.asked = UINT32_MAX;
	return c;
}

/* Nobody may anything, but trace what is his own; answers from before count no more. */
FIXTURE(setup_polkit)
{
	setup_bus(state);
	assert_true(set_answer(bus, VIEW, "no") >= 0);
	assert_true(set_answer(bus, CONTROL, "no") >= 0);
	assert_true(set_answer(bus, CONTROL_OWN, "yes") >= 0);
	assert_true(set_answer(bus, MANAGE, "no") >= 0);
	assert_true(tell_polkit(bus, "Change") >= 0);
	return 0;
}

static void be_refused(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();
	struct counts before = counts_of(b, CONTROL);
	struct answer a;

	check_stranger(b);
	CHECK_REFUSED(
		create(b, "x", fd), DENIED,
		"user daemon may not trace the system (polkit says no): you may trace your own "
		"processes: add --own; to trace the system be in group 65534 (`adduser daemon "
		"65534`, and log in again) or be authorized by polkit (action " CONTROL ")");
	CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
	/* What comes of the option itself is not the guard's. */
	before = counts_of(b, CONTROL_OWN);
	CHECK(tell_polkit(b, "Change") >= 0);
	a = create_with(b, "y", fd, "own", "b", true);
	CHECK(a.r >= 0 || strcmp(a.error.name, DENIED) != 0);
	CHECK(counts_of(b, CONTROL_OWN).asked == before.asked + 1);
	CHECK(set_answer(b, CONTROL_OWN, "no") >= 0);
	CHECK(tell_polkit(b, "Change") >= 0);
	CHECK_REFUSED(
		create_with(b, "y", fd, "own", "b", true), DENIED,
		"user daemon may not trace processes (polkit says no): be authorized by polkit "
		"(action " CONTROL_OWN ")");
	CHECK_REFUSED(create(b, "x", fd), DENIED,
		      "(polkit says no); to trace the system be in group");
	/* `own` that is not set, is not. */
	CHECK_REFUSED(create_with(b, "y", fd, "own", "b", false), DENIED, CONTROL);
}

/* The group counts only where there is no polkit. */
static void be_refused_member(void)
{
	sd_bus *b = connect_bus();

	CHECK(count_sessions(b) == 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "polkit says no");
}

TEST(test_refused)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(STRANGER, be_refused);
	as_user(MEMBER, be_refused_member);
}

/* What is one's own stays so, whatever polkit says later; an answer is kept for some seconds, but not
 * when polkit says that something has changed. */
static void be_allowed(void)
{
	sd_bus *b = connect_bus();
	struct counts before = counts_of(b, CONTROL);
	int n, fd = open_output();
	uint64_t begin = clock_boot_ns();
	struct answer a;

	CHECK(set_answer(b, CONTROL, "yes") >= 0);
	a = create(b, "first", fd);
	CHECK(a.r >= 0);
	CHECK(set_answer(b, CONTROL, "no") >= 0);
	a = create(b, "second", fd);
	/* where nothing has held us up */
	if (clock_boot_ns() - begin < KEPT_NS) {
		CHECK(a.r >= 0);
		CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
	}
	CHECK(tell_polkit(b, "Change") >= 0);
	before = counts_of(b, CONTROL);
	CHECK_REFUSED(create(b, "third", fd), DENIED, "polkit says no");
	CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
	n = count_sessions(b);
	CHECK(n > 0);
	snprintf(a.path, sizeof(a.path), SESSION_PREFIX "1/first");
	CHECK(call(b, a.path, "Start").r >= 0);
	CHECK(state_of(b, a.path).r >= 0);
	CHECK(get_session(b, "first", false).r >= 0);
	CHECK(get_session(b, "1/first", false).r >= 0);
	CHECK(call(b, a.path, "Stop").r >= 0);
	CHECK(call(b, a.path, "Remove").r >= 0);
	CHECK(count_sessions(b) == n - 1);
	/* Another connection is asked about by itself. */
	before = counts_of(b, CONTROL);
	CHECK_REFUSED(create(connect_bus(), "fourth", fd), DENIED, "polkit says no");
	CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
}

TEST(test_allowed)
{
	as_user(STRANGER, be_allowed);
}

/* An answer is not kept for longer than that. */
static void be_patient(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	CHECK_REFUSED(create(b, "first", fd), DENIED, "polkit says no");
	CHECK(set_answer(b, CONTROL, "yes") >= 0);
	for (int i = 0; i < 300; i++) {
		if (create(b, "first", fd).r >= 0)
			return;
		usleep(100000);
	}
	CHECK(!"an old answer is kept for ever");
}

TEST(test_answers_are_forgotten)
{
	as_user(STRANGER, be_patient);
}

static void be_viewer(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	CHECK(set_answer(b, VIEW, "yes") >= 0);
	CHECK(count_sessions(b) == 1);
	CHECK(state_of(b, SESSION_PREFIX "roots").r >= 0);
	CHECK(get_session(b, "0/roots", false).r >= 0);
	CHECK(introspection_has(b, "\"roots\""));
	CHECK_REFUSED(call(b, SESSION_PREFIX "roots", "Stop"), DENIED,
		      "user daemon may not change the session of another user (polkit says no): be "
		      "authorized by polkit (action " MANAGE ")");
	CHECK_REFUSED(call(b, SESSION_PREFIX "nobodys", "Stop"), UNKNOWN_OBJECT, "nobodys");
	CHECK_REFUSED(create(b, "x", fd), DENIED, "may not trace the system");
	/* Who may change it may look at it. */
	CHECK(set_answer(b, MANAGE, "yes") >= 0);
	CHECK(set_answer(b, VIEW, "no") >= 0);
	CHECK(tell_polkit(b, "Change") >= 0);
	CHECK_REFUSED(state_of(b, SESSION_PREFIX "roots"), UNKNOWN_OBJECT, "roots");
	CHECK(call(b, SESSION_PREFIX "roots", "Start").r >= 0);
	CHECK(call(b, SESSION_PREFIX "roots", "Remove").r >= 0);
}

TEST(test_others_sessions)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(STRANGER, be_viewer);
	assert_false(exists(bus, "roots"));
	assert_content(fd, "start\nstop requested\n");
}

/* Somebody is asked for a password only if the caller lets it, and never by ListSessions. */
static void be_asked(void)
{
	sd_bus *b = connect_bus();
	struct counts before;

	CHECK(set_answer(b, VIEW, "challenge") >= 0);
	CHECK(set_answer(b, MANAGE, "challenge") >= 0);
	CHECK(set_answer(b, CONTROL, "challenge") >= 0);
	before = counts_of(b, VIEW);
	CHECK_REFUSED(create(b, "x", open_output()), CHALLENGED,
		      "(polkit wants a password first, and this call lets it ask for none: use a "
		      "terminal): you may trace your own processes");
	CHECK_REFUSED(state_of(b, SESSION_PREFIX "roots"), UNKNOWN_OBJECT, "roots");
	CHECK(call_with_dialogue(b, MANAGER_PATH, MANAGER_INTERFACE, "ListSessions").r >= 0);
	CHECK(get_session(b, "roots", true).r < 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues);
	CHECK(get_session(b, "0/roots", true).r >= 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues + 1);
	/* What is not there leads to a dialogue, too: else that would tell. */
	CHECK(tell_polkit(b, "Change") >= 0);
	CHECK(get_session(b, "0/nobodys", true).r < 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues + 2);
	CHECK(set_answer(b, VIEW, "yes") >= 0);
	CHECK(tell_polkit(b, "Change") >= 0);
	CHECK_REFUSED(call(b, SESSION_PREFIX "roots", "Start"), CHALLENGED, "wants a password");
	CHECK(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Start").r >= 0);
	CHECK(set_answer(b, MANAGE, "dismissed") >= 0);
	CHECK(tell_polkit(b, "Change") >= 0);
	CHECK_REFUSED(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Stop"),
		      DENIED, "polkit was given no password");
	/* That is not kept: one may try again. */
	CHECK(set_answer(b, MANAGE, "challenge") >= 0);
	CHECK(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Stop").r >= 0);
}

TEST(test_dialogues)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(STRANGER, be_asked);
	assert_state(bus, SESSION_PREFIX "roots", "stopped");
}

/* ---- while polkit has not answered ---- */

enum { ANSWERS_MAX = 64 };

struct answers {
	size_t n, n_errors, n_limited;
	char order[ANSWERS_MAX][64]; /* what came, in its order */
	char sentence[512];          /* of the last error */
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

/* Asks without waiting for the answer, which is called WHAT then. */
static void ask_later(sd_bus *b, struct answers *all, const char *what, sd_bus_message *m)
{
	struct one_answer *one = malloc(sizeof(*one));

	CHECK(one);
	*one = (struct one_answer){ all, what };
	CHECK(sd_bus_call_async(b, NULL, m, keep_answer, one, UINT64_C(60000000)) >= 0);
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
			CHECK(sd_bus_wait(b, 60000000) > 0);
	}
}

/* Until polkit has N questions that wait. */
static void wait_for_held(sd_bus *b, uint32_t n)
{
	for (int i = 0; i < 1000 && counts_of(b, VIEW).held != n; i++)
		usleep(5000);
	CHECK(counts_of(b, VIEW).held == n);
}

/* Those of who has left go a little later than he. */
static void wait_for_sessions(int n)
{
	for (int i = 0; i < 1000 && count_sessions(bus) != n; i++)
		usleep(5000);
	assert_int_equal(count_sessions(bus), n);
}

/* Calls are served in the order in which they were made, and nobody else waits for them. */
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
	CHECK(tell_polkit(other, "Release") >= 0);
	wait_for_answers(b, &all, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		CHECK(strcmp(all.order[i], expected[i]) == 0);
	/* They are sessions. */
	CHECK(count_sessions(other) == 2);
}

TEST(test_order)
{
	as_user(STRANGER, be_orderly);
	wait_for_sessions(0);
}

/* Of one connection only so many calls wait; the others are refused, and those that waited served. */
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
	/* fewer, where there may be few descriptors */
	wait_for_answers(b, &all, 41 - 16);
	CHECK(all.n_limited >= 41 - 16);
	CHECK(tell_polkit(other, "Release") >= 0);
	wait_for_answers(b, &all, 41);
	CHECK(all.n_limited < 41);
	CHECK(strcmp(all.order[all.n_limited], "create") == 0);
	/* And of one user only so many connections. */
	all = (struct answers){ 0 };
	CHECK(set_answer(other, CONTROL, "hold") >= 0);
	for (int i = 0; i < 12; i++) {
		sd_bus *more = connect_bus();

		ask_later(more, &all, "create", new_create(more, "z", open_output()));
	}
	wait_for_held(other, 8);
	CHECK(count_sessions(connect_bus()) < 0);
	CHECK(tell_polkit(other, "Release") >= 0);
}

TEST(test_many)
{
	as_user(STRANGER, be_many);
	assert_true(count_sessions(bus) >= 0);
}

/* Who leaves takes back the question; an answer that comes all the same makes no session. */
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
	for (int i = 0; i < 1000 && counts_of(other, VIEW).cancelled == cancelled; i++)
		usleep(5000);
	CHECK(counts_of(other, VIEW).cancelled == cancelled + 1);
	CHECK(tell_polkit(other, "Release") >= 0);
	CHECK(count_sessions(other) == 0);
}

TEST(test_caller_leaves)
{
	as_user(STRANGER, leave);
	wait_for_sessions(0);
}

/* An authority that does not answer is given up, and told so; meanwhile others are served. */
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
	CHECK(strstr(all.sentence, "(polkit cannot be asked: it does not answer)"));
	CHECK(tell_polkit(other, "Release") >= 0);
	CHECK(set_answer(other, CONTROL, "yes") >= 0);
	CHECK(create(b, "x", open_output()).r >= 0);
}

TEST(test_no_answer)
{
	as_user(STRANGER, be_unanswered);
}

static void be_confused(void)
{
	sd_bus *b = connect_bus();

	CHECK(set_answer(b, CONTROL, "error") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED,
		      "(polkit cannot be asked: the rules are broken)");
	CHECK(set_answer(b, CONTROL, "nonsense") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "its answer makes no sense");
	CHECK(set_answer(b, CONTROL, "yes") >= 0);
	CHECK(create(b, "x", open_output()).r >= 0);
}

TEST(test_errors)
{
	as_user(STRANGER, be_confused);
	/* not even of a member, whom the group would let in */
	as_user(MEMBER, be_confused);
}

/* ---- who is told ---- */

static int note(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	char *text = userdata;

	(void)reterr;
	if (strlen(text) < 4000)
		sprintf(text + strlen(text), "%s %s\n", sd_bus_message_get_member(m),
			sd_bus_message_get_path(m));
	return 0;
}

/* B hears all that comes from the service, or seems to; TEXT gets a line for each. Returns B. */
static sd_bus *listen_to_all(sd_bus *b, char *text)
{
	*text = '\0';
	assert_true(sd_bus_add_match(b, NULL, "type='signal',path_namespace='/org/kymo'", note,
				     text) >= 0);
	assert_true(count_sessions(b) >= 0);
	return b;
}

static void process_all(sd_bus *b)
{
	/* What was sent before this answer has come before it. */
	assert_true(count_sessions(b) >= 0);
	while (sd_bus_process(b, NULL) > 0)
		;
}

/* Makes a session as B, and all that there is to be told of it; it sheds, too. */
static void live_and_end(sd_bus *b)
{
	struct answer a = create(b, "dear", open_output());

	assert_done(a);
	assert_done(call(b, a.path, "Start"));
	usleep(20000);
	assert_done(call(b, a.path, "Stop"));
	assert_done(call(b, a.path, "Remove"));
}

static void assert_heard(sd_bus *b, const char *text, const char *path)
{
	static const char *const manager[] = { "SessionAdded", "SessionRemoved" };
	static const char *const session[] = { "PropertiesChanged", "Finished" };
	char line[128];

	process_all(b);
	for (size_t i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "%s %s\n", manager[i], MANAGER_PATH);
		assert_non_null(strstr(text, line));
		snprintf(line, sizeof(line), "%s %s\n", session[i], path);
		assert_non_null(strstr(text, line));
	}
}

/* What polkit tells everybody, told by another to the service alone, is not believed: nobody is asked about again. */
static void lie_of_change(sd_bus *b)
{
	uint32_t before = counts_of(b, VIEW).asked;

	for (int i = 0; i < 2; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_signal(b, &m, POLKIT_PATH,
						      "org.freedesktop.PolicyKit1.Authority",
						      "Changed") >= 0);
		assert_true(sd_bus_send_to(b, m, NAME, NULL) >= 0);
	}
	/* It has asked, if it does, before it answers this. */
	assert_true(count_sessions(b) >= 0);
	assert_int_equal(counts_of(b, VIEW).asked, before);
}

/* Of a session its owner hears, on each connection, and root; others only if they may see all. */
TEST(test_signals)
{
	char by_owner[4096], by_second[4096], by_root[4096], by_other[4096];
	sd_bus *owner = listen_to_all(connect_as(STRANGER), by_owner),
	       *second = listen_to_all(connect_as(STRANGER), by_second),
	       *root = listen_to_all(connect_bus(), by_root),
	       *other = listen_to_all(connect_as(OTHER_STRANGER), by_other);

	assert_true(set_answer(bus, CONTROL, "yes") >= 0);
	live_and_end(owner);
	assert_heard(owner, by_owner, SESSION_PREFIX "1/dear");
	assert_heard(second, by_second, SESSION_PREFIX "1/dear");
	assert_heard(root, by_root, SESSION_PREFIX "1/dear");
	process_all(other);
	assert_string_equal(by_other, "");

	*by_owner = *by_root = '\0';
	live_and_end(bus);
	assert_heard(root, by_root, SESSION_PREFIX "dear");
	process_all(owner);
	process_all(other);
	assert_string_equal(by_owner, "");
	assert_string_equal(by_other, "");

	/* Once it may see all, it hears all, until polkit thinks better of it. */
	assert_true(set_answer(bus, VIEW, "yes") >= 0);
	assert_true(tell_polkit(bus, "Change") >= 0);
	process_all(other);
	live_and_end(bus);
	assert_heard(other, by_other, SESSION_PREFIX "dear");
	lie_of_change(bus);
	assert_true(tell_polkit(bus, "Change") >= 0);
	live_and_end(bus);
	*by_other = '\0';
	live_and_end(bus);
	assert_heard(other, by_other, SESSION_PREFIX "dear");
	assert_true(set_answer(bus, VIEW, "no") >= 0);
	assert_true(tell_polkit(bus, "Change") >= 0);
	process_all(other);
	*by_other = '\0';
	live_and_end(bus);
	process_all(other);
	assert_string_equal(by_other, "");
	sd_bus_flush_close_unref(owner);
	sd_bus_flush_close_unref(second);
	sd_bus_flush_close_unref(root);
	sd_bus_flush_close_unref(other);
}

/* ---- polkit goes ---- */

/* In the middle of a question: refused, with the reason. After that there is none. */
static void be_left_alone(void)
{
	sd_bus *b = connect_bus();

	CHECK(set_answer(b, CONTROL, "die") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED,
		      "(polkit cannot be asked: it does not answer)");
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "being neither root nor in group");
}

static void be_member_alone(void)
{
	CHECK(create(connect_bus(), "x", open_output()).r >= 0);
}

TEST(test_polkit_dies)
{
	as_user(STRANGER, be_left_alone);
	as_user(MEMBER, be_member_alone);
	assert_true(count_sessions(bus) >= 0);
}

int main(int argc, char **argv)
{
#define CASE(name)        cmocka_unit_test_setup_teardown(name, setup_bus, teardown_bus)
#define CASE_POLKIT(name) cmocka_unit_test_setup_teardown(name, setup_polkit, teardown_bus)
	const struct CMUnitTest without[] = {
		CASE(test_stranger_without_polkit),
		CASE(test_member_without_polkit),
	};
	const struct CMUnitTest with[] = {
		CASE_POLKIT(test_refused),
		CASE_POLKIT(test_allowed),
		CASE_POLKIT(test_answers_are_forgotten),
		CASE_POLKIT(test_others_sessions),
		CASE_POLKIT(test_dialogues),
		CASE_POLKIT(test_order),
		CASE_POLKIT(test_many),
		CASE_POLKIT(test_caller_leaves),
		CASE_POLKIT(test_no_answer),
		CASE_POLKIT(test_errors),
		CASE_POLKIT(test_signals),
		CASE_POLKIT(test_polkit_dies),
	};

	if (argc == 2 && strcmp(argv[1], "without") == 0)
		return cmocka_run_group_tests(without, NULL, NULL);
	if (argc == 2 && strcmp(argv[1], "with") == 0)
		return cmocka_run_group_tests(with, NULL, NULL);
	fprintf(stderr, "usage: %s with|without\n", argv[0]);
	return 2;
}
