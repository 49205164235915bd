/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that are written at the end, from the summary of the archive: its machine, processes
 * and threads.
 */
#pragma once

#include "cli/tables/table-set.h"

/*
 * Writes the three tables. DAMAGED = true: the archive could not be read completely. Returns 0 or a
 * negative errno.
 */
int table_machine_put(struct table_set *s, bool damaged);
