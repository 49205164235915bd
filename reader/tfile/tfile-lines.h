/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses the lines in the head of a trace file, one by one, into a struct tfile_head.
 */
#pragma once

#include "base/table.h"
#include "reader/tfile/tfile-finding.h"
#include "writer/tfile/tfile-model.h"

/* Lists of texts of a tracepoint, which grow. */
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
	const char *damage; /* set after a line that ends reading; static text */

	struct tfile_head head;
	struct tfile_variable *variables;
	struct tfile_tracepoint *tracepoints;
	struct tfile_lines_point *points; /* by the index of the tracepoint */
	size_t variables_room, tracepoints_room, points_room;
	struct table places; /* number and address -> index in tracepoints + 1 */
	struct tfile_lines_texts keys, description, others;
	char **kept; /* texts; array and texts are owned */
	size_t n_kept, kept_room;
};

void tfile_lines_deinit(struct tfile_lines *l);

/*
 * Parses the N bytes of LINE. LINE begins at OFFSET, and has no line feed. Returns 0, 1 if reading
 * must stop (l->damage is the reason), or -ENOMEM.
 */
int tfile_lines_add(struct tfile_lines *l, const char *line, size_t n, uint64_t offset);

/* Ends the head after the last line: l->head is then complete. Returns like tfile_lines_add(). */
int tfile_lines_finish(struct tfile_lines *l, uint64_t offset);

/*
 * Parses LINE, a line of the description, as a map. The texts of the map are stored in TEXT, which
 * has room for TFILE_LINE_MAX + 1 bytes. Returns false if LINE is not a map.
 */
bool tfile_lines_map(const char *line, struct tfile_map *ret, char *text);
