/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of call frame information that is written by hand: each kind of rule, each form of
 * pointers, and damage. test-unwind-files.c tests real files.
 */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-cfi.h"
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-rows-x86.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/cfi-entries.h"
#include "tests/support/cfi-file.h"
#include "tests/support/find-rule.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

enum { ADDRESS = 0x1000, CODE = 0x4000, CODE_BYTES = 0x100, ROWS_MAX = 64 };

/* ---- results ---- */

struct result {
	uint64_t begin, size;
	unsigned n_fdes, n_rows;
	uint32_t n_damaged;
	uint32_t offset;
	struct {
		uint64_t address;
		uint32_t rule;
	} rows[ROWS_MAX];
};

static int see_fde(uint64_t begin, uint64_t size, uint32_t offset, void *userdata)
{
	struct result *result = userdata;

	result->n_fdes++;
	result->begin = begin;
	result->size = size;
	result->offset = offset;
	return 0;
}

static int see_row(uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state,
		   void *userdata)
{
	struct result *result = userdata;

	if (result->n_rows < ROWS_MAX) {
		result->rows[result->n_rows].address = address;
		result->rows[result->n_rows].rule = unwind_rule_x86(cie, state);
	}
	result->n_rows++;
	return 0;
}

/* Executes the last FDE of a section, and frees its bytes. */
static int execute(struct outbuf *bytes, bool is_debug_frame, struct result *ret)
{
	struct cfi_section section = {
		.data = bytes->data,
		.n = bytes->size,
		.address = ADDRESS,
		.data_address = 0x2000,
		.is_debug_frame = is_debug_frame,
	};
	struct cfi cfi;
	int r;

	*ret = (struct result){ 0 };
	assert_int_equal(cfi_scan(&cfi, &section, see_fde, ret), 0);
	ret->n_damaged = cfi.n_damaged;
	r = ret->n_fdes > 0 ? cfi_execute(&cfi, ret->offset, see_row, ret) : -ENOENT;
	cfi_deinit(&cfi);
	outbuf_deinit(bytes);
	return r;
}

static int execute_code(const char *letters, struct bytes code, struct result *ret)
{
	struct outbuf bytes = { 0 };

	put_cie(&bytes, DW_EH_PE_absptr, letters, USUAL);
	put_fde_at(&bytes, CODE, CODE_BYTES, code);
	return execute(&bytes, false, ret);
}

/* ---- rules ---- */

/* CODE at the end of an FDE results in RULE. */
static void assert_rule(const char *letters, struct bytes code, uint32_t rule)
{
	struct result result;

	assert_int_equal(execute_code(letters, code, &result), 0);
	assert_int_equal(result.n_rows, 1);
	assert_int_equal(result.rows[0].rule, rule);
}

#define RULE(kind, bp, offset) UNWIND_RULE(UNWIND_##kind, bp, offset)
#define UNPROVEN               RULE(UNPROVEN, 0, 0)
#define UNSUPPORTED(why)       UNWIND_RULE(UNWIND_UNSUPPORTED, 0, UNWIND_WHY_##why)

TEST(test_cfa)
{
	assert_rule("zR", NO_BYTES, RULE(SP, 0, 1));
	assert_rule("zR", BYTES("\x0e\x80\x01"), RULE(SP, 0, 16));
	assert_rule("zR", BYTES("\x0c\x06\x10"), RULE(BP, 0, 2));
	assert_rule("zR", BYTES("\x13\x7e"), RULE(SP, 0, 2));     /* def_cfa_offset_sf */
	assert_rule("zR", BYTES("\x12\x06\x7d"), RULE(BP, 0, 3)); /* def_cfa_sf */
	assert_rule("zR", BYTES("\x0d\x06"), RULE(BP, 0, 1));     /* def_cfa_register */
	assert_rule("zR", BYTES("\x0c\x0a\x00"), RULE(REGISTER(10), 0, 0));
	assert_rule("zR", BYTES("\x0c\x11\x00"), UNSUPPORTED(REGISTER));
	assert_rule("zR", BYTES("\x0e\x0c"), UNSUPPORTED(OFFSET));
	assert_rule("zR", BYTES("\x0e\xf8\xff\x0f"), RULE(SP, 0, 32767));
	assert_rule("zR", BYTES("\x0e\x80\x80\x10"), RULE(SP_FAR(0), 0, 2048));
	assert_rule("zR", BYTES("\x0e\xf8\xff\xff\x03\x86\x02"), RULE(SP_FAR(15), 2, 65535));
	assert_rule("zR", BYTES("\x0e\x80\x80\x80\x04"), UNSUPPORTED(OFFSET));
	assert_rule("zR", BYTES("\x0c\x06\x80\x80\x10"), UNSUPPORTED(OFFSET));
	assert_rule("zR", BYTES("\x2e\x20"), RULE(SP, 0, 1)); /* GNU_args_size */
}

