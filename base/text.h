/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text in and out: UTF-8 repair, sizes and times with suffixes.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies N bytes to TO as valid UTF-8 (RFC 3629; no surrogates, no overlong forms) of at most ROOM
 * - 1 bytes and a NUL. Each byte that is not part of a valid character becomes U+FFFD. Longer text
 * is truncated at a character. Control characters (below U+0020, U+007F, U+0080 to U+009F) except
 * TAB become U+FFFD, too. So do characters that change the direction of text or have no width (such
 * as U+202E, U+200B), since they make texts look like other ones. ROOM is at least 1. Returns the
 * length.
 */
size_t text_clean(char *to, size_t room, const char *from, size_t n);

/*
 * If text_clean() would replace the valid character at the beginning of the N > 0 bytes at P,
 * stores it in *RET and returns its length. Otherwise returns 0.
 */
size_t text_is_control(const char *p, size_t n, uint32_t *ret);

/*
 * Writes a command line for people. The N bytes at ARGS are arguments that each end with a NUL (the
 * last one may lack it). The arguments are joined by single spaces, and cleaned as text_clean()
 * does. Empty arguments at the end are left out. If the rest does not fit, or IS_CUT says that
 * there is more, the text ends with TEXT_CUT_MARK (if there is room for it). Returns the length.
 */
size_t text_join_args(char *to, size_t room, const char *args, size_t n, bool is_cut);

/* The end of a text of text_join_args() that is not complete. */
#define TEXT_CUT_MARK "..."

/* True if the N bytes are valid UTF-8. */
bool text_is_utf8(const char *p, size_t n);

/*
 * Returns the length of PATH, as the kernel shows it, without the " (deleted)" that the kernel
 * appends to the path of a removed file.
 */
size_t text_path_length(const char *path);

/*
 * Returns the length of the N bytes of UTF-8 at P after a cut to at most MAX bytes that splits no
 * character. (In bytes that are not UTF-8, the cut is at most three bytes too early.)
 */
size_t text_cut(const char *p, size_t n, size_t max);

/*
 * Parses a size: decimal digits and an optional K, M, G or T (powers of 1024; `iB` or `B` may
 * follow). Returns 0, -EINVAL (not a size), or -ERANGE.
 */
int text_parse_size(const char *text, uint64_t *ret_bytes);

/*
 * Parses a time: a decimal number with or without a fraction, then ns us ms s m h d or w (or nsec
 * usec msec sec min hr day week); without a unit, it is in seconds. Several times with spaces
 * between them are added up. Returns 0, -EINVAL (not a time), or -ERANGE.
 */
int text_parse_time(const char *text, uint64_t *ret_ns);

/* Parses a whole decimal number. Returns 0, -EINVAL, or -ERANGE if it is over MAX. */
int text_parse_u64(const char *text, uint64_t max, uint64_t *ret);

/* Enough room for the texts of text_format_*(), including the NUL. */
enum { TEXT_FORMAT_MAX = 32 };

/* "1.5 MiB", "512 B": writes to TO (TEXT_FORMAT_MAX bytes) and returns TO. */
char *text_format_size(char *to, uint64_t bytes);

/* "s", or "" if N is 1: "1 record", "2 records". */
static inline const char *text_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "1 record is", "2 records are". */
static inline const char *text_is(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

/* "1 record was", "2 records were". */
static inline const char *text_was(uint64_t n)
{
	return n == 1 ? "was" : "were";
}

/* "3.00 s", "17.4 ms", "850 ns": three significant digits; writes to TO and returns TO. */
char *text_format_time(char *to, uint64_t ns);

/*
 * Appends to the text at TO, a buffer of SIZE bytes of which *USED are in use (without the NUL).
 * Cuts the new text if it does not fit. Returns true if it fits.
 */
bool text_append(char *to, size_t size, size_t *used, const char *format, va_list args);

/*
 * Stores a new text in *RETERR_TEXT, NULL if there is no memory for it. Returns ERROR: for
 * functions that return an error with a sentence about it.
 */
int text_error(int error, char **reterr_text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The texts of text_format_size() and text_format_time(), for use as arguments of printf(). They
 * are valid to the end of the block.
 */
#define TEXT_SIZE(bytes) text_format_size((char[TEXT_FORMAT_MAX]){ "" }, bytes)
#define TEXT_TIME(ns)    text_format_time((char[TEXT_FORMAT_MAX]){ "" }, ns)
