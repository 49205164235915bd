/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-resolve.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/function-clone.h"
#include "base/outbuf.h"
#include "base/text.h"
#include "capture/options/call-spec.h"
#include "capture/options/options.h"
#include "cli/places/call-known.h"
#include "cli/places/call-names.h"
#include "cli/places/call-target.h"
#include "cli/places/call-text.h"
#include "cli/places/indirect-functions.h"
#include "cli/places/needed-library.h"
#include "cli/places/process-file.h"
#include "cli/places/refused-functions.h"
#include "reader/places/place-arguments.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-lines.h"
#include "reader/places/place-usdt.h"
#include "reader/symbols/demangle.h"

struct resolution {
	const char *text;
	struct call_target target;
	const struct capture_filter *filter;
	struct places *places;
	char path[PATH_MAX]; /* path of the file in `places` */
	struct call_resolved found;
	size_t room;
	struct call_names clipped; /* functions with too many values */
	struct call_names untyped; /* functions whose arguments are unknown, */
	uint64_t untyped_at;       /* the address of the first function in `untyped` */
	char *why;
};

void call_resolved_deinit(struct call_resolved *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->list[i].spec);
	free(r->list);
	free(r->left_out);
	free(r->refused);
	free(r->clipped);
	free(r->untyped);
	*r = (struct call_resolved){ 0 };
}

__attribute__((format(printf, 3, 4))) static int resolve_fail(struct resolution *r, int error,
							      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, PLACES_WHY_MAX, format, args);
	va_end(args);
	return error;
}

static bool resolve_has_arguments(const struct resolution *r)
{
	return r->target.tail[strspn(r->target.tail, " \t")] == '(';
}

/* ---- specifications ---- */

/* The code that is to be watched. */
struct resolved_code {
	uint64_t begin, bytes; /* begin and size of the function */
	uint64_t vaddr;        /* address of the point */
	bool is_point;
	const char *label;
	const struct place_arguments *arguments; /* NULL = unknown */
};

static int resolve_write(struct resolution *r, const struct resolved_code *code, bool words,
			 struct outbuf *to)
{
	uint64_t offset;

	if (!places_offset(r->places, code->begin, &offset))
		return resolve_fail(r, -EINVAL, "%s has no code at 0x%" PRIx64, r->target.file,
				    code->begin);
	outbuf_print(to, strpbrk(r->target.file, ":(") ? "'%s'" : "%s", r->target.file);
	outbuf_print(to, ":+0x%" PRIx64 "+0x%" PRIx64, offset, code->bytes);
	if (code->is_point)
		outbuf_print(to, "@0x%" PRIx64, code->vaddr - code->begin);
	call_text_put_label(to, code->label);
	if (resolve_has_arguments(r))
		return outbuf_append(to, r->target.tail, strlen(r->target.tail) + 1);
	if (code->arguments)
		call_text_put_arguments(to, code->arguments, code->is_point, words);
	else
		outbuf_print(to, "()");
	return outbuf_print(to, "%s%s%c", *r->target.tail && *r->target.tail != ' ' ? " " : "",
			    r->target.tail, '\0');
}

static void resolve_set_source(struct resolution *r, uint64_t vaddr, char *to)
{
	struct dwarf_frame frames[8];
	size_t n = place_lines_at(r->places, vaddr, frames, ARRAY_SIZE(frames));
	const char *slash;

	*to = '\0';
	if (n == 0 || !frames[0].source)
		return;
	slash = strrchr(frames[0].source, '/');
	snprintf(to, CALL_SOURCE_MAX, "%.*s:%u", CALL_SOURCE_MAX - 16,
		 slash ? slash + 1 : frames[0].source, frames[0].line);
}

static int resolve_add_text(struct resolution *r, const char *spec, uint64_t vaddr)
{
	struct call_resolved_one *one;

	if (r->found.n == OPTION_CALLS_MAX)
		return resolve_fail(r, -E2BIG, "'%s' matches more than %d places of %s",
				    r->target.name, OPTION_CALLS_MAX, r->target.file);
	if (GROW(r->found.list, r->room, r->found.n + 1) < 0)
		return -ENOMEM;
	one = &r->found.list[r->found.n];
	one->spec = strdup(spec);
	if (!one->spec)
		return -ENOMEM;
	r->found.n++;
	*one->source = '\0';
	if (vaddr)
		resolve_set_source(r, vaddr, one->source);
	return 0;
}

