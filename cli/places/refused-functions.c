/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/refused-functions.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "capture/options/call-spec.h"
#include "capture/probes/call-places.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

struct refused_functions {
	struct outbuf *names;
	size_t n, n_named;
	bool labels; /* look for labels, instead of functions that can have no probe */
	bool failed; /* the file could not be searched in time, or at all */
};

static void refused_functions_name(struct refused_functions *f, const char *name)
{
	if (f->n_named < CALL_REFUSED_NAMES_MAX)
		outbuf_print(f->names, "%s'%.80s'", f->n_named++ ? ", " : "", name);
}

/* Adds the functions of SPEC, in the file FD. Returns whether it has no other function. */
static bool refused_functions_add(struct refused_functions *f, int fd, const struct call_spec *spec)
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
	if (f->labels) {
		alone = spec->range.is_used && !spec->range.is_point &&
			places.flags & CALL_PLACES_NO_START;
		if (alone)
			refused_functions_name(f, spec->function);
		f->n += alone;
		call_places_deinit(&places);
		return alone;
	}
	alone = places.n == 0 && places.n_refused > 0;
	for (size_t i = 0; i < places.n_refused && i < CALL_REFUSED_NAMES_MAX; i++)
		refused_functions_name(f, spec->range.is_used ? spec->function : places.refused[i]);
	f->n += places.n_refused;
	call_places_deinit(&places);
	return alone;
}

static void refused_functions_drop_all(const char *path, struct call_resolved *resolved,
				       bool labels, struct outbuf *names)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct refused_functions f = { .names = names, .labels = labels };
	struct call_spec_error error;
	struct call_spec spec;
	size_t n = 0;

	for (size_t i = 0; i < resolved->n; i++) {
		bool last = n == 0 && i + 1 == resolved->n;

		if (fd >= 0 && call_spec_parse(resolved->list[i].spec, &spec, &error) == 0 &&
		    refused_functions_add(&f, fd, &spec) && !last)
			free(resolved->list[i].spec);
		else
			resolved->list[n++] = resolved->list[i];
	}
	resolved->n = n;
	if (f.n > f.n_named)
		outbuf_print(names, " and %zu more", f.n - f.n_named);
}

void refused_functions_drop(const char *path, struct call_resolved *resolved, struct outbuf *names)
{
	refused_functions_drop_all(path, resolved, false, names);
}

void refused_functions_drop_labels(const char *path, struct call_resolved *resolved,
				   struct outbuf *names)
{
	refused_functions_drop_all(path, resolved, true, names);
}
