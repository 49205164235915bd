/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/rec-rings.h"

#include "capture/options/options.h"

const struct rec_ring_row rec_ring_rows[REC_SOURCES] = {
	[REC_RING_LIFECYCLE] = { CLASS_LIFECYCLE, 0 },
	[REC_RING_WORKQUEUE] = { CLASS_WORKQUEUE, CATEGORY_WORKQUEUE },
	[REC_RING_FREQUENCY] = { CLASS_FREQUENCY, CATEGORY_POWER },
	[REC_RING_STACKS] = { CLASS_STACKS, CATEGORIES_STACKS },
	[REC_RING_MEMORY] = { CLASS_MEMORY, CATEGORIES_MEMORY },
	[REC_RING_CALLS] = { CLASS_CALLS, CATEGORY_CALLS | CATEGORY_MOMENTS },
	[REC_RING_TRACEPOINTS] = { CLASS_TRACEPOINTS, CATEGORY_TRACEPOINTS },
	[REC_RING_BLOCK] = { CLASS_BLOCK, CATEGORY_BLOCK },
	[REC_RING_MAPPINGS] = { CLASS_MAPPINGS, 0 },
};

unsigned rec_ring_of_class(enum event_class class)
{
	unsigned ring = 0;

	while (ring < REC_RINGS && rec_ring_rows[ring].class != class)
		ring++;
	return ring;
}
