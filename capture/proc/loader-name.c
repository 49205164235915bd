/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/loader-name.h"

#include <string.h>

#include "base/cleanup.h"

bool loader_name_is(const char comm[static REC_COMM_BYTES])
{
	/*
	 * the loaders of glibc on each architecture and of musl, and Debian's link to that of glibc
	 */
	static const char *const begins[] = { "ld-linux", "ld-musl-", "ld64.so" };
	size_t n = strnlen(comm, REC_COMM_BYTES);

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (n >= strlen(begins[i]) && memcmp(comm, begins[i], strlen(begins[i])) == 0)
			return true;
	return n == strlen("ld.so") && memcmp(comm, "ld.so", n) == 0;
}

/* Returns true if the value of OPTION is the next argument. */
static bool loader_name_has_value(const char *option)
{
	static const char *const options[] = {
		"--argv0",   "--audit",         "--glibc-hwcaps-mask", "--glibc-hwcaps-prepend",
		"--preload", "--inhibit-rpath", "--library-path",
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strcmp(option, options[i]) == 0)
			return true;
	return false;
}

/* Returns true if OPTION is one of those with which the loader runs no program. */
static bool loader_name_is_listing(const char *option)
{
	return strcmp(option, "--list") == 0 || strcmp(option, "--verify") == 0;
}

/* Moves *AT to the next argument and returns it; NULL if it is missing or cut. */
static const char *loader_name_next(const char **at, const char *end)
{
	const char *next = memchr(*at, '\0', (size_t)(end - *at));

	if (!next || ++next >= end || !memchr(next, '\0', (size_t)(end - next)))
		return NULL;
	*at = next;
	return next;
}

bool loader_name_program(char to[static REC_COMM_BYTES], const char *args, size_t n)
{
	const char *end = args + n, *arg, *slash;

	if (!memchr(args, '\0', n))
		return false;
	arg = args;
	do {
		if (loader_name_has_value(arg) && !loader_name_next(&args, end))
			return false;
		arg = loader_name_next(&args, end);
		if (!arg || loader_name_is_listing(arg))
			return false;
	} while (strncmp(arg, "--", 2) == 0);
	slash = strrchr(arg, '/');
	if (slash && slash[1])
		arg = slash + 1;
	if (!*arg)
		return false;
	strncpy(to, arg, REC_COMM_BYTES - 1);
	to[REC_COMM_BYTES - 1] = '\0';
	return true;
}
