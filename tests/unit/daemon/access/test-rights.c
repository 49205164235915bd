/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "daemon/sessions/manager.h"
#include "daemon/access/rights.h"
#include "tests/support/unit.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define INTROSPECT "org.freedesktop.DBus.Introspectable"
#define MANAGER    KYMO_MANAGER_INTERFACE
#define SESSION    KYMO_SESSION_INTERFACE

enum { UID = 1000 };

/* All calls are of user 1000. */
TEST(test_rights_need_table)
{
	static const char manager[] = KYMO_MANAGER_PATH;
	static const char own[] = KYMO_SESSION_PREFIX "/1000/x";
	static const struct {
		struct rights_call call;
		enum need need;
	} rows[] = {
		{ { UID, manager, MANAGER, "CreateSession" }, NEED_CONTROL },
		{ { UID, manager, MANAGER, "CreateSession", .own = true }, NEED_CONTROL_OWN },
		{ { UID, manager, MANAGER, "CreateSession", .profile = true }, NEED_ROOT },
		{ { UID, manager, MANAGER, "CreateSession", .own = true, .profile = true },
		  NEED_ROOT },
		{ { UID, manager, MANAGER, "ListSessions" }, NEED_LIST },
		{ { UID, manager, MANAGER, "ListProviders" }, NEED_LIST },
		{ { UID, manager, MANAGER, "GetCapabilities" }, NEED_NOTHING },
		{ { UID, manager, MANAGER, "GetSession", "x", .has_name = true }, NEED_NOTHING },
		{ { UID, manager, MANAGER, "GetSession", "x" }, NEED_LIST },
		{ { UID, manager, MANAGER, "GetSession", "0/x" }, NEED_SEE },
		{ { UID, manager, MANAGER, "GetSession", "1000/x" }, NEED_SEE },
		{ { UID, manager, MANAGER, "GetSession" }, NEED_LIST },
		{ { UID, manager, MANAGER, "Reload" }, NEED_ROOT },
		{ { UID, manager, "org.example.Other", "CreateSession" }, NEED_ROOT },
		{ { UID, manager, PROPERTIES, "Get" }, NEED_NOTHING },
		{ { UID, manager, PROPERTIES, "GetAll" }, NEED_NOTHING },
		{ { UID, manager, PROPERTIES, "Set" }, NEED_ROOT },
		{ { UID, manager, INTROSPECT, "Introspect" }, NEED_NOTHING },
		/* without an interface, the member decides */
		{ { UID, manager, NULL, "CreateSession" }, NEED_CONTROL },
		{ { UID, manager, NULL, "ListSessions" }, NEED_LIST },
		{ { UID, manager, NULL, "Reload" }, NEED_ROOT },
		/* one's own sessions, and objects with similar names */
		{ { UID, own, SESSION, "Stop" }, NEED_NOTHING },
		{ { UID, own, SESSION, "Remove" }, NEED_NOTHING },
		{ { UID, own, PROPERTIES, "GetAll" }, NEED_NOTHING },
		{ { UID, own, INTROSPECT, "Introspect" }, NEED_NOTHING },
		{ { UID, KYMO_SESSION_PREFIX "/1000/", SESSION, "Stop" }, NEED_NOTHING },
		/* others' */
		{ { UID, KYMO_SESSION_PREFIX "/x", SESSION, "Stop" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/1000", SESSION, "Stop" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/10000/x", SESSION, "Stop" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/100/x", SESSION, "Mark" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/x", SESSION, "WhatComes" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/x", NULL, "Stop" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/x", PROPERTIES, "Set" }, NEED_CHANGE },
		{ { UID, KYMO_SESSION_PREFIX "/x", PROPERTIES, "Get" }, NEED_SEE },
		{ { UID, KYMO_SESSION_PREFIX "/x", PROPERTIES, "GetAll" }, NEED_SEE },
		{ { UID, KYMO_SESSION_PREFIX "/x", INTROSPECT, "Introspect" }, NEED_LIST },
		/* directories */
		{ { UID, KYMO_SESSION_PREFIX, INTROSPECT, "Introspect" }, NEED_LIST },
		{ { UID, "/", INTROSPECT, "Introspect" }, NEED_LIST },
		{ { UID, "/org/kymo", PROPERTIES, "GetAll" }, NEED_NOTHING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum need need = rights_need(&rows[i].call);

		if (need != rows[i].need)
			print_error("row %zu, %s of %s\n", i, rows[i].call.member,
				    rows[i].call.path);
		assert_int_equal(need, rows[i].need);
	}
}

#define SEES    RIGHT_BIT(RIGHT_VIEW)
#define CHANGES RIGHT_BIT(RIGHT_MANAGE)
#define TRACES  RIGHT_BIT(RIGHT_CONTROL)
#define OWNS    RIGHT_BIT(RIGHT_CONTROL_OWN)

TEST(test_rights_judge_table)
{
	static const struct {
		enum need need;
		uint32_t granted;
		bool exists;
		enum polkit_answer answer;
		enum rights_verdict verdict;
		const char *sentence; /* text in the message */
	} rows[] = {
		{ NEED_NOTHING, 0, false, POLKIT_UNASKED, RIGHTS_PASS, NULL },
		{ NEED_LIST, SEES, false, POLKIT_YES, RIGHTS_PASS, NULL },
		{ NEED_LIST, 0, false, POLKIT_NO, RIGHTS_PASS, NULL },
		{ NEED_LIST, 0, false, POLKIT_FAILED, RIGHTS_PASS, NULL },
		{ NEED_SEE, 0, true, POLKIT_CHALLENGE, RIGHTS_PASS, NULL },
		{ NEED_CHANGE, CHANGES, true, POLKIT_YES, RIGHTS_PASS, NULL },
		/* nothing is disclosed of invisible sessions */
		{ NEED_CHANGE, 0, true, POLKIT_NO, RIGHTS_PASS, NULL },
		{ NEED_CHANGE, 0, false, POLKIT_NO, RIGHTS_PASS, NULL },
		{ NEED_CHANGE, SEES, false, POLKIT_NO, RIGHTS_PASS, NULL },
		{ NEED_CHANGE, SEES, true, POLKIT_NO, RIGHTS_REFUSED,
		  "user 4000000000 is not allowed to change the session of another user (polkit has "
		  "denied it): authorization by polkit is needed (action org.kymo.Trace1.manage)" },
		{ NEED_CHANGE, SEES, true, POLKIT_CHALLENGE, RIGHTS_CHALLENGE,
		  "authentication is needed" },
		{ NEED_CHANGE, SEES, true, POLKIT_ABSENT, RIGHTS_REFUSED,
		  "only root and its owner are" },
		{ NEED_CONTROL, TRACES, false, POLKIT_YES, RIGHTS_PASS, NULL },
		{ NEED_CONTROL, TRACES, false, POLKIT_ABSENT, RIGHTS_PASS, NULL },
		{ NEED_CONTROL, OWNS, false, POLKIT_NO, RIGHTS_REFUSED,
		  "user 4000000000 is not allowed to trace the system (polkit has denied it): with --own, "
		  "you can trace your own processes; members of group g can trace the system (`adduser "
		  "4000000000 g`, and log in again), and users whom polkit authorizes (action "
		  "org.kymo.Trace1.control)" },
		{ NEED_CONTROL, 0, false, POLKIT_NO, RIGHTS_REFUSED,
		  "(polkit has denied it); members of group g can trace the system" },
		{ NEED_CONTROL, SEES | CHANGES, false, POLKIT_NO, RIGHTS_REFUSED,
		  "is not allowed to trace" },
		{ NEED_CONTROL, OWNS, false, POLKIT_CHALLENGE, RIGHTS_CHALLENGE,
		  "run this in a terminal" },
		{ NEED_CONTROL, OWNS, false, POLKIT_DISMISSED, RIGHTS_REFUSED,
		  "authentication failed or was canceled" },
		{ NEED_CONTROL, OWNS, false, POLKIT_FAILED, RIGHTS_REFUSED,
		  "cannot call polkit: it burns" },
		{ NEED_CONTROL, 0, false, POLKIT_ABSENT, RIGHTS_REFUSED,
		  "is not allowed to trace the system, and neither root nor in group g: run `adduser "
		  "4000000000 g` and log in again" },
		{ NEED_CONTROL_OWN, OWNS, false, POLKIT_YES, RIGHTS_PASS, NULL },
		{ NEED_CONTROL_OWN, TRACES, false, POLKIT_NO, RIGHTS_REFUSED,
		  "is not allowed to trace processes (polkit has denied it)" },
		{ NEED_CONTROL_OWN, 0, false, POLKIT_ABSENT, RIGHTS_REFUSED, "and neither root" },
		{ NEED_ROOT, 0, false, POLKIT_UNASKED, RIGHTS_REFUSED,
		  "only root is allowed to do this" },
		{ NEED_ROOT, SEES | CHANGES | TRACES | OWNS, true, POLKIT_UNASKED, RIGHTS_REFUSED,
		  "only root is allowed to do this" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char sentence[RIGHTS_SENTENCE_MAX] = "";
		const struct rights_found found = {
			.need = rows[i].need,
			.granted = rows[i].granted,
			.exists = rows[i].exists,
			.answer = rows[i].answer,
			.why = "it burns",
			.uid = 4000000000,
			.group = "g",
		};

		assert_int_equal(rights_judge(&found, sentence), rows[i].verdict);
		if (!rows[i].sentence)
			assert_string_equal(sentence, "");
		else if (!strstr(sentence, rows[i].sentence))
			assert_string_equal(sentence, rows[i].sentence);
	}
}

TEST(test_rights_judge_no_group)
{
	char sentence[RIGHTS_SENTENCE_MAX];
	const struct rights_found found = {
		.need = NEED_CONTROL,
		.answer = POLKIT_ABSENT,
		.uid = 4000000000,
		.group = "g",
		.no_group = true,
	};

	assert_int_equal(rights_judge(&found, sentence), RIGHTS_REFUSED);
	assert_string_equal(
		sentence,
		"user 4000000000 is not root, and there is no group g, whose members can trace "
		"the system: create it with `addgroup --system g`, then run `adduser 4000000000 "
		"g`");
}

/* There is no password dialogue for rights that only affect the contents of a list or a message. */
TEST(test_need_rows_dialogues)
{
	for (size_t i = 0; i < NEED_MAX; i++)
		assert_false(need_rows[i].steps[1].dialogue);
	assert_false(need_rows[NEED_LIST].steps[0].dialogue);
	assert_int_equal(need_rows[NEED_ROOT].steps[0].right, RIGHT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights_need_table),
		cmocka_unit_test(test_rights_judge_table),
		cmocka_unit_test(test_rights_judge_no_group),
		cmocka_unit_test(test_need_rows_dialogues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
