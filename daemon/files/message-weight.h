/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The size of a message. The bus accepts messages of up to 32 MiB from any client, but the daemon
 * must keep messages that wait for an answer in memory, so it refuses large ones.
 */
#pragma once

#include <stddef.h>
#include <systemd/sd-bus.h>

/*
 * Checks the size of M. Returns 0 if its content has at most about LIMIT bytes; -E2BIG if it has
 * more, without reading the rest; or the error of sd_bus_message_read(). Rewinds M.
 */
int message_check_weight(sd_bus_message *m, size_t limit);
