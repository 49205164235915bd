/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/switching-programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "capture/probes/call-places.h"
#include "cli/places/needed-library.h"
#include "cli/places/process-file.h"
#include "cli/common/script-interpreter.h"

#define SEARCH_TIMEOUT_NS UINT64_C(20000000000)

enum { PROBLEM_MAX = NEEDED_LIBRARY_WHY_MAX + CALL_PLACE_NAME_MAX };

struct switches_check {
	const char *file;
	const char *of; /* relation of the libraries to the program, for messages */
	char **ret_why;
};

static bool switching_programs_is_of_libc(const char *path)
{
	static const char *const begins[] = { "libc.", "libpthread.", "ld-" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static int switching_programs_refuse_unknown(const struct switches_check *check,
					     const char *problem)
{
	return text_error(
		-EPERM, check->ret_why,
		"it is not known whether %s, or a library that %s, switches stacks (%s): omit "
		"--fast-returns (or add --force-fast-returns, if no call returns on another "
		"stack or in another thread)",
		check->file, check->of, problem);
}

/*
 * Handles a library that is not found or is unreadable. It is refused, since it may switch stacks.
 */
static int switching_programs_on_failure(const char *why, void *userdata)
{
	return switching_programs_refuse_unknown(userdata, why);
}

static int switching_programs_explain(const struct switches_check *check, const char *path,
				      const struct call_places *places)
{
	char problem[PROBLEM_MAX];

	if (places->flags & CALL_PLACES_FOREIGN)
		snprintf(problem, sizeof(problem), "%s is for another machine", path);
	else if (places->flags & CALL_PLACES_NO_SECTIONS)
		snprintf(problem, sizeof(problem), "%s has no section with code", path);
	else if (places->flags & CALL_PLACES_UNSEARCHED)
		snprintf(problem, sizeof(problem), "%s has too much code to be searched", path);
	if (places->flags &
	    (CALL_PLACES_FOREIGN | CALL_PLACES_NO_SECTIONS | CALL_PLACES_UNSEARCHED))
		return switching_programs_refuse_unknown(check, problem);
	if (places->flags & CALL_PLACES_GO)
		snprintf(problem, sizeof(problem), "%s was built by Go, which moves its stacks,",
			 path);
	else if (places->flags & (CALL_PLACES_SWITCHES | CALL_PLACES_LOADS_STACK))
		snprintf(problem, sizeof(problem), "%s has code that switches stacks ('%s'),", path,
			 places->nearest);
	else
		return 0;
	return text_error(
		-EPERM, check->ret_why,
		"%s and is used by %s: with --fast-returns, a call that returns on another stack "
		"or in another thread would kill the program; omit --fast-returns (or add "
		"--force-fast-returns, if no call does that)",
		problem, check->file);
}

/* Examines the file at PATH. */
static int switching_programs_examine(const char *path, void *userdata)
{
	const struct call_places_query query = { .pattern = "", .refuses_switches = true };
	const struct switches_check *check = userdata;
	_cleanup_close_ int fd = -1;
	struct call_places places;
	char problem[PROBLEM_MAX];
	int r;

	if (switching_programs_is_of_libc(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	r = fd < 0 ? -errno : call_places_find_sandboxed(fd, &query, SEARCH_TIMEOUT_NS, &places);
	if (r < 0) {
		call_places_explain(&places, r, path, "", problem, sizeof(problem));
		return switching_programs_refuse_unknown(check, problem);
	}
	r = switching_programs_explain(check, path, &places);
	call_places_deinit(&places);
	return r;
}

/* Returns the result for a visit of the libraries that ended with R. */
static int switching_programs_judge(const struct switches_check *check, int r)
{
	char problem[64];

	if (r == 0 || r == -EPERM)
		return r;
	if (r == -E2BIG)
		snprintf(problem, sizeof(problem), "it needs more than %d libraries",
			 NEEDED_LIBRARIES_MAX);
	else
		snprintf(problem, sizeof(problem), "%s", strerror(-r));
	return switching_programs_refuse_unknown(check, problem);
}

static struct needed_library_visitor switching_programs_visitor(struct switches_check *check)
{
	return (struct needed_library_visitor){
		.on_library = switching_programs_examine,
		.on_failure = switching_programs_on_failure,
		.userdata = check,
	};
}

static int switching_programs_open(const struct switches_check *check,
				   const struct process_file *file, struct places **ret)
{
	char problem[NEEDED_LIBRARY_WHY_MAX] = "";
	int r = process_file_open(file, ret, problem, sizeof(problem));

	return r < 0 ? switching_programs_refuse_unknown(check, *problem ? problem : strerror(-r))
		     : 0;
}

static int switching_programs_examine_libraries(struct switches_check *check,
						const struct process_file *file,
						const struct capture_filter *filter)
{
	const struct needed_library_visitor visitor = switching_programs_visitor(check);
	_cleanup_(places_freep) struct places *places = NULL;
	int r = switching_programs_open(check, file, &places);

	return r < 0 ? r
		     : switching_programs_judge(check,
						needed_library_each(places, filter, &visitor));
}

int switching_programs_check(const char *file, const struct capture_filter *filter, char **ret_why)
{
	struct switches_check check = { file, "it needs", ret_why };
	struct process_file found;

	if (process_file_find(file, filter, &found) < 0)
		return 0;
	return switching_programs_examine_libraries(&check, &found, filter);
}

int switching_programs_check_command(const char *command, const struct capture_filter *filter,
				     char **ret_why)
{
	struct switches_check check = { command, "it needs", ret_why };
	struct process_file found;
	int r;

	if (process_file_find(command, filter, &found) < 0)
		return 0;
	r = script_interpreter_follow(found.path);
	if (r < 0)
		return switching_programs_refuse_unknown(&check, strerror(-r));
	return switching_programs_examine(found.path, &check)
		       ?: switching_programs_examine_libraries(&check, &found, filter);
}

int switching_programs_check_preloaded(const char *command, const char *preload, char **ret_why)
{
	static const struct capture_filter all;
	struct switches_check check = { command, "is preloaded", ret_why };
	const struct needed_library_visitor visitor = switching_programs_visitor(&check);
	_cleanup_(places_freep) struct places *places = NULL;
	struct process_file found;
	int r;

	if (process_file_find(command, &all, &found) < 0)
		return 0;
	r = script_interpreter_follow(found.path);
	if (r < 0)
		return switching_programs_refuse_unknown(&check, strerror(-r));
	return switching_programs_open(&check, &found, &places)
		       ?: switching_programs_judge(
				  &check, needed_library_each_preloaded(places, preload, &visitor));
}
