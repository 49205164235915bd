/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Examines a file that a process mapped shortly before its end.
 */
#pragma once

#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"

struct allocator_cache;

#define LATE_FILE_NS_MAX UINT64_C(1000000000) /* the time limit for reading the first file */

/*
 * Examines the file of REC by its path on this machine, with CACHE (NULL = no memory). The
 * path may lead to another file by now, or to none: then it is unknown whether the file has an
 * allocator.
 */
struct late_file late_file_examine(struct allocator_cache *cache, const struct rec_mapping *rec);
