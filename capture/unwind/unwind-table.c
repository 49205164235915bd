/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All FDEs of a file are found first, and sorted by address. Then each FDE is executed once, in
 * that order, and its rows are appended. So a file needs 16 bytes for each FDE in addition to its
 * rows.
 */
#include "capture/unwind/unwind-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/unwind/unwind-cfi.h"
#include "capture/unwind/unwind-code-x86.h"
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-flow.h"
#include "capture/unwind/unwind-rows-x86.h"

enum { EH_FRAME, DEBUG_FRAME, _SECTIONS };

enum { FDES_MAX = 1 << 22, CODE_ALIGNMENT = 16 };

/* Where an FDE is. Addresses are relative, as in rows. */
struct fde_place {
	uint32_t begin, size;
	uint32_t offset; /* offset of the FDE in its section */
	uint8_t section;
	bool too_long; /* the FDE was cut at the end of its segment */
};

struct table_builder {
	const struct unwind_elf *elf;
	uint64_t first_address;
	struct cfi sections[_SECTIONS];
	uint8_t section; /* the current section */
	struct fde_place *fdes;
	size_t n_fdes, room_fdes;
	struct unwind_row *rows;
	size_t n_rows, room_rows;
	uint32_t done;       /* end of the code that has rows */
	uint32_t begin, end; /* range of the current FDE */
	uint32_t n_overlaps;
	struct code_range *ranges; /* code without FDEs */
	size_t n_ranges, room_ranges;
	struct unwind_flow flow;
};

/* ---- FDEs ---- */

static const struct unwind_segment *unwind_table_find_segment(const struct unwind_elf *elf,
							      uint64_t address)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct unwind_segment *segment = &elf->segments[i];

		if (address >= segment->address && address - segment->address < segment->size)
			return segment;
	}
	return NULL;
}

/*
 * Stores the place of an FDE. Skips FDEs that have no code (the linker has dropped the function) or
 * are invalid.
 */
static int unwind_table_on_fde_place(uint64_t begin, uint64_t size, uint32_t offset, void *userdata)
{
	struct table_builder *b = userdata;
	const struct unwind_segment *segment = unwind_table_find_segment(b->elf, begin);
	bool too_long;
	uint64_t room;

	if (!segment || size == 0)
		return 0;
	room = segment->size - (begin - segment->address);
	too_long = size > room;
	if (too_long)
		size = room;
	begin -= b->first_address;
	if (begin >= UNWIND_NO_ADDRESS || size >= UNWIND_NO_ADDRESS - begin ||
	    b->n_fdes == FDES_MAX)
		return -EFBIG;
	if (GROW(b->fdes, b->room_fdes, b->n_fdes + 1) < 0)
		return -ENOMEM;
	b->fdes[b->n_fdes++] = (struct fde_place){
		.begin = (uint32_t)begin,
		.size = (uint32_t)size,
		.offset = offset,
		.section = b->section,
		.too_long = too_long,
	};
	return 0;
}

DEFINE_ORDER(compare_places, struct fde_place,
	COMPARE(x->begin, y->begin) ?: COMPARE(x->section, y->section)
		?: COMPARE(x->offset, y->offset))

/*
 * Sorts the FDEs. Linkers often write them in order, so the FDEs are sorted only if they are not.
 */
static void unwind_table_sort_places(struct table_builder *b)
{
	for (size_t i = 1; i < b->n_fdes; i++) {
		if (compare_places(&b->fdes[i - 1], &b->fdes[i]) > 0) {
			SORT(b->fdes, b->n_fdes, compare_places);
			return;
		}
	}
}

static int unwind_table_scan_section(struct table_builder *b, uint8_t number,
				     const struct cfi_section *section)
{
	b->section = number;
	return section->n > 0
		       ? cfi_scan(&b->sections[number], section, unwind_table_on_fde_place, b)
		       : 0;
}

static int unwind_table_find_fdes(struct table_builder *b)
{
	int r = unwind_table_scan_section(b, EH_FRAME, &b->elf->eh_frame)
			?: unwind_table_scan_section(b, DEBUG_FRAME, &b->elf->debug_frame);

	if (r == 0)
		unwind_table_sort_places(b);
	return r;
}

/* ---- code without FDEs ---- */

/* Returns true if the N bytes at CODE only fill the space between two functions. */
static bool unwind_table_is_padding(const uint8_t *code, uint64_t n)
{
	struct code_instruction i;

	for (uint64_t at = 0; at < n; at += i.length)
		if (!code_x86_read(code + at, n - at, 0, &i) || !i.is_padding)
			return false;
	return true;
}

