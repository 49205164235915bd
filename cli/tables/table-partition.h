/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of an archive in a partitioned data set. Engines take columns from its name.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/outbuf.h"

/*
 * Appends "host=HOST/date=YYYY-MM-DD/hour=HH" for the time REAL_NS, in UTC. Bytes of HOST that can
 * mean something else in a path are %XX. *RET is the time. Returns 0, -ERANGE for an impossible
 * time, or the error of TO.
 */
int table_partition_append(struct outbuf *to, const char *host, uint64_t real_ns, struct tm *ret);

/*
 * Creates BASE/host=HOST/date=YYYY-MM-DD/hour=HH/part=MMSS for the time REAL_NS, in UTC. *RET is
 * the path without its last directory being made, to be freed. Returns CLI_OK or CLI_FAILED; prints
 * errors.
 */
int table_partition_make(const char *base, const char *host, uint64_t real_ns, char **ret);
