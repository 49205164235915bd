/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/rtrace-names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/outbuf.h"
#include "cli/common/verb.h"
#include "reader/rtrace/rtrace-parse.h"
#include "writer/rtrace/rtrace-line.h"

/*
 * KNOWN_MAX: maximum number of addresses whose names are stored. NAME_SHOWN, PATH_SHOWN: maximum
 * lengths of shown names and paths.
 */
enum { KNOWN_MAX = 1 << 20, NAME_SHOWN = 1500, PATH_SHOWN = 2000 };

struct known_name {
	uint64_t n_maps; /* number of maps at the time of the lookup */
	size_t n;
	char text[];
};

void rtrace_names_init(struct rtrace_names *names, struct symbols *symbols)
{
	*names = (struct rtrace_names){ .symbols = symbols };
}

void rtrace_names_deinit(struct rtrace_names *names)
{
	table_deinit_free(&names->known);
	for (size_t i = 0; i < names->n; i++) {
		free(names->maps[i].path);
		free(names->maps[i].shown);
	}
	names->maps = free_ptr(names->maps);
	names->n = names->room = 0;
}

/* ---- maps ---- */

/* Returns the path as one word. Spaces, which paths in foreign reports can have, are escaped. */
static char *rtrace_names_shown_path(const struct rtrace_map *map)
{
	static const size_t mark = sizeof(RTRACE_MAP_MARK) - 1;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	char *end;

	if (rtrace_line_map(&b, map) < 0 || outbuf_append(&b, "", 1) < 0)
		return strdup("?");
	end = strstr((char *)b.data, RTRACE_MAP_ARROW);
	return strndup((char *)b.data + mark, (size_t)(end - (char *)b.data) - mark);
}

int rtrace_names_map(struct rtrace_names *names, const struct rtrace_map *map)
{
	struct rtrace_names_map *m;

	if (GROW(names->maps, names->room, names->n + 1) < 0)
		return -ENOMEM;
	m = &names->maps[names->n];
	*m = (struct rtrace_names_map){
		.path = malloc(map->path.n + 1),
		.shown = rtrace_names_shown_path(map),
		.start = map->start,
		.end = map->end,
	};
	names->n++;
	if (!m->path || !m->shown)
		return -ENOMEM;
	rtrace_unescape(m->path, map->path);
	return 0;
}

/*
 * Finds the map of the return address ADDRESS. If several maps contain it, the latest map counts.
 */
static struct rtrace_names_map *rtrace_names_find_map(const struct rtrace_names *names,
						      uint64_t address, uint64_t n_maps)
{
	for (size_t i = n_maps < names->n ? (size_t)n_maps : names->n; i > 0; i--) {
		struct rtrace_names_map *m = &names->maps[i - 1];

		if (address >= m->start && address < m->end)
			return m;
	}
	return NULL;
}

/* ---- names ---- */

/*
 * Finds the function that contains the address, not a function that is inlined there. Returns 0 or
 * -ENOMEM.
 */
static int rtrace_names_resolve(struct rtrace_names *names, const struct rtrace_names_map *m,
				uint64_t address, const struct symbol_frame **ret)
{
	const struct symbol_query query = {
		.is_return = true,
		.address = address,
		.mapping = {
			.path = m->path,
			.start = m->start,
			.size = m->end - m->start,
			.whole = true,
		},
	};
	const struct symbol_frame *frames;
	size_t n;
	int r;

	*ret = NULL;
	/*
	 * Other names are not files. Code that the original process has generated does not exist in
	 * this process.
	 */
	if (m->path[0] != '/' && strcmp(m->path, "[vdso]") != 0)
		return 0;
	r = symbols_resolve(names->symbols, &query, &frames, &n);
	if (r == 0)
		*ret = &frames[n - 1];
	return r;
}

/* Formats "NAME() at SOURCE:LINE", "NAME() from PATH", or "from PATH". Returns the length. */
static size_t rtrace_names_format(struct rtrace_names *names, const struct rtrace_names_map *m,
				  const struct symbol_frame *f)
{
	const char *source = f && f->source && f->line > 0 ? f->source : NULL;
	int n = 0;

	if (f && f->function)
		n = snprintf(names->text, sizeof(names->text), "%.*s%s%s ", NAME_SHOWN, f->function,
			     strlen(f->function) > NAME_SHOWN ? "..." : "",
			     strchr(f->function, '(') ? "" : "()");
	/*
	 * Other tools search for the colon before the line number, so SOURCE must not contain a
	 * colon.
	 */
	if (source && n > 0 && !strchr(source, ':') && strlen(source) <= PATH_SHOWN)
		n += snprintf(names->text + n, sizeof(names->text) - (size_t)n, "at %s:%" PRIu32,
			      source, f->line);
	else
		n += snprintf(names->text + n, sizeof(names->text) - (size_t)n, "from %.*s",
			      PATH_SHOWN, m->shown);
	return (size_t)n;
}

static int rtrace_names_remember(struct rtrace_names *names, uint64_t address,
				 struct rtrace_text text)
{
	struct known_name *k = table_get(&names->known, address + 1);
	int r;

	free(k);
	if (k)
		table_remove(&names->known, address + 1);
	if (address == UINT64_MAX || names->known.n_used >= KNOWN_MAX)
		return 0;
	k = malloc(sizeof(*k) + text.n);
	if (!k)
		return -ENOMEM;
	k->n_maps = names->n;
	k->n = text.n;
	memcpy(k->text, text.bytes, text.n);
	r = table_set(&names->known, address + 1, k);
	if (r < 0)
		free(k);
	return r;
}

int rtrace_names_find(struct rtrace_names *names, uint64_t address, uint64_t n_maps,
		      struct rtrace_text *ret)
{
	const struct known_name *k = table_get(&names->known, address + 1);
	struct rtrace_names_map *m;
	const struct symbol_frame *frame;
	int r;

	/* (a later lookup for an earlier state of the maps is not stored) */
	if (k && k->n_maps == n_maps) {
		*ret = (struct rtrace_text){ k->text, k->n };
		return 0;
	}
	m = rtrace_names_find_map(names, address, n_maps);
	names->n_asked++;
	if (!m) {
		names->n_unmapped++;
		*ret = RTRACE_TEXT(RTRACE_FRAME_UNKNOWN);
		return 0;
	}
	r = rtrace_names_resolve(names, m, address, &frame);
	if (r < 0)
		return r;
	m->n_asked++;
	m->n_unnamed += !frame || !frame->function;
	*ret = (struct rtrace_text){ names->text, rtrace_names_format(names, m, frame) };
	return n_maps == names->n ? rtrace_names_remember(names, address, *ret) : 0;
}

void rtrace_names_print_missing(const struct rtrace_names *names)
{
	const struct symbol_problem *problem;
	size_t pos = 0;

	for (size_t i = 0; i < names->n; i++)
		if (names->maps[i].n_unnamed > 0)
			cli_error("%" PRIu64 " of %" PRIu64 " addresses without a name: %s",
				  names->maps[i].n_unnamed, names->maps[i].n_asked,
				  names->maps[i].shown);
	if (names->n_unmapped > 0)
		cli_error("%" PRIu64 " addresses are not in any file that the report lists",
			  names->n_unmapped);
	while ((problem = symbols_next_problem(names->symbols, &pos)))
		cli_error("%s: %s", problem->file, problem->what);
}
