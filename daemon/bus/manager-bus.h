/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object of the manager.
 */
#pragma once

struct manager;

/* Adds the object of the manager to the bus of M. Returns 0 or a negative errno. */
int manager_bus_offer(struct manager *m);
