/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights of callers, as callers of the daemon see them (daemon/access/access.h,
 * daemon/access/rights.h). access.sh runs it twice: `without` polkit on the bus, and `with`
 * fake-polkit, whose answers are chosen here. Sessions need no kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

#define KEPT_NS UINT64_C(4000000000) /* an answer is cached at least this long */

#define UNKNOWN_OBJECT SD_BUS_ERROR_UNKNOWN_OBJECT
#define CHALLENGED     SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED

/* ---- requests of users ---- */

/* In the child: A failed with an error NAME_ and a message that contains TEXT. */
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

/* A METHOD without arguments that allows a dialogue. */
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

/* Whether the service's introspection of the directory of sessions contains TEXT. */
static bool introspection_has(sd_bus *b, const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *xml;

	return sd_bus_call_method(b, NAME, "/org/kymo/Trace1/session",
				  "org.freedesktop.DBus.Introspectable", "Introspect", NULL, &reply,
				  NULL) >= 0 &&
	       sd_bus_message_read(reply, "s", &xml) > 0 && strstr(xml, text);
}

/*
 * Public data, and another user's session: to users who may not see it, it looks like one that does
 * not exist.
 */
static void check_foreign_user(sd_bus *b)
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
	/* Methods that may be added later are reserved for root by default. */
	CHECK_REFUSED(call_manager(b, MANAGER_INTERFACE, "NoSuchMethod"), DENIED, "only root");
	CHECK_REFUSED(create_with(b, "x", -1, "profile", "s", (uint64_t)(uintptr_t) "x"), DENIED,
		      "only root");
}

/* ---- without polkit ---- */

static void become_foreign_user(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	check_foreign_user(b);
	CHECK_REFUSED(
		create(b, "x", fd), DENIED,
		"user daemon is not allowed to trace the system, and neither root nor in group "
		"65534: run `adduser daemon 65534` and log in again");
	CHECK_REFUSED(create_with(b, "x", fd, "own", "b", true), DENIED,
		      "user daemon is not allowed to trace processes, and neither");
}

TEST(test_stranger_without_polkit)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(FOREIGN_USER, become_foreign_user);
	assert_state(bus, SESSION_PREFIX "roots", "ready");
}

/* A member sees all sessions and records, but changes only its own sessions. */
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
		      "is not allowed to change the session of another user: only root and its "
		      "owner are");
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

static void be_refused(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();
	struct counts before = counts_of(b, CONTROL);
	struct answer a;

	check_foreign_user(b);
	CHECK_REFUSED(
		create(b, "x", fd), DENIED,
		"user daemon is not allowed to trace the system (polkit has denied it): with "
		"--own, you can trace your own processes; members of group 65534 can trace the "
		"system (`adduser daemon 65534`, and log in again), and users whom polkit "
		"authorizes (action " CONTROL ")");
	CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
	/* Access control does not decide about the effect of the option itself. */
	before = counts_of(b, CONTROL_OWN);
	CHECK(set_polkit(b, "Change") >= 0);
	a = create_with(b, "y", fd, "own", "b", true);
	CHECK(a.r >= 0 || strcmp(a.error.name, DENIED) != 0);
	CHECK(counts_of(b, CONTROL_OWN).asked == before.asked + 1);
	CHECK(set_answer(b, CONTROL_OWN, "no") >= 0);
	CHECK(set_polkit(b, "Change") >= 0);
	CHECK_REFUSED(create_with(b, "y", fd, "own", "b", true), DENIED,
		      "user daemon is not allowed to trace processes (polkit has denied it): "
		      "authorization by polkit is needed (action " CONTROL_OWN ")");
	CHECK_REFUSED(create(b, "x", fd), DENIED, "(polkit has denied it); members of group");
	/* `own` that is not set, is not. */
	CHECK_REFUSED(create_with(b, "y", fd, "own", "b", false), DENIED, CONTROL);
}

/* The group counts only without polkit. */
static void be_refused_member(void)
{
	sd_bus *b = connect_bus();

	CHECK(count_sessions(b) == 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "polkit has denied it");
}

TEST(test_refused)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(FOREIGN_USER, be_refused);
	as_user(MEMBER, be_refused_member);
}

