/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/stack-switches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/probes/call-places.h"
#include "cli/places/needed-library.h"
#include "cli/places/process-file.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

struct switches_check {
	const char *file;
	char *why;
};

static bool stack_switches_is_of_libc(const char *path)
{
	static const char *const begins[] = { "libc.", "libpthread.", "ld-" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Examines the file at PATH. */
static int stack_switches_examine(const char *path, void *userdata)
{
	const struct call_places_query query = { .pattern = "", .refuses_switches = true };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct switches_check *check = userdata;
	struct call_places places;
	int r = 0;

	if (fd < 0 || stack_switches_is_of_libc(path) ||
	    call_places_find_sandboxed(fd, &query, SEARCH_TIMEOUT_NS, &places) < 0)
		return 0;
	if (places.flags & (CALL_PLACES_SWITCHES | CALL_PLACES_LOADS_STACK)) {
		snprintf(check->why, PLACES_WHY_MAX,
			 "%.120s has code that switches stacks ('%.60s'), and is used by %.80s: "
			 "with --fast-returns, a call that returns on another stack or in another "
			 "thread would kill the program; leave --fast-returns out (or add "
			 "--force-fast-returns, if no call does that)",
			 path, places.nearest, check->file);
		r = -EPERM;
	}
	call_places_deinit(&places);
	return r;
}

int stack_switches_check(const char *file, bool includes_file, const struct capture_filter *filter,
			 char why[static PLACES_WHY_MAX])
{
	struct switches_check check = { file, why };
	_cleanup_(places_freep) struct places *places = NULL;
	struct process_file found;
	char unused[PLACES_WHY_MAX];
	int r = 0;

	if (process_file_find(file, filter, &found) < 0)
		return 0;
	if (includes_file)
		r = stack_switches_examine(found.path, &check);
	if (r < 0 || process_file_open(&found, &places, unused, sizeof(unused)) < 0)
		return r;
	return needed_library_each(places, filter, stack_switches_examine, &check);
}
