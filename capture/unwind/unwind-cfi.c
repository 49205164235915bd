/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/unwind/byte-reader.h"

enum {
	FORM_MASK = 0x0f, /* mask for DW_EH_PE_* */
	BASE_MASK = 0x70,
	CFI_STACK_MAX = 32, /* maximum number of remembered states; compilers use one or two */
	POINTER_BYTES = 8,
};

/* ---- pointers ---- */

static uint64_t cfi_read_form(struct byte_reader *r, uint8_t encoding)
{
	switch (encoding & FORM_MASK) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return byte_reader_unsigned(r, POINTER_BYTES);
	case DW_EH_PE_uleb128:
		return byte_reader_uleb(r);
	case DW_EH_PE_sleb128:
		return (uint64_t)byte_reader_sleb(r);
	case DW_EH_PE_udata2:
		return byte_reader_unsigned(r, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)byte_reader_signed(r, 2);
	case DW_EH_PE_udata4:
		return byte_reader_unsigned(r, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)byte_reader_signed(r, 4);
	}
	byte_reader_fail(r);
	return 0;
}

static uint64_t cfi_read_pointer_(const struct cfi_section *section, uint8_t encoding,
				  struct byte_reader *r)
{
	uint64_t base = 0;

	switch (encoding & BASE_MASK) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = section->address + (uint64_t)(r->at - section->data);
		break;
	case DW_EH_PE_datarel:
		base = section->data_address;
		if (base == 0)
			byte_reader_fail(r);
		break;
	default:
		byte_reader_fail(r);
	}
	if (encoding & DW_EH_PE_indirect)
		byte_reader_fail(r);
	return base + cfi_read_form(r, encoding);
}

bool cfi_read_pointer(const struct cfi_section *section, uint8_t encoding, size_t *at,
		      uint64_t *ret)
{
	struct byte_reader r = { section->data + *at, section->data + section->n, false };

	if (*at > section->n || encoding == DW_EH_PE_omit)
		return false;
	*ret = cfi_read_pointer_(section, encoding, &r);
	*at = (size_t)(r.at - section->data);
	return !r.bad;
}

/* ---- instructions ---- */

struct cfi_run {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct byte_reader r;
	const struct cfi_state *initial; /* the state for "restore"; NULL while it is being made */
	uint64_t location, end;
	bool changed; /* the state has changed since the last reported row */
	cfi_row_fn fn;
	void *userdata;
	struct cfi_state state;
	size_t depth;
	struct cfi_state stack[CFI_STACK_MAX];
};

static int cfi_emit_row(struct cfi_run *run)
{
	if (!run->changed)
		return 0;
	run->changed = false;
	return run->fn(run->location, run->cie, &run->state, run->userdata);
}

/*
 * Makes the next instructions apply to addresses from LOCATION on. If LOCATION is after the end,
 * these instructions are skipped.
 */
static int cfi_move_to(struct cfi_run *run, uint64_t location)
{
	int r;

	if (!run->initial || location < run->location)
		return -EBADMSG;
	if (location == run->location)
		return 0;
	r = cfi_emit_row(run);
	if (location >= run->end)
		run->r.at = run->r.end;
	else
		run->location = location;
	return r;
}

static int cfi_advance(struct cfi_run *run, uint64_t n)
{
	uint64_t location;

	if (__builtin_mul_overflow(n, run->cie->code_factor, &location) ||
	    __builtin_add_overflow(location, run->location, &location))
		location = UINT64_MAX;
	return cfi_move_to(run, location);
}

static int64_t cfi_scale(struct cfi_run *run, int64_t n)
{
	int64_t offset = 0;

	if (__builtin_mul_overflow(n, run->cie->data_factor, &offset))
		byte_reader_fail(&run->r);
	return offset;
}

static int64_t cfi_read_offset(struct cfi_run *run)
{
	uint64_t n = byte_reader_uleb(&run->r);

	if (n > INT64_MAX) {
		byte_reader_fail(&run->r);
		return 0;
	}
	return (int64_t)n;
}