/*
 * A user's own sessions remain accessible, whatever polkit answers later. An answer is cached for
 * some seconds, until polkit reports a change.
 */
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
	/* unless the machine was too slow */
	if (clock_boot_ns() - begin < KEPT_NS) {
		CHECK(a.r >= 0);
		CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
	}
	CHECK(set_polkit(b, "Change") >= 0);
	before = counts_of(b, CONTROL);
	CHECK_REFUSED(create(b, "third", fd), DENIED, "polkit has denied it");
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
	/* Another connection has its own question. */
	before = counts_of(b, CONTROL);
	CHECK_REFUSED(create(connect_bus(), "fourth", fd), DENIED, "polkit has denied it");
	CHECK(counts_of(b, CONTROL).asked == before.asked + 1);
}

TEST(test_allowed)
{
	as_user(FOREIGN_USER, be_allowed);
}

/* An answer is not cached for longer than that. */
static void be_patient(void)
{
	sd_bus *b = connect_bus();
	int fd = open_output();

	CHECK_REFUSED(create(b, "first", fd), DENIED, "polkit has denied it");
	CHECK(set_answer(b, CONTROL, "yes") >= 0);
	for (int i = 0; i < SOON_MS / 100; i++) {
		if (create(b, "first", fd).r >= 0)
			return;
		usleep(100000);
	}
	CHECK(!"an old answer is kept for ever");
}

TEST(test_answers_are_forgotten)
{
	as_user(FOREIGN_USER, be_patient);
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
	CHECK_REFUSED(
		call(b, SESSION_PREFIX "roots", "Stop"), DENIED,
		"user daemon is not allowed to change the session of another user (polkit has "
		"denied it): authorization by polkit is needed (action " MANAGE ")");
	CHECK_REFUSED(call(b, SESSION_PREFIX "nobodys", "Stop"), UNKNOWN_OBJECT, "nobodys");
	CHECK_REFUSED(create(b, "x", fd), DENIED, "not allowed to trace the system");
	/* The right to change a session includes the right to view it. */
	CHECK(set_answer(b, MANAGE, "yes") >= 0);
	CHECK(set_answer(b, VIEW, "no") >= 0);
	CHECK(set_polkit(b, "Change") >= 0);
	CHECK_REFUSED(state_of(b, SESSION_PREFIX "roots"), UNKNOWN_OBJECT, "roots");
	CHECK(call(b, SESSION_PREFIX "roots", "Start").r >= 0);
	CHECK(call(b, SESSION_PREFIX "roots", "Remove").r >= 0);
}

TEST(test_others_sessions)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(FOREIGN_USER, be_viewer);
	assert_false(exists(bus, "roots"));
	assert_content(fd, "start\nstop requested\n");
}

/* Password dialogues appear only if the caller allows them, and never for ListSessions. */
static void be_asked(void)
{
	sd_bus *b = connect_bus();
	struct counts before;

	CHECK(set_answer(b, VIEW, "challenge") >= 0);
	CHECK(set_answer(b, MANAGE, "challenge") >= 0);
	CHECK(set_answer(b, CONTROL, "challenge") >= 0);
	before = counts_of(b, VIEW);
	CHECK_REFUSED(
		create(b, "x", open_output()), CHALLENGED,
		"(authentication is needed: run this in a terminal): with --own, you can trace "
		"your own processes");
	CHECK_REFUSED(state_of(b, SESSION_PREFIX "roots"), UNKNOWN_OBJECT, "roots");
	CHECK(call_with_dialogue(b, MANAGER_PATH, MANAGER_INTERFACE, "ListSessions").r >= 0);
	CHECK(get_session(b, "roots", true).r < 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues);
	CHECK(get_session(b, "0/roots", true).r >= 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues + 1);
	/* A missing object leads to a dialogue, too. Otherwise, the caller could distinguish it. */
	CHECK(set_polkit(b, "Change") >= 0);
	CHECK(get_session(b, "0/nobodys", true).r < 0);
	CHECK(counts_of(b, VIEW).dialogues == before.dialogues + 2);
	CHECK(set_answer(b, VIEW, "yes") >= 0);
	CHECK(set_polkit(b, "Change") >= 0);
	CHECK_REFUSED(call(b, SESSION_PREFIX "roots", "Start"), CHALLENGED,
		      "authentication is needed");
	CHECK(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Start").r >= 0);
	CHECK(set_answer(b, MANAGE, "dismissed") >= 0);
	CHECK(set_polkit(b, "Change") >= 0);
	CHECK_REFUSED(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Stop"),
		      DENIED, "authentication failed or was canceled");
	/* That is not kept: one may try again. */
	CHECK(set_answer(b, MANAGE, "challenge") >= 0);
	CHECK(call_with_dialogue(b, SESSION_PREFIX "roots", SESSION_INTERFACE, "Stop").r >= 0);
}

TEST(test_dialogues)
{
	_cleanup_close_ int fd = open_output();

	assert_done(create(bus, "roots", fd));
	as_user(FOREIGN_USER, be_asked);
	assert_state(bus, SESSION_PREFIX "roots", "stopped");
}

static void be_confused(void)
{
	sd_bus *b = connect_bus();

	CHECK(set_answer(b, CONTROL, "error") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED,
		      "(cannot call polkit: the rules are broken)");
	CHECK(set_answer(b, CONTROL, "nonsense") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "its answer is invalid");
	CHECK(set_answer(b, CONTROL, "yes") >= 0);
	CHECK(create(b, "x", open_output()).r >= 0);
}

TEST(test_errors)
{
	as_user(FOREIGN_USER, be_confused);
	/* not even for a member, although the group would be allowed */
	as_user(MEMBER, be_confused);
}

/* ---- receivers of signals ---- */

static int note(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	char *text = userdata;

	(void)reterr;
	if (strlen(text) < 4000)
		sprintf(text + strlen(text), "%s %s\n", sd_bus_message_get_member(m),
			sd_bus_message_get_path(m));
	return 0;
}

/*
 * B receives all messages that come from the service, or seem to. TEXT gets a line for each.
 * Returns B.
 */
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
	/* Messages sent before this answer have arrived before it. */
	assert_true(count_sessions(b) >= 0);
	while (sd_bus_process(b, NULL) > 0)
		;
}