TEST(test_expressions)
{
	assert_rule("zR", BYTES("\x0f\x02\x77\x10"), RULE(SP, 0, 2));
	assert_rule("zR", BYTES("\x0f\x02\x76\x70"), RULE(BP, 0, -2));
	assert_rule("zR", BYTES("\x0f\x03\x77\x08\x06"), RULE(SP_DEREF, 0, 1));
	assert_rule("zR", BYTES("\x0f\x03\x76\x78\x06"), RULE(BP_DEREF, 0, -1));
	assert_rule("zR", BYTES("\x0f\x05\x77\x08\x06\x23\x08"), RULE(SP_DEREF_8, 0, 1));
	assert_rule("zR", BYTES("\x0f\x05\x76\x78\x06\x38\x22"), RULE(BP_DEREF_8, 0, -1));
	assert_rule("zR", BYTES("\x0f\x05\x77\x08\x06\x23\x10"), UNSUPPORTED(EXPRESSION));
	assert_rule("zR", BYTES("\x0f\x04\x77\x08\x06\x06"), UNSUPPORTED(EXPRESSION));
	assert_rule("zR", BYTES("\x0f\x03\x73\x08\x06"), UNSUPPORTED(EXPRESSION));
	assert_rule("zR", BYTES("\x0f\x03\x77\x0c\x06"), UNSUPPORTED(OFFSET));
	assert_rule("zR", BYTES("\x0f\x02\x77\x80"), UNSUPPORTED(EXPRESSION)); /* cut off */
	assert_rule("zR", BYTES("\x0f\x00"), UNSUPPORTED(EXPRESSION));
}