static int64_t cfi_read_scaled(struct cfi_run *run)
{
	return cfi_scale(run, cfi_read_offset(run));
}

static int64_t cfi_read_scaled_signed(struct cfi_run *run)
{
	return cfi_scale(run, byte_reader_sleb(&run->r));
}

static uint32_t cfi_read_register(struct cfi_run *run)
{
	uint64_t n = byte_reader_uleb(&run->r);

	if (n > UINT32_MAX)
		byte_reader_fail(&run->r);
	return (uint32_t)n;
}

static struct cfi_rule cfi_read_expression(struct cfi_run *run, enum cfi_rule_kind kind)
{
	uint64_t n = byte_reader_uleb(&run->r);
	const uint8_t *bytes = byte_reader_consume(&run->r, n);

	/* The number fits: a section is smaller than 4 GiB, so each part of it is, too. */
	return (struct cfi_rule){ .kind = kind, .n = bytes ? (uint32_t)n : 0, .expression = bytes };
}

static void cfi_set_rule(struct cfi_run *run, uint32_t number, struct cfi_rule rule)
{
	if (number >= CFI_REGISTERS)
		return;
	run->state.registers[number] = rule;
	run->changed = true;
}

static void cfi_set_saved(struct cfi_run *run, uint32_t number, enum cfi_rule_kind kind,
			  int64_t offset)
{
	cfi_set_rule(run, number, (struct cfi_rule){ .kind = kind, .offset = offset });
}

static void cfi_restore_rule(struct cfi_run *run, uint32_t number)
{
	if (number < CFI_REGISTERS)
		cfi_set_rule(run, number,
			     run->initial ? run->initial->registers[number]
					  : (struct cfi_rule){ 0 });
}

static void cfi_set_cfa(struct cfi_run *run, uint32_t number, int64_t offset)
{
	run->state.cfa = (struct cfi_rule){ .kind = CFI_REGISTER, .n = number, .offset = offset };
	run->changed = true;
}

/* Changes the register or the offset of a CFA that is a register plus an offset. */
static void cfi_change_cfa(struct cfi_run *run, const uint32_t *number, const int64_t *offset)
{
	const struct cfi_rule *cfa = &run->state.cfa;

	if (cfa->kind != CFI_REGISTER)
		byte_reader_fail(&run->r);
	else
		cfi_set_cfa(run, number ? *number : cfa->n, offset ? *offset : cfa->offset);
}

static int cfi_execute_location(struct cfi_run *run, uint8_t op)
{
	switch (op) {
	case DW_CFA_set_loc:
		return cfi_move_to(run, cfi_read_pointer_(run->section, run->cie->pointer_encoding,
							  &run->r));
	case DW_CFA_advance_loc1:
		return cfi_advance(run, byte_reader_unsigned(&run->r, 1));
	case DW_CFA_advance_loc2:
		return cfi_advance(run, byte_reader_unsigned(&run->r, 2));
	case DW_CFA_advance_loc4:
		return cfi_advance(run, byte_reader_unsigned(&run->r, 4));
	}
	return -EBADMSG;
}

static int cfi_execute_cfa(struct cfi_run *run, uint8_t op)
{
	uint32_t number;
	int64_t offset;

	switch (op) {
	case DW_CFA_def_cfa:
		number = cfi_read_register(run);
		cfi_set_cfa(run, number, cfi_read_offset(run));
		return 0;
	case DW_CFA_def_cfa_sf:
		number = cfi_read_register(run);
		cfi_set_cfa(run, number, cfi_read_scaled_signed(run));
		return 0;
	case DW_CFA_def_cfa_register:
		number = cfi_read_register(run);
		cfi_change_cfa(run, &number, NULL);
		return 0;
	case DW_CFA_def_cfa_offset:
		offset = cfi_read_offset(run);
		cfi_change_cfa(run, NULL, &offset);
		return 0;
	case DW_CFA_def_cfa_offset_sf:
		offset = cfi_read_scaled_signed(run);
		cfi_change_cfa(run, NULL, &offset);
		return 0;
	case DW_CFA_def_cfa_expression:
		run->state.cfa = cfi_read_expression(run, CFI_VAL_EXPRESSION);
		run->changed = true;
		return 0;
	}
	return cfi_execute_location(run, op);
}

