/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's lists of a process's resources, for comparison with the books of
 * capture/stages/resources.h. From /proc; only the text is for people.
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
	bool own;            /* of shared resources, only those of UID */
	uint32_t uid;
};

/*
 * Passes LIST as struct rec_listing, struct rec_found, ..., struct rec_listing to SINK. Unreadable
 * resources (the process is gone) are not in the list, and not among the complete ones. Returns 0
 * or the result of SINK.
 */
int resource_list_send(const struct resource_list *list, const struct memory_sink *sink);
