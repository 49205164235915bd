/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of tests to the daemon, over the bus in KYMO_TEST_BUS. Functions that assert use cmocka
 * in the test's own process. A child, such as the one of as_user(), uses CHECK().
 *
 * The daemon runs with `--group 65534`: MEMBER is in that group, STRANGER is not. (Both are users
 * of every system, since the bus refuses unknown ones.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "tests/support/unit.h"

#define NAME              "org.kymo.Trace1"
#define MANAGER_PATH      "/org/kymo/Trace1"
#define MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define SESSION_INTERFACE "org.kymo.Trace1.Session"
#define SESSION_PREFIX    "/org/kymo/Trace1/session/"
#define ERROR_PREFIX      "org.kymo.Trace1.Error."

enum { MEMBER = 65534, FOREIGN_USER = 1, OTHER_FOREIGN_USER = 2 };

/*
 * The common begin and end of most tests: the test's own connection. Its sessions end with it.
 * Tests remove their lingering sessions themselves.
 */
extern sd_bus *bus;
int setup_bus(void **state);
int teardown_bus(void **state);

/*
 * The limit for an answer of the service, in microseconds. It is only for answers that never come:
 * the speed of the machine must not decide the verdict.
 */
#define ANSWER_USEC (UINT64_C(200000000) * unit_build_factor())

/* A new connection to the bus. Calls that are not answered fail after ANSWER_USEC. */
sd_bus *connect_bus(void);

/* Likewise, as user UID in the group of the same number. The test remains root. */
sd_bus *connect_as(uid_t uid);

/* A file without a name, open for writing. */
int open_output(void);
void assert_content(int fd, const char *expected);

struct answer {
	int r;
	sd_bus_error error;
	char path[128];
};

/*
 * CreateSession with an output (unless it is -1) and another option of a basic type (unless it is
 * NULL).
 */
struct answer create_with(sd_bus *b, const char *name, int fd, const char *option, const char *type,
			  uint64_t value);
struct answer create(sd_bus *b, const char *name, int fd);

/* A METHOD without arguments of the session at PATH. */
struct answer call(sd_bus *b, const char *path, const char *method);

void assert_done(struct answer a);

/* It failed with the error NAME, and a message that contains TEXT. */
void assert_refused(struct answer a, const char *name, const char *text);

void assert_state(sd_bus *b, const char *path, const char *expected);

/* Whether the session at PATH is in that state now. */
bool is_in_state(sd_bus *b, const char *path, const char *expected);

/* The number of events of the session at PATH so far. */
uint64_t count_events(sd_bus *b, const char *path);

/*
 * Closes B, and returns when the bus has reported its end: the service learns of it before all
 * later requests.
 */
void leave_bus(sd_bus *b);

/* Whether B can find a session NAME. */
bool exists(sd_bus *b, const char *name);

/* The number of sessions that ListSessions returns to B. */
int count_sessions(sd_bus *b);

/* The number of lost records of the session at PATH. */
uint64_t count_lost(sd_bus *b, const char *path);

/* The number of open descriptors of process PID. */
unsigned count_files(pid_t pid);

/*
 * Controls fake-polkit.c: calls a METHOD without arguments, and sets the answer HOW about ACTION.
 */
#define POLKIT_NAME "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"

int set_polkit(sd_bus *b, const char *method);
int set_answer(sd_bus *b, const char *action, const char *how);

/* The actions. */
#define VIEW        "org.kymo.Trace1.view"
#define CONTROL_OWN "org.kymo.Trace1.control-own"
#define CONTROL     "org.kymo.Trace1.control"
#define MANAGE      "org.kymo.Trace1.manage"

/* Numbers of questions. If they are unknown, `asked` is UINT32_MAX. */
struct counts {
	uint32_t asked, dialogues; /* of one action */
	uint32_t held, cancelled;  /* of all actions */
};

struct counts counts_of(sd_bus *b, const char *action);

/*
 * Like setup_bus(), with a polkit that refuses everything except tracing one's own processes.
 * Cached answers are dropped.
 */
int setup_polkit(void **state);

/* Runs FN as user UID in a child process. Failures of its checks are failures of the test. */
void as_user(uid_t uid, void (*fn)(void));

/* Likewise, without waiting. Returns the pid. The status is 0 if all checks succeed. */
pid_t start_as_user(uid_t uid, void (*fn)(void));

/* In the child: prints the place and the condition that failed, and exits. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Likewise, if the answer A is not the error NAME. Prints the actual one. */
#define CHECK_ERROR(a, name_)                                                                      \
	do {                                                                                       \
		if ((a).r >= 0 || strcmp((a).error.name, (name_)) != 0) {                          \
			fprintf(stderr, "%s:%d: failed: %d, %s (%s) instead of %s\n", __FILE__,    \
				__LINE__, (a).r, (a).error.name ?: "no error",                     \
				(a).error.message ?: "", (name_));                                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
