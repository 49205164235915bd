/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/needed-library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/places/process-file.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-needed.h"

struct needed_libraries {
	const struct places *program;
	const char *environment; /* LD_LIBRARY_PATH of a program that kymo starts, or NULL */
	char *names[NEEDED_LIBRARIES_MAX]; /* owned */
	/* true = the library is a preloaded path, and is not searched by name */
	bool is_path[NEEDED_LIBRARIES_MAX];
	size_t n;
	int error; /* why the list is incomplete; 0 = it is complete */
};

static bool needed_library_is_listed(const struct needed_libraries *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->names[i], name) == 0)
			return true;
	return false;
}

/*
 * Writes to TO the path of the library NAME in the directory DIR, of N bytes. $ORIGIN at the begin
 * of DIR means the directory of the file at OF.
 */
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

/*
 * Writes to TO the path of the library NAME, which the file at OF needs, in one of PATH's
 * directories; an empty directory means the working directory. PATH can be NULL. Returns whether
 * the library exists.
 */
static bool needed_library_search(const char *path, const char *of, const char *name,
				  char to[static PATH_MAX])
{
	const char *at = path;

	while (path && *path) {
		size_t n = strcspn(at, ":;");

		needed_library_expand(n > 0 ? at : ".", n > 0 ? n : 1, of, name, to);
		if (access(to, R_OK) == 0)
			return true;
		if (!at[n])
			break;
		at += n + 1;
	}
	return false;
}

/*
 * Writes to TO the path of the library NAME, which P needs, if it is in a directory that a file or
 * the environment names; otherwise, writes NAME. The order of the search is that of the dynamic
 * linker.
 */
static void needed_library_locate(const struct needed_libraries *l, const struct places *p,
				  const char *name, char to[static PATH_MAX])
{
	const char *run_path = place_needed_path(p, PLACE_NEEDED_RUNPATH);
	const char *program_path = place_needed_path(l->program, PLACE_NEEDED_RUNPATH)
					   ? NULL
					   : place_needed_path(l->program, PLACE_NEEDED_RPATH);

	if (strchr(name, '/') ||
	    !((!run_path &&
	       (needed_library_search(place_needed_path(p, PLACE_NEEDED_RPATH), places_path(p),
				      name, to) ||
		needed_library_search(program_path, places_path(l->program), name, to))) ||
	      needed_library_search(l->environment, places_path(p), name, to) ||
	      needed_library_search(run_path, places_path(p), name, to)))
		snprintf(to, PATH_MAX, "%s", name);
}

/* Appends the library NAME, which P needs. */
static void needed_library_append(struct needed_libraries *l, const struct places *p,
				  const char *name)
{
	char path[PATH_MAX];

	needed_library_locate(l, p, name, path);
	if (needed_library_is_listed(l, path))
		return;
	if (l->n == NEEDED_LIBRARIES_MAX)
		l->error = -E2BIG;
	else if (!(l->names[l->n] = strdup(path)))
		l->error = -ENOMEM;
	else
		l->n++;
}

/* Appends the libraries that P needs. */
static void needed_library_list(struct needed_libraries *l, const struct places *p)
{
	const char *name;

	for (size_t i = 0; l->error == 0 && (name = place_needed_name(p, i)); i++)
		needed_library_append(l, p, name);
}

/* The values of the words that the dynamic linker replaces in the names of libraries. */
struct needed_library_tokens {
	const char *origin, *lib, *platform;
};

/* Returns the length of the token at AT, and its value; 0 = AT is not a token. */
static size_t needed_library_token(const struct needed_library_tokens *t, const char *at,
				   const char **ret)
{
	const struct {
		const char *name, *value;
	} tokens[] = {
		{ "$ORIGIN", t->origin },     { "${ORIGIN}", t->origin },
		{ "$LIB", t->lib },           { "${LIB}", t->lib },
		{ "$PLATFORM", t->platform }, { "${PLATFORM}", t->platform },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		size_t n = strlen(tokens[i].name);

		*ret = tokens[i].value;
		if (strncmp(at, tokens[i].name, n) == 0)
			return n;
	}
	return 0;
}

/*
 * Writes to TO the path NAME, in which tokens are replaced by their values. Returns whether the
 * path exists.
 */
static bool needed_library_replace(const struct needed_library_tokens *t, const char *name,
				   char to[static PATH_MAX])
{
	const char *value;
	size_t n = 0, skip;

	for (const char *at = name; *at; at += skip) {
		skip = needed_library_token(t, at, &value);
		if (skip == 0) {
			value = at;
			skip = 1;
		}
		n += (size_t)snprintf(to + n, PATH_MAX - n, "%.*s",
				      value == at ? 1 : (int)strlen(value), value);
		if (n >= PATH_MAX)
			return false;
	}
	to[n] = '\0';
	return access(to, F_OK) == 0;
}

/*
 * Appends the library PATH, which contains tokens. The values of tokens depend on the system and on
 * the processor, so all existing libraries that PATH can mean are appended. If none exists, PATH
 * itself is appended, and is later reported as missing.
 */
