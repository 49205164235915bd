/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as an ELF file, and makes its unwind table. Since few inputs are valid ELF files,
 * the input is also read as an .eh_frame and a .debug_frame, whose instructions are executed.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-cfi.h"
#include "capture/unwind/unwind-rows-x86.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/find-rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FDES_MAX = 256 };

struct found {
	uint32_t offsets[FDES_MAX];
	size_t n;
	uint64_t last;
	bool any;
};

static int keep_fde(uint64_t begin, uint64_t size, uint32_t offset, void *userdata)
{
	struct found *found = userdata;

	(void)begin, (void)size;
	if (found->n < FDES_MAX)
		found->offsets[found->n++] = offset;
	return 0;
}

static int check_row(uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state,
		     void *userdata)
{
	struct found *found = userdata;
	uint32_t rule = unwind_rule_x86(cie, state);

	assert(UNWIND_RULE_KIND(rule) < _UNWIND_KINDS);
	assert(!found->any || address > found->last);
	found->last = address;
	found->any = true;
	return 0;
}

static void try_section(const uint8_t *data, size_t size, bool is_debug_frame)
{
	const struct cfi_section section = {
		.data = data,
		.n = size,
		.address = 0x1000,
		.data_address = 0x2000,
		.is_debug_frame = is_debug_frame,
	};
	struct found found = { 0 };
	struct cfi cfi;

	if (cfi_scan(&cfi, &section, keep_fde, &found) == 0) {
		for (size_t i = 0; i < found.n; i++) {
			found.any = false;
			cfi_execute(&cfi, found.offsets[i], check_row, &found);
		}
	}
	cfi_deinit(&cfi);
}

static void try_file(const uint8_t *data, size_t size)
{
	struct unwind_table table;

	if (unwind_table_read(data, size, &table) < 0)
		return;
	assert(unwind_table_is_valid(&table, size));
	for (uint32_t i = 0; i < table.n_rows && i < 100; i++)
		assert(find_rule(&table, table.first_address + table.rows[i].address) ==
		       table.rows[i].rule);
	unwind_table_deinit(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of the exact size, so that reads past its end are detected. */
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

	assert(copy);
	if (size)
		memcpy(copy, data, size);
	if (size > 4 && memcmp(copy, "\177ELF", 4) == 0) {
		try_file(copy, size);
	} else {
		try_section(copy, size, false);
		try_section(copy, size, true);
	}
	return 0;
}