static int cfi_execute_saved(struct cfi_run *run, uint8_t op)
{
	uint32_t number = cfi_read_register(run);

	switch (op) {
	case DW_CFA_offset_extended:
		cfi_set_saved(run, number, CFI_OFFSET, cfi_read_scaled(run));
		break;
	case DW_CFA_offset_extended_sf:
		cfi_set_saved(run, number, CFI_OFFSET, cfi_read_scaled_signed(run));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		cfi_set_saved(run, number, CFI_OFFSET, cfi_scale(run, -cfi_read_offset(run)));
		break;
	case DW_CFA_val_offset:
		cfi_set_saved(run, number, CFI_VAL_OFFSET, cfi_read_scaled(run));
		break;
	case DW_CFA_val_offset_sf:
		cfi_set_saved(run, number, CFI_VAL_OFFSET, cfi_read_scaled_signed(run));
		break;
	case DW_CFA_register:
		cfi_set_rule(run, number,
			     (struct cfi_rule){ .kind = CFI_REGISTER,
						.n = cfi_read_register(run) });
		break;
	case DW_CFA_expression:
		cfi_set_rule(run, number, cfi_read_expression(run, CFI_EXPRESSION));
		break;
	case DW_CFA_val_expression:
		cfi_set_rule(run, number, cfi_read_expression(run, CFI_VAL_EXPRESSION));
		break;
	case DW_CFA_restore_extended:
		cfi_restore_rule(run, number);
		break;
	case DW_CFA_undefined:
		cfi_set_rule(run, number, (struct cfi_rule){ .kind = CFI_UNDEFINED });
		break;
	case DW_CFA_same_value:
		cfi_set_rule(run, number, (struct cfi_rule){ .kind = CFI_SAME });
		break;
	}
	return 0;
}

static int cfi_remember(struct cfi_run *run)
{
	if (run->depth == CFI_STACK_MAX)
		return -EBADMSG;
	run->stack[run->depth++] = run->state;
	return 0;
}

static int cfi_restore_state(struct cfi_run *run)
{
	if (run->depth == 0)
		return -EBADMSG;
	run->state = run->stack[--run->depth];
	run->changed = true;
	return 0;
}

static int cfi_execute_one(struct cfi_run *run)
{
	uint8_t op = byte_reader_u8(&run->r), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return cfi_advance(run, low);
	case DW_CFA_offset:
		cfi_set_saved(run, low, CFI_OFFSET, cfi_read_scaled(run));
		return 0;
	case DW_CFA_restore:
		cfi_restore_rule(run, low);
		return 0;
	}
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_remember_state:
		return cfi_remember(run);
	case DW_CFA_restore_state:
		return cfi_restore_state(run);
	case DW_CFA_GNU_args_size:
		byte_reader_uleb(&run->r);
		return 0;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		return cfi_execute_saved(run, op);
	}
	return cfi_execute_cfa(run, op);
}

static int cfi_run(struct cfi_run *run)
{
	int r = 0;

	while (r == 0 && run->r.at < run->r.end)
		r = cfi_execute_one(run);
	if (r == 0 && run->r.bad)
		r = -EBADMSG;
	return r;
}

/* ---- entries ---- */

/* An entry. R contains the bytes after its length. */
struct cfi_entry {
	uint32_t offset;
	struct byte_reader r;
	bool is_cie, is_zero;
	uint64_t cie_offset; /* for an FDE: offset of its CIE */
};

/* Reads the field that marks a CIE, or refers from an FDE to its CIE. */
static void cfi_read_entry_kind(const struct cfi_section *section, bool is_64,
				struct cfi_entry *ret)
{
	bool wide = is_64 && section->is_debug_frame; /* (in .eh_frame, it always has 4 bytes) */
	uint64_t here = (uint64_t)(ret->r.at - section->data);
	uint64_t id = byte_reader_unsigned(&ret->r, wide ? 8 : 4);

