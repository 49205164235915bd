/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables and other elements of the page. Functions that take a text escape it; functions that take
 * a format do not, so their arguments must not come from the archive.
 */
#pragma once

#include "base/outbuf.h"

/*
 * The maximum size of texts from the archive, in bytes: of names in tables and stacks, and of other
 * texts.
 */
enum { REPORT_NAME_MAX = 400, REPORT_TEXT_MAX = 4096 };

/* Adds TEXT, escaped, and cut after MAX bytes. */
void report_text(struct outbuf *out, const char *text, size_t max);

/*
 * Begins a table. COLUMNS are the headings, followed by NULL. The headings of columns with numbers
 * begin with '>'.
 */
void report_table_begin(struct outbuf *out, const char *caption, const char *const *columns);
void report_table_end(struct outbuf *out);

void report_row_begin(struct outbuf *out);
void report_row_end(struct outbuf *out);

/* A cell with a number; FORMAT is not escaped. */
void report_cell(struct outbuf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A cell with PART of WHOLE in percent, and a bar of this width. */
void report_cell_share(struct outbuf *out, uint64_t part, uint64_t whole);

/* The first cell of a row: its name, a foreign text. */
void report_cell_name(struct outbuf *out, const char *name);

/* A cell with foreign text. */
void report_cell_text(struct outbuf *out, const char *text);

/*
 * The last row of a table: it says that N more rows are not shown. WHAT names these rows, in the
 * plural.
 */
void report_row_rest(struct outbuf *out, size_t n, unsigned n_columns, const char *what);

/* A paragraph that says something about the section, escaped. */
void report_note(struct outbuf *out, const char *text);

/* A paragraph that says why a section is empty: "The recording contains " TEXT. */
void report_none(struct outbuf *out, const char *text);

/* PART of WHOLE in percent; 0 if WHOLE is 0. */
double report_percent(uint64_t part, uint64_t whole);
