/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-lines.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/value.h"
#include "reader/places/places-parts.h"

enum { LINE_DEPTH_MAX = 64 };

struct lines_search {
	struct places *places;
	const char *file;
	uint32_t line;
	struct place_line found;
	uint64_t blocks[PLACE_LINE_ADDRESSES_MAX]; /* the DIE that contains each address */
	bool known;                                /* a file with that name exists */
	bool several, full;
	uint32_t below, above; /* nearest lines with code; 0 = none */
	struct value_nearest nearest;
	char nearest_file[256];
	const char *other; /* last matching file with another name */
};

/* Returns true if the last components of PATH are FILE. */
static bool lines_is_file(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);

	if (n < m || strcmp(path + n - m, file) != 0)
		return false;
	return n == m || *file == '/' || path[n - m - 1] == '/';
}

/*
 * Returns the innermost function at VADDR, inlined or not, as the offset of its DIE; 0 = none.
 * *RET_ENTRY is its entry; 0 = it is inlined, or has no entry.
 */
static uint64_t lines_block(struct places *p, uint64_t vaddr, uint64_t *ret_entry)
{
	Dwarf_Die at, child;
	Dwarf_Addr entry;
	uint64_t block;

	*ret_entry = 0;
	if (!places_function(p, vaddr, &at))
		return 0;
	block = dwarf_dieoffset(&at);
	if (places_entry(p, &at, &entry))
		*ret_entry = entry;
	for (unsigned depth = 0; depth < LINE_DEPTH_MAX && dwarf_child(&at, &child) == 0; depth++) {
		bool any = false;

		do {
			int tag = dwarf_tag(&child);

			any = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
			      places_has_code(&child, vaddr);
			if (any && tag == DW_TAG_inlined_subroutine) {
				block = dwarf_dieoffset(&child);
				*ret_entry = 0;
			}
		} while (!any && places_next(&child));
		if (!any)
			break;
		at = child;
	}
	return block;
}

/*
 * Returns the first address of a row of LINES after ENTRY, where the stack frame is set up; ENTRY
 * if there is none.
 */
static uint64_t lines_after_entry(Dwarf_Lines *lines, size_t n, uint64_t entry)
{
	uint64_t best = entry;

	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;

		if (dwarf_lineaddr(row, &address) == 0 && address > entry &&
		    (best == entry || address < best))
			best = address;
	}
	return best;
}

/* Adds VADDR. Of several addresses in one function, only the lowest is kept. */
static void lines_add(struct lines_search *s, uint64_t vaddr, Dwarf_Lines *lines, size_t n)
{
	uint64_t entry, block = lines_block(s->places, vaddr, &entry);

	if (entry && vaddr == entry)
		vaddr = lines_after_entry(lines, n, entry);
	for (size_t i = 0; i < s->found.n; i++) {
		if (block == 0 || s->blocks[i] != block)
			continue;
		if (vaddr < s->found.vaddrs[i])
			s->found.vaddrs[i] = vaddr;
		return;
	}
	if (s->found.n == PLACE_LINE_ADDRESSES_MAX) {
		s->full = true;
		return;
	}
	s->blocks[s->found.n] = block;
	s->found.vaddrs[s->found.n++] = vaddr;
}

static void lines_note_near(struct lines_search *s, uint32_t line)
{
	if (line < s->line && line > s->below)
		s->below = line;
	if (line > s->line && (s->above == 0 || line < s->above))
		s->above = line;
}

static void lines_check_row(struct lines_search *s, Dwarf_Line *row, Dwarf_Lines *lines, size_t n)
{
	const char *path = dwarf_linesrc(row, NULL, NULL), *slash;
	Dwarf_Addr address;
	bool begins = false, ends = false;
	uint64_t offset;
	int line;

	if (!path || dwarf_lineno(row, &line) != 0 || line <= 0 ||
	    dwarf_lineaddr(row, &address) != 0)
		return;
	if (path == s->other)
		return;
	if (!lines_is_file(path, s->file)) {
		s->other = path;
		slash = strrchr(path, '/');
		if (!s->known && value_nearest_try(&s->nearest, slash ? slash + 1 : path))
			snprintf(s->nearest_file, sizeof(s->nearest_file), "%s",
				 slash ? slash + 1 : path);
		return;
	}
	dwarf_linebeginstatement(row, &begins);
	dwarf_lineendsequence(row, &ends);
	if (!begins || ends || !places_offset(s->places, address, &offset))
		return;
	s->several |= s->known && strcmp(s->found.file, path) != 0;
	if (!s->known)
		snprintf(s->found.file, sizeof(s->found.file), "%s", path);
	s->known = true;
	if ((uint32_t)line == s->line)
		lines_add(s, address, lines, n);
	else
		lines_note_near(s, (uint32_t)line);
}

/* Returns the result of the search; if it is an error, writes an explanation to WHY. */
static int lines_explain(const struct lines_search *s, char *why, size_t size)
{
	const char *path = s->places->path, *split;

	if (!s->known) {
		split = places_split_file(s->places, 0);
		snprintf(why, size, "%s has no code from a file '%s'%s%s%s%s%s%s", path, s->file,
			 *s->nearest_file ? "; did you mean '" : "", s->nearest_file,
			 *s->nearest_file ? "'?" : "",
			 split ? "; a part of its debug information is in other files (such as "
			       : "",
			 split ?: "", split ? "), which kymo does not read" : "");
		return -ENOENT;
	}
	if (s->several) {
		snprintf(why, size,
			 "%s has several files '%s', such as %s: specify more of the path", path,
			 s->file, s->found.file);
		return -E2BIG;
	}
	if (s->full) {
		snprintf(why, size, "%s:%u has code in more than %d places of %s", s->file, s->line,
			 PLACE_LINE_ADDRESSES_MAX, path);
		return -E2BIG;
	}
	if (s->found.n > 0)
		return 0;
	if (s->below && s->above)
		snprintf(why, size, "line %u of %s has no code; the nearest lines are %u and %u",
			 s->line, s->file, s->below, s->above);
	else
		snprintf(why, size, "line %u of %s has no code; the nearest line is %u", s->line,
			 s->file, s->below ?: s->above);
	return -ENOENT;
}

DEFINE_ORDER(lines_compare, uint64_t, COMPARE(*x, *y))

int place_lines_find(struct places *p, const char *file, uint32_t line, struct place_line *ret,
		     char *why, size_t size)
{
	struct lines_search s = {
		.places = p,
		.file = file,
		.line = line,
		.nearest = { .text = file, .distance = VALUE_NEAR },
	};
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;
	int r;

	if (!p->dwarf) {
		snprintf(why, size,
			 "%s has no debug information, so its lines are unknown: install the "
			 "debug information, or build with -g",
			 p->path);
		return -ENODATA;
	}
	while (dwarf_get_units(p->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		Dwarf_Lines *lines;
		size_t n;

		if (type != DW_UT_compile || !dwarf_info_lines(p->info, &die, &lines, &n))
			continue;
		for (size_t i = 0; i < n; i++)
			lines_check_row(&s, dwarf_onesrcline(lines, i), lines, n);
	}
	r = lines_explain(&s, why, size);
	if (r < 0)
		return r;
	SORT(s.found.vaddrs, s.found.n, lines_compare);
	*ret = s.found;
	return 0;
}

size_t place_lines_at(struct places *p, uint64_t vaddr, struct dwarf_frame *frames, size_t n)
{
	const char *what = NULL;

	return p->info ? dwarf_info_find(p->info, vaddr, frames, n, &what) : 0;
}
