/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-known.h"

#include <stdio.h>

#include "capture/options/call-spec.h"

bool call_known_is(const char *text)
{
	struct call_spec_error error;
	struct call_spec spec;

	return call_spec_parse(text, &spec, &error) == 0 && spec.implied &&
	       (spec.n_args > 0 || spec.ret.form != CALL_VOID);
}

bool call_known_any(const char *file, const struct place_functions *f)
{
	char text[CALL_FILE_MAX + PLACES_NAME_MAX + 2];

	for (size_t i = 0; i < f->n; i++) {
		snprintf(text, sizeof(text), "%s:%s", file, f->list[i].symbol);
		if (call_known_is(text))
			return true;
	}
	return false;
}
