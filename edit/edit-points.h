/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of points (for moments) in several archives. Each archive counts its points from 0.
 *
 * The plan identifies a point. If several archives have the same plan, its point has one number, so
 * that parts of one recording fit together again. The first plan with a number keeps it. Another
 * plan with that number gets the next free number. A moment without a plan (of a damaged archive)
 * keeps the number of its archive if that is free.
 *
 * Memory is bounded: beyond EDIT_POINTS_MAX points, numbers are unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

enum { EDIT_INPUTS_MAX = 64 }; /* maximum number of inputs of a merge */

enum { EDIT_POINTS_MAX = 1 << 16 };

struct edit_points;

/* Returns NULL if there is no memory. */
struct edit_points *edit_points_new(void);
struct edit_points *edit_points_free(struct edit_points *p);
DEFINE_CLEANUP(struct edit_points *, edit_points_free)

/* Returns true if RECORD, of kymo, refers to a moment or a point. */
bool edit_points_has(const struct fxt_record *record);

/*
 * Processes RECORD of INPUT. Must be called for each record of kymo, before the record is written.
 * Returns 0 or -ENOMEM.
 */
int edit_points_see(struct edit_points *p, unsigned input, const struct fxt_record *record);

/* Returns the new number for NUMBER of INPUT. */
uint32_t edit_points_number(const struct edit_points *p, unsigned input, uint32_t number);

/* Returns the number of points of INPUT whose number has changed. */
uint64_t edit_points_moved(const struct edit_points *p, unsigned input);
