/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the daemon ask it, over the bus in KYMO_TEST_BUS. What asserts does so by cmocka,
 * in the test's own process; in a child, as which as_user() runs, CHECK() does.
 *
 * The daemon runs with `--group 65534`: MEMBER is in that group, strangers are not. (All are users
 * of every system: the bus lets no unknown one in.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define NAME              "org.kymo.Trace1"
#define MANAGER_PATH      "/org/kymo/Trace1"
#define MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define SESSION_INTERFACE "org.kymo.Trace1.Session"
#define SESSION_PREFIX    "/org/kymo/Trace1/session/"
#define ERROR_PREFIX      "org.kymo.Trace1.Error."

enum { MEMBER = 65534, STRANGER = 1, OTHER_STRANGER = 2 };

/*
 * What most tests begin and end with: the test's own connection. Sessions of it go with it; those
 * that linger are removed by their tests.
 */
extern sd_bus *bus;
int setup_bus(void **state);
int teardown_bus(void **state);

/* A new connection to the bus. */
sd_bus *connect_bus(void);

/* Likewise, as user UID in the group of the same number; the test remains root. */
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
 * CreateSession with an output (unless it is -1) and one more option (unless it is NULL) of a basic
 * type.
 */
struct answer create_with(sd_bus *b, const char *name, int fd, const char *option, const char *type,
			  uint64_t value);
struct answer create(sd_bus *b, const char *name, int fd);

/* A METHOD without arguments of the session at PATH. */
struct answer call(sd_bus *b, const char *path, const char *method);

void assert_done(struct answer a);

/* It failed with the error NAME, and its sentence has TEXT in it. */
void assert_refused(struct answer a, const char *name, const char *text);

void assert_state(sd_bus *b, const char *path, const char *expected);

/* Whether the session at PATH is in that state now. */
bool is_in_state(sd_bus *b, const char *path, const char *expected);

/* How many events the session at PATH has taken so far. */
uint64_t count_events(sd_bus *b, const char *path);

/*
 * Closes B, and returns when the bus says that nobody is there any more: what it has told the
 * service of that comes before all that the service is asked afterwards.
 */
void leave_bus(sd_bus *b);

/* Whether B may find a session NAME. */
bool exists(sd_bus *b, const char *name);

/* How many sessions ListSessions tells B of. */
int count_sessions(sd_bus *b);

/* How many records the session at PATH has lost. */
uint64_t count_lost(sd_bus *b, const char *path);

/* What is set in fake-polkit.c: a METHOD without arguments, and HOW it answers about ACTION. */
#define POLKIT_NAME "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"

int tell_polkit(sd_bus *b, const char *method);
int set_answer(sd_bus *b, const char *action, const char *how);

/* What it may be asked about. */
#define VIEW        "org.kymo.Trace1.view"
#define CONTROL_OWN "org.kymo.Trace1.control-own"
#define CONTROL     "org.kymo.Trace1.control"
#define MANAGE      "org.kymo.Trace1.manage"

/* How often it was; if that is not known, `asked` is UINT32_MAX. */
struct counts {
	uint32_t asked, dialogues; /* of one action */
	uint32_t held, cancelled;  /* of all */
};

struct counts counts_of(sd_bus *b, const char *action);

/*
 * setup_bus() where nobody may anything, but trace what is his own; answers from before count no
 * more.
 */
int setup_polkit(void **state);

/* Runs FN as user UID in a process of its own; its assertions count here. */
void as_user(uid_t uid, void (*fn)(void));

/* Likewise, without waiting. Returns its pid; its status is 0 if all was well. */
pid_t start_as_user(uid_t uid, void (*fn)(void));

/* In the child: exits with the line that failed. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