/* Notes that CODE has more values than are recorded. */
static void resolve_add_clipped(struct resolution *r, const struct resolved_code *code)
{
	if (!resolve_has_arguments(r) && code->arguments && code->arguments->n > CALL_ARGS_MAX)
		call_names_add(&r->clipped, code->label);
}

static void resolve_note_clipped(struct resolution *r)
{
	const char *names = call_names_text(&r->clipped);

	if (names && asprintf(&r->found.clipped,
			      "of the arguments of %s, only the first %d values are recorded; a "
			      "specification with arguments can select others",
			      names, CALL_ARGS_MAX) < 0)
		r->found.clipped = NULL;
	call_names_deinit(&r->clipped);
}

/* Notes that the arguments of the function NAME at VADDR are unknown. */
static void resolve_add_untyped(struct resolution *r, uint64_t vaddr, const char *name)
{
	if (resolve_has_arguments(r))
		return;
	if (r->untyped.n == 0)
		r->untyped_at = vaddr;
	call_names_add(&r->untyped, name);
}

static void resolve_note_untyped(struct resolution *r)
{
	const char *names = call_names_text(&r->untyped);
	const char *split = names ? places_split_file(r->places, r->untyped_at) : NULL;
	const char *problem = names && !split ? places_problem(r->places) : "";

	if (names &&
	    asprintf(&r->found.untyped,
		     "%s %s recorded without arguments and result: %s%s%s%s%s; they can "
		     "be given, as in '%s(int n) -> int'",
		     names, r->untyped.n > 1 ? "are" : "is",
		     split                          ? "their types are in another file ("
		     : places_have_debug(r->places) ? "their types are not in the debug information"
						    : "there is no debug information",
		     split ?: "", split ? "), which kymo does not read" : "", *problem ? ": " : "",
		     problem,
		     strpbrk(r->target.name, "*?") || r->target.kind != CALL_TARGET_NAME
			     ? "FUNCTION"
			     : r->target.name) < 0)
		r->found.untyped = NULL;
	call_names_deinit(&r->untyped);
}

/*
 * Adds the specification of CODE. If the words of an enumeration make it invalid, because there are
 * too many, it is written without words.
 */
static int resolve_add(struct resolution *r, const struct resolved_code *code)
{
	struct outbuf text = { 0 };
	struct call_spec_error error;
	struct call_spec spec;
	int e = resolve_write(r, code, true, &text);

	if (e == 0 && call_spec_parse((const char *)text.data, &spec, &error) < 0) {
		outbuf_reset(&text);
		e = resolve_write(r, code, false, &text);
		if (e == 0 && call_spec_parse((const char *)text.data, &spec, &error) < 0)
			e = resolve_fail(r, -EINVAL, "%s, in '%.*s'", error.why, 300,
					 (const char *)text.data);
	}
	if (e == 0)
		e = resolve_add_text(r, (const char *)text.data,
				     code->is_point ? code->vaddr : code->begin);
	if (e == 0)
		resolve_add_clipped(r, code);
	outbuf_deinit(&text);
	return e;
}

/* ---- functions ---- */

static int resolve_no_function(struct resolution *r, const struct place_functions *f)
{
	const char *problem = places_symbols_problem(r->places);

	if (!places_have_symbols(r->places) && !*f->nearest)
		return resolve_fail(
			r, -ENOENT,
			"%s has no symbols (it is stripped), and its debug information was not "
			"found: its functions have no names%s%s; compile it without -s, or install "
			"its debug symbols",
			r->target.file, *problem ? ": " : "", problem);
	return resolve_fail(r, -ENOENT, "%s has no function '%s'%s%s%s%s%s%s", r->target.file,
			    r->target.name,
			    places_have_symbols(r->places) ? "" : " in its few symbols",
			    *problem ? ": " : "", problem, *f->nearest ? "; did you mean '" : "",
			    f->nearest, *f->nearest ? "'?" : "");
}

/* Searches for the function of R in libraries: the file of R can be a program that uses the
 * function, or a library that contained it in the past. */