	if (section->is_debug_frame) {
		ret->is_cie = id == (wide ? UINT64_MAX : UINT32_MAX);
		ret->cie_offset = id;
	} else {
		ret->is_cie = id == 0;
		ret->cie_offset = here - id; /* (an invalid offset is detected when the CIE is
					      * searched) */
	}
}

/*
 * Reads the entry at *AT, and moves *AT to the next one. Returns false at the end, or if the length
 * is invalid.
 */
static bool cfi_read_entry(const struct cfi_section *section, size_t *at, struct cfi_entry *ret)
{
	struct byte_reader r = { section->data + *at, section->data + section->n, false };
	uint64_t length = byte_reader_unsigned(&r, 4);
	bool is_64 = length == UINT32_MAX;
	const uint8_t *bytes;

	*ret = (struct cfi_entry){ .offset = (uint32_t)*at };
	if (is_64)
		length = byte_reader_unsigned(&r, 8);
	bytes = byte_reader_consume(&r, length);
	if (r.bad)
		return false;
	*at = (size_t)(r.at - section->data);
	ret->is_zero = length == 0;
	ret->r = (struct byte_reader){ bytes, bytes + length, false };
	if (!ret->is_zero)
		cfi_read_entry_kind(section, is_64, ret);
	return true;
}

/*
 * Reads the augmentation data that LETTERS, which follow "z", describe. Skips the rest of the data.
 */
static void cfi_read_augmentation(const char *letters, struct byte_reader *r, struct cfi_cie *cie)
{
	uint64_t n = byte_reader_uleb(r);
	const uint8_t *bytes = byte_reader_consume(r, n);
	struct byte_reader inner = { bytes, bytes ? bytes + n : NULL, !bytes };
	uint8_t encoding;

	cie->has_lengths = true;
	for (; *letters && !inner.bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = byte_reader_u8(&inner);
			break;
		case 'L':
			byte_reader_u8(&inner);
			break;
		case 'P':
			/* Only the size of this pointer matters. It may be indirect. */
			encoding = byte_reader_u8(&inner);
			if (encoding != DW_EH_PE_omit)
				cfi_read_form(&inner, encoding);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B':
			break;
		default:
			/* Unknown letter: the meaning of all following bytes is unknown, too. */
			byte_reader_fail(&inner);
		}
	}
	if (inner.bad)
		byte_reader_fail(r);
}

static const char *cfi_read_letters(struct byte_reader *r)
{
	const uint8_t *letters = r->at;
	const uint8_t *end = memchr(letters, '\0', byte_reader_left(r));

	if (!end) {
		byte_reader_fail(r);
		return "";
	}
	r->at = end + 1;
	return (const char *)letters;
}

static void cfi_read_cie_head(struct byte_reader *r, struct cfi_cie *cie)
{
	uint8_t version = byte_reader_u8(r);
	const char *letters = cfi_read_letters(r);

	if (version != 1 && version != 3 && version != 4)
		byte_reader_fail(r);
	if (version == 4 && (byte_reader_u8(r) != POINTER_BYTES || byte_reader_u8(r) != 0))
		byte_reader_fail(r);
	cie->code_factor = byte_reader_uleb(r);
	cie->data_factor = byte_reader_sleb(r);
	cie->return_register = version == 1 ? byte_reader_u8(r) : (uint32_t)byte_reader_uleb(r);
	if (*letters == 'z')
		cfi_read_augmentation(letters + 1, r, cie);
	else if (strcmp(letters, "S") == 0)
		cie->is_signal_frame = true;
	else if (*letters)
		byte_reader_fail(r);
}

/* Executes the instructions of the CIE itself. */
static void cfi_run_initial(const struct cfi_section *section, const struct byte_reader *r,
			    struct cfi_cie *cie)
{
	struct cfi_run run;

	run.section = section;
	run.cie = cie;
	run.r = *r;
	run.initial = NULL;
	run.location = run.end = 0;
	run.depth = 0;
	run.state = (struct cfi_state){ 0 };
	if (cfi_run(&run) < 0)
		cie->is_damaged = true;
	cie->initial = run.state;
}

