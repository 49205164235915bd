/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of an ELF file: .eh_frame (Linux Standard Base, "Exception Frames"), found by
 * the section or by the program header PT_GNU_EH_FRAME, or .debug_frame (DWARF 5, 6.4) where only
 * that exists, made into rows that programs in the kernel search (bpf/unwind.h).
 *
 * x86-64 only, so far: other machines get -ENOTSUP. unwind-cfi.h executes the instructions and
 * knows no machine; unwind-rows-x86.h makes rows of what comes out, and is what another machine
 * needs one more of.
 *
 * Nothing in a file is believed: offsets, lengths and counts are checked where they are read. What
 * a file takes in memory is bounded (UNWIND_ROWS_MAX rows, 4 million FDEs of 16 bytes), and the
 * time is linear in its size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "bpf/unwind.h"

/* Raise it when other rows come of the same file: tables on disk are of no use then. */
#define UNWIND_TABLE_VERSION 2

struct unwind_table {
	uint8_t build_id[20]; /* the first bytes of it, if there is one */
	uint32_t n_build_id;
	uint32_t n_segments;
	uint64_t first_address; /* the address in the file's own terms that rows count from */
	struct unwind_segment {
		uint64_t offset, size, address; /* executable: where in the file, and its address */
	} segments[UNWIND_SEGMENTS_MAX];
	/*
	 * Rows, by UNWIND_WHY_*; those damaged count entries, too, that were passed over or overlap
	 * others.
	 */
	uint32_t n_unsupported[_UNWIND_WHYS];
	uint32_t n_rows;
	struct unwind_row *rows; /* by address, from 0 on; neighbours have different rules */
};

/*
 * Reads the N bytes at DATA, a whole ELF file. Returns 0, also where the file describes no frames:
 * then there are no rows; -ENOEXEC if it is no ELF file, -ENOTSUP if it is for another machine,
 * -EBADMSG if it is damaged so that nothing can be told, -EFBIG if it has too many rows, -ENOMEM.
 * FDEs that are damaged cost no others: their code has UNWIND_WHY_DAMAGED.
 */
int unwind_table_read(const void *data, size_t n, struct unwind_table *ret);

void unwind_table_deinit(struct unwind_table *table);

/* The rule at ADDRESS, in the file's own terms; UNWIND_NONE where there is no row. */
uint32_t unwind_table_find(const struct unwind_table *table, uint64_t address);

/* A table as bytes, for this machine: how it leaves the sandbox, and how it is kept. */
#define UNWIND_TABLE_PACKED_MAX                                                                    \
	(sizeof(struct unwind_table) + UNWIND_ROWS_MAX * sizeof(struct unwind_row))
void unwind_table_pack(const struct unwind_table *table, struct outbuf *to);

/*
 * The table that SIZE bytes at DATA are, whoever wrote them, of a file with FILE_BYTES. Returns 0,
 * -EBADMSG if they are no such table, or -ENOMEM.
 */
int unwind_table_unpack(const void *data, size_t size, uint64_t file_bytes,
			struct unwind_table *ret);

/* Whether TABLE, whoever made it, is one of a file with FILE_BYTES. */
bool unwind_table_is_valid(const struct unwind_table *table, uint64_t file_bytes);

/*
 * unwind_table_read() in a process of its own (capture/sandbox/sandbox.h) for TIMEOUT_NS at most,
 * of the file that FD refers to (borrowed). What comes out is checked: rows are sorted, kinds are
 * known, segments are in the file. Returns what unwind_table_read() or sandbox_run() does.
 */
int unwind_table_read_sandboxed(int fd, uint64_t timeout_ns, struct unwind_table *ret);
