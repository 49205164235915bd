/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/needed-library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/places/process-file.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-needed.h"

enum { LIBRARIES_MAX = 64 }; /* one program rarely needs more; the rest is not searched */

struct needed_libraries {
	char *names[LIBRARIES_MAX]; /* owned */
	size_t n;
};

static bool needed_library_is_listed(const struct needed_libraries *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->names[i], name) == 0)
			return true;
	return false;
}

/* Writes to TO the path of the library NAME in the directory DIR, of N bytes, for a file at OF. */
static void needed_library_expand(const char *dir, size_t n, const char *of, const char *name,
				  char to[static PATH_MAX])
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(of, '/');
	int n_of = slash ? (int)(slash - of) : 1;

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		size_t skip = strlen(origins[i]);

		if (n >= skip && strncmp(dir, origins[i], skip) == 0) {
			snprintf(to, PATH_MAX, "%.*s%.*s/%s", n_of, slash ? of : ".",
				 (int)(n - skip), dir + skip, name);
			return;
		}
	}
	snprintf(to, PATH_MAX, "%.*s/%s", (int)n, dir, name);
}

/* Writes to TO the path of the library NAME in a directory of P's own path, else NAME. */
static void needed_library_locate(const struct places *p, const char *name,
				  char to[static PATH_MAX])
{
	const char *path = strchr(name, '/') ? NULL : place_needed_path(p);

	for (; path && *path; path += strspn(path, ":")) {
		size_t n = strcspn(path, ":");

		needed_library_expand(path, n, places_path(p), name, to);
		if (access(to, R_OK) == 0)
			return;
		path += n;
	}
	snprintf(to, PATH_MAX, "%s", name);
}

/* Appends the libraries that P needs. */
static void needed_library_list(struct needed_libraries *l, const struct places *p)
{
	char path[PATH_MAX];
	const char *name;

	for (size_t i = 0; l->n < LIBRARIES_MAX && (name = place_needed_name(p, i)); i++) {
		needed_library_locate(p, name, path);
		if (!needed_library_is_listed(l, path) && (l->names[l->n] = strdup(path)))
			l->n++;
	}
}

static struct places *needed_library_open(const char *name, const struct capture_filter *filter)
{
	struct process_file file;
	struct places *places;
	char why[PLACES_WHY_MAX];

	if (process_file_find(name, filter, &file) < 0 ||
	    process_file_open(&file, &places, why, sizeof(why)) < 0)
		return NULL;
	return places;
}

static bool needed_library_in(struct places *p, const char *function)
{
	struct place_functions f;
	bool found;

	if (place_functions_find(p, function, &f) < 0)
		return false;
	found = f.n > 0 || f.n_indirect > 0;
	place_functions_deinit(&f);
	return found;
}

bool needed_library_has(const char *name, const char *function, const struct capture_filter *filter)
{
	_cleanup_(places_freep) struct places *p = needed_library_open(name, filter);

	return p && needed_library_in(p, function);
}

bool needed_library_find(const struct places *program, const char *function,
			 const struct capture_filter *filter, char to[static PATH_MAX])
{
	struct needed_libraries l = { .n = 0 };
	bool found = false;

	needed_library_list(&l, program);
	for (size_t i = 0; !found && i < l.n; i++) {
		_cleanup_(places_freep) struct places *p = needed_library_open(l.names[i], filter);

		found = p && needed_library_in(p, function);
		if (found)
			snprintf(to, PATH_MAX, "%s", l.names[i]);
		else if (p)
			needed_library_list(&l, p);
	}
	for (size_t i = 0; i < l.n; i++)
		free(l.names[i]);
	return found;
}

int needed_library_each(const struct places *program, const struct capture_filter *filter,
			int (*fn)(const char *path, void *userdata), void *userdata)
{
	struct needed_libraries l = { .n = 0 };
	int r = 0;

	needed_library_list(&l, program);
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		_cleanup_(places_freep) struct places *p = needed_library_open(l.names[i], filter);

		if (!p)
			continue;
		needed_library_list(&l, p);
		r = fn(places_path(p), userdata);
	}
	for (size_t i = 0; i < l.n; i++)
		free(l.names[i]);
	return r;
}
