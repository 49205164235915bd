/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information: the entries of .eh_frame or .debug_frame, and the results of their
 * instructions. This module does not depend on the machine: rules are as in DWARF (DWARF 5, 6.4),
 * by register number.
 *
 * A section is scanned once (cfi_scan()), which finds its CIEs and reports the position of each
 * FDE. FDEs are executed later, in any order. Each byte of a section is read a limited number of
 * times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Registers with rules: all that x86-64 needs; other registers are ignored. */
	CFI_REGISTERS = 17,
	CFI_CIES_MAX = 65536, /* CIEs in one section; FDEs of other CIEs count as damaged */
};

enum cfi_rule_kind {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,     /* the register is saved at CFA + offset */
	CFI_VAL_OFFSET, /* the register's value is CFA + offset */
	/* The register's value is in register N; for the CFA: register N + offset. */
	CFI_REGISTER,
	/* The register is saved at the address that an expression of N bytes yields. */
	CFI_EXPRESSION,
	CFI_VAL_EXPRESSION,
};

struct cfi_rule {
	uint32_t kind; /* enum cfi_rule_kind */
	uint32_t n;
	union {
		int64_t offset;
		const uint8_t *expression; /* borrowed from the section */
	};
};

/* The state at an address. The CFA is CFI_REGISTER, CFI_VAL_EXPRESSION, or CFI_UNSPECIFIED. */
struct cfi_state {
	struct cfi_rule cfa;
	struct cfi_rule registers[CFI_REGISTERS];
};

struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t n;
	uint64_t address;      /* load address of the section */
	uint64_t data_address; /* the base of "datarel"; 0 = unknown */
	bool is_debug_frame;
	bool ends_at_zero; /* `n` is only a limit: the first length of 0 is the end */
};

struct cfi_cie {
	uint32_t offset; /* offset in the section */
	uint32_t return_register;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding; /* DW_EH_PE_* */
	bool has_lengths;         /* FDEs have the length of their augmentation */
	bool is_signal_frame;
	bool is_damaged; /* `initial` is unusable, so each FDE is damaged, too */
	struct cfi_state initial;
};

struct cfi {
	struct cfi_section section;
	struct cfi_cie *cies; /* sorted by offset */
	size_t n_cies, room_cies;
	uint32_t n_damaged; /* number of skipped entries */
};

void cfi_deinit(struct cfi *cfi);

/* Called with an FDE: its range, and its offset in the section. */
typedef int (*cfi_fde_fn)(uint64_t begin, uint64_t size, uint32_t offset, void *userdata);

/*
 * Scans SECTION, which is borrowed as long as CFI lives, and calls FN for each FDE. If FN returns a
 * value other than 0, stops and returns it. Counts and skips invalid entries; after an invalid
 * length, skips the rest. Returns 0, -EFBIG for a section of 4 GiB, or -ENOMEM; CFI can be
 * deinitialised in each case.
 */
int cfi_scan(struct cfi *cfi, const struct cfi_section *section, cfi_fde_fn fn, void *userdata);

/* Called with a row: STATE, borrowed during the call, is valid from ADDRESS on. */
typedef int (*cfi_row_fn)(uint64_t address, const struct cfi_cie *cie,
			  const struct cfi_state *state, void *userdata);

/*
 * Executes the FDE at OFFSET, which comes from cfi_scan(), and calls FN for its first address and
 * for each change, with increasing addresses. Returns 0, another value of FN, or -EBADMSG if it
 * cannot be executed.
 */
int cfi_execute(const struct cfi *cfi, uint32_t offset, cfi_row_fn fn, void *userdata);

/*
 * Reads a pointer in the form ENCODING (DW_EH_PE_*) at the offset *AT of SECTION and advances *AT.
 * Returns false if the pointer is truncated, or its form is unknown.
 */
bool cfi_read_pointer(const struct cfi_section *section, uint8_t encoding, size_t *at,
		      uint64_t *ret);
