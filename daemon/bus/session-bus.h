/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of the sessions.
 */
#pragma once

#include <systemd/sd-bus.h>

struct daemon_session;
struct manager;

/* Adds the objects of the sessions of M to BUS. Returns 0 or a negative errno. */
int session_bus_offer(struct manager *m, sd_bus *bus);

/* Appends the entry {sv} of property NAME of S to the array in M. Returns 0 or a negative errno. */
int session_bus_append_property(sd_bus_message *m, const struct daemon_session *s,
				const char *name);
