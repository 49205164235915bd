/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Examines a file that a process mapped shortly before its end.
 */
#pragma once

#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"

/*
 * Examines the file of REC by its path on this machine. The path may lead to another file by now,
 * or to none: then it is unknown whether the file has an allocator.
 */
struct late_file late_file_examine(const struct rec_mapping *rec);
