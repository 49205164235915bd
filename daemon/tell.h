/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals. What a session is called and what it does is not for everybody, and the bus's own
 * policy can keep a signal from a user only whoever it is about. So there are no broadcasts: each
 * signal is sent to those connections that may hear it (access_each_hearer()), one by one.
 */
#pragma once

#include "daemon/managed.h"

/* SessionAdded or SessionRemoved. */
void tell_of_session(const struct managed *s, const char *signal);

void tell_finished(const struct managed *s, const char *reason);

/* PropertiesChanged, with the values of NAMES (which ends with NULL) as they are now. */
void tell_properties(const struct managed *s, const char *const *names);
