/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto packets, to be carried in BLOB records of type 3. Perfetto joins the bytes of all of
 * them and reads them as one of its own traces, which can say what FXT has no record for.
 */
#pragma once

#include "base/outbuf.h"

/*
 * Adds a packet with SystemInfo: sysname "Linux" and RELEASE and MACHINE (each cut to 100 bytes).
 * With it Perfetto's UI shows the threads of process 2 as the kernel's. Failures stick to TO.
 */
void fxt_perfetto_system_info(struct outbuf *to, const char *release, const char *machine);
