/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/dwarf-info.h"

#include <byteswap.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "reader/symbols/range-list.h"
#include "reader/symbols/unusable.h"

/*
 * Limits far above the values of real files. The time for a unit and for a file is limited, too,
 * since the cost of a step can vary within these limits.
 */
enum {
	UNIT_SIZE_MAX = 32 << 20,
	DIES_MAX = 4 * 1000 * 1000, /* maximum number of DIEs in a unit */
	RANGES_MAX = 1000 * 1000,   /* maximum number of ranges in one unit */
	DEPTH_MAX = 128,
	LINE_COST = 48,  /* libdw's memory per row of a line table, with its compressed form */
	UNIT_COST = 512, /* libdw's memory per unit */
};

#define UNIT_TIME_MAX_NS (UINT64_C(3) * 1000 * 1000 * 1000)
#define FILE_TIME_MAX_NS (UINT64_C(60) * 1000 * 1000 * 1000)

static const char too_large[] = "its debug information exceeds the memory limit";

enum { NO_PARENT = UINT32_MAX };

/* A function, inlined or not. */
struct node {
	Dwarf_Off die;
	uint32_t parent;
	uint32_t call_file, call_line;
	bool named; /* the following members are set */
	const char *name;
};

struct unit {
	Dwarf_Off die;
	bool loaded;
	bool no_lines;
	struct node *nodes;
	size_t n_nodes, room;
	struct range_list ranges; /* of nodes; range_list_find() finds the innermost node */
};

struct dwarf_info {
	Dwarf *dwarf;
	Dwarf *alternate;
	const struct elf_file *file;
	const struct elf_segments *segments;
	struct unit *units;
	size_t n_units, room;
	struct range_list ranges; /* ranges of units */
	uint64_t bytes, max;
	uint64_t time_ns; /* time spent so far */
	bool given_up;
	bool cut;      /* a unit was not read completely */
	bool is_split; /* units have their information in other files */
	bool reported;
};

/* Returns the present time from a cheap clock, since it is called often. */
static uint64_t dwarf_info_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC_COARSE);
}

/* ---- opening ---- */

/* Returns true if libdw reads the section NAME. */
static bool dwarf_info_is_debug_section(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0 ||
	       strcmp(name, ".gnu_debugaltlink") == 0;
}

/*
 * Returns the memory that libdw needs for the compressed SECTION and its decompressed content;
 * UINT64_MAX = unknown, or over the limit MAX.
 */
static uint64_t dwarf_info_packed_bytes(Elf_Scn *section, const GElf_Shdr *header, uint64_t max)
{
	uint64_t size = 0;
	GElf_Chdr packed;
	Elf_Data *data;

	/* (libelf reads the whole section to find the size of its content) */
	if (header->sh_size > max)
		return UINT64_MAX;
	if (header->sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(section, &packed))
			return UINT64_MAX;
		size = packed.ch_size;
	} else {
		/* The old form of compression has no flag: its content begins with "ZLIB" and the
		 * size, big endian. */
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && data->d_size >= 12)
			memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
		size = be64toh(size);
	}
	return size > UINT64_MAX - header->sh_size ? UINT64_MAX : size + header->sh_size;
}

static uint64_t dwarf_info_section_bytes(const struct elf_file *f, Elf_Scn *section,
					 const GElf_Shdr *header, const char *name, uint64_t max)
{
	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (header->sh_flags & SHF_COMPRESSED || name[1] == 'z')
		return dwarf_info_packed_bytes(section, header, max);
	return f->mapped ? 0 : header->sh_size;
}

/* Returns the memory that libdw needs for F; UINT64_MAX if it is unknown, or exceeds MAX. */
static uint64_t dwarf_info_memory_needed(const struct elf_file *f, uint64_t max)
{
	uint64_t sum = 0;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names) != 0)
		return UINT64_MAX;
	for (Elf_Scn *section = elf_nextscn(f->elf, NULL); section;
	     section = elf_nextscn(f->elf, section)) {
		const char *name;
		GElf_Shdr header;
		uint64_t size;

		if (!gelf_getshdr(section, &header))
			return UINT64_MAX;
		name = elf_strptr(f->elf, names, header.sh_name);
		if (!name || !dwarf_info_is_debug_section(name))
			continue;
		size = dwarf_info_section_bytes(f, section, &header, name, max);
		if (size > max - sum)
			return UINT64_MAX;
		sum += size;
	}
	return sum;
}

