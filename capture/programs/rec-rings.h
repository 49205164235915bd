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
	enum event_class class; /* the class of the losses in its marks */
	uint32_t categories;    /* CATEGORY_*: the ring exists with any of them; 0 = always */
};

extern const struct rec_ring_row rec_ring_rows[REC_SOURCES];

/* Whether a session of CATEGORIES has the BPF ring buffer RING. */
static inline bool rec_ring_is_used(unsigned ring, uint32_t categories)
{
	return rec_ring_rows[ring].categories == 0 || categories & rec_ring_rows[ring].categories;
}

/* The BPF ring buffer whose losses are those of CLASS; REC_RINGS = none. */
unsigned rec_ring_of_class(enum event_class class);