static int resolve_in_libraries(struct resolution *r)
{
	static const char *const libraries[] = { "libc.so.6", "libm.so.6" };
	char library[PATH_MAX] = "";

	/* Each program has its own _start, which the recorder finds without a name. */
	if (strcmp(r->target.name, "_start") == 0)
		return 0;
	needed_library_find(r->places, r->target.name, r->filter, library);
	for (size_t i = 0; !*library && i < ARRAY_SIZE(libraries); i++)
		if (strcmp(r->target.file, libraries[i]) != 0 &&
		    needed_library_has(libraries[i], r->target.name, r->filter))
			snprintf(library, sizeof(library), "%s", libraries[i]);
	if (!*library)
		return 0;
	return resolve_fail(r, -ENOENT,
			    "%.100s has no function '%.100s', but %.100s has one: '%.100s:%.100s'",
			    r->target.file, r->target.name, library, library, r->target.name);
}

/* Returns the first names of F, for a message. */
static const char *resolve_names_of(const struct place_functions *f, struct call_names *names)
{
	for (size_t i = 0; i < f->n; i++)
		call_names_add(names, f->list[i].name);
	return call_names_text(names) ?: "";
}

/*
 * Reports that several functions match, although arguments are given, which can only be those of
 * one function.
 */
static int resolve_several(struct resolution *r, const struct place_functions *f)
{
	struct call_names names = { .n = 0 };
	int e = resolve_fail(r, -EINVAL,
			     "'%s' matches several functions of %s; use one of these, in quotes: "
			     "%.400s",
			     r->target.name, r->target.file, resolve_names_of(f, &names));

	call_names_deinit(&names);
	return e;
}

/* Reports that too many functions match, since each of them needs a specification of its own. */
static int resolve_too_many(struct resolution *r, const struct place_functions *f)
{
	struct call_names names = { .n = 0 };
	const char *list = resolve_names_of(f, &names);
	int e = resolve_fail(
		r, -E2BIG,
		"'%.60s' matches %zu functions of %.80s (%.*s), but at most %d are possible, "
		"because their names are only in its debug information; use a narrower pattern",
		r->target.name, f->n, r->target.file, (int)text_cut(list, strlen(list), 250), list,
		OPTION_CALLS_MAX);

	call_names_deinit(&names);
	return e;
}

/* Adds SYMBOL, in the form in which --call accepts it without quotes. */
static void resolve_add_name(struct call_names *names, const char *symbol)
{
	char name[PLACES_NAME_MAX], base[PLACES_NAME_MAX];

	if (demangle(name, sizeof(name), symbol) > 0)
		place_function_base_name(name, base);
	else
		snprintf(base, sizeof(base), "%s", symbol);
	call_names_add(names, base);
}

/* Notes the names that the pattern of R leaves out. */
static void resolve_note_left_out(struct resolution *r, const struct place_functions *f)
{
	struct call_names names = { .n = 0 };
	const char *list;

	if (f->n == 0 || !strpbrk(r->target.name, "*?"))
		return;
	for (size_t i = 0; i < f->n_indirect; i++)
		resolve_add_name(&names, f->indirect[i]);
	list = call_names_text(&names);
	if (list && asprintf(&r->found.left_out,
			     "'%s' does not match %s: each means several functions of %s, of which "
			     "one is selected at run time; use its full name to record it",
			     r->target.name, list, r->target.file) < 0)
		r->found.left_out = NULL;
	call_names_deinit(&names);
}

static void resolve_note_labels(struct resolution *r, const struct outbuf *names)
{
	char *before = r->found.left_out;

	if (names->size == 0 || names->error != 0)
		return;
	if (asprintf(&r->found.left_out,
		     "%s%s'%s' leaves out %.*s of %s: not a function (by its symbols and unwind "
		     "information), but a label",
		     before ?: "", before ? "; " : "", r->target.name, (int)names->size,
		     (const char *)names->data, r->target.file) < 0)
		r->found.left_out = before;
	else
		free(before);
}

static void resolve_note_refused(struct resolution *r, const struct outbuf *names)
{
	if (names->size > 0 && names->error == 0 &&
	    asprintf(&r->found.refused,
		     "'%s' leaves out %.*s of %s: the kernel cannot probe an instruction with a "
		     "prefix (lock, cs, ds, es or ss)",
		     r->target.name, (int)names->size, (const char *)names->data,
		     r->target.file) < 0)
		r->found.refused = NULL;
}

/*
 * Drops the functions that a pattern matches but that can have no probe, and labels at which no
 * function begins. Notes their names.
 */
