/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals. What a session is called and what it does is not for everybody, and the bus's own
 * policy can keep a signal from a user only whatever it is about. So there are no broadcasts: each
 * signal is sent to those connections that may hear it (access_each_hearer()), one by one.
 */
#pragma once

#include "daemon/daemon-session.h"

/* SessionAdded or SessionRemoved. */
void bus_signals_of_session(const struct daemon_session *s, const char *signal);

void bus_signals_finished(const struct daemon_session *s, const char *reason);

/* PropertiesChanged, with the values of NAMES (which ends with NULL) as they are now. */
void bus_signals_properties(const struct daemon_session *s, const char *const *names);