/* Makes a session as B, with all possible signals. It sheds, too. */
static void live_and_end(sd_bus *b)
{
	struct answer a = create(b, "dear", open_output());

	assert_done(a);
	assert_done(call(b, a.path, "Start"));
	assert_soon(count_events(b, a.path) > 0);
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

/*
 * A forged signal of polkit, sent by another connection to the service alone, has no effect: there
 * are no new questions.
 */
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
	/* If it asks, it does so before this answer. */
	assert_true(count_sessions(b) >= 0);
	assert_int_equal(counts_of(b, VIEW).asked, before);
}

/*
 * The owner of a session receives its signals, on each connection, and root does. Others do only if
 * they may see all sessions.
 */
TEST(test_signals)
{
	char by_owner[4096], by_second[4096], by_root[4096], by_other[4096];
	sd_bus *owner = listen_to_all(connect_as(FOREIGN_USER), by_owner),
	       *second = listen_to_all(connect_as(FOREIGN_USER), by_second),
	       *root = listen_to_all(connect_bus(), by_root),
	       *other = listen_to_all(connect_as(OTHER_FOREIGN_USER), by_other);

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

	/* When this user may see all, it receives all signals, until polkit changes its answer. */
	assert_true(set_answer(bus, VIEW, "yes") >= 0);
	assert_true(set_polkit(bus, "Change") >= 0);
	process_all(other);
	live_and_end(bus);
	assert_heard(other, by_other, SESSION_PREFIX "dear");
	lie_of_change(bus);
	assert_true(set_polkit(bus, "Change") >= 0);
	live_and_end(bus);
	*by_other = '\0';
	live_and_end(bus);
	assert_heard(other, by_other, SESSION_PREFIX "dear");
	assert_true(set_answer(bus, VIEW, "no") >= 0);
	assert_true(set_polkit(bus, "Change") >= 0);
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

/* ---- polkit ends ---- */

/* In the middle of a question: refused, with the reason. After that, there is no polkit. */
static void be_left_alone(void)
{
	sd_bus *b = connect_bus();

	CHECK(set_answer(b, CONTROL, "die") >= 0);
	CHECK_REFUSED(create(b, "x", open_output()), DENIED,
		      "(cannot call polkit: it does not answer)");
	CHECK_REFUSED(create(b, "x", open_output()), DENIED, "neither root nor in group");
}

static void be_member_alone(void)
{
	CHECK(create(connect_bus(), "x", open_output()).r >= 0);
}

TEST(test_polkit_dies)
{
	as_user(FOREIGN_USER, be_left_alone);
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
