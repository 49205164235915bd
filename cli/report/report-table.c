/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/report/report-table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/markup.h"

double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

void report_text(struct outbuf *out, const char *text, size_t max)
{
	size_t n = strlen(text);
	char cut[REPORT_TEXT_MAX + 1];

	if (n <= max) {
		markup_add_text(out, text);
		return;
	}
	n = text_cut(text, n, max < REPORT_TEXT_MAX ? max : REPORT_TEXT_MAX);
	memcpy(cut, text, n);
	cut[n] = '\0';
	markup_add_text(out, cut);
	outbuf_print(out, "\u2026");
}

void report_table_begin(struct outbuf *out, const char *caption, const char *const *columns)
{
	outbuf_print(out, "<div class=\"scroll\"><table>\n<caption>");
	markup_add_text(out, caption);
	outbuf_print(out, "</caption>\n<thead><tr>");
	for (; *columns; columns++)
		if (**columns == '>')
			outbuf_print(out, "<th scope=\"col\" class=\"num\">%s</th>", *columns + 1);
		else
			outbuf_print(out, "<th scope=\"col\">%s</th>", *columns);
	outbuf_print(out, "</tr></thead>\n<tbody>\n");
}

void report_table_end(struct outbuf *out)
{
	outbuf_print(out, "</tbody></table></div>\n");
}

void report_row_begin(struct outbuf *out)
{
	outbuf_print(out, "<tr>");
}

void report_row_end(struct outbuf *out)
{
	outbuf_print(out, "</tr>\n");
}

void report_cell(struct outbuf *out, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	outbuf_print(out, "<td class=\"num\">%s</td>", text);
}

void report_cell_share(struct outbuf *out, uint64_t part, uint64_t whole)
{
	double percent = report_percent(part, whole);

	outbuf_print(out, "<td class=\"num bar\" style=\"--w:%.1f%%\">%.1f\u00a0%%</td>",
		     percent > 100 ? 100 : percent, percent);
}

static void report_table_put(struct outbuf *out, const char *begin, const char *text, size_t max,
			     const char *end)
{
	outbuf_print(out, "%s", begin);
	report_text(out, text, max);
	outbuf_print(out, "%s", end);
}

void report_cell_name(struct outbuf *out, const char *name)
{
	report_table_put(out, "<th scope=\"row\" class=\"text\">", name, REPORT_NAME_MAX, "</th>");
}

void report_cell_text(struct outbuf *out, const char *text)
{
	report_table_put(out, "<td class=\"text\">", text, REPORT_NAME_MAX, "</td>");
}

void report_row_rest(struct outbuf *out, size_t n, unsigned n_columns, const char *what)
{
	if (n > 0)
		outbuf_print(out,
			     "<tr><td colspan=\"%u\" class=\"dim\">and %zu other %s</td></tr>\n",
			     n_columns, n, what);
}

void report_note(struct outbuf *out, const char *text)
{
	report_table_put(out, "<p class=\"note\">", text, REPORT_TEXT_MAX, "</p>\n");
}

void report_none(struct outbuf *out, const char *text)
{
	report_table_put(out, "<p class=\"none\">The recording contains ", text, REPORT_TEXT_MAX,
			 ".</p>\n");
}
