/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/markup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

void markup_add_text(struct outbuf *out, const char *text)
{
	size_t n = strlen(text), room = 3 * n + 1;
	_cleanup_free_ char *clean = malloc(room);

	if (!clean) {
		out->error = out->error ?: -ENOMEM;
		return;
	}
	n = text_clean(clean, room, text, n);
	for (size_t i = 0; i < n; i++) {
		const char *as = clean[i] == '&'    ? "&amp;"
				 : clean[i] == '<'  ? "&lt;"
				 : clean[i] == '>'  ? "&gt;"
				 : clean[i] == '"'  ? "&quot;"
				 : clean[i] == '\'' ? "&#39;"
						    : NULL;

		/* U+FFFE and U+FFFF are valid UTF-8, but not valid in XML. */
		if (!as && n - i >= 3 && memcmp(clean + i, "\xef\xbf", 2) == 0 &&
		    (unsigned char)clean[i + 2] >= 0xbe) {
			as = "\xef\xbf\xbd";
			i += 2;
		}
		if (as)
			outbuf_print(out, "%s", as);
		else
			outbuf_append(out, &clean[i], 1);
	}
}