static void needed_library_append_each(struct needed_libraries *l, const char *path)
{
	static const char *const libs[] = { "lib/x86_64-linux-gnu", "lib64", "lib" };
	static const char *const platforms[] = { "x86_64", "haswell", "xeon_phi" };
	_cleanup_free_ char *origin = realpath(places_path(l->program), NULL);
	struct needed_library_tokens t = { .origin = origin };
	size_t before = l->n;
	bool found = false;
	char name[PATH_MAX];

	if (!origin) {
		l->error = -errno;
		return;
	}
	*strrchr(origin, '/') = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(libs) * ARRAY_SIZE(platforms); i++) {
		t.lib = libs[i % ARRAY_SIZE(libs)];
		t.platform = platforms[i / ARRAY_SIZE(libs)];
		if (!needed_library_replace(&t, path, name))
			continue;
		needed_library_append(l, l->program, name);
		found = true;
	}
	if (!found)
		needed_library_append(l, l->program, path);
	for (size_t i = before; i < l->n; i++)
		l->is_path[i] = true;
}

/* Appends the preloaded library NAME, which the dynamic linker adds. */
static void needed_library_append_preloaded(struct needed_libraries *l, const char *name)
{
	if (strchr(name, '/'))
		needed_library_append_each(l, name);
	else
		needed_library_append(l, l->program, name);
}

/* Appends the libraries in TEXT. White space and colons separate them. */
static void needed_library_list_text(struct needed_libraries *l, const char *text)
{
	static const char separators[] = " :\t\n";
	char name[PATH_MAX];

	for (const char *at = text + strspn(text, separators); l->error == 0 && *at;
	     at += strspn(at, separators)) {
		size_t n = strcspn(at, separators);

		/* (the dynamic linker ignores longer names) */
		if (n < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)n, at);
			needed_library_append_preloaded(l, name);
		}
		at += n;
	}
}

/* Appends the libraries in the file at PATH. Its lines can have comments. */
static void needed_library_list_file(struct needed_libraries *l, const char *path)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(path, "re");

	if (!f && errno != ENOENT)
		l->error = -errno;
	while (f && l->error == 0 && getline(&line, &room, f) >= 0) {
		line[strcspn(line, "#")] = '\0';
		needed_library_list_text(l, line);
	}
	if (f)
		fclose(f);
}

static int needed_library_open(const char *name, const struct capture_filter *filter,
			       struct places **ret, char why[static NEEDED_LIBRARY_WHY_MAX])
{
	struct process_file file;
	int r = process_file_find(name, filter, &file);

	*why = '\0';
	if (r < 0)
		snprintf(why, NEEDED_LIBRARY_WHY_MAX, "%s: %s", name,
			 r == -ENOENT ? "no such library was found" : strerror(-r));
	if (r < 0)
		return r;
	r = process_file_open(&file, ret, why, NEEDED_LIBRARY_WHY_MAX);
	if (r < 0 && !*why)
		snprintf(why, NEEDED_LIBRARY_WHY_MAX, "%s: %s", name, strerror(-r));
	return r;
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
	_cleanup_(places_freep) struct places *p = NULL;
	char why[NEEDED_LIBRARY_WHY_MAX];

	return needed_library_open(name, filter, &p, why) == 0 && needed_library_in(p, function);
}

static struct needed_libraries needed_library_begin(const struct places *program,
						    const struct capture_filter *filter)
{
	return (struct needed_libraries){
		.program = program,
		.environment = filter->n_pids > 0 ? NULL : getenv("LD_LIBRARY_PATH"),
	};
}

static void needed_library_list_free(struct needed_libraries *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
}

bool needed_library_find(const struct places *program, const char *function,
			 const struct capture_filter *filter, char to[static PATH_MAX])
{
	struct needed_libraries l = needed_library_begin(program, filter);
	char why[NEEDED_LIBRARY_WHY_MAX];
	bool found = false;

	needed_library_list(&l, program);
	for (size_t i = 0; !found && i < l.n; i++) {
		_cleanup_(places_freep) struct places *p = NULL;

		if (needed_library_open(l.names[i], filter, &p, why) < 0)
			continue;
		found = needed_library_in(p, function);
		if (found)
			snprintf(to, PATH_MAX, "%s", l.names[i]);
		else
			needed_library_list(&l, p);
	}
	needed_library_list_free(&l);
	return found;
}

/* Visits the libraries in L, and the libraries that these need. Frees L. */
static int needed_library_visit(struct needed_libraries *l, const struct capture_filter *filter,
				const struct needed_library_visitor *visitor)
{
	char why[NEEDED_LIBRARY_WHY_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && l->error == 0 && i < l->n; i++) {
		_cleanup_(places_freep) struct places *p = NULL;

		if (needed_library_open(l->names[i], filter, &p, why) < 0) {
			r = visitor->on_failure(why, visitor->userdata);
			continue;
		}
		/*
		 * (a preloaded path to a library of another word size is ignored; a library that is
		 * searched by name can also be in the next directory)
		 */
		if (l->is_path[i] && !place_needed_same_size(p, l->program))
			continue;
		needed_library_list(l, p);
		r = visitor->on_library(places_path(p), visitor->userdata);
	}
	needed_library_list_free(l);
	return r ?: l->error;
}

int needed_library_each(const struct places *program, const struct capture_filter *filter,
			const struct needed_library_visitor *visitor)
{
	struct needed_libraries l = needed_library_begin(program, filter);

	needed_library_list(&l, program);
	return needed_library_visit(&l, filter, visitor);
}

int needed_library_each_preloaded(const struct places *program, const char *preload,
				  const struct needed_library_visitor *visitor)
{
	static const struct capture_filter all;
	struct needed_libraries l = needed_library_begin(program, &all);
	const char *text = getenv("LD_PRELOAD");

	if (!place_needed_is_dynamic(program))
		return 0;
	if (text)
		needed_library_list_text(&l, text);
	needed_library_list_file(&l, preload);
	return needed_library_visit(&l, &all, visitor);
}