/* Adds the code of SEGMENT from BEGIN to END, which are relative to the segment. */
static int unwind_table_add_range(struct table_builder *b, const struct unwind_segment *segment,
				  uint64_t begin, uint64_t end)
{
	const uint8_t *code = b->elf->data + segment->offset + begin;

	/* (most gaps align the next function: their code is not read, which would cost much) */
	if (begin >= end ||
	    (end - begin < CODE_ALIGNMENT && (segment->address + end) % CODE_ALIGNMENT == 0) ||
	    unwind_table_is_padding(code, end - begin))
		return 0;
	if (GROW(b->ranges, b->room_ranges, b->n_ranges + 1) < 0)
		return -ENOMEM;
	b->ranges[b->n_ranges++] = (struct code_range){
		.begin = segment->address + begin,
		.end = segment->address + end,
		.code = code,
	};
	return 0;
}

/* Adds the code of SEGMENT that no FDE describes. All FDEs are known, and sorted. */
static int unwind_table_add_ranges(struct table_builder *b, const struct unwind_segment *segment)
{
	uint64_t done = 0, base = segment->address - b->first_address;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_fdes && done < segment->size; i++) {
		uint64_t begin = b->fdes[i].begin, end = begin + b->fdes[i].size;

		if (end <= base)
			continue;
		begin = begin < base ? 0 : begin - base;
		end -= base;
		if (begin > segment->size)
			begin = segment->size;
		r = unwind_table_add_range(b, segment, done, begin);
		if (end > done)
			done = end;
	}
	return r ?: unwind_table_add_range(b, segment, done, segment->size);
}

DEFINE_ORDER(unwind_table_by_begin, struct code_range, COMPARE(x->begin, y->begin))

/* Follows the instructions of code without FDEs. */
static int unwind_table_follow_code(struct table_builder *b)
{
	size_t n = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < b->elf->n_segments; i++)
		r = unwind_table_add_ranges(b, &b->elf->segments[i]);
	if (r < 0)
		return r;
	SORT(b->ranges, b->n_ranges, unwind_table_by_begin);
	/* Segments can overlap. */
	for (size_t i = 0; i < b->n_ranges; i++)
		if (n == 0 || b->ranges[i].begin >= b->ranges[n - 1].end)
			b->ranges[n++] = b->ranges[i];
	b->n_ranges = n;
	return unwind_flow_init(&b->flow, b->elf, b->ranges, b->n_ranges);
}

/* ---- rows ---- */

static int unwind_table_append_row(struct table_builder *b, uint32_t address, uint32_t rule)
{
	/* An earlier row for this address comes from the same FDE, and is replaced. */
	if (b->n_rows > 0 && b->rows[b->n_rows - 1].address == address)
		b->n_rows--;
	if (b->n_rows > 0 && b->rows[b->n_rows - 1].rule == rule)
		return 0;
	if (b->n_rows == UNWIND_ROWS_MAX)
		return -EFBIG;
	if (GROW(b->rows, b->room_rows, b->n_rows + 1) < 0)
		return -ENOMEM;
	b->rows[b->n_rows++] = (struct unwind_row){ address, rule };
	return 0;
}

static int unwind_table_on_state(uint64_t address, const struct cfi_cie *cie,
				 const struct cfi_state *state, void *userdata)
{
	struct table_builder *b = userdata;

	address -= b->first_address;
	if (address >= b->end)
		return 0;
	if (address < b->begin)
		address = b->begin;
	return unwind_table_append_row(b, (uint32_t)address, unwind_rule_x86(cie, state));
}

static int unwind_table_on_code(uint64_t address, uint32_t rule, void *userdata)
{
	struct table_builder *b = userdata;

	return unwind_table_append_row(b, (uint32_t)(address - b->first_address), rule);
}

/* Appends the rows of the code up to END, which has no FDEs. */
static int unwind_table_append_code(struct table_builder *b, uint32_t end)
{
	uint32_t begin = b->done;

	if (end <= begin)
		return 0;
	b->done = end;
	return unwind_flow_list(&b->flow, b->first_address + begin, b->first_address + end,
				unwind_table_on_code, b);
}

/* The end of the last segment, as in rows. */
static uint32_t unwind_table_last_end(const struct table_builder *b)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < b->elf->n_segments; i++) {
		const struct unwind_segment *segment = &b->elf->segments[i];
		uint64_t begin = segment->address - b->first_address;

		if (begin < UNWIND_NO_ADDRESS && segment->size < UNWIND_NO_ADDRESS - begin &&
		    begin + segment->size > last)
			last = begin + segment->size;
	}
	return (uint32_t)last;
}

static int unwind_table_append_fde(struct table_builder *b, const struct fde_place *fde)
{
	size_t before;
	int r = unwind_table_append_code(b, b->begin);

	if (r < 0)
		return r;
	before = b->n_rows;
	r = fde->too_long ? -EBADMSG
			  : cfi_execute(&b->sections[fde->section], fde->offset,
					unwind_table_on_state, b);
	if (r == -EBADMSG) {
		b->n_rows = before;
		r = unwind_table_append_row(b, b->begin,
					    UNWIND_RULE(UNWIND_UNSUPPORTED, 0, UNWIND_WHY_DAMAGED));
	}
	b->done = b->end;
	return r;
}

