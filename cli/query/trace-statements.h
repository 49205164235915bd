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
	const char *source;     /* source file of the code; "" = unknown */
	const char *module;     /* the program or library; "" = unknown */
	const char *build_id;   /* build id of the module, in hexadecimal digits; "" = unknown */
	uint32_t module_number; /* number of the module, from 1; 0 = unknown */
	uint32_t line;
	/*
	 * For a point, its address in the module's own addresses; for a call, see
	 * trace_statements_of_call().
	 */
	uint64_t address;
};

struct trace_statements {
	struct trace_statement *list; /* indexed by number - 1; owned; its texts are in... */
	size_t n, room;
	struct text_set texts; /* ... this set */
	struct table by_key;
	struct table modules; /* path and build ID -> number */
};

void trace_statements_deinit(struct trace_statements *s);

/*
 * Adds the statement that called function NAME. Its stack starts with NODE of STACKS (0 = unknown),
 * and its address is the file offset of the return address in the module. Returns its number; 0
 * without memory.
 */
uint32_t trace_statements_of_call(struct trace_statements *s, const char *name,
				  struct call_stacks *stacks, uint32_t node);

/*
 * Adds the statement of a point. SOURCE is "FILE:LINE", or "". Returns its number; 0 without
 * memory.
 */
uint32_t trace_statements_of_point(struct trace_statements *s, const char *name, const char *module,
				   const char *source, uint64_t address);

/*
 * The id of statement NUMBER in LAYOUT. Returns 0, or -EOVERFLOW if the ids of LAYOUT have too few
 * bits.
 */
int trace_statements_id(const struct trace_statements *s, uint32_t number,
			enum tracedb_layout layout, uint64_t *ret);

/* Finds a statement by its id in W64. Returns NULL if the id is unknown. */
const struct trace_statement *trace_statements_get(const struct trace_statements *s, uint64_t id);

/* Prints a line for each statement: id in LAYOUT, name, caller, source, line, address, build ID and
 * module, separated by tabs. Unknown data is "-". */
void trace_statements_print(const struct trace_statements *s, enum tracedb_layout layout, FILE *to);
