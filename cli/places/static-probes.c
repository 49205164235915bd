/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/static-probes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/program-file.h"
#include "cli/common/verb.h"
#include "cli/places/moment-compile.h"
#include "cli/places/process-file.h"

/* Writes to RET the file name of N bytes at FILE or, if no such file is found but a library is
 * meant ("libc"), the library's name. Returns false if the name is too long. */
static bool static_probes_name_file(const char *file, size_t n, const struct capture_filter *filter,
				    char ret[static PATH_MAX])
{
	struct process_file found;
	char library[NAME_MAX];

	if (n >= PATH_MAX)
		return false;
	memcpy(ret, file, n);
	ret[n] = '\0';
	/* (a program with this name takes precedence) */
	if (process_file_find(ret, filter, &found) == -ENOENT &&
	    program_file_library(ret, PROGRAM_FILE_CACHE, library, sizeof(library)) == 0)
		snprintf(ret, PATH_MAX, "%s", library);
	return true;
}

int static_probes_compile(const char *option, const char *text, const char *collect,
			  const struct capture_filter *filter, struct call_options *to)
{
	size_t n = strcspn(text, ":");
	_cleanup_free_ char *moment = NULL;
	char file[PATH_MAX];

	if (n == 0 || text[n] == '\0' || text[n + 1] == '\0' || text[n + 1] == ' ')
		return cli_usage_error("%s: '" STATIC_PROBES_PREFIX
				       "%s' is not " STATIC_PROBES_PREFIX
				       "FILE:PROBE or " STATIC_PROBES_PREFIX "FILE:PROVIDER:PROBE",
				       option, text);
	if (!static_probes_name_file(text, n, filter, file))
		return cli_usage_error("%s: the name of the file is too long", option);
	if (asprintf(&moment, "%s:usdt:%s", file, text + n + 1) < 0)
		return cli_failed("%s: %s", option, strerror(ENOMEM));
	return moment_compile_static(option, moment, collect, filter, to);
}
