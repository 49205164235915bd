/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection to the daemon, and calls of it, shared by the files of this directory. No other
 * directory uses libsystemd.
 *
 * Functions return 0 or a negative errno. Functions that take the client also set the message of
 * bus_client_error().
 */
#pragma once

#include <stdbool.h>

#include <systemd/sd-bus.h>

#include "bus/kymo-bus.h"
#include "cli/bus/session-view.h"

#define BUS_SILENCE_NS UINT64_C(30000000000)
#define ANSWER_USEC    UINT64_C(30000000) /* timeout of immediate answers and of loading programs */

/*
 * The timeout if a user may have to enter a password: the time for which the daemon waits, plus the
 * call itself.
 */
#define DIALOGUE_USEC UINT64_C(150000000)

enum { BUS_SEARCHES_MAX = 32 }; /* maximum number of searches at the same time */

struct bus_client_create_args;

struct bus_client {
	sd_bus *bus;
	char version[64];             /* version of the service */
	bool own_bus;                 /* the bus is not the system bus, so it has no polkit agent */
	char *address;                /* of the bus; NULL = the system bus of some machine */
	char bus_name[256];           /* name of the bus, for messages */
	bool expects_answer;          /* a call without a time limit has been sent */
	uint64_t heard_ns;            /* time of the last message, or of the last check */
	char *service;                /* the unique name of the daemon */
	pid_t agent;                  /* process that asks for passwords; 0 = no process */
	sd_bus_message *capabilities; /* message that owns the returned strings */
	/* The session that is watched: */
	char *path;
	struct session_view last; /* state of the session in the last signal */
	bool finished, gone;
	/* The snapshot that was requested last: */
	bool snapshot_asked;
	int snapshot_state; /* 0 = in progress, 1 = written, or a negative errno */
	struct bus_search {
		struct bus_client *client;
		uint32_t pid; /* 0 = unused entry */
		int state;    /* 0 = in progress, 1 = done, or a negative errno */
	} searches[BUS_SEARCHES_MAX];
	char error[4096];
};

/* Sets the message to FORMAT with its arguments. Returns ERROR. */
__attribute__((format(printf, 3, 4))) int bus_fail(struct bus_client *c, int error,
						   const char *format, ...);

/* Sets the message of a failed call: the text in E (can be NULL), or else the text of ERROR, a
 * negative errno. Returns ERROR. */
int bus_fail_call(struct bus_client *c, int error, const sd_bus_error *e);

/* Returns true if a call failed because no answer came. E can be NULL. */
bool bus_is_timeout(int error, const sd_bus_error *e);

/* Sets the message that the bus does not answer. Returns -ETIMEDOUT. */
int bus_fail_silent(struct bus_client *c);

/*
 * Checks whether the bus itself works. Returns -ETIMEDOUT, and sets the message, if the bus does
 * not answer; otherwise 0, also if there is no bus, or if the bus is on another machine.
 */
int bus_check_alive(struct bus_client *c);

/* Notes that a message has come, or that a call has been sent. */
void bus_note_message(struct bus_client *c);

/*
 * Notes that a call without a time limit has been sent. From then on, bus_client_dispatch() checks
 * from time to time whether the bus works.
 */
void bus_expect_answer(struct bus_client *c);

/*
 * For callers that wait without a limit: after BUS_SILENCE_NS without a message, calls
 * bus_check_alive(). Only the bus must answer in time; the daemon can need longer.
 */
int bus_check_silence(struct bus_client *c);

/* Opens the private socket of the service at PATH. */
int bus_open_socket(struct bus_client *c, const char *path);

/* Starts a password agent, if this command runs in a terminal. */
void bus_expect_dialogue(struct bus_client *c);

/* Makes *RET, a call of METHOD of the manager or of the session at PATH, owned by the caller. In a
 * terminal, polkit may ask for a password. */
int bus_new_call(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret);

/* Returns the timeout of M: TIMEOUT_USEC, or longer if polkit may ask for a password. */
uint64_t bus_call_usec(sd_bus_message *m, uint64_t timeout_usec);

/* Sends M and waits up to TIMEOUT_USEC (UINT64_MAX = forever), or longer if polkit may ask for a
 * password. *RET, if RET is not NULL, is the answer, owned by the caller. */
int bus_call(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec, sd_bus_message **ret);

/*
 * Like bus_call(), but returns -EINTR, without a message, as soon as INTERRUPTED (NULL = never)
 * returns true. The daemon can still carry out the call then. INTERRUPTED is called after each
 * signal, and a few times a second.
 */
int bus_call_unless(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec,
		    bool (*interrupted)(void), sd_bus_message **ret);

/*
 * A function for sd_bus_call_async() that keeps the answer M. USERDATA is a sd_bus_message **,
 * which then owns M.
 */
int bus_keep_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr);

/* Returns the result of ANSWER: 0 or, after an error, a negative errno. */
int bus_check_answer(struct bus_client *c, sd_bus_message *answer);

/* Makes and sends a call of a METHOD that answers immediately, with arguments of TYPES ("" =
 * none). */
int bus_call_with(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret,
		  const char *types, ...);

/* Appends the options of a session, a{sv}, to M. Sets no message. */
int bus_append_options(sd_bus_message *m, const struct bus_client_create_args *args);

/* Reads the next properties of a session, a{sv}, from M into *V. Members of *V without a property
 * keep their values. Sets no message. */
int bus_read_view(sd_bus_message *m, struct session_view *v);
