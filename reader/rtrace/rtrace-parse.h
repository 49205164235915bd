/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of a leak report, taken apart. It knows nothing of other lines.
 *
 * Everything that writers of the format have made is taken, the specification's way and that of the
 * tools (writer/rtrace/rtrace-wire.h): fractions of a second in any number of digits, "(3)=0x10",
 * arguments with or without TAB, paths with spaces.
 */
#pragma once

#include "writer/rtrace/rtrace-record.h"

/* What is odd about a line. The text is static. */
struct rtrace_oddity {
	const char *what; /* NULL = nothing */
	bool refused;     /* for that it is no record but a comment */
};

/*
 * Fills kind and fields of RET from LINE, which is without its line feed. What is no record is a
 * RTRACE_NOTE; so is what looks like one and cannot be read, and *RETERR says why.
 */
void rtrace_parse_line(struct rtrace_text line, struct rtrace_record *ret,
		       struct rtrace_oddity *reterr);

/* The same for the first line. Returns false if it is no header. */
bool rtrace_parse_header(struct rtrace_text line, struct rtrace_header *ret,
			 struct rtrace_oddity *reterr);

/* Whether the N bytes, with which a file begins, begin a report. */
bool rtrace_is_report(const void *p, size_t n);

/*
 * Undoes \ooo of a path or a value. Writes to TO (at least TEXT.n + 1 bytes), with a NUL. Returns
 * the length.
 */
size_t rtrace_unescape(char *to, struct rtrace_text text);

/* A whole hexadecimal number, with or without 0x; a whole decimal one. False if it is none. */
bool rtrace_parse_hex(struct rtrace_text text, uint64_t *ret);
bool rtrace_parse_decimal(struct rtrace_text text, uint64_t *ret);
