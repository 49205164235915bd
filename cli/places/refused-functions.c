/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/refused-functions.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "capture/options/call-spec.h"
#include "capture/probes/call-places.h"
#include "cli/places/call-text.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

struct refused_functions {
	struct refused_names *to;
	bool failed; /* the file could not be searched in time, or at all */
};

static void refused_functions_name(struct refused_list *list, const char *name)
{
	if (list->n_named == CALL_REFUSED_NAMES_MAX)
		return;
	outbuf_print(&list->names, "%s", list->n_named++ ? ", " : "");
	call_text_put_shown(&list->names, name);
}

/*
 * Adds the functions of SPEC in PLACES that are left out to TO. Returns true if all functions of
 * SPEC are left out.
 */
static bool refused_functions_add(struct refused_names *to, const struct call_spec *spec,
				  const struct call_places *places)
{
	if (spec->range.is_used && !spec->range.is_point && places->flags & CALL_PLACES_NO_START) {
		refused_functions_name(&to->labels, spec->function);
		to->labels.n++;
		return true;
	}
	for (size_t i = 0; i < places->n_refused && i < CALL_REFUSED_NAMES_MAX; i++)
		refused_functions_name(&to->refused,
				       spec->range.is_used ? spec->function : places->refused[i]);
	to->refused.n += places->n_refused;
	return places->n == 0 && places->n_refused > 0;
}

/*
 * Searches the file FD for the functions of SPEC. Returns true if all functions of SPEC are left
 * out.
 */
static bool refused_functions_search(struct refused_functions *f, int fd,
				     const struct call_spec *spec)
{
	const struct call_places_query query = {
		.pattern = spec->function,
		.n_args = call_spec_n_registers(spec),
		.range = { .is_used = spec->range.is_used,
			   .is_point = spec->range.is_point,
			   .begin = spec->range.begin,
			   .bytes = spec->range.bytes,
			   .at = spec->range.at },
	};
	struct call_places places = { .n = 0 };
	bool alone;

	f->failed =
		f->failed || call_places_find_sandboxed(fd, &query, SEARCH_TIMEOUT_NS, &places) < 0;
	if (f->failed)
		return false;
	alone = refused_functions_add(f->to, spec, &places);
	call_places_deinit(&places);
	return alone;
}

static void refused_functions_count_rest(struct refused_list *list)
{
	if (list->n > list->n_named)
		outbuf_print(&list->names, " and %zu more", list->n - list->n_named);
}

void refused_functions_drop(const char *path, struct call_resolved *resolved,
			    struct refused_names *to)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct refused_functions f = { .to = to };
	struct call_spec_error error;
	struct call_spec spec;
	size_t n = 0;

	for (size_t i = 0; i < resolved->n; i++) {
		bool last = n == 0 && i + 1 == resolved->n;

		if (fd >= 0 && call_spec_parse(resolved->list[i].spec, &spec, &error) == 0 &&
		    refused_functions_search(&f, fd, &spec) && !last)
			free(resolved->list[i].spec);
		else
			resolved->list[n++] = resolved->list[i];
	}
	resolved->n = n;
	refused_functions_count_rest(&to->refused);
	refused_functions_count_rest(&to->labels);
}

void refused_names_deinit(struct refused_names *names)
{
	outbuf_deinit(&names->refused.names);
	outbuf_deinit(&names->labels.names);
}