bool dwarf_info_is_in(const struct elf_file *f)
{
	return elf_file_section(f, ".debug_info", NULL) != NULL ||
	       elf_file_section(f, ".zdebug_info", NULL) != NULL;
}

/* Adds the address ranges of DIE to LIST. */
static int dwarf_info_add_ranges(const struct dwarf_info *d, struct range_list *list,
				 Dwarf_Die *die, size_t value, unsigned int rank)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		int r;

		/*
		 * Ranges outside of executable segments belong to code that the linker has
		 * discarded: they are at address 0, or at the end of the address space.
		 */
		if (start >= end || !elf_segments_executable(d->segments, start))
			continue;
		if (list->n >= RANGES_MAX)
			break;
		r = range_list_add(list, start, end, (uint32_t)value, rank);
		if (r < 0)
			return r;
	}
	return 0;
}

static int dwarf_info_add_unit(struct dwarf_info *d, Dwarf_Die *die)
{
	if (GROW(d->units, d->room, d->n_units + 1) < 0)
		return -ENOMEM;
	d->units[d->n_units] = (struct unit){ .die = dwarf_dieoffset(die) };
	return dwarf_info_add_ranges(d, &d->ranges, die, d->n_units++, 0);
}

static int dwarf_info_list_units(struct dwarf_info *d, const char **reterr_what)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;
	int r;

	while ((r = dwarf_get_units(d->dwarf, unit, &unit, NULL, &type, &die, NULL)) == 0) {
		d->bytes += UNIT_COST;
		if (d->bytes > d->max)
			return unusable(reterr_what, too_large);
		/*
		 * A skeleton names a file (.dwo) with the rest of the unit. libdw would open this
		 * file, whatever it is, so skeletons are not used.
		 */
		d->is_split |= type == DW_UT_skeleton;
		if (type != DW_UT_compile)
			continue;
		r = dwarf_info_add_unit(d, &die);
		if (r < 0)
			return r;
	}
	d->bytes += d->room * sizeof(*d->units);
	/* The units before the damage are used. */
	if (r < 0 && d->n_units == 0)
		return unusable(reterr_what, "its debug information is damaged");
	r = range_list_sort(&d->ranges);
	d->bytes += range_list_bytes(&d->ranges);
	return r;
}

int dwarf_info_open(struct dwarf_info **ret, const struct elf_file *f,
		    const struct elf_file *alternate, const struct elf_segments *segments,
		    uint64_t max, const char **reterr_what)
{
	_cleanup_(dwarf_info_freep) struct dwarf_info *d = calloc(1, sizeof(*d));
	uint64_t start = dwarf_info_now_ns(), other;
	int r;

	if (!d)
		return -ENOMEM;
	d->file = f;
	d->segments = segments;
	d->max = max;
	d->bytes = dwarf_info_memory_needed(f, max);
	other = alternate ? dwarf_info_memory_needed(alternate, max) : 0;
	if (d->bytes > max || other > max - d->bytes)
		return unusable(reterr_what, too_large);
	d->bytes += other;
	d->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (d->dwarf && alternate)
		d->alternate = dwarf_begin_elf(alternate->elf, DWARF_C_READ, NULL);
	if (!d->dwarf || (alternate && !d->alternate))
		return unusable(reterr_what, "its debug information is damaged");
	if (d->alternate)
		dwarf_setalt(d->dwarf, d->alternate);
	r = dwarf_info_list_units(d, reterr_what);
	if (r < 0)
		return r;
	d->time_ns = dwarf_info_now_ns() - start;
	*ret = TAKE_PTR(d);
	return 0;
}

bool dwarf_info_is_split(const struct dwarf_info *d)
{
	return d->is_split;
}

struct Dwarf *dwarf_info_handle(struct dwarf_info *d)
{
	return d->dwarf;
}

struct dwarf_info *dwarf_info_free(struct dwarf_info *d)
{
	if (!d)
		return NULL;
	for (size_t i = 0; i < d->n_units; i++) {
		free(d->units[i].nodes);
		range_list_deinit(&d->units[i].ranges);
	}
	free(d->units);
	range_list_deinit(&d->ranges);
	dwarf_end(d->dwarf);
	dwarf_end(d->alternate);
	return free_ptr(d);
}

/* ---- reading a unit ---- */

struct walk {
	struct dwarf_info *d;
	struct unit *unit;
	uint64_t stop_ns;
	size_t n_dies;
	bool stopped;
};

