/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of an archive in a partitioned data set. From its path, query engines take the
 * columns host, date and hour.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/outbuf.h"

/*
 * Appends "host=HOST/date=YYYY-MM-DD/hour=HH" for the time REAL_NS, in UTC. Bytes of HOST that have
 * a meaning in a path are written as %XX. *RET is the time. Returns 0, -ERANGE for an impossible
 * time, or the error of TO.
 */
int table_partition_append(struct outbuf *to, const char *host, uint64_t real_ns, struct tm *ret);

/*
 * Creates the directories above BASE/host=HOST/date=YYYY-MM-DD/hour=HH/part=MMSS for the time
 * REAL_NS, in UTC. *RET is this path, to be freed; its last directory is not created. Returns
 * CLI_OK or CLI_FAILED; prints errors.
 */
int table_partition_make(const char *base, const char *host, uint64_t real_ns, char **ret);
