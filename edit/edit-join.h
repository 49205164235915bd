/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of one archive that are merged: this module decides which records are left out where a part
 * continues another one, and which records become whole again (docs/FXT-MAPPING.md, "Parts").
 *
 * Parts that fit are found by the heads of the archives, before anything is written. The state at
 * the begin of a part is left out only if the part before it was read to its end, and is not
 * damaged: otherwise, the records of that part do not show the whole state. The state itself must
 * be complete and not damaged, too: otherwise, the next part may consist only of this state, and
 * the end of the part before is needed. Whether the state is left out is decided once, before the
 * first record between the two parts, since it must be left out completely or not at all.
 */
#pragma once

#include "edit/edit-part.h"
#include "edit/edit-sort.h"

enum edit_joint { EDIT_JOINT_UNKNOWN, EDIT_JOINT_YES, EDIT_JOINT_NO };

/* The part in one input. */
struct edit_join {
	/* Id 0 = the input is no part, or its first event was not read yet. */
	struct edit_part part;
	enum edit_part_class at; /* class of the records that are being read */
	bool ended;              /* the event `part` at the part's end was read */
	bool all_read;           /* the end of the file was read */
	bool damaged;            /* some of the input was unreadable */
	/* Some of the state, or the event `part` after it, may have been unreadable. */
	bool begins_damaged;
	/* Numbers of the inputs before and after this part; -1 = no such input. */
	int before, after;
	const struct edit_join *previous, *next; /* the parts of these inputs; borrowed, or NULL */
	/* Whether the part continues `previous`, and nothing is missing between them. */
	enum edit_joint joint;
	uint64_t chain;        /* a bit for each input of the chain, this one included */
	uint64_t chain_ns;     /* begin of the first part of the chain */
	bool continues;        /* the part has replaced the previous part */
	uint64_t events, lost; /* counts of stops that were left out; added to the next stop */
};

void edit_join_init(struct edit_join *j);

/* Processes the next RECORD that is read. Returns true for an event `part`, which is not copied. */
bool edit_join_read(struct edit_join *j, const struct fxt_record *record);

/* Returns true if J is a part, and the records that are being read are its state. */
bool edit_join_is_in_state(const struct edit_join *j);

/* Notes that some of the archive before the next record was unreadable. */
void edit_join_damage(struct edit_join *j);

/* Notes that there are no more records. */
void edit_join_end(struct edit_join *j);

/*
 * Makes part B of INPUT_B continue part A of INPUT_A, if B fits behind A. A part can continue only
 * one part, and can be continued by only one: the first that fits.
 */
void edit_join_link(struct edit_join *a, int input_a, struct edit_join *b, int input_b);

/*
 * Returns the input of which more must be read to know whether J is joint with the previous part.
 * The previous part must be read to its end, and J to the end of its state. -1 = nothing more must
 * be read.
 */
int edit_join_lacks(const struct edit_join *j);

/*
 * Decides whether J is joint with the part before it, unless this was decided. If too little of one
 * of the two was read, they are not joint.
 */
void edit_join_decide(struct edit_join *j);

/*
 * Returns true if J continues another part, and nothing is missing between them. Then the end of
 * the other part and the state of J are left out. Returns false before edit_join_decide().
 */
bool edit_join_is_joint(const struct edit_join *j);

/* Returns true if ITEM of J is left out. The caller must still apply its effect on the state. */
bool edit_join_omits(const struct edit_join *j, const struct edit_sorted *item);

/*
 * Returns true if R, of J, is a complete event that was clipped at the end of J, and J has a next
 * part.
 */
bool edit_join_goes_on(const struct edit_join *j, const struct fxt_record *r);

/*
 * Returns true if R, of J, is a complete event that was clipped at the begin of J, and J has a
 * previous part.
 */
bool edit_join_went_on(const struct edit_join *j, const struct fxt_record *r);

/*
 * Moves the begin of R, an event of J, back from the begin of J to its true begin, or to the begin
 * of the first part if that is later. Returns true if R now has its true begin. Then the arguments
 * that the cut has added must be left out (edit_join_keeps()).
 */
bool edit_join_mend(const struct edit_join *j, struct fxt_record *r);

/*
 * Returns true if ARG, called NAME, of a mended event is kept. Must be called for each argument, in
 * their order. *BEHIND is false before the first call, and must not be changed between these calls.
 */
bool edit_join_keeps(int name, const struct fxt_out_arg *arg, bool *behind);
