/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statements of trace points: places in programs. Their numbers start with 1, and are valid in
 * one archive only.
 *
 * The id of a statement has its number in the lower bits, and the number of its program or library
 * above them, with a bit that marks it. This is how the clients of the format's authors pack a file
 * and a statement, so a mask can select the statements of one program. They store a line instead of
 * the number. kymo does not: two calls in one line are two statements, and programs without lines
 * have statements, too.
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
	const char *name;       /* name of the called function or of the point */
	const char *caller;     /* the function that contains the call; "" = unknown */
	const char *source;     /* its source file; "" = unknown */
	const char *module;     /* the program or library; "" = unknown */
	const char *build_id;   /* build id of the module, in hexadecimal digits; "" = unknown */
	uint32_t module_number; /* from 1; 0 = unknown */
	uint32_t line;
	uint64_t address; /* of a point, in the module's own addresses; of a call, see below */
};

struct trace_statements {
	struct trace_statement *list; /* by number - 1; owned, with texts in... */
	size_t n, room;
	struct text_set texts; /* ... this set */
	struct table by_key;
	struct table modules; /* by path and build ID: the number */
};

void trace_statements_deinit(struct trace_statements *s);

/*
 * The number of the statement that called function NAME, whose stack starts with NODE of STACKS (0:
 * unknown). Its address is the file offset of the return address in the module. 0 if there is no
 * memory.
 */
uint32_t trace_statements_of_call(struct trace_statements *s, const char *name,
				  struct call_stacks *stacks, uint32_t node);

/* The number of a point's statement, likewise: SOURCE is "FILE:LINE", or "". */
uint32_t trace_statements_of_point(struct trace_statements *s, const char *name, const char *module,
				   const char *source, uint64_t address);

/* The id of statement NUMBER in LAYOUT. Returns 0, or -EOVERFLOW if it has too few bits. */
int trace_statements_id(const struct trace_statements *s, uint32_t number,
			enum tracedb_layout layout, uint64_t *ret);

/* Finds a statement by its id in W64. NULL = unknown. */
const struct trace_statement *trace_statements_get(const struct trace_statements *s, uint64_t id);

/* Prints a line for each statement: id in LAYOUT, name, caller, source, line, address, build ID and
 * module, separated by tabs. Unknown data is "-". */
void trace_statements_print(const struct trace_statements *s, enum tracedb_layout layout, FILE *to);
