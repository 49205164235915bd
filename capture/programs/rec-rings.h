/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of records (bpf/record-kinds.h): the class of events of each source, and the
 * categories that need it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "model/event.h"

struct rec_ring_row {
	enum event_class class; /* the class of the losses that its marks report */
	/* CATEGORY_*: the ring exists if any of these is recorded; 0 = always. */
	uint32_t categories;
};

extern const struct rec_ring_row rec_ring_rows[REC_SOURCES];

/* Returns true if a session of CATEGORIES has the BPF ring buffer RING. */
static inline bool rec_ring_is_used(unsigned ring, uint32_t categories)
{
	return rec_ring_rows[ring].categories == 0 || categories & rec_ring_rows[ring].categories;
}

/* Returns the BPF ring buffer whose losses belong to CLASS; REC_RINGS = no such buffer. */
unsigned rec_ring_of_class(enum event_class class);
