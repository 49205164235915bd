/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines in the head of a trace file, one by one, into a struct tfile_head.
 */
#pragma once

#include "base/table.h"
#include "reader/tfile/tfile-finding.h"
#include "writer/tfile/tfile-model.h"

/* Lists of texts that grow, of a tracepoint. */
enum tfile_lines_list {
	TFILE_LINES_ACTIONS,
	TFILE_LINES_STEP_ACTIONS,
	TFILE_LINES_COMMANDS,
	TFILE_LINES_LISTS,
};

struct tfile_lines_texts {
	const char **texts; /* owned; the texts are in `kept` */
	size_t n, room;
};

struct tfile_lines_point {
	struct tfile_lines_texts lists[TFILE_LINES_LISTS];
	bool defined;
};

struct tfile_lines {
	tfile_finding_fn finding;
	void *userdata;
	bool has_registers, has_status;
	const char *damage; /* after a line that ends reading; static text */

	struct tfile_head head;
	struct tfile_variable *variables;
	struct tfile_tracepoint *tracepoints;
	struct tfile_lines_point *points; /* by the index of its tracepoint */
	size_t variables_room, tracepoints_room, points_room;
	struct table places; /* of number and address -> index in tracepoints + 1 */
	struct tfile_lines_texts keys, description, others;
	char **kept; /* owned, with the texts */
	size_t n_kept, kept_room;
};

void tfile_lines_deinit(struct tfile_lines *l);

/*
 * Parses the N bytes of LINE, which has no line feed and begins at OFFSET. Returns 0, 1 if reading
 * must stop (l->damage is the reason), or -ENOMEM.
 */
int tfile_lines_add(struct tfile_lines *l, const char *line, size_t n, uint64_t offset);

/* After the last line: l->head is complete. Returns as above. */
int tfile_lines_finish(struct tfile_lines *l, uint64_t offset);

/*
 * The map that LINE of a description is, with its texts in TEXT, which has room for TFILE_LINE_MAX
 * + 1 bytes. Returns whether it is one.
 */
bool tfile_lines_map(const char *line, struct tfile_map *ret, char *text);
