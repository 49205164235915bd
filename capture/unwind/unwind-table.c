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
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-functions.h"
#include "capture/unwind/unwind-rows-x86.h"

enum { EH_FRAME, DEBUG_FRAME, _SECTIONS, BARE = _SECTIONS };

enum { FDES_MAX = 1 << 22 };

/* Where an FDE is. Addresses are relative, as in rows. */
struct fde_place {
	uint32_t begin, size;
	uint32_t offset; /* offset of the FDE in its section; of a function without one, its rule */
	uint8_t section;
	bool too_long; /* it was cut at the end of its segment */
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
 * Stores where an FDE is. Skips FDEs that have no code (the linker has dropped the function) or are
 * invalid.
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

/* Sorts the FDEs. Linkers write them nearly in order, and often exactly in order. */
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

/* ---- functions without FDEs ---- */

/* Returns the first of N FDEs that begins after ADDRESS, an address of the file. */
static size_t unwind_table_next_fde(const struct table_builder *b, size_t n, uint64_t address)
{
	return ARRAY_FIRST(i, 0, n, b->fdes[i].begin > address - b->first_address);
}

static bool unwind_table_is_undescribed(uint64_t address, const void *userdata)
{
	const struct table_builder *b = userdata;
	size_t next = unwind_table_next_fde(b, b->n_fdes, address);

	/* If FDEs overlap, an earlier one can describe the address, too. Then that one applies. */
	return next == 0 ||
	       address - b->first_address - b->fdes[next - 1].begin >= b->fdes[next - 1].size;
}

/* Ends each of the N functions at F where the next FDE begins. Returns the number of the rest. */
static size_t unwind_table_cut_functions(const struct table_builder *b, struct unwind_function *f,
					 size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		size_t next = unwind_table_next_fde(b, b->n_fdes, f[i].begin);
		uint64_t limit = UNWIND_NO_ADDRESS;

		if (next < b->n_fdes)
			limit = b->fdes[next].begin;
		if (f[i].begin - b->first_address >= limit)
			continue;
		if (f[i].end - b->first_address > limit)
			f[i].end = b->first_address + limit;
		f[to++] = f[i];
	}
	return to;
}

static int unwind_table_add_function(struct table_builder *b, const struct unwind_function *f)
{
	uint8_t bp = f->is_framed ? UNWIND_BARE_FRAMED : UNWIND_BARE_NOT;

	if (GROW(b->fdes, b->room_fdes, b->n_fdes + 1) < 0)
		return -ENOMEM;
	b->fdes[b->n_fdes++] = (struct fde_place){
		.begin = (uint32_t)(f->begin - b->first_address),
		.size = (uint32_t)(f->end - f->begin),
		.offset = UNWIND_RULE(UNWIND_BARE, f->is_bare ? 0 : bp, f->joined & INT16_MAX),
		.section = BARE,
	};
	return 0;
}

/*
 * Marks the functions without FDEs that keep no frame pointer, and those that are joined with them.
 * All FDEs are known, and sorted.
 */
static int unwind_table_add_bare(struct table_builder *b)
{
	_cleanup_free_ struct unwind_function *functions = NULL;
	size_t n;
	int r = unwind_functions_find(b->elf, FDES_MAX - b->n_fdes, unwind_table_is_undescribed, b,
				      &functions, &n);

	if (r < 0 || n == 0)
		return r;
	n = unwind_table_cut_functions(b, functions, n);
	unwind_functions_judge(b->elf, functions, n);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (functions[i].has_bare)
			r = unwind_table_add_function(b, &functions[i]);
	unwind_table_sort_places(b);
	return r;
}

/* ---- rows ---- */

static int unwind_table_append_row(struct table_builder *b, uint32_t address, uint32_t rule)
{
	/* An earlier row for this address comes from the same FDE. It is replaced. */
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

static int unwind_table_append_fde(struct table_builder *b, const struct fde_place *fde)
{
	size_t before;
	int r = 0;

	if (b->done < b->begin)
		r = unwind_table_append_row(b, b->done, UNWIND_RULE(UNWIND_NONE, 0, 0));
	if (r < 0)
		return r;
	if (fde->section == BARE) {
		b->done = b->end;
		return unwind_table_append_row(b, b->begin, fde->offset);
	}
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
 * If FDEs overlap, the first one applies, with two exceptions: FDEs of .eh_frame apply before those
 * of .debug_frame, and an FDE that is too long ends where the next one begins. NEXT_EH is the next
 * FDE of .eh_frame.
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
	if (r == 0 && b->n_rows > 0)
		r = unwind_table_append_row(b, b->done, UNWIND_RULE(UNWIND_NONE, 0, 0));
	return r;
}

/* ---- tables ---- */

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
	unwind_table_count_unsupported(ret);
	ret->n_unsupported[UNWIND_WHY_DAMAGED] += b->n_overlaps + b->sections[EH_FRAME].n_damaged +
						  b->sections[DEBUG_FRAME].n_damaged;
}

static int unwind_table_build_table(const struct unwind_elf *elf, struct unwind_table *ret)
{
	struct table_builder b = { .elf = elf, .first_address = unwind_table_lowest_address(elf) };
	int r = unwind_table_find_fdes(&b) ?: unwind_table_add_bare(&b);

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
