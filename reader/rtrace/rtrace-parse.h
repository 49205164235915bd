/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses a line of a leak report, independently of other lines.
 *
 * It accepts everything that writers of the format produce, both by the specification and by the
 * tools (writer/rtrace/rtrace-wire.h): fractions of a second with any number of digits, "(3)=0x10",
 * arguments with or without TAB, paths with spaces.
 */
#pragma once

#include "writer/rtrace/rtrace-record.h"

/* A flaw of a line. The text is static. */
struct rtrace_oddity {
	const char *what; /* NULL = none */
	bool refused;     /* for that it is no record but a comment */
};

/*
 * Fills kind and fields of RET from LINE, which has no line feed. Other text is a RTRACE_NOTE, and
 * so is a record that cannot be parsed; *RETERR has the reason then.
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
