/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perfetto packets, for BLOB records of type 3. Perfetto concatenates the bytes of all these
 * records and reads the result as one of its own traces. kymo uses this for data for which FXT has
 * no record.
 */
#pragma once

#include "base/outbuf.h"

/*
 * Adds a packet with SystemInfo: sysname "Linux" and RELEASE and MACHINE (each cut to 100 bytes).
 * With this packet, Perfetto's UI shows the threads of process 2 as kernel threads. After a
 * failure, TO refuses all later writes.
 */
void fxt_perfetto_system_info(struct outbuf *to, const char *release, const char *machine);
