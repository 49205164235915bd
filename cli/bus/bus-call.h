/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this directory share: the connection, and calls on it. Nothing outside of it
 * knows libsystemd.
 *
 * Functions return 0 or a negative errno; those that take the client have left a sentence for
 * bus_client_error() then.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "bus/kymo-bus.h"
#include "cli/bus/bus-client.h"

#define ANSWER_USEC UINT64_C(30000000) /* what answers at once, and programs being loaded */

/* Somebody may have to find a password first: as long as the daemon waits, and the call itself. */
#define DIALOGUE_USEC UINT64_C(150000000)

enum { BUS_SEARCHES_MAX = 32 }; /* at once */

struct bus_client {
	sd_bus *bus;
	char version[64];             /* of the service */
	bool own_bus;                 /* it is not the system bus: no agent of polkit is there */
	char *service;                /* the unique name of the daemon */
	pid_t agent;                  /* that asks for passwords; 0 = none */
	sd_bus_message *capabilities; /* holds the strings that were given out */
	/* The session that is watched. */
	char *path;
	struct session_view last; /* as far as signals have said */
	bool finished, gone;
	/* The snapshot that was asked for last. */
	bool snapshot_asked;
	int snapshot_state; /* 0, 1 = written, or a negative errno */
	struct bus_search {
		struct bus_client *client;
		uint32_t pid; /* 0 = none */
		int state;    /* 0, 1 = done, or a negative errno */
	} searches[BUS_SEARCHES_MAX];
	char error[4096];
};

/* Leaves the sentence that FORMAT makes. Returns ERROR. */
__attribute__((format(printf, 3, 4))) int bus_fail(struct bus_client *c, int error,
						   const char *format, ...);

/* A call that did not succeed: what the other side said (E, may be NULL), or else what ERROR, a
 * negative errno, means. Returns ERROR. */
int bus_fail_call(struct bus_client *c, int error, const sd_bus_error *e);

/* Sees that somebody can ask for a password, if we are in a terminal. */
void bus_expect_dialogue(struct bus_client *c);

/*
 * Makes *RET, a call of METHOD of the manager or of the session at PATH; the caller's. In a
 * terminal it may lead to a dialogue.
 */
int bus_new_call(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret);

/*
 * Sends M and waits up to TIMEOUT_USEC (UINT64_MAX = for ever), longer if there may be a dialogue.
 * *RET, if RET is not NULL, is the answer, the caller's.
 */
int bus_call(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec, sd_bus_message **ret);

/* Both, for a METHOD that answers at once, with arguments of TYPES ("" = none). */
int bus_call_with(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret,
		  const char *types, ...);

/* Appends the options of a session, a{sv}, to M. Leaves no sentence. */
int bus_append_options(sd_bus_message *m, const struct bus_client_create_args *args);

/* Puts the properties of a session, a{sv}, that come next in M to *V; what is not among them stays.
 * Leaves no sentence. */
int bus_read_view(sd_bus_message *m, struct session_view *v);
