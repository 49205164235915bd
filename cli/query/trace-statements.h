/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statements of trace points: places in programs, with what is known of each. Their numbers
 * begin with 1, and mean something within one archive only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "base/text-set.h"
#include "cli/common/call-stacks.h"

struct trace_statement {
	const char *name;     /* of the function that was called, or of the point */
	const char *caller;   /* the function that it was called in; "" = not known */
	const char *source;   /* the file of its source, "" likewise */
	const char *module;   /* the file of the program, "" likewise */
	const char *build_id; /* of that, in hexadecimal digits, "" likewise */
	uint32_t line;
	uint64_t address; /* of a point, in the module's own addresses; of a call, see below */
};

struct trace_statements {
	struct trace_statement *list; /* by number - 1; owned, its texts are of... */
	size_t n, room;
	struct text_set texts; /* ... this set */
	struct table by_key;
};

void trace_statements_deinit(struct trace_statements *s);

/*
 * The number of the statement that called function NAME, whose stack begins with NODE of STACKS (0:
 * not known). Its address is the offset in the module's file to which the call returns. 0 without
 * memory.
 */
uint32_t trace_statements_of_call(struct trace_statements *s, const char *name,
				  struct call_stacks *stacks, uint32_t node);

/* Likewise of a point: SOURCE is "FILE:LINE", or "". */
uint32_t trace_statements_of_point(struct trace_statements *s, const char *name, const char *module,
				   const char *source, uint64_t address);

/* NULL = there is no such number. */
const struct trace_statement *trace_statements_get(const struct trace_statements *s,
						   uint64_t number);

/*
 * A line for each: number, name, caller, source, line, address, build ID and module, with a tab
 * between them; "-" stands for what is not known.
 */
void trace_statements_print(const struct trace_statements *s, FILE *to);
