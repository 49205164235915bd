/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of one archive that are merged: which records are left out where one part continues
 * another, and which ones become whole again (docs/FXT-MAPPING.md, "Parts").
 *
 * The parts that fit are known from the heads of the archives, before anything is written. The
 * state at the begin of a part is left out only if the part before it has come to its end, and is
 * not damaged: otherwise, the state is more than its records show. The state itself must be
 * complete and not damaged, too: otherwise, the next part is perhaps nothing but this state, and
 * the end of the part before is needed. This is decided once, before the first record between the
 * two, since they need one answer: a state that is half left out is not one.
 */
#pragma once

#include "edit/edit-part.h"
#include "edit/edit-sort.h"

enum edit_joint { EDIT_JOINT_UNKNOWN, EDIT_JOINT_YES, EDIT_JOINT_NO };

/* Of one input. */
struct edit_join {
	struct edit_part part;   /* id 0: it is no part, or its first event was not read yet */
	enum edit_part_class at; /* class of the records that are being read */
	bool ended;              /* the mark of its end was read */
	bool all_read;           /* the end of the file was read */
	bool damaged;            /* some of it could not be read */
	bool begins_damaged;     /* perhaps some of its state, or the mark behind it */
	int before, after;       /* the inputs that it continues, and that continue it; -1 = none */
	const struct edit_join *previous, *next; /* the same; borrowed, or NULL */
	enum edit_joint joint; /* it continues `previous`, and nothing is missing between them */
	uint64_t chain_ns;     /* the begin of the first part that it continues */
	bool continues;        /* it has taken over from the one before */
	uint64_t events, lost; /* counts of stops that were left out, for the next stop */
};

void edit_join_init(struct edit_join *j);

/* Takes the next RECORD that is read. Returns true for an event `part`, which is not copied. */
bool edit_join_read(struct edit_join *j, const struct fxt_record *record);

/* Some of the archive could not be read, before the next record. */
void edit_join_damage(struct edit_join *j);

/* There are no more records. */
void edit_join_end(struct edit_join *j);

/* Makes B, whose input is INPUT_B, continue A, whose input is INPUT_A, if B fits behind A. A part
 * continues one other part, and is continued by one: the first that fits. */
void edit_join_link(struct edit_join *a, int input_a, struct edit_join *b, int input_b);

/* The input that must be read further to know whether J is joint with the part before it: that
 * part to its end, J to the end of its state. -1 = none. */
int edit_join_lacks(const struct edit_join *j);

/* Decides whether J is joint with the part before it, unless that is decided. A part of which too
 * little was read is not. */
void edit_join_decide(struct edit_join *j);

/* Whether J continues another part, and nothing is missing between them: then the end of the other
 * one and the state of J are left out. False before it is decided. */
bool edit_join_is_joint(const struct edit_join *j);

/* Whether ITEM of J is left out. The caller must still apply its effect on the state. */
bool edit_join_omits(const struct edit_join *j, const struct edit_sorted *item);

/* Whether R, of J, is a complete event that was clipped at the end of J, and J has a next part. */
bool edit_join_goes_on(const struct edit_join *j, const struct fxt_record *r);

/* Whether R, of J, is a complete event that was clipped at the begin of J, and J has a part before.
 */
bool edit_join_went_on(const struct edit_join *j, const struct fxt_record *r);

/*
 * Moves the begin of R, an event of J, back from the begin of J to its true begin, or to the begin
 * of the first part if that is later. Returns true if R has its true begin now. The arguments that
 * the cut has added are then to be left out (edit_join_keeps()).
 */
bool edit_join_mend(const struct edit_join *j, struct fxt_record *r);

/* Whether ARG, called NAME, of a mended event is kept. To be called for each argument in their
 * order. *BEHIND is false before the first call, and then belongs to these calls. */
bool edit_join_keeps(int name, const struct fxt_out_arg *arg, bool *behind);