TEST(test_plt)
{
	struct result r;

	assert_rule("zR", BYTES("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
		    RULE(PLT, 0, 11));
	assert_rule("zR", BYTES("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x35\x2a\x33\x24\x22"),
		    RULE(PLT, 0, 5));
	assert_rule("zR", BYTES("\x0f\x0b\x77\x10\x80\x00\x3f\x1a\x35\x2a\x33\x24\x22"),
		    UNSUPPORTED(EXPRESSION));
	assert_rule("zR", BYTES("\x0f\x0a\x77\x08\x80\x00\x3f\x1a\x35\x2a\x33\x24"),
		    UNSUPPORTED(EXPRESSION));
	/* advances and back again */
	assert_int_equal(
		execute_code("zR", BYTES("\x41\x0e\x10\x0a\x41\x0e\x18\x42\x0b\x46\x0e\x08"), &r),
		0);
	assert_int_equal(r.n_rows, 5);
	assert_int_equal(r.rows[2].address, CODE + 2);
	assert_int_equal(r.rows[2].rule, RULE(SP, 0, 3));
	assert_int_equal(r.rows[3].address, CODE + 4);
	assert_int_equal(r.rows[3].rule, RULE(SP, 0, 2));
	assert_int_equal(r.rows[4].address, CODE + 10);
}

/* The CFA of glibc's __restore_rt(). */
#define SIGNAL_CFA "\x0f\x04\x77\xa0\x01\x06"
#define SIGNAL_BP  "\x10\x06\x03\x77\xf8\x00"
#define SIGNAL_IP  "\x10\x10\x03\x77\xa8\x01"

TEST(test_registers)
{
	assert_rule("zR", BYTES("\x86\x02"), RULE(SP, 2, 1));
	assert_rule("zR", BYTES("\x86\xfe\x01"), RULE(SP, 254, 1));
	assert_rule("zR", BYTES("\x86\xff\x01"), UNSUPPORTED(BP));
	assert_rule("zR", BYTES("\x05\x06\x03"), RULE(SP, 3, 1));     /* offset_extended */
	assert_rule("zR", BYTES("\x11\x06\x04"), RULE(SP, 4, 1));     /* offset_extended_sf */
	assert_rule("zR", BYTES("\x2f\x06\x02"), UNSUPPORTED(BP));    /* above the CFA */
	assert_rule("zR", BYTES("\x86\x02\xc6"), RULE(SP, 0, 1));     /* restore */
	assert_rule("zR", BYTES("\x86\x02\x06\x06"), RULE(SP, 0, 1)); /* restore_extended */
	assert_rule("zR", BYTES("\x86\x02\x08\x06"), RULE(SP, 0, 1)); /* same_value */
	assert_rule("zR", BYTES("\x86\x02\x07\x06"), RULE(SP, 0, 1)); /* undefined */
	assert_rule("zR", BYTES("\x10\x06\x02\x76\x00"), RULE(SP, UNWIND_BP_AT_BP, 1));
	assert_rule("zR", BYTES("\x0e\x20\x10\x06\x02\x77\x08"), RULE(SP, 3, 4));
	assert_rule("zR", BYTES("\x10\x06\x02\x73\x00"), UNSUPPORTED(BP));
	assert_rule("zR", BYTES("\x14\x06\x02"), UNSUPPORTED(BP));
	assert_rule("zR", BYTES("\x09\x06\x03"), UNSUPPORTED(BP));
	assert_rule("zR", BYTES("\x16\x06\x02\x76\x00"), UNSUPPORTED(BP));
	assert_rule("zR", BYTES("\x83\x02\x9f\x02\x05\xc0\x01\x02"), RULE(SP, 0, 1)); /* others */
	assert_rule("zR", BYTES("\x07\x10"), RULE(END, 0, 0));
	assert_rule("zR", BYTES("\x09\x10\x05"), RULE(RETURN_IN(5), 0, 1)); /* vfork() */
	assert_rule("zR", BYTES("\x0e\x00\x09\x10\x05\x86\x02"), RULE(RETURN_IN(5), 2, 0));
	assert_rule("zR", BYTES("\x0e\x0c\x09\x10\x05"), UNSUPPORTED(OFFSET));
	assert_rule("zR", BYTES("\x0c\x06\x10\x09\x10\x05"), UNSUPPORTED(RETURN));
	assert_rule("zR", BYTES("\x09\x10\x06"), UNSUPPORTED(RETURN));
	assert_rule("zR", BYTES("\x09\x10\x10"), UNSUPPORTED(RETURN));
	assert_rule("zR", BYTES("\x90\x02"), UNSUPPORTED(RETURN));
	assert_rule("zR", BYTES("\x14\x10\x01"), UNSUPPORTED(RETURN));
	assert_rule("zR", BYTES("\x08\x07"), UNSUPPORTED(RETURN)); /* its own stack pointer */
	assert_rule("zR", BYTES("\x14\x07\x00"), RULE(SP, 0, 1));
	assert_rule("zRS", BYTES(SIGNAL_CFA SIGNAL_BP SIGNAL_IP), RULE(SIGNAL, 0, 0));
	assert_rule("zR", BYTES(SIGNAL_CFA SIGNAL_BP SIGNAL_IP), UNSUPPORTED(RETURN));
	assert_rule("zRS", BYTES(SIGNAL_CFA SIGNAL_BP), UNSUPPORTED(BP));
	assert_rule("zRS", BYTES("\x0e\x10"), RULE(SP, 0, 2));
}

/* ---- forms ---- */

static void assert_place(uint8_t encoding, struct bytes begin, struct bytes size, uint64_t expected)
{
	struct outbuf bytes = { 0 };
	struct result result;

	put_cie(&bytes, encoding, "zR", USUAL);
	put_fde(&bytes, begin, size, NO_BYTES);
	assert_int_equal(execute(&bytes, false, &result), 0);
	assert_int_equal(result.begin, expected);
	assert_int_equal(result.size, 0x20);
	assert_int_equal(result.rows[0].address, expected);
}

static void assert_no_place(uint8_t encoding)
{
	struct outbuf bytes = { 0 };
	struct result result;

	put_cie(&bytes, encoding, "zR", USUAL);
	put_fde(&bytes, BYTES("\0\0\0\0\0\0\0\1"), BYTES("\0\0\0\0\0\0\0\1"), NO_BYTES);
	assert_int_equal(execute(&bytes, false, &result), -ENOENT);
	assert_int_equal(result.n_damaged, 1);
}

TEST(test_encodings)
{
	/* (the CIE has 22 bytes, so relative pointers count from 30) */
	const uint64_t here = ADDRESS + 30;
	const struct bytes two = BYTES("\x20\0"), four = BYTES("\x20\0\0\0"),
			   eight = BYTES("\x20\0\0\0\0\0\0\0");

	assert_place(DW_EH_PE_absptr, BYTES("\1\2\3\0\0\0\0\0"), eight, 0x30201);
	assert_place(DW_EH_PE_udata8, BYTES("\1\2\3\0\0\0\0\0"), eight, 0x30201);
	assert_place(DW_EH_PE_sdata8 | DW_EH_PE_pcrel, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
		     eight, here - 1);
	assert_place(DW_EH_PE_udata2, BYTES("\xff\xff"), two, 0xffff);
	assert_place(DW_EH_PE_sdata2 | DW_EH_PE_pcrel, BYTES("\xfe\xff"), two, here - 2);
	assert_place(DW_EH_PE_udata4, BYTES("\xff\xff\xff\xff"), four, 0xffffffff);
	assert_place(DW_EH_PE_sdata4 | DW_EH_PE_pcrel, BYTES("\xfe\xff\xff\xff"), four, here - 2);
	assert_place(DW_EH_PE_sdata4 | DW_EH_PE_datarel, BYTES("\x10\0\0\0"), four, 0x2010);
	assert_place(DW_EH_PE_uleb128, BYTES("\x80\x81\0"), BYTES("\x20"), 0x80);
	assert_place(DW_EH_PE_sleb128 | DW_EH_PE_pcrel, BYTES("\x7f"), BYTES("\x20"), here - 1);
	assert_no_place(DW_EH_PE_sdata4 | DW_EH_PE_pcrel | DW_EH_PE_indirect);
	assert_no_place(DW_EH_PE_textrel | DW_EH_PE_udata4);
	assert_no_place(DW_EH_PE_aligned);
	assert_no_place(0x05);
}

/* An FDE of .debug_frame, behind a CIE of each version; with lengths of 32 or 64 bits. */
static void assert_version(uint8_t version, bool is_64)
{
	struct outbuf bytes = { 0 };
	struct result result;
	size_t cie;

	for (unsigned i = 0; i < 2; i++) {
		size_t length;

		if (is_64)
			put_number(&bytes, UINT32_MAX, 4);
		length = bytes.size;
		put_number(&bytes, 0, is_64 ? 8 : 4);
		cie = bytes.size;
		put_number(&bytes, i == 0 ? UINT64_MAX : 0, is_64 ? 8 : 4);
		if (i == 0) {
			put_number(&bytes, version, 1);
			put(&bytes, version == 4 ? BYTES("\0\x08\0") : BYTES("\0"));
			put(&bytes, BYTES("\x04\x78"));
			put(&bytes, version == 1 ? BYTES("\x10") : BYTES("\x90\0"));
			put(&bytes, USUAL);
		} else {
			put_number(&bytes, CODE, 8);
			put_number(&bytes, CODE_BYTES, 8);
			put(&bytes, BYTES("\x42\x0e\x10"));
		}
		bytes.data[length] = (uint8_t)(bytes.size - cie);
	}
	assert_int_equal(execute(&bytes, true, &result), 0);
	assert_int_equal(result.begin, CODE);
	assert_int_equal(result.n_rows, 2);
	assert_int_equal(result.rows[1].address, CODE + 8); /* the factor is 4 */
	assert_int_equal(result.rows[1].rule, RULE(SP, 0, 2));
}

TEST(test_versions)
{
	assert_version(1, false);
	assert_version(3, false);
	assert_version(4, false);
	assert_version(3, true);
	assert_version(4, true);
}

/* ---- damage ---- */

static void assert_damaged(struct bytes code)
{
	struct result result;

	assert_int_equal(execute_code("zR", code, &result), -EBADMSG);
}

TEST(test_damaged_instructions)
{
	static char deep[100], flood[200000];
	struct result result;

	assert_damaged(BYTES("\x0e"));             /* cut off */
	assert_damaged(BYTES("\x0e\x80\x80"));     /* likewise */
	assert_damaged(BYTES("\x0f\x7f\x77\x08")); /* likewise */
	assert_damaged(BYTES("\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x77"));
	assert_damaged(BYTES("\x3f"));                     /* an unknown operation */
	assert_damaged(BYTES("\x0b"));                     /* nothing was remembered */
	assert_damaged(BYTES("\x01\0\0\0\0\0\0\0\0"));     /* backward */
	assert_damaged(BYTES("\x0f\x02\x77\x08\x0e\x10")); /* the offset of an expression */
	assert_damaged(BYTES("\x05\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	assert_damaged(BYTES("\x05\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f")); /* times -8 */
	memset(deep, DW_CFA_remember_state, sizeof(deep));
	assert_damaged((struct bytes){ deep, sizeof(deep) });
	assert_int_equal(execute_code("zR", (struct bytes){ deep, 32 }, &result), 0);
	/* code after the end of the FDE is ignored */
	assert_int_equal(execute_code("zR", BYTES("\x04\0\0\0\x7f\x3f"), &result), 0);
	assert_int_equal(result.n_rows, 1);
	assert_int_equal(execute_code("zR", BYTES("\x01\xff\xff\xff\xff\xff\xff\xff\xff"), &result),
			 0);
	memset(flood, DW_CFA_advance_loc, sizeof(flood));
	assert_int_equal(execute_code("zR", (struct bytes){ flood, sizeof(flood) }, &result), 0);
	assert_int_equal(result.n_rows, 1);
}

TEST(test_damaged_entries)
{
	static const char *const letters[] = { "zX", "eh", "R", "zRX" };
	struct outbuf bytes = { 0 };
	struct result result;

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		assert_int_equal(execute_code(letters[i], NO_BYTES, &result), -ENOENT);
	/* to no CIE, to itself, far away; and a valid one after them */
	put_cie(&bytes, DW_EH_PE_absptr, "zR", USUAL);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t to[] = { 8, 0xffffffff, 0x80000000 };
		size_t at = put_fde_at(&bytes, CODE, CODE_BYTES, NO_BYTES);

		memcpy(bytes.data + at + 4, &to[i], 4);
	}
	put_fde_at(&bytes, CODE, CODE_BYTES, NO_BYTES);
	assert_int_equal(execute(&bytes, false, &result), 0);
	assert_int_equal(result.n_fdes, 1);
	assert_int_equal(result.n_damaged, 3);
	/* an invalid CIE: its FDEs are known, but damaged */
	put_cie(&bytes, DW_EH_PE_absptr, "zR", BYTES("\x3f"));
	put_fde_at(&bytes, CODE, CODE_BYTES, NO_BYTES);
	assert_int_equal(execute(&bytes, false, &result), -EBADMSG);
	/* a length beyond the end */
	put_cie(&bytes, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&bytes, CODE, CODE_BYTES, NO_BYTES);
	put(&bytes, BYTES("\xf0\xff\xff\xff\0\0\0\0"));
	assert_int_equal(execute(&bytes, false, &result), 0);
	assert_int_equal(result.n_damaged, 1);
	put_cie(&bytes, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&bytes, CODE, CODE_BYTES, NO_BYTES);
	put(&bytes, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
	assert_int_equal(execute(&bytes, false, &result), 0);
	assert_int_equal(result.n_damaged, 1);
}

/* ---- tables ---- */

enum { FILE_BYTES = 0x4000 };

struct expected_row {
	uint32_t address, rule;
};

static void assert_file_rows(const uint8_t *file, const struct expected_row *rows, uint32_t n,
			     uint32_t damaged)
{
	struct unwind_table table;

	assert_int_equal(unwind_table_read(file, FILE_BYTES, &table), 0);
	assert_true(unwind_table_is_valid(&table, FILE_BYTES));
	for (uint32_t i = 0; i < n && i < table.n_rows; i++) {
		assert_int_equal(table.first_address + table.rows[i].address, rows[i].address);
		assert_int_equal(table.rows[i].rule, rows[i].rule);
		assert_int_equal(find_rule(&table, rows[i].address), rows[i].rule);
		if (i > 0)
			assert_int_equal(find_rule(&table, rows[i].address - 1), rows[i - 1].rule);
	}
	assert_int_equal(table.n_rows, n);
	assert_int_equal(table.n_unsupported[UNWIND_WHY_DAMAGED], damaged);
	assert_int_equal(find_rule(&table, LOADED_AT - 1), UNWIND_NONE);
	assert_int_equal(find_rule(&table, UINT64_MAX), UNWIND_NONE);
	unwind_table_deinit(&table);
}

static void assert_rows(struct outbuf *frames, const struct expected_row *rows, uint32_t n,
			uint32_t damaged)
{
	_cleanup_free_ uint8_t *file = make_cfi_file(frames, FILE_BYTES);

	assert_file_rows(file, rows, n, damaged);
}

#define SP_16 BYTES("\x0e\x10")
#define SP_24 BYTES("\x0e\x18")

/* Adjacent entries, gaps, and unsorted ones. */
TEST(test_neighbours)
{
	static const struct expected_row rows[] = {
		{ 0x10000, UNPROVEN }, { 0x11000, RULE(SP, 0, 1) }, { 0x11030, RULE(SP, 0, 2) },
		{ 0x11040, UNPROVEN }, { 0x11041, RULE(SP, 0, 2) }, { 0x11048, RULE(SP, 0, 3) },
		{ 0x11080, UNPROVEN }, { 0x14000, UNWIND_NONE },
	};
	struct outbuf frames = { 0 };

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&frames, 0x11041, 0x3f, BYTES("\x0e\x10\x47\x0e\x18"));
	put_fde_at(&frames, 0x11000, 0x20, NO_BYTES);
	put_fde_at(&frames, 0x11020, 0x20, BYTES("\x50\x0e\x10"));
	put_fde_at(&frames, 0, 0x20, SP_24);       /* left out by the linker */
	put_fde_at(&frames, 0x90000, 0x20, SP_24); /* no code */
	put_fde_at(&frames, 0x11060, 0, SP_16);    /* empty */
	assert_rows(&frames, rows, ARRAY_SIZE(rows), 0);
}

TEST(test_overlaps)
{
	static const struct expected_row rows[] = {
		{ 0x10000, UNPROVEN }, { 0x11000, RULE(SP, 0, 1) }, { 0x11040, RULE(SP, 0, 2) },
		{ 0x11060, UNPROVEN }, { 0x14000, UNWIND_NONE },
	};
	struct outbuf frames = { 0 };

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&frames, 0x11000, 0x40, NO_BYTES);
	put_fde_at(&frames, 0x11000, 0x40, SP_24);                 /* the same */
	put_fde_at(&frames, 0x11010, 0x10, SP_24);                 /* inside */
	put_fde_at(&frames, 0x11020, 0x40, BYTES("\x48\x0e\x10")); /* half of it */
	assert_rows(&frames, rows, ARRAY_SIZE(rows), 3);
}

/* Damaged FDEs do not affect others. */
TEST(test_damaged_fdes)
{
	static const struct expected_row rows[] = {
		{ 0x10000, UNPROVEN },
		{ 0x11000, RULE(SP, 0, 1) },
		{ 0x11020, UNSUPPORTED(DAMAGED) },
		{ 0x11040, RULE(SP, 0, 2) },
		{ 0x11060, UNPROVEN },
		{ 0x11100, UNSUPPORTED(DAMAGED) },
		{ 0x11200, RULE(SP, 0, 3) },
		{ 0x11220, UNPROVEN },
		{ 0x11300, UNSUPPORTED(DAMAGED) },
		{ 0x14000, UNWIND_NONE },
	};
	struct outbuf frames = { 0 };

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&frames, 0x11000, 0x20, NO_BYTES);
	put_fde_at(&frames, 0x11020, 0x20, BYTES("\x0e\x10\x41\x0e\x18\x41\x3f"));
	put_fde_at(&frames, 0x11040, 0x20, SP_16);
	put_fde_at(&frames, 0x11100, UINT64_C(1) << 63, SP_16);
	put_fde_at(&frames, 0x11200, 0x20, SP_24);
	put_fde_at(&frames, 0x11300, UINT64_MAX, SP_24);
	assert_rows(&frames, rows, ARRAY_SIZE(rows), 3);
}

