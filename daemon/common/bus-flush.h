/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the last messages to a bus. sd_bus_flush() waits as long as the bus does not read, for
 * example because the process of the bus is stopped. So with it, a service that ends could wait for
 * ever.
 */
#pragma once

#include <systemd/sd-bus.h>

/* The maximum time, more than a bus needs even on a busy machine. */
#define BUS_FLUSH_NS UINT64_C(2000000000)

/*
 * Sends the pending messages of BUS, if it is connected. If this takes longer than BUS_FLUSH_NS,
 * ends the connection, so the remaining messages are lost. No received message is handled
 * meanwhile.
 */
void bus_flush(sd_bus *bus);
