/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says that a process has: the lists that the books of capture/pipeline/resources.h
 * are compared with. From /proc, for people's eyes only in its text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/heap/heap-tables.h"

struct resource_list {
	uint32_t pid;
	uint32_t instance;
	uint32_t categories; /* enum capture_category: what is to be listed */
	bool first;          /* as struct rec_listing says */
	bool own;            /* of what all share, only what is UID's */
	uint32_t uid;
};

/*
 * Sends LIST as struct rec_listing, struct rec_found, ..., struct rec_listing to SINK. What cannot
 * be read (the process is gone) is not in the list, nor among what that says to be complete.
 * Returns 0 or what SINK returned.
 */
int resource_list_send(const struct resource_list *list, const struct memory_sink *sink);
