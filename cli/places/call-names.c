/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-names.h"

#include "cli/places/call-text.h"

void call_names_deinit(struct call_names *l)
{
	outbuf_deinit(&l->text);
	l->n = 0;
}

void call_names_add(struct call_names *l, const char *name)
{
	if (l->n++ >= CALL_NAMES_SHOWN_MAX)
		return;
	outbuf_print(&l->text, "%s", l->n > 1 ? ", " : "");
	call_text_put_shown(&l->text, name);
}

const char *call_names_text(struct call_names *l)
{
	if (l->n == 0)
		return NULL;
	if (l->n > CALL_NAMES_SHOWN_MAX)
		outbuf_print(&l->text, " and %zu more", l->n - CALL_NAMES_SHOWN_MAX);
	outbuf_append(&l->text, "", 1);
	return l->text.error ? NULL : (const char *)l->text.data;
}
