/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object of the manager.
 */
#pragma once

#include <systemd/sd-bus.h>

struct manager;

/* Adds the object of the manager M to BUS. Returns 0 or a negative errno. */
int manager_bus_offer(struct manager *m, sd_bus *bus);
