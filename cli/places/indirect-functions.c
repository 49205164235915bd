/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/indirect-functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/probes/call-places.h"
#include "reader/places/place-arguments.h"
#include "reader/symbols/demangle.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

/*
 * Gives FUNCTION, the resolver of an IFUNC, its own SYMBOL, since the names of the IFUNC itself are
 * also at the address of the resolver.
 */
static int indirect_functions_name_resolver(struct place_function *function, const char *symbol)
{
	char name[PLACES_NAME_MAX];
	char *its_symbol = strdup(symbol), *its_name;

	its_name = strdup(demangle(name, sizeof(name), symbol) > 0 ? name : symbol);
	if (!its_symbol || !its_name) {
		free(its_symbol);
		free(its_name);
		return -ENOMEM;
	}
	free(function->symbol);
	free(function->name);
	function->symbol = its_symbol;
	function->name = its_name;
	return 0;
}

/*
 * Gives FUNCTION, which begins at PLACE, the name that the recorder uses for functions without a
 * symbol. Until then, such a function has its address as its name.
 */
static int indirect_functions_name(struct place_function *function, const struct call_place *place,
				   const char *name)
{
	char address[32], *text;

	if (strcmp(place->name, name) == 0)
		return indirect_functions_name_resolver(function, name);
	snprintf(address, sizeof(address), "0x%" PRIx64, function->vaddr);
	if (strcmp(function->name, address) != 0)
		return 0;
	if (asprintf(&text, "%.200s@0x%" PRIx64, name, place->begin) < 0)
		return -ENOMEM;
	free(function->name);
	function->name = text;
	return 0;
}

/* Adds the function that begins at PLACE, one of the functions of NAME. */
static int indirect_functions_add_one(struct places *p, const struct call_place *place,
				      const char *name, struct place_functions *to)
{
	struct place_functions around;
	struct place_function *list;
	uint64_t vaddr;
	int r;

	if (!places_address(p, place->begin, &vaddr))
		return -ENOENT;
	r = place_functions_around(p, vaddr, &around);
	if (r < 0)
		return r;
	list = realloc(to->list, (to->n + 1) * sizeof(*list));
	if (list) {
		to->list = list;
		list[to->n] = around.list[0];
		around.n = 0;
	}
	r = !list ? -ENOMEM : list[to->n++].vaddr != vaddr ? -ENOENT : 0;
	if (r == 0)
		r = indirect_functions_name(&list[to->n - 1], place, name);
	place_functions_deinit(&around);
	return r;
}

int indirect_functions_add(struct places *p, const char *path, const char *name,
			   struct place_functions *to)
{
	const struct call_places_query query = { .pattern = name };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct call_places places = { .n = 0 };
	int r;

	if (fd < 0)
		return -ENOENT;
	r = call_places_find_sandboxed(fd, &query, SEARCH_TIMEOUT_NS, &places);
	if (r == 0 && (places.n == 0 || places.n_refused > 0))
		r = -ENOENT;
	for (size_t i = 0; r == 0 && i < places.n; i++)
		r = indirect_functions_add_one(p, &places.places[i], name, to);
	call_places_deinit(&places);
	return r == 0 || r == -ENOMEM ? r : -ENOENT;
}

int indirect_functions_have_types(struct places *p, const struct place_functions *f)
{
	int r = -ENODATA;

	for (size_t i = 0; r != 0 && r != -ENOMEM && i < f->n; i++) {
		struct place_arguments a = { .n = 0 };

		r = place_arguments_at_entry(p, f->list[i].vaddr, &a);
		place_arguments_deinit(&a);
	}
	return r == 0 ? 1 : r == -ENOMEM ? r : 0;
}
