/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last messages to a bus. sd_bus_flush() waits as long as the bus does not read, for example
 * because its process is stopped, so a service that ends could wait for ever.
 */
#pragma once

#include <systemd/sd-bus.h>

/* More than a bus needs, on a busy machine, too. */
#define BUS_FLUSH_NS UINT64_C(2000000000)

/*
 * Sends the pending messages of BUS, if it is connected. If this takes longer than BUS_FLUSH_NS,
 * the connection ends, and the rest of them is lost. No received message is handled meanwhile.
 */
void bus_flush(sd_bus *bus);
