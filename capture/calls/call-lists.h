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

/*
 * Writes the descriptors of poll() that are ready to TO (SIZE bytes). TEXT is the copy of COUNT
 * struct pollfd after the call. Returns the length; 0 = none of those in the copy is ready.
 */
size_t call_list_ready(const struct call_text *text, uint64_t count, char *to, size_t size);

/* Returns the content of memory of TYPE, CALL_MEMORY_*. */
uint8_t call_list_memory(const struct call_type *type);

/* Returns true if TYPE is such a list. */
bool call_type_is_list(const struct call_type *type);

/*
 * Writes the copy TEXT of a list of TYPE at ADDRESS to TO (SIZE bytes), as strace shows it. An
 * array of buffers has COUNT elements, and the call has read or written TOTAL bytes of them.
 * Returns the length; 0 = nothing can be shown.
 */
size_t call_list_format(const struct call_type *type, const struct call_text *text, uint64_t count,
			uint64_t total, uint64_t address, char *to, size_t size);