static void resolve_drop_refused(struct resolution *r)
{
	struct refused_names names = { 0 };

	if (!strpbrk(r->target.name, "*?"))
		return;
	refused_functions_drop(r->path, &r->found, &names);
	resolve_note_labels(r, &names.labels.names);
	resolve_note_refused(r, &names.refused.names);
	refused_names_deinit(&names);
}

/* Drops the clones of a function whose arguments are given, since the arguments of a clone can be
 * in other places. Keeps a clone that is requested by its own name. */
static int resolve_drop_clones(struct resolution *r, struct place_functions *f)
{
	char clone[PLACES_NAME_MAX] = "";
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct place_function *one = &f->list[i];

		if (!function_clone_is_changed(one->symbol) ||
		    fnmatch(r->target.name, one->symbol, 0) == 0) {
			f->list[n++] = *one;
			continue;
		}
		snprintf(clone, sizeof(clone), "%s", one->symbol);
		free(one->symbol);
		free(one->name);
	}
	f->n = n;
	if (n > 0 || !*clone)
		return 0;
	return resolve_fail(r, -ENOENT,
			    "%s has '%s' only as '%s', whose arguments the compiler may have "
			    "changed; omit the arguments, or use that name",
			    r->target.file, r->target.name, clone);
}

/*
 * Returns true if all functions of F are in the symbol table with the given name, so that the
 * recorder finds them by itself.
 */
static bool resolve_is_plain(const struct resolution *r, const struct place_functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (fnmatch(r->target.name, f->list[i].symbol, 0) != 0)
			return false;
	return !r->target.is_source_name;
}

/* Returns true if another function in F has the name of function OF, with other parameters. */
static bool resolve_is_overloaded(const struct place_functions *f, size_t of)
{
	char base[PLACES_NAME_MAX], other[PLACES_NAME_MAX];

	place_function_base_name(f->list[of].name, base);
	for (size_t i = 0; i < f->n; i++) {
		place_function_base_name(f->list[i].name, other);
		if (i != of && strcmp(base, other) == 0)
			return true;
	}
	return false;
}

static int resolve_function(struct resolution *r, const struct place_functions *f, size_t i)
{
	char base[PLACES_NAME_MAX];
	struct place_arguments a = { .n = 0 };
	struct resolved_code code = { .begin = f->list[i].vaddr,
				      .bytes = f->list[i].bytes,
				      .label = base };
	int e = place_arguments_at_entry(r->places, f->list[i].vaddr, &a);

	if (e == -ENOMEM)
		return e;
	if (e == 0)
		code.arguments = &a;
	if (resolve_is_overloaded(f, i) || function_clone_is_resolver(f->list[i].symbol))
		code.label = f->list[i].name;
	else
		place_function_base_name(f->list[i].name, base);
	if (e == -ENODATA)
		resolve_add_untyped(r, code.begin, code.label);
	e = resolve_add(r, &code);
	place_arguments_deinit(&a);
	return e;
}

/*
 * Handles F with only IFUNCs. Adds the functions from which the IFUNCs select, since each of these
 * functions can have its own types. Returns 1; 0 if the recorder is to find the functions; or a
 * negative errno. For the recorder, one specification means all of them, so they are added only for
 * their types, or for a name that the recorder does not know.
 */
static int resolve_indirect(struct resolution *r, const struct place_functions *f)
{
	struct place_functions them = { .n = 0 };
	int e = 0;

	if (!r->target.is_source_name &&
	    (!places_have_debug(r->places) || resolve_has_arguments(r) || call_known_is(r->text)))
		return 0;
	for (size_t i = 0; e == 0 && i < f->n_indirect; i++)
		e = indirect_functions_add(r->places, r->path, f->indirect[i], &them);
	if (e == 0 && !r->target.is_source_name)
		e = indirect_functions_have_types(r->places, &them);
	else if (e == 0)
		e = 1;
	for (size_t i = 0; e == 1 && i < them.n; i++)
		e = resolve_function(r, &them, i) ?: 1;
	place_functions_deinit(&them);
	return e == -ENOENT ? 0 : e;
}

/*
 * Adds the name of R unchanged. The recorder finds its functions, or reports why it found no
 * function.
 */
static int resolve_by_recorder(struct resolution *r, const struct place_functions *f)
{
	for (size_t i = 0; i < f->n_indirect && !strpbrk(r->target.name, "*?"); i++)
		if (!call_known_is(r->text))
			resolve_add_untyped(r, 0, f->indirect[i]);
	return resolve_add_text(r, r->text, 0);
}

