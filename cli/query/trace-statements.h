/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statements of trace points: places in programs, with what is known of each. Their numbers
 * begin with 1, and mean something within one archive only.
 *
 * The id of a statement has its number in the lower bits, and that of its program or library above
 * them, with a bit that says so, as the clients of the format's authors pack a file and a
 * statement: so a mask can select those of one program. The number stands where they have it, and
 * not the line: two calls in a line are two statements, and programs without lines have statements,
 * too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "base/text-set.h"
#include "cli/common/call-stacks.h"
#include "writer/tracedb/tracedb-model.h"

struct trace_statement {
	const char *name;       /* of the function that was called, or of the point */
	const char *caller;     /* the function that it was called in; "" = not known */
	const char *source;     /* the file of its source, "" likewise */
	const char *module;     /* the file of the program, "" likewise */
	const char *build_id;   /* of that, in hexadecimal digits, "" likewise */
	uint32_t module_number; /* from 1; 0 = not known */
	uint32_t line;
	uint64_t address; /* of a point, in the module's own addresses; of a call, see below */
};

struct trace_statements {
	struct trace_statement *list; /* by number - 1; owned, its texts are of... */
	size_t n, room;
	struct text_set texts; /* ... this set */
	struct table by_key;
	struct table modules; /* by path and build ID: the number */
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

/* The id of statement NUMBER in LAYOUT. Returns 0, or -EOVERFLOW if it has too few bits. */
int trace_statements_id(const struct trace_statements *s, uint32_t number,
			enum tracedb_layout layout, uint64_t *ret);

/* By the id in W64. NULL = there is no such statement. */
const struct trace_statement *trace_statements_get(const struct trace_statements *s, uint64_t id);

/*
 * A line for each: id in LAYOUT, name, caller, source, line, address, build ID and module, with a
 * tab between them; "-" stands for what is not known.
 */
void trace_statements_print(const struct trace_statements *s, enum tracedb_layout layout, FILE *to);
