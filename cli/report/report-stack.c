/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/report/report-stack.h"

#include "cli/common/markup.h"
#include "cli/report/report-table.h"

enum { FRAMES_SHOWN = 16 };

void report_stack(const struct report *r, struct outbuf *out, const struct profile *profile,
		  uint32_t node, const char *label)
{
	unsigned n_shown = 0;

	if (node == 0)
		return;
	outbuf_print(out, "<details><summary>");
	markup_add_text(out, label);
	outbuf_print(out, "</summary><ol class=\"stack\">");
	for (; node != 0 && n_shown < FRAMES_SHOWN; node = profile->nodes[node].parent) {
		const struct profile_place *place = &profile->places[profile->nodes[node].place];
		const struct frame *frames = NULL;
		char name[PROFILE_LABEL_MAX];
		int n = profile_names_find(profile, &r->names, place, &frames);

		for (int i = 0; i < n || i == 0; i++, n_shown++) {
			outbuf_print(out, "<li>");
			report_text(out,
				    profile_names_label(name, place, n > 0 ? &frames[i] : NULL),
				    REPORT_NAME_MAX);
			outbuf_print(out, "</li>");
		}
	}
	if (node != 0)
		outbuf_print(out, "<li>and further callers</li>");
	outbuf_print(out, "</ol></details>");
}