static int resolve_functions(struct resolution *r, struct place_functions *f)
{
	int e = resolve_has_arguments(r) ? resolve_drop_clones(r, f) : 0;
	bool plain = resolve_is_plain(r, f), known = plain && call_known_any(r->target.file, f);

	if (e < 0)
		return e;
	if (f->n == 0 && f->n_indirect == 0 && !strpbrk(r->target.name, "*?"))
		e = resolve_in_libraries(r);
	if (e < 0)
		return e;
	if (f->n == 0 && f->n_indirect > 0 && !strpbrk(r->target.name, "*?"))
		e = resolve_indirect(r, f);
	if (e != 0)
		return e < 0 ? e : 0;
	/* (if a name of the symbol table has no function, the recorder reports the reason) */
	if (f->n == 0 && !r->target.is_source_name &&
	    (f->n_indirect > 0 || (!*f->nearest && places_have_own_symbols(r->places) &&
				   !*places_symbols_problem(r->places))))
		return resolve_by_recorder(r, f);
	if (f->n == 0)
		return resolve_no_function(r, f);
	if (resolve_has_arguments(r) && f->n > 1 && !plain && !strpbrk(r->target.name, "*?"))
		return resolve_several(r, f);
	if (plain &&
	    (resolve_has_arguments(r) || !places_have_debug(r->places) || f->n > OPTION_CALLS_MAX ||
	     known) &&
	    (places_have_own_symbols(r->places) || known)) {
		for (size_t i = 0; !known && i < f->n; i++)
			resolve_add_untyped(r, f->list[i].vaddr, f->list[i].name);
		return resolve_add_text(r, r->text, f->n == 1 ? f->list[0].vaddr : 0);
	}
	if (f->n > OPTION_CALLS_MAX)
		return resolve_too_many(r, f);
	for (size_t i = 0; e == 0 && i < f->n; i++)
		e = resolve_function(r, f, i);
	return e;
}

static int resolve_name(struct resolution *r)
{
	struct place_functions f;
	int e;

	/* (a function of an IFUNC, by its offset: only the recorder knows such names) */
	if (strstr(r->target.name, "@0x") && !r->target.is_source_name)
		return resolve_add_text(r, r->text, 0);
	e = place_functions_find(r->places, r->target.name, &f);
	if (e < 0)
		return e;
	e = resolve_functions(r, &f);
	if (e == 0) {
		resolve_note_left_out(r, &f);
		resolve_drop_refused(r);
	}
	place_functions_deinit(&f);
	return e;
}

/* ---- points ---- */

/* Adds the instruction at VADDR, which is called LABEL. */
static int resolve_point(struct resolution *r, uint64_t vaddr, const char *label,
			 const struct place_arguments *arguments)
{
	struct place_functions f;
	struct resolved_code code = {
		.vaddr = vaddr, .is_point = true, .label = label, .arguments = arguments
	};
	int e = place_functions_around(r->places, vaddr, &f);

	if (e == -ENOENT)
		return resolve_fail(r, -ENOENT,
				    "%s has no symbol of the function at 0x%" PRIx64 ", so the "
				    "boundaries of its instructions are unknown",
				    r->target.file, vaddr);
	if (e < 0)
		return e;
	code.begin = f.list[0].vaddr;
	code.bytes = f.list[0].bytes;
	e = resolve_add(r, &code);
	place_functions_deinit(&f);
	return e;
}

/* Adds the instruction at VADDR with the variables that are visible there. */
static int resolve_point_with_variables(struct resolution *r, uint64_t vaddr, const char *label)
{
	struct place_arguments a = { .n = 0 };
	int e = place_arguments_at(r->places, vaddr, &a);

	if (e == -ENOMEM)
		return e;
	e = resolve_point(r, vaddr, label, e == 0 ? &a : NULL);
	place_arguments_deinit(&a);
	return e;
}

static int resolve_line(struct resolution *r)
{
	char label[CALL_FUNCTION_MAX];
	struct place_line line;
	int e = place_lines_find(r->places, r->target.name, (uint32_t)r->target.number, &line,
				 r->why, PLACES_WHY_MAX);

	snprintf(label, sizeof(label), "%.*s:%" PRIu64,
		 (int)text_cut(r->target.name, strlen(r->target.name), 200), r->target.name,
		 r->target.number);
	for (size_t i = 0; e == 0 && i < line.n; i++)
		e = resolve_point_with_variables(r, line.vaddrs[i], label);
	return e;
}

