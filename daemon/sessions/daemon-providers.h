/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that write events of their own (docs/architecture/providers.md): their connections,
 * which all sessions share, and a list of them. The socket exists only while a session needs it,
 * and for a while after a call of ListProviders by a user who may see all programs.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "daemon/sessions/daemon-session-state.h"

struct daemon_providers;

/* Closes the connections. No session may use them any more. Returns NULL. */
struct daemon_providers *daemon_providers_free(struct daemon_providers *p);

/*
 * Lets programs connect for S, which is about to start. Does nothing if S does not record programs.
 * Returns 0, or a negative errno with an error message.
 */
int daemon_providers_join(struct daemon_session *s, sd_bus_error *reterr);

/* S could not start: takes daemon_providers_join() back. */
void daemon_providers_leave(struct daemon_session *s);

/* Closes the connections if nothing needs them any more. */
void daemon_providers_settle(struct manager *m);

/* The caller of ListProviders. */
struct daemon_providers_caller {
	uid_t uid;
	bool sees_all; /* may view the sessions of all users */
};

/*
 * Answers CALL, at once or later. If no programs are connected, the answer waits a moment until
 * they have connected. But programs do not connect for a caller without the right to see all
 * programs: that caller's list has only programs that are already connected. Returns 0, or a
 * negative errno with an error message.
 */
int daemon_providers_list(struct manager *m, sd_bus_message *call,
			  const struct daemon_providers_caller *caller, sd_bus_error *reterr);

/* Whether a call of ListProviders waits for its answer. */
bool daemon_providers_is_waiting(const struct manager *m);
