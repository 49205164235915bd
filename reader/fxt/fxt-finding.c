/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct fxt_finding_kind fxt_finding_kinds[FXT_FINDING_MAX] = {
#define FINDING(name, id, severity, ...)                                                           \
	[FXT_FINDING_##name] = { id, FXT_SEVERITY_##severity, __VA_ARGS__ },
#include "reader/fxt/fxt-finding-rows.h"
#undef FINDING
};

const char *fxt_severity_text(enum fxt_severity severity)
{
	static const char *const texts[FXT_SEVERITY_MAX] = { "error", "warning", "note" };

	return texts[severity];
}

int fxt_finding_by_id(const char *id)
{
	for (int i = 0; i < FXT_FINDING_MAX; i++)
		if (strcmp(fxt_finding_kinds[i].id, id) == 0)
			return i;
	return -1;
}

char *fxt_finding_detail(char to[FXT_FINDING_DETAIL_MAX], const struct fxt_finding *f)
{
	const char *from = fxt_finding_kinds[f->id].detail;
	size_t n_values = 0;
	char *p = to, *end = to + FXT_FINDING_DETAIL_MAX;

	*p = '\0';
	if (f->what)
		p += snprintf(p, (size_t)(end - p), "%s%s", f->what, from ? "; " : "");
	/* The table's texts fit; if one does not, it is truncated. */
	for (; from && *from && p < end - 1; from++) {
		if (*from != '#' || n_values == 2)
			p += snprintf(p, (size_t)(end - p), "%c", *from);
		else
			p += snprintf(p, (size_t)(end - p), "%" PRIu64, f->value[n_values++]);
	}
	return to;
}