struct function {
	uint64_t address, size;
	struct bytes code;
};

/* The rows of a file with the N FUNCTIONS, and with FDEs at 0x11000 and 0x11100. */
static void assert_function_rows(const struct function *functions, size_t n,
				 const struct expected_row *rows, uint32_t n_rows)
{
	enum { SYMBOLS_AT = 0x3000, SECTIONS_AT = 0x3800 };
	Elf64_Shdr section = { .sh_type = SHT_SYMTAB,
			       .sh_offset = SYMBOLS_AT,
			       .sh_size = n * sizeof(Elf64_Sym),
			       .sh_entsize = sizeof(Elf64_Sym) };
	_cleanup_free_ uint8_t *file = NULL;
	struct outbuf frames = { 0 };

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	for (uint64_t at = 0x11000; at <= 0x11100; at += 0x100)
		put_fde_at(&frames, at, 0x20, NO_BYTES);
	file = make_cfi_file(&frames, FILE_BYTES);
	for (size_t i = 0; i < n; i++) {
		const Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					   .st_shndx = 1,
					   .st_value = functions[i].address,
					   .st_size = functions[i].size };

		memcpy(file + SYMBOLS_AT + i * sizeof(symbol), &symbol, sizeof(symbol));
		for (size_t k = 0; k < functions[i].code.n; k++)
			file[functions[i].address - LOADED_AT + k] = functions[i].code.data[k];
	}
	memcpy(file + SECTIONS_AT + sizeof(section), &section, sizeof(section));
	((Elf64_Ehdr *)file)->e_shoff = SECTIONS_AT;
	((Elf64_Ehdr *)file)->e_shentsize = sizeof(section);
	((Elf64_Ehdr *)file)->e_shnum = 2;
	assert_file_rows(file, rows, n_rows, 0);
}