static int cfi_add_cie(struct cfi *cfi, struct cfi_entry *entry)
{
	struct cfi_cie *cie;

	if (cfi->n_cies == CFI_CIES_MAX) {
		cfi->n_damaged++;
		return 0;
	}
	if (GROW(cfi->cies, cfi->room_cies, cfi->n_cies + 1) < 0)
		return -ENOMEM;
	cie = &cfi->cies[cfi->n_cies];
	*cie = (struct cfi_cie){ .offset = entry->offset };
	cfi_read_cie_head(&entry->r, cie);
	if (entry->r.bad) {
		cfi->n_damaged++;
		return 0;
	}
	cfi_run_initial(&cfi->section, &entry->r, cie);
	cfi->n_cies++;
	return 0;
}

static const struct cfi_cie *cfi_find_cie(const struct cfi *cfi, uint64_t offset)
{
	size_t low = 0, high = cfi->n_cies;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cfi->cies[middle].offset == offset)
			return &cfi->cies[middle];
		if (cfi->cies[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Reads the part of an FDE before its instructions, and returns its CIE. Returns NULL if the CIE is
 * missing or the FDE is truncated.
 */
static const struct cfi_cie *cfi_read_fde(const struct cfi *cfi, struct cfi_entry *entry,
					  uint64_t *ret_begin, uint64_t *ret_size)
{
	const struct cfi_cie *cie = cfi_find_cie(cfi, entry->cie_offset);

	if (!cie)
		return NULL;
	*ret_begin = cfi_read_pointer_(&cfi->section, cie->pointer_encoding, &entry->r);
	*ret_size = cfi_read_form(&entry->r, cie->pointer_encoding);
	if (cie->has_lengths)
		byte_reader_consume(&entry->r, byte_reader_uleb(&entry->r));
	return entry->r.bad ? NULL : cie;
}

static int cfi_emit_fde(struct cfi *cfi, struct cfi_entry *entry, cfi_fde_fn fn, void *userdata)
{
	uint64_t begin, size;

	if (cfi_read_fde(cfi, entry, &begin, &size))
		return fn(begin, size, entry->offset, userdata);
	cfi->n_damaged++;
	return 0;
}

int cfi_scan(struct cfi *cfi, const struct cfi_section *section, cfi_fde_fn fn, void *userdata)
{
	size_t at = 0;
	int r = 0;

	*cfi = (struct cfi){ .section = *section };
	if (section->n > UINT32_MAX)
		return -EFBIG;
	while (r == 0 && at < section->n) {
		struct cfi_entry entry;

		if (!cfi_read_entry(section, &at, &entry)) {
			cfi->n_damaged++;
			break;
		}
		if (entry.is_zero && section->ends_at_zero)
			break;
		if (entry.is_zero)
			continue;
		r = entry.is_cie ? cfi_add_cie(cfi, &entry)
				 : cfi_emit_fde(cfi, &entry, fn, userdata);
	}
	return r;
}

int cfi_execute(const struct cfi *cfi, uint32_t offset, cfi_row_fn fn, void *userdata)
{
	struct cfi_entry entry;
	struct cfi_run run;
	uint64_t size;
	size_t at = offset;
	int r;

	if (offset > cfi->section.n || !cfi_read_entry(&cfi->section, &at, &entry))
		return -EBADMSG;
	run.cie = cfi_read_fde(cfi, &entry, &run.location, &size);
	if (!run.cie || run.cie->is_damaged)
		return -EBADMSG;
	run.section = &cfi->section;
	run.r = entry.r;
	run.initial = &run.cie->initial;
	run.end = size > UINT64_MAX - run.location ? UINT64_MAX : run.location + size;
	run.changed = true;
	run.fn = fn;
	run.userdata = userdata;
	run.state = run.cie->initial;
	run.depth = 0;
	r = cfi_run(&run);
	return r == 0 ? cfi_emit_row(&run) : r;
}

void cfi_deinit(struct cfi *cfi)
{
	free(cfi->cies);
	*cfi = (struct cfi){ 0 };
}
