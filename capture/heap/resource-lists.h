/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's lists of a process's resources, from /proc, to compare them with the resources that
 * capture/stages/resources.h tracks. The texts in the lists are only for people.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/heap/heap-tables.h"

struct resource_list {
	uint32_t pid;
	uint32_t instance;
	uint32_t categories; /* enum capture_category: the resources to list */
	bool first;          /* as in struct rec_listing */
	bool own;            /* include shared resources only if they belong to UID */
	uint32_t uid;
};

/*
 * Sends LIST to SINK as struct rec_listing, struct rec_found, ..., struct rec_listing. A resource
 * whose list is unreadable, for example because the process is gone, is neither listed nor marked
 * as complete. Returns 0 or the result of SINK.
 */
int resource_list_send(const struct resource_list *list, const struct memory_sink *sink);