static int resolve_address(struct resolution *r)
{
	struct place_functions f;
	int e = place_functions_around(r->places, r->target.number, &f);

	if (e == -ENOENT || (e == 0 && f.list[0].vaddr != r->target.number)) {
		if (e == 0)
			place_functions_deinit(&f);
		return resolve_point_with_variables(r, r->target.number, r->target.name);
	}
	if (e < 0)
		return e;
	e = resolve_function(r, &f, 0);
	place_functions_deinit(&f);
	return e;
}

static int resolve_usdt(struct resolution *r)
{
	char label[CALL_FUNCTION_MAX];
	struct place_usdts u;
	int e = place_usdts_named(r->places, r->target.file, r->target.name, &u, r->why);

	if (e < 0)
		return e;
	for (size_t i = 0; e == 0 && i < u.n; i++) {
		const struct place_usdt *probe = &u.list[i];

		snprintf(label, sizeof(label), "%.*s:%.*s",
			 (int)text_cut(probe->provider, strlen(probe->provider), 120),
			 probe->provider, (int)text_cut(probe->name, strlen(probe->name), 120),
			 probe->name);
		e = resolve_point(r, probe->vaddr, label, &probe->arguments);
	}
	place_usdts_deinit(&u);
	return e;
}

/* ---- all ---- */

/*
 * Returns true if the recorder knows the function and its arguments from its tables for libc.so, so
 * its file is not opened. A function of another library of libc is searched, since it may have
 * moved to libc.so.6.
 */
static bool resolve_is_known(const struct resolution *r)
{
	const char *slash = strrchr(r->target.file, '/');

	return r->target.kind == CALL_TARGET_NAME && !r->target.is_source_name &&
	       strncmp(slash ? slash + 1 : r->target.file, "libc.", 5) == 0 &&
	       call_known_is(r->text);
}

/*
 * Adds a hint to the message about a missing file: the file's name may be longer, and need quotes.
 */
static void resolve_hint_at_quotes(struct resolution *r)
{
	size_t n = strlen(r->why);

	if (strchr(r->target.name, '/') || strpbrk(r->target.tail, ":/"))
		snprintf(r->why + n, PLACES_WHY_MAX - n,
			 " (a path with ':' or '(' is written in quotes, 'PATH':FUNCTION)");
}

static int resolve_open(struct resolution *r)
{
	struct process_file file;
	int e = process_file_find(r->target.file, r->filter, &file);

	if (e < 0)
		e = resolve_fail(
			r, -ENOENT,
			"there is no library or program '%s'; name its path, or find it with 'ldconfig -p'",
			r->target.file);
	else
		e = process_file_open(&file, &r->places, r->why, PLACES_WHY_MAX);
	if (e == 0)
		snprintf(r->path, sizeof(r->path), "%s", file.path);
	if (e == -ENOENT)
		resolve_hint_at_quotes(r);
	return e;
}

static int resolve_wanted(struct resolution *r)
{
	switch (r->target.kind) {
	case CALL_TARGET_LINE:
		return resolve_line(r);
	case CALL_TARGET_ADDRESS:
		return resolve_address(r);
	case CALL_TARGET_USDT:
		return resolve_usdt(r);
	default:
		return resolve_name(r);
	}
}

int call_resolve(const char *text, const struct capture_filter *filter, struct call_resolved *ret,
		 char why[static PLACES_WHY_MAX])
{
	struct resolution r = { .text = text, .filter = filter, .why = why };
	int e;

	*why = '\0';
	e = call_target_parse(text, &r.target, why);
	if (e < 0)
		return e;
	if (e == 0 || resolve_is_known(&r))
		e = resolve_add_text(&r, text, 0);
	else
		e = resolve_open(&r);
	if (e == 0 && r.places)
		e = resolve_wanted(&r);
	else if (e == -ENOEXEC && r.target.kind == CALL_TARGET_NAME && !r.target.is_source_name)
		e = resolve_add_text(&r, text, 0);
	resolve_note_clipped(&r);
	resolve_note_untyped(&r);
	places_free(r.places);
	if (e < 0)
		call_resolved_deinit(&r.found);
	else
		*ret = r.found;
	return e;
}
