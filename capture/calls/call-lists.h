/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists that calls receive, and that the eBPF programs collect (CALL_MEMORY_* in bpf/record.h): the
 * arguments of a program, buffers, and numbers of variables and of entries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/call-types.h"
#include "model/calls/call-print.h"
#include "model/calls/call-struct-members.h"

/* Returns the kind of list that TYPE is; CALL_MEMBER_INT = it is none. */
enum call_member_kind call_list_kind(const struct call_type *type);

/* Appends ADDRESS, or NULL. */
void call_list_address(struct call_print *p, uint64_t address);

/* The N buffers in a copy. The call has read or written TOTAL bytes. */
struct call_list_buffers {
	uint64_t n, total;
	uint64_t most; /* maximum number of bytes of each buffer in the copy */
};

/* Appends the buffers whose copy is the N bytes at FROM. */
void call_list_parts(struct call_print *p, const char *from, size_t n,
		     const struct call_list_buffers *buffers);

/*
 * Writes the descriptors of poll() that are ready to TO (SIZE bytes). TEXT is the copy of COUNT
 * struct pollfd after the call. Returns the length; 0 = none of those in the copy is ready.
 */
size_t call_list_ready(const struct call_text *text, uint64_t count, char *to, size_t size);

/* Returns the content of memory of TYPE, CALL_MEMORY_*. */
uint8_t call_list_memory(const struct call_type *type);

/* Returns true if TYPE is a list that the eBPF programs collect. */
bool call_type_is_list(const struct call_type *type);

/*
 * Writes the copy TEXT of a list of TYPE at ADDRESS to TO (SIZE bytes), as strace shows it. An
 * array of buffers has COUNT elements, and the call has read or written TOTAL bytes of them.
 * Returns the length; 0 = nothing can be shown.
 */
size_t call_list_format(const struct call_type *type, const struct call_text *text, uint64_t count,
			uint64_t total, uint64_t address, char *to, size_t size);
