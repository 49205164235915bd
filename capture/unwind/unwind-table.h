/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of an ELF file, in rows that programs in the kernel search
 * (bpf/record-unwind.h). The table is made from .eh_frame (Linux Standard Base, "Exception
 * Frames"), which is found by the section or by the program header PT_GNU_EH_FRAME, or from
 * .debug_frame (DWARF 5, 6.4) if only that exists.
 *
 * Only x86-64 is supported: other machines get -ENOTSUP. unwind-cfi.h executes the instructions,
 * independent of the machine. unwind-rows-x86.h makes rows from the results; another machine needs
 * another version of it.
 *
 * All offsets, lengths and counts in a file are checked where they are read. The memory for a file
 * is limited (UNWIND_ROWS_MAX rows, 4 million FDEs of 16 bytes), and the time grows linearly with
 * its size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "bpf/record-unwind.h"
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-python.h"

/* Increment this version if the rows for the same file change: tables on disk are then not used. */
#define UNWIND_TABLE_VERSION 10

struct unwind_table {
	uint8_t build_id[20]; /* the first bytes of the build ID, if the file has one */
	uint32_t n_build_id;
	uint32_t n_segments;
	/* Address in the file to which the addresses of rows are relative. */
	uint64_t first_address;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	/*
	 * The number of unsupported rows, by UNWIND_WHY_*. The number of damaged rows includes
	 * skipped entries, and entries that overlap others.
	 */
	uint32_t n_unsupported[_UNWIND_WHYS];
	struct unwind_python python;
	uint32_t n_rows;
	struct unwind_row *rows; /* sorted by address, from 0 on; neighbours have different rules */
};

/*
 * Reads the N bytes at DATA, a whole ELF file. Returns 0, also if the file describes no frames (the
 * table then has no rows); -ENOEXEC if it is not an ELF file, -ENOTSUP if it is for another
 * machine, -EBADMSG if it is damaged completely, -EFBIG if it has too many rows, -ENOMEM. A damaged
 * FDE affects only its own code, which gets UNWIND_WHY_DAMAGED.
 */
int unwind_table_read(const void *data, size_t n, struct unwind_table *ret);

void unwind_table_deinit(struct unwind_table *table);

/*
 * A table can be packed into bytes, for this machine. Tables leave the sandbox, and are cached, in
 * this form.
 */
#define UNWIND_TABLE_PACKED_MAX                                                                    \
	(sizeof(struct unwind_table) + UNWIND_ROWS_MAX * sizeof(struct unwind_row))
void unwind_table_pack(const struct unwind_table *table, struct outbuf *to);

/*
 * Unpacks the table in the SIZE bytes at DATA, which are untrusted, for a file with FILE_BYTES.
 * Returns 0, -EBADMSG if it is invalid, or -ENOMEM.
 */
int unwind_table_unpack(const void *data, size_t size, uint64_t file_bytes,
			struct unwind_table *ret);

/* Returns true if TABLE, which is untrusted, is valid for a file with FILE_BYTES. */
bool unwind_table_is_valid(const struct unwind_table *table, uint64_t file_bytes);

/* The maximum time of a parser. A parser that takes longer is killed. */
#define UNWIND_PARSE_NS_MAX UINT64_C(10000000000)

/*
 * Like unwind_table_read(), but in a separate process (capture/sandbox/sandbox.h) for at most
 * TIMEOUT_NS, for the file FD (borrowed). The result is checked: rows are sorted, kinds are known,
 * segments are in the file. Returns like unwind_table_read() or sandbox_run().
 */
int unwind_table_read_sandboxed(int fd, uint64_t timeout_ns, struct unwind_table *ret);
