/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/function-clone.h"

#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *mark;
	bool changes; /* the clone has other arguments */
	bool drops;   /* the clone can have no result */
} function_clones[] = {
	{ ".constprop", true, false }, { ".isra", true, true },   { ".part", true, true },
	{ ".lto_priv", false, false }, { ".llvm", false, false },
};

/*
 * Returns the index of the suffix (such as ".constprop") that begins at P, a dot in a name; -1 if
 * there is none.
 */
static int function_clone_mark(const char *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(function_clones); i++) {
		size_t n = strlen(function_clones[i].mark);

		if (strncmp(p, function_clones[i].mark, n) == 0 && (p[n] == '.' || p[n] == '\0'))
			return (int)i;
	}
	return -1;
}

size_t function_clone_base(const char *name)
{
	for (const char *p = *name ? strchr(name + 1, '.') : NULL; p; p = strchr(p + 1, '.'))
		if (function_clone_mark(p) >= 0)
			return (size_t)(p - name);
	return strlen(name);
}

bool function_clone_is_cold(const char *name)
{
	static const char mark[] = ".cold";
	const char *end;

	for (const char *p = strstr(name, mark); p; p = strstr(end, mark)) {
		end = p + strlen(mark);
		if (p > name && (*end == '.' || *end == '\0'))
			return true;
	}
	return false;
}

bool function_clone_is_resolver(const char *name)
{
	static const char mark[] = ".resolver";
	size_t n = strlen(name);

	return n >= sizeof(mark) && strcmp(name + n - (sizeof(mark) - 1), mark) == 0;
}

bool function_clone_is_of(const char *name, const char *base)
{
	size_t n = function_clone_base(name);

	return !function_clone_is_cold(name) && name[n] && strlen(base) == n &&
	       memcmp(name, base, n) == 0;
}

void function_clone_changes(const char *name, bool *ret_arguments, bool *ret_result)
{
	*ret_arguments = *ret_result = false;
	for (const char *p = name + function_clone_base(name); p && *p; p = strchr(p + 1, '.')) {
		int mark = function_clone_mark(p);

		if (mark < 0)
			continue;
		*ret_arguments |= function_clones[mark].changes;
		*ret_result |= function_clones[mark].drops;
	}
}

bool function_clone_is_changed(const char *name)
{
	bool arguments, result;

	function_clone_changes(name, &arguments, &result);
	return arguments;
}