static int dwarf_info_add_node(struct unit *unit, Dwarf_Die *die, uint32_t parent, uint32_t *ret)
{
	if (GROW(unit->nodes, unit->room, unit->n_nodes + 1) < 0)
		return -ENOMEM;
	unit->nodes[unit->n_nodes] = (struct node){
		.die = dwarf_dieoffset(die),
		.parent = parent,
	};
	*ret = (uint32_t)unit->n_nodes++;
	return 0;
}

/* Moves DIE to its sibling. False = there is none, or it is not later in the file: the loop must
 * end. */
static bool dwarf_info_next_sibling(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

static int dwarf_info_walk(struct walk *w, Dwarf_Die *parent, uint32_t parent_node,
			   unsigned int depth);

static int dwarf_info_walk_function(struct walk *w, Dwarf_Die *die, uint32_t parent,
				    unsigned int depth)
{
	size_t before = w->unit->ranges.n;
	uint32_t node;
	int r = dwarf_info_add_node(w->unit, die, parent, &node)
			?: dwarf_info_add_ranges(w->d, &w->unit->ranges, die, node,
						 DEPTH_MAX - depth);

	if (r < 0)
		return r;
	if (w->unit->ranges.n == before) {
		/* A function without ranges is a declaration, or the abstract instance of an
		 * inlined function. */
		w->unit->n_nodes--;
		return 0;
	}
	return dwarf_info_walk(w, die, node, depth + 1);
}

static int dwarf_info_walk_one(struct walk *w, Dwarf_Die *die, uint32_t parent_node,
			       unsigned int depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		return dwarf_info_walk_function(w, die, NO_PARENT, depth);
	case DW_TAG_inlined_subroutine:
		return dwarf_info_walk_function(w, die, parent_node, depth);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return dwarf_info_walk(w, die, parent_node, depth + 1);
	default:
		return 0;
	}
}

static int dwarf_info_walk(struct walk *w, Dwarf_Die *parent, uint32_t parent_node,
			   unsigned int depth)
{
	Dwarf_Die die;

	if (depth >= DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int r;

		r = dwarf_info_walk_one(w, &die, parent_node, depth);
		if (r < 0)
			return r;
		/*
		 * The limits are also checked on the way out, since advancing to a sibling can be
		 * expensive.
		 */
		w->stopped |= w->n_dies++ >= DIES_MAX || dwarf_info_now_ns() > w->stop_ns;
	} while (!w->stopped && dwarf_info_next_sibling(&die));
	return 0;
}

/*
 * Returns true if the line table at OFFSET is small enough for the memory limit. libdw reads a
 * table completely, with many bytes per row.
 */
static bool dwarf_info_lines_are_bearable(const struct dwarf_info *d, Dwarf_Word offset)
{
	int order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	const char *ident = elf_getident(d->file->elf, NULL);
	size_t n = 0;
	const char *table = elf_file_content(d->file, ".debug_line", SIZE_MAX, &n);
	uint32_t length;

	if (!table)
		table = elf_file_content(d->file, ".zdebug_line", SIZE_MAX, &n);
	if (!table || n < sizeof(length) || offset > n - sizeof(length))
		return false;
	memcpy(&length, table + offset, sizeof(length));
	if (ident && ident[EI_DATA] != order)
		length = bswap_32(length);
	/* (a 64-bit table has all bits set here, and is rejected; only huge programs have one) */
	return length < d->max / LINE_COST;
}

bool dwarf_info_lines(const struct dwarf_info *d, void *unit, void *ret, size_t *ret_n)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	return dwarf_attr(unit, DW_AT_stmt_list, &attribute) &&
	       dwarf_formudata(&attribute, &offset) == 0 &&
	       dwarf_info_lines_are_bearable(d, offset) && dwarf_getsrclines(unit, ret, ret_n) == 0;
}

static void dwarf_info_load_lines(struct dwarf_info *d, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Lines *lines;
	size_t n;

	unit->no_lines = !dwarf_info_lines(d, die, &lines, &n);
	if (!unit->no_lines)
		d->bytes += n * LINE_COST;
}

static int dwarf_info_load_unit(struct dwarf_info *d, struct unit *unit, Dwarf_Die *die)
{
	struct walk w = { .d = d, .unit = unit, .stop_ns = dwarf_info_now_ns() + UNIT_TIME_MAX_NS };
	Dwarf_Off start = dwarf_dieoffset(die) - dwarf_cuoffset(die), next;
	size_t header;
	int r = 0;

	unit->loaded = true;
	dwarf_info_load_lines(d, unit, die);
	if (dwarf_nextcu(d->dwarf, start, &next, &header, NULL, NULL, NULL) == 0 &&
	    next - start <= UNIT_SIZE_MAX)
		r = dwarf_info_walk(&w, die, NO_PARENT, 0);
	d->cut |= w.stopped;
	r = r ?: range_list_sort(&unit->ranges);
	d->bytes += unit->room * sizeof(*unit->nodes) + range_list_bytes(&unit->ranges);
	return r;
}

