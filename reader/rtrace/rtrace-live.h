/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The live resources, and the call that allocated each of them. Calls are identified by their
 * number in the report. This needs about 30 bytes per live resource, and nothing for freed ones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "writer/rtrace/rtrace-wire.h"

/* The result of a call. */
enum rtrace_live_outcome {
	RTRACE_LIVE_NEW, /* the resource did not exist */
	/* The counted resource exists and gets a reference; *RET is the call that allocated it. */
	RTRACE_LIVE_SHARED,
	RTRACE_LIVE_REPLACED, /* the resource exists, from call *RET; its deallocation is missing */
	/* The last reference was dropped; the resource was allocated by *RET. */
	RTRACE_LIVE_FREED,
	/* A reference was dropped; the resource, from call *RET, has others. */
	RTRACE_LIVE_UNSHARED,
	RTRACE_LIVE_UNKNOWN, /* the resource did not exist */
};

enum {
	RTRACE_LIVE_CALL_BITS = 36,
	RTRACE_LIVE_COUNT_BITS = 28, /* more references than this are not counted exactly */
};

/* Each kind of resource has its own ids. The first table is for calls without a resource. */
struct rtrace_live {
	struct table tables[RTRACE_RESOURCE_MAX + 1];
	/* The entries for the highest id, which tables cannot hold. */
	uint64_t topmost[RTRACE_RESOURCE_MAX + 1];
};

void rtrace_live_deinit(struct rtrace_live *l);

/*
 * The call CALL (below 1 << RTRACE_LIVE_CALL_BITS) allocates ID of the resource TYPE (-1 = none).
 * COUNTED: an existing resource gets another reference. Returns an outcome or -ENOMEM.
 */
int rtrace_live_allocate(struct rtrace_live *l, int type, uint64_t id, uint64_t call, bool counted,
			 uint64_t *ret);

int rtrace_live_free(struct rtrace_live *l, int type, uint64_t id, uint64_t *ret);
