/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/finding.h"

#include <string.h>

const char *finding_severity_text(enum finding_severity severity)
{
	static const char *const texts[] = {
		[FINDING_ERROR] = "error",
		[FINDING_WARNING] = "warning",
		[FINDING_NOTE] = "note",
	};

	return texts[severity];
}

int finding_by_id(const struct finding_kind *kinds, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(kinds[i].id, id) == 0)
			return (int)i;
	return -1;
}
