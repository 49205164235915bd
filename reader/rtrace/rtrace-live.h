/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is allocated: which call each live resource is from. Calls go by their number in the report.
 * It needs some 30 bytes a live resource, and nothing for those that are gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "writer/rtrace/rtrace-wire.h"

/* What calls do. */
enum rtrace_live_outcome {
	RTRACE_LIVE_NEW,      /* it was not there before */
	RTRACE_LIVE_SHARED,   /* one that is counted, and was there: *RET is who made it */
	RTRACE_LIVE_REPLACED, /* it was there, from *RET, which has gone without being freed here */
	RTRACE_LIVE_FREED,    /* the last of it, from *RET */
	RTRACE_LIVE_UNSHARED, /* one that is counted, from *RET, is still there */
	RTRACE_LIVE_UNKNOWN,  /* it was not there */
};

enum {
	RTRACE_LIVE_CALL_BITS = 36,
	RTRACE_LIVE_COUNT_BITS = 28, /* of what is shared more often not the last one is known */
};

/* Each kind of resources has ids of its own; the first table is for what is of none. */
struct rtrace_live {
	struct table tables[RTRACE_RESOURCE_MAX + 1];
	uint64_t topmost[RTRACE_RESOURCE_MAX + 1]; /* of the id that tables cannot hold */
};

void rtrace_live_deinit(struct rtrace_live *l);

/*
 * The call CALL (below 1 << RTRACE_LIVE_CALL_BITS) allocates ID of the resource TYPE (-1 = of
 * none). COUNTED: of what is there already, one more is held. Returns an outcome or -ENOMEM.
 */
int rtrace_live_allocate(struct rtrace_live *l, int type, uint64_t id, uint64_t call, bool counted,
			 uint64_t *ret);

int rtrace_live_free(struct rtrace_live *l, int type, uint64_t id, uint64_t *ret);