/* ---- look-up ---- */

static uint32_t dwarf_info_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static const char *dwarf_info_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static void dwarf_info_name_node(struct dwarf_info *d, struct node *node)
{
	Dwarf_Die die;

	if (node->named)
		return;
	node->named = true;
	if (!dwarf_offdie(d->dwarf, node->die, &die))
		return;
	node->name = dwarf_info_text(&die, DW_AT_linkage_name);
	if (!node->name)
		node->name = dwarf_info_text(&die, DW_AT_MIPS_linkage_name);
	if (!node->name)
		node->name = dwarf_info_text(&die, DW_AT_name);
	node->call_file = dwarf_info_number(&die, DW_AT_call_file);
	node->call_line = dwarf_info_number(&die, DW_AT_call_line);
}

static struct unit *dwarf_info_find_unit(struct dwarf_info *d, uint64_t vaddr, Dwarf_Die *ret_die)
{
	const struct range *range = range_list_find(&d->ranges, vaddr);
	struct unit *unit;
	uint64_t start;

	if (!range)
		return NULL;
	unit = &d->units[range->value];
	if (!dwarf_offdie(d->dwarf, unit->die, ret_die))
		return NULL;
	if (unit->loaded)
		return unit;
	start = dwarf_info_now_ns();
	/* Without memory, the unit is incomplete. */
	dwarf_info_load_unit(d, unit, ret_die);
	d->time_ns += dwarf_info_now_ns() - start;
	d->given_up = d->time_ns > FILE_TIME_MAX_NS;
	return unit;
}

static void dwarf_info_find_line(const struct unit *unit, Dwarf_Die *die, uint64_t vaddr,
				 struct dwarf_frame *frame)
{
	Dwarf_Line *line = unit->no_lines ? NULL : dwarf_getsrc_die(die, vaddr);
	int n;

	if (!line || dwarf_lineno(line, &n) != 0 || n <= 0)
		return;
	frame->source = dwarf_linesrc(line, NULL, NULL);
	frame->line = frame->source ? (uint32_t)n : 0;
}

static void dwarf_info_find_call(const struct unit *unit, Dwarf_Die *die, const struct node *node,
				 struct dwarf_frame *frame)
{
	Dwarf_Files *files;
	size_t n;

	if (unit->no_lines || node->call_line == 0 || dwarf_getsrcfiles(die, &files, &n) != 0 ||
	    node->call_file >= n)
		return;
	frame->source = dwarf_filesrc(files, node->call_file, NULL, NULL);
	frame->line = frame->source ? node->call_line : 0;
}

size_t dwarf_info_find(struct dwarf_info *d, uint64_t vaddr, struct dwarf_frame *frames, size_t n,
		       const char **reterr_what)
{
	const struct range *range;
	struct unit *unit;
	Dwarf_Die die;
	uint32_t i;
	size_t n_frames = 1;

	if (n == 0 || d->given_up)
		return 0;
	unit = dwarf_info_find_unit(d, vaddr, &die);
	if ((d->given_up || d->cut) && !d->reported) {
		*reterr_what =
			"its debug information takes too long to read: only some of it is used";
		d->reported = true;
	}
	if (!unit)
		return 0;
	frames[0] = (struct dwarf_frame){ 0 };
	dwarf_info_find_line(unit, &die, vaddr, &frames[0]);
	range = range_list_find(&unit->ranges, vaddr);
	if (!range)
		return frames[0].source ? 1 : 0;
	for (i = range->value;; i = unit->nodes[i].parent) {
		struct node *node = &unit->nodes[i];

		dwarf_info_name_node(d, node);
		frames[n_frames - 1].function = node->name;
		if (node->parent == NO_PARENT || n_frames == n)
			return n_frames;
		frames[n_frames] = (struct dwarf_frame){ 0 };
		dwarf_info_find_call(unit, &die, node, &frames[n_frames]);
		n_frames++;
	}
}

uint64_t dwarf_info_bytes(const struct dwarf_info *d)
{
	return d->bytes;
}