/* Code that no FDE describes: a function is known by its symbol, or by what it does. */
TEST(test_code)
{
	static const struct expected_row rows[] = {
		{ 0x10000, UNPROVEN },
		{ 0x11000, RULE(SP, 0, 1) },
		{ 0x11020, UNPROVEN },
		{ 0x11040, RULE(CODE_SP, 0, 1) },
		{ 0x11041, RULE(CODE_SP, 0, 2) },
		{ 0x11043, RULE(CODE_SP, 0, 1) },
		{ 0x11044, UNPROVEN },
		{ 0x11048, RULE(CODE_SP, 0, 1) },
		{ 0x11049, RULE(CODE_SP, 2, 2) },
		{ 0x1104c, RULE(CODE_BP, 2, 2) },
		{ 0x11052, RULE(CODE_SP, 0, 1) },
		{ 0x11053, UNPROVEN },
		{ 0x11060, RULE(CODE_SP, 0, 1) }, /* its symbol is enough */
		{ 0x11062, UNPROVEN },
		{ 0x11100, RULE(SP, 0, 1) },
		{ 0x11120, UNPROVEN },
		{ 0x14000, UNWIND_NONE },
	};
	static const struct function functions[] = {
		{ 0x11000, 0x20, BYTES("\x5b\xc3") },          /* it has an FDE */
		{ 0x11040, 4, BYTES("\x53\x90\x5b\xc3\xcc") }, /* push, nop, pop, ret */
		/* push %rbp; mov %rsp,%rbp; push %rbx; mov %rax,(%rsp); leave; ret */
		{ 0x11048, 9, BYTES("\x55\x48\x89\xe5\x53\x48\x89\x04\x24\xc9\xc3\xcc") },
		{ 0x11060, 2, BYTES("\xeb\xfe") }, /* it never returns */
		{ 0, 0, NO_BYTES },
		{ UINT64_MAX, 8, NO_BYTES },
	};

	assert_function_rows(functions, ARRAY_SIZE(functions), rows, ARRAY_SIZE(rows));
}

