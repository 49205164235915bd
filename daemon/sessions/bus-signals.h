/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of the service. Names and states of sessions are confidential, and the bus policy cannot
 * restrict who receives signals by their content. So no signal is broadcast: each signal is sent to
 * every connection that may receive it (access_each_receiver()).
 */
#pragma once

#include "daemon/sessions/daemon-session-state.h"

/* Sends SessionAdded or SessionRemoved. */
void bus_signals_of_session(const struct daemon_session *s, const char *signal);

void bus_signals_finished(const struct daemon_session *s, const char *reason);

/* Sends PropertiesChanged, with the current values of NAMES, a list that ends with NULL. */
void bus_signals_properties(const struct daemon_session *s, const char *const *names);
