/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of one archive that are merged: which records are left out where one part continues
 * another, and which ones become whole again (docs/FXT-MAPPING.md, "Parts").
 *
 * The parts that fit are known from the heads of the archives, before anything is written. The
 * state at the begin of a part is left out only if the part before it has come to its end: if it
 * was cut off, the state is more than its last records show.
 */
#pragma once

#include "edit/edit-part.h"
#include "edit/edit-sort.h"

/* Of one input. */
struct edit_join {
	struct edit_part part;   /* id 0: it is no part, or its first event was not read yet */
	enum edit_part_class at; /* of the records that are being read */
	bool ended;              /* its end was read */
	int before, after;       /* the inputs that it continues, and that continue it; -1 = none */
	uint64_t chain_ns;       /* the begin of the first part that it continues */
	bool continues;          /* it has taken over from the one before */
	uint64_t events, lost;   /* of stops that were left out, for the next one */
};

void edit_join_init(struct edit_join *j);

/* Takes the next RECORD that is read. Returns true for an event `part`, which is not copied. */
bool edit_join_read(struct edit_join *j, const struct fxt_record *record);

/* Makes the later one of two parts (A, whose input is INPUT_A) continue the other one, if they fit
 * and nothing else does. */
void edit_join_link(struct edit_join *a, int input_a, struct edit_join *b, int input_b);

/*
 * Whether ITEM of J is left out. Its effect on the state must be taken into account nevertheless.
 * BEFORE is the part before; NULL without one.
 */
bool edit_join_omits(const struct edit_join *j, const struct edit_join *before,
		     const struct edit_sorted *item);

/*
 * Gives R, an event of J that was clipped or moved to the begin of J, its true begin: or that of
 * the first part, if it began before that, too. Returns true if it is the true one: then the
 * arguments of the clipped event are to be left out (edit_join_keeps()).
 */
bool edit_join_mend(const struct edit_join *j, struct fxt_record *r);

/* Whether ARG, called NAME, of a mended event is kept. *BEHIND (first false) is for these calls. */
bool edit_join_keeps(int name, const struct fxt_out_arg *arg, bool *behind);