/* Less than 16 bytes before an aligned function are taken for padding. */
TEST(test_gaps)
{
	static const uint8_t code[] = { 0x53, 0x5b, 0xc3 }; /* push %rbx; pop %rbx; ret */
	struct outbuf frames = { 0 };
	_cleanup_free_ uint8_t *file = NULL;
	struct unwind_table table;

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	put_fde_at(&frames, 0x11000, 0x11, NO_BYTES);
	put_fde_at(&frames, 0x11020, 0x10, NO_BYTES);
	put_fde_at(&frames, 0x11034, 0x10, NO_BYTES);
	file = make_cfi_file(&frames, FILE_BYTES);
	memcpy(file + 0x11011 - LOADED_AT, code, sizeof(code));
	memcpy(file + 0x11030 - LOADED_AT, code, sizeof(code));
	assert_int_equal(unwind_table_read(file, FILE_BYTES, &table), 0);
	assert_int_equal(find_rule(&table, 0x11012), UNPROVEN);
	assert_int_equal(find_rule(&table, 0x11031), RULE(CODE_SP, 0, 2));
	unwind_table_deinit(&table);
}

/* The distance in a rule for a large frame is in its kind, too. Kinds of other rules follow. */
TEST(test_far_frames)
{
	static const uint32_t distances[] = { 0, 15, 16, 32768, UNWIND_SP_FAR_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		uint32_t rule = UNWIND_SP_FAR_RULE(2, distances[i]);

		assert_true(UNWIND_IS_SP_FAR(rule));
		assert_int_equal(UNWIND_SP_FAR_WORDS(rule), distances[i]);
		assert_int_equal(UNWIND_RULE_BP(rule), 2);
	}
	for (uint32_t kind = 0; kind <= _UNWIND_KINDS; kind++)
		assert_int_equal(UNWIND_IS_SP_FAR(UNWIND_RULE(kind, 0, 1)),
				 kind > UNWIND_UNPROVEN && kind < UNWIND_REGISTER(0));
}

