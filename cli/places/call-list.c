/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/value.h"
#include "capture/options/call-spec.h"
#include "capture/probes/call-places.h"
#include "cli/places/process-file.h"
#include "model/calls/call-syscalls.h"
#include "model/calls/libc-functions.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

struct call_list {
	struct call_spec spec;
	const char *rest; /* rest of the text after the name */
	call_list_fn *fn;
	void *userdata;
};

/* Returns the part of TEXT after the name: arguments, condition and limit. */
static const char *call_list_rest(const char *text)
{
	const char *file, *p;
	size_t n;

	p = call_spec_find_file(text, &file, &n);
	if (*p != ':')
		p = text;
	return p + strcspn(p, "( \t");
}

/*
 * Passes the function NAME to FN. If the specification omits arguments and result, those of
 * SIGNATURE are added.
 */
static void call_list_pass(const struct call_list *l, const char *name, const char *signature)
{
	bool quoted = strpbrk(l->spec.file, ":(") != NULL, given = *l->rest == '(';
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s%s%s:%s%s%s", quoted ? "'" : "", l->spec.file, quoted ? "'" : "",
		     name, given ? "" : signature, l->rest) < 0)
		text = NULL;
	if (text)
		l->fn(text, l->userdata);
}

/* ---- system calls ---- */

static int call_list_on_syscall(const struct call_syscall *call, void *userdata)
{
	call_list_pass(userdata, call->name, call->signature);
	return 0;
}

static int call_list_compare_syscall(const struct call_syscall *call, void *userdata)
{
	value_nearest_try(userdata, call->name);
	return 0;
}

static int call_list_syscalls(struct call_list *l, char why[static PLACES_WHY_MAX])
{
	struct value_nearest near = { .text = l->spec.function, .distance = VALUE_NEAR };

	if (call_syscall_match(l->spec.function, call_list_on_syscall, l) > 0)
		return 0;
	call_syscall_match("*", call_list_compare_syscall, &near);
	snprintf(why, PLACES_WHY_MAX, "there is no system call '%s'%s%s%s", l->spec.function,
		 near.nearest ? "; did you mean '" : "", near.nearest ?: "",
		 near.nearest ? "'?" : "");
	return -ENOENT;
}

/* ---- functions ---- */

/* Returns the known arguments and result of the function NAME in the file of L, or "". */
static const char *call_list_signature(const struct call_list *l, const char *name)
{
	char text[CALL_FILE_MAX + CALL_PLACE_NAME_MAX + 1];
	struct call_spec_error error;
	struct call_spec known;

	snprintf(text, sizeof(text), "%s:%s", l->spec.file, name);
	if (call_spec_parse(text, &known, &error) < 0 || !known.implied ||
	    (known.n_args == 0 && known.ret.form == CALL_VOID))
		return "";
	return call_function_signature(name) ?: "";
}

static int call_list_functions(struct call_list *l, const struct capture_filter *filter,
			       char why[static PLACES_WHY_MAX])
{
	const struct call_places_query query = { .pattern = l->spec.function,
						 .n_args = call_spec_n_registers(&l->spec) };
	struct call_places places = { .n = 0 };
	_cleanup_close_ int fd = -1;
	struct process_file file;
	int r = process_file_find(l->spec.file, filter, &file);

	fd = r < 0 ? -1 : open(file.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		r = r < 0 ? r : -errno;
		snprintf(why, PLACES_WHY_MAX, "%.300s: %s", l->spec.file, strerror(-r));
		return r;
	}
	r = call_places_find_sandboxed(fd, &query, SEARCH_TIMEOUT_NS, &places);
	if (call_places_explain(&places, r, l->spec.file, l->spec.function, why, PLACES_WHY_MAX))
		r = r ?: -ENOENT;
	for (size_t i = 0; r == 0 && i < places.n; i++)
		call_list_pass(l, places.places[i].name,
			       call_list_signature(l, places.places[i].name));
	call_places_deinit(&places);
	return r;
}

int call_list_each(const char *spec, const struct capture_filter *filter, call_list_fn *fn,
		   void *userdata, char why[static PLACES_WHY_MAX])
{
	struct call_list l = { .rest = call_list_rest(spec), .fn = fn, .userdata = userdata };
	struct call_spec_error error;
	int r = call_spec_parse(spec, &l.spec, &error);

	if (r < 0) {
		snprintf(why, PLACES_WHY_MAX, "%s", error.why);
		return r;
	}
	if (call_spec_is_syscall(&l.spec))
		return call_list_syscalls(&l, why);
	if (!l.spec.range.is_used)
		return call_list_functions(&l, filter, why);
	fn(spec, userdata);
	return 0;
}
