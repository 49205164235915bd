/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resource of a program, as the books have it (capture/stages/resources.h).
 */
#pragma once

#include <stdint.h>

#include "capture/heap/ranges.h"
#include "model/event.h"

/* The maximum number of resources of one kind in one process. */
enum { RESOURCES_MAX = 1 << 18 };

/* A resource that was made and not released. */
struct resource_block {
	enum resource resource;
	uint64_t id, size; /* as `enum resource` defines them */
	struct origin origin;
	const char *text; /* borrowed until the next call */
};

/*
 * A function that gets resources, one at each call. If it returns 0, it is called for the next
 * resource.
 */
typedef int (*resources_block_fn)(const struct resource_block *block, void *userdata);
