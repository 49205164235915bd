/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of archives (docs/FXT-MAPPING.md, "Parts"): the events `part`, which divide the records of
 * a cut into classes, and what these classes mean where parts are merged.
 */
#pragma once

#include "edit/edit-copy.h"

/* Classes of a part's records, by their places in the file. */
enum edit_part_class {
	EDIT_PART_STATE, /* records at the begin; or before the first event `part` */
	EDIT_PART_RECORDS,
	EDIT_PART_END,
	/*
	 * The archive was edited: it is no part itself. Parts of it fit only each other, and not
	 * parts of its source.
	 */
	EDIT_PART_EDITED,
};

struct edit_part {
	uint64_t id; /* equal for parts of one archive; 0 = no part */
	/* Begin of the part; 0 = no part precedes it. In an edited archive: begin of a part in it
	 * that another part precedes; 0 = it has no such part. */
	uint64_t first_ns;
	uint64_t behind_ns; /* end of the part; 0 = the end of the archive, or no part follows it */
};

/* Returns the event `part` of PART, for edit_copy_event(). */
struct event edit_part_event(const struct edit_part *part, enum edit_part_class what,
			     uint64_t ts_ns);

/* The ways in which an archive was edited. The numbers are used in ids. */
enum edit_part_edit {
	EDIT_PART_MERGED = 1,
	EDIT_PART_SYMBOLIZED,
	EDIT_PART_REPAIRED,
	EDIT_PART_REDACTED,
	EDIT_PART_EXPLAINED,
};

/*
 * The mark of an edited archive. With it, parts of the archive do not fit parts of its source,
 * because the state in the source can lack what the edit has added. The mark is one event `part` of
 * class EDIT_PART_EDITED. Its id depends on the edit, and on the id of the source.
 */
struct edit_part_mark {
	enum edit_part_edit edit;
	/*
	 * Returns a replacement for the id of the source, so that the source cannot be recognized;
	 * NULL = the id itself is used.
	 */
	uint64_t (*hide)(void *userdata, uint64_t id);
	void *userdata;
	bool written;
};

/* Writes MARK, for a source with the id and `first_ns` of SOURCE (0 = no id), unless it was written
 * already. Returns like edit_copy_record(). */
int edit_part_write_mark(struct edit_part_mark *mark, struct edit_copy *copy,
			 const struct edit_part *source, uint64_t ts_ns);

/*
 * Must be called before each RECORD, of provider FROM, is copied. Writes MARK before the first
 * session_start, where a cut reads it. MARK replaces all events `part` of the source. Returns 1 if
 * RECORD is an event `part`, which must not be copied; otherwise like edit_copy_record().
 */
int edit_part_mark_before(struct edit_part_mark *mark, struct edit_copy *copy,
			  const struct fxt_provider *from, const struct fxt_record *record);

/*
 * Returns true if RECORD, of provider FROM, is an event `part`. If so, *RET and *RET_CLASS are its
 * content.
 */
bool edit_part_read(const struct fxt_provider *from, const struct fxt_record *record,
		    struct edit_part *ret, enum edit_part_class *ret_what);

/* Returns true if B continues A. */
bool edit_part_fits(const struct edit_part *a, const struct edit_part *b);

/*
 * Returns true if an archive whose first event `part` is P contains the begin of its source. (For
 * an archive without such an event, P has id 0.) Otherwise, the archive can have events that a cut
 * has clipped at its begin.
 */
bool edit_part_begins_source(const struct edit_part *p);