/*
 * Sets the range in which FDE I applies. If FDEs overlap, the first one applies, with two
 * exceptions: FDEs of .eh_frame apply before those of .debug_frame, and an FDE that is too long
 * ends where the next one begins. NEXT_EH is the next FDE of .eh_frame.
 */
static void unwind_table_set_fde_bounds(struct table_builder *b, size_t i, size_t next_eh)
{
	const struct fde_place *fde = &b->fdes[i], *limit = NULL;

	b->begin = fde->begin;
	b->end = fde->begin + fde->size;
	if (b->begin < b->done) {
		b->begin = b->done;
		b->n_overlaps += fde->section == EH_FRAME;
	}
	if (fde->section == DEBUG_FRAME && next_eh < b->n_fdes)
		limit = &b->fdes[next_eh];
	if (fde->too_long && i + 1 < b->n_fdes)
		limit = fde + 1;
	if (limit && b->end > limit->begin)
		b->end = limit->begin;
}

static int unwind_table_append_rows(struct table_builder *b)
{
	size_t next_eh = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_fdes; i++) {
		while (next_eh < b->n_fdes &&
		       (next_eh <= i || b->fdes[next_eh].section != EH_FRAME))
			next_eh++;
		unwind_table_set_fde_bounds(b, i, next_eh);
		if (b->begin < b->end)
			r = unwind_table_append_fde(b, &b->fdes[i]);
	}
	r = r ?: unwind_table_append_code(b, unwind_table_last_end(b));
	if (r == 0 && b->n_rows > 0)
		r = unwind_table_append_row(b, b->done, UNWIND_RULE(UNWIND_NONE, 0, 0));
	return r;
}

/* ---- tables ---- */

/* Finds the range of the FDE with ADDRESS. Returns false if there is none. */
static bool unwind_table_function_at(void *userdata, uint64_t address, uint64_t *ret_begin,
				     uint64_t *ret_end)
{
	const struct table_builder *b = userdata;
	size_t low = 0, high = b->n_fdes;

	address -= b->first_address;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->fdes[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - b->fdes[low - 1].begin >= b->fdes[low - 1].size)
		return false;
	*ret_begin = b->first_address + b->fdes[low - 1].begin;
	*ret_end = *ret_begin + b->fdes[low - 1].size;
	return true;
}

static uint64_t unwind_table_lowest_address(const struct unwind_elf *elf)
{
	uint64_t lowest = elf->n_segments > 0 ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < elf->n_segments; i++) {
		if (elf->segments[i].address < lowest)
			lowest = elf->segments[i].address;
	}
	return lowest;
}

static void unwind_table_builder_deinit(struct table_builder *b)
{
	for (size_t i = 0; i < _SECTIONS; i++)
		cfi_deinit(&b->sections[i]);
	unwind_flow_deinit(&b->flow);
	free(b->ranges);
	free(b->fdes);
	free(b->rows);
}

static void unwind_table_count_unsupported(struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->n_rows; i++) {
		uint32_t rule = table->rows[i].rule;

		if (UNWIND_RULE_KIND(rule) == UNWIND_UNSUPPORTED)
			table->n_unsupported[UNWIND_RULE_OFFSET(rule)]++;
	}
}

static void unwind_table_fill_table(struct table_builder *b, struct unwind_table *ret)
{
	const struct unwind_elf *elf = b->elf;

	*ret = (struct unwind_table){
		.n_build_id = elf->n_build_id,
		.n_segments = elf->n_segments,
		.first_address = b->first_address,
		.n_rows = (uint32_t)b->n_rows,
		.rows = TAKE_PTR(b->rows),
	};
	memcpy(ret->build_id, elf->build_id, sizeof(ret->build_id));
	memcpy(ret->segments, elf->segments, sizeof(ret->segments));
	unwind_python_find(elf, unwind_table_function_at, b, &ret->python);
	unwind_table_count_unsupported(ret);
	ret->n_unsupported[UNWIND_WHY_DAMAGED] += b->n_overlaps + b->sections[EH_FRAME].n_damaged +
						  b->sections[DEBUG_FRAME].n_damaged;
}

static int unwind_table_build_table(const struct unwind_elf *elf, struct unwind_table *ret)
{
	struct table_builder b = { .elf = elf, .first_address = unwind_table_lowest_address(elf) };
	int r = unwind_table_find_fdes(&b) ?: unwind_table_follow_code(&b);

	r = r ?: unwind_table_append_rows(&b);
	if (r == 0)
		unwind_table_fill_table(&b, ret);
	unwind_table_builder_deinit(&b);
	return r;
}

int unwind_table_read(const void *data, size_t n, struct unwind_table *ret)
{
	struct unwind_elf elf;
	int r = unwind_elf_init(&elf, data, n) ?: unwind_table_build_table(&elf, ret);

	unwind_elf_deinit(&elf);
	return r;
}

void unwind_table_deinit(struct unwind_table *table)
{
	free(table->rows);
	*table = (struct unwind_table){ 0 };
}
