/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large a message is. The bus lets everybody send 32 MiB; what waits for an answer has to be
 * kept until then.
 */
#pragma once

#include <stddef.h>
#include <systemd/sd-bus.h>

/*
 * 0 if the content of M is LIMIT bytes at most, about; -E2BIG if it is more, found out without
 * looking at the rest; else what sd_bus_message_read() says of it. M is rewound.
 */
int message_check_weight(sd_bus_message *m, size_t limit);