TEST(test_no_table)
{
	struct outbuf frames = { 0 };
	_cleanup_free_ uint8_t *file = NULL;
	struct unwind_table table;

	assert_int_equal(unwind_table_read("no", 2, &table), -ENOEXEC);
	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	file = make_cfi_file(&frames, FILE_BYTES);
	assert_int_equal(unwind_table_read(file, FILE_BYTES, &table), 0);
	assert_int_equal(table.n_rows, 2);
	assert_int_equal(table.n_segments, 1);
	assert_int_equal(find_rule(&table, LOADED_AT), UNPROVEN);
	unwind_table_deinit(&table);
	((Elf64_Ehdr *)file)->e_machine = EM_AARCH64;
	assert_int_equal(unwind_table_read(file, FILE_BYTES, &table), -ENOTSUP);
	((Elf64_Ehdr *)file)->e_machine = EM_X86_64;
	((Elf64_Ehdr *)file)->e_type = ET_REL;
	assert_int_equal(unwind_table_read(file, FILE_BYTES, &table), -ENOEXEC);
}

/* The maximum number of entries in 16 MB: the time is that of reading them. */
TEST(test_flood)
{
	enum { BYTES_MAX = 16 << 20, FDES = 300000 };
	struct outbuf frames = { 0 };
	_cleanup_free_ uint8_t *file = NULL;
	struct unwind_table table;

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	for (unsigned i = 0; i < FDES; i++)
		put_fde_at(&frames, LOADED_AT + (i * 7919u) % FDES, 1 + i % 1000,
			   i % 2 ? SP_16 : BYTES("\x0a\x0a\x0e\x18"));
	file = make_cfi_file(&frames, BYTES_MAX);
	assert_int_equal(unwind_table_read(file, BYTES_MAX, &table), 0);
	assert_true(unwind_table_is_valid(&table, BYTES_MAX));
	assert_true(table.n_rows > 1000);
	unwind_table_deinit(&table);
}

