/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses a line of a leak report, independently of other lines.
 *
 * The parser accepts everything that writers of the format produce, both by the specification and
 * by the tools (writer/rtrace/rtrace-wire.h): fractions of a second with any number of digits,
 * "(3)=0x10", arguments with or without TAB, paths with spaces.
 */
#pragma once

#include "writer/rtrace/rtrace-record.h"

/* A flaw of a line. The text is static. */
struct rtrace_oddity {
	const char *what; /* NULL = no flaw */
	bool refused; /* because of the flaw, the line is taken for a comment, not for a record */
};

/*
 * Fills the kind and the fields of RET from LINE. LINE has no line feed. Text that is not a record
 * becomes a RTRACE_NOTE. So does a record that cannot be parsed; *RETERR is then the reason.
 */
void rtrace_parse_line(struct rtrace_text line, struct rtrace_record *ret,
		       struct rtrace_oddity *reterr);

/* Parses the first line of a report. Returns false if it is not a header. */
bool rtrace_parse_header(struct rtrace_text line, struct rtrace_header *ret,
			 struct rtrace_oddity *reterr);

/* Returns true if the N bytes at P, the beginning of a file, begin a report. */
bool rtrace_is_report(const void *p, size_t n);

/*
 * Replaces the escapes \ooo in a path or a value. Writes to TO (at least TEXT.n + 1 bytes), with a
 * NUL. Returns the length.
 */
size_t rtrace_unescape(char *to, struct rtrace_text text);

/*
 * Parse TEXT as a hexadecimal number, with or without 0x, and as a decimal number. Return false if
 * TEXT is not such a number.
 */
bool rtrace_parse_hex(struct rtrace_text text, uint64_t *ret);
bool rtrace_parse_decimal(struct rtrace_text text, uint64_t *ret);