/* ---- files of the fuzzer ---- */

static void read_corpus(const char *name, struct unwind_table *ret)
{
	_cleanup_close_ int fd = -1;
	struct unwind_table apart;
	char path[512];
	void *data;
	size_t n;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/unwind/%s", SOURCE_ROOT, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(sandbox_map_file(fd, &data, &n), 0);
	assert_int_equal(unwind_table_read(data, n, ret), 0);
	munmap(data, n);
	assert_int_equal(unwind_table_read_sandboxed(fd, UINT64_C(20000000000), &apart), 0);
	assert_int_equal(apart.n_rows, ret->n_rows);
	assert_memory_equal(apart.rows, ret->rows, ret->n_rows * sizeof(ret->rows[0]));
	unwind_table_deinit(&apart);
}

static void assert_same_rows(const char *one, const char *other)
{
	struct unwind_table a, b;

	read_corpus(one, &a);
	read_corpus(other, &b);
	assert_true(a.n_rows > 10);
	assert_int_equal(a.n_rows, b.n_rows);
	assert_memory_equal(a.rows, b.rows, a.n_rows * sizeof(a.rows[0]));
	assert_int_equal(a.n_build_id, b.n_build_id);
	assert_memory_equal(a.build_id, b.build_id, sizeof(a.build_id));
	unwind_table_deinit(&a);
	unwind_table_deinit(&b);
}

TEST(test_sections)
{
	struct unwind_table table;

	assert_same_rows("shared", "bare"); /* no section headers */
	assert_same_rows("debug", "packed");
	assert_same_rows("debug", "packed-gnu");
	read_corpus("shared", &table);
	assert_int_equal(table.n_build_id, 20);
	unwind_table_deinit(&table);
	read_corpus("fixed", &table);
	assert_int_equal(table.n_build_id, 0);
	unwind_table_deinit(&table);
}

/* ---- invalid results of the sandbox ---- */

TEST(test_validity)
{
	struct unwind_row rows[3] = { { 0, RULE(SP, 0, 1) }, { 8, RULE(SP, 2, 2) }, { 16, 0 } };
	struct unwind_table good = {
		.n_segments = 1,
		.segments = { { .offset = 16, .size = 84, .address = 0x1000 } },
		.n_rows = 3,
		.rows = rows,
	};
	struct unwind_table t = good;

	assert_true(unwind_table_is_valid(&good, 100));
	assert_false(unwind_table_is_valid(&good, 99));
	t.n_segments = UNWIND_SEGMENTS_MAX + 1;
	assert_false(unwind_table_is_valid(&t, 100));
	t = good;
	t.n_build_id = 21;
	assert_false(unwind_table_is_valid(&t, 100));
	t = good;
	t.segments[0].address = UINT64_MAX - 10;
	assert_false(unwind_table_is_valid(&t, 100));
	t = good;
	t.n_rows = 2; /* without an end */
	assert_false(unwind_table_is_valid(&t, 100));
	rows[1].address = 0;
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1] = (struct unwind_row){ 8, rows[0].rule };
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1].rule = _UNWIND_KINDS;
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1].rule = RULE(PLT, 0, 16);
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1].rule = UNWIND_RULE(UNWIND_UNSUPPORTED, 0, _UNWIND_WHYS);
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1].rule = RULE(SIGNAL, 1, 0);
	assert_false(unwind_table_is_valid(&good, 100));
	rows[1].rule = RULE(SIGNAL, 0, 0);
	assert_true(unwind_table_is_valid(&good, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cfa),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_damaged_instructions),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_damaged_fdes),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_far_frames),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_validity),
	};

	if (under_valgrind()) {
		printf("skip: valgrind cannot follow where system calls are forbidden\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
