/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/symbol-absence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

bool symbol_absence_is_memfd(const char *path)
{
	return path && strncmp(path, "/memfd:", 7) == 0;
}

/* Returns true if this process is not allowed to read the files of QUERY's process. */
static bool symbol_absence_is_forbidden(const struct symbol_query *query)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/root/", query->pid);
	return access(path, X_OK) < 0 && (errno == EACCES || errno == EPERM);
}

/*
 * A row of the table of run-time compilers: the texts for a map that does not exist, for a process
 * that runs, and for one that has ended. HOW says how to make the compiler write the map.
 */
#define NO_MAP(name, library, how)                                                                 \
	{                                                                                          \
		name, library, "it does not exist: " how,                                          \
			"it does not exist, and its process has ended: " how                       \
			". Or use 'kymo symbolize' while it runs (if it runs in a container, or "  \
			"with a private /tmp)"                                                     \
	}

static const struct {
	const char *name, *library; /* of the program and of the library; each can be NULL */
	const char *alive, *ended;
} symbol_absence_runtimes[SYMBOL_RUNTIMES] = {
	[SYMBOL_RUNTIME_UNKNOWN] =
		NO_MAP(NULL, NULL,
		       "the program must write it to name code that is in no file (java "
		       "-XX:+DumpPerfMapAtExit, node --perf-basic-prof, python3 -X perf, "
		       "erl +JPperf true)"),
	[SYMBOL_RUNTIME_JAVA] =
		NO_MAP(NULL, "libjvm.so",
		       "java writes it at its end with -XX:+DumpPerfMapAtExit, or for "
		       "'jcmd PID Compiler.perfmap'"),
	[SYMBOL_RUNTIME_NODE] =
		NO_MAP("node", "libnode.so", "node writes it with --perf-basic-prof"),
	[SYMBOL_RUNTIME_PYTHON] = NO_MAP("python3", "libpython3", "python3 writes it with -X perf"),
	[SYMBOL_RUNTIME_ERLANG] = NO_MAP("beam.smp", NULL, "erl writes it with +JPperf true"),
	[SYMBOL_RUNTIME_GUILE] = NO_MAP(NULL, "libguile-",
					"guile cannot write it, so its compiled code has "
					"no names"),
};

static bool symbol_absence_begins_with(const char *file, const char *name)
{
	return name && strncmp(file, name, strlen(name)) == 0;
}

enum symbol_runtime symbol_runtime_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	for (enum symbol_runtime i = SYMBOL_RUNTIME_UNKNOWN + 1; i < SYMBOL_RUNTIMES; i++)
		if (symbol_absence_begins_with(file, symbol_absence_runtimes[i].name) ||
		    symbol_absence_begins_with(file, symbol_absence_runtimes[i].library))
			return i;
	return SYMBOL_RUNTIME_UNKNOWN;
}

const char *symbol_absence_of_file(const struct symbol_query *query)
{
	const char *path = query->mapping.path;

	if (query->lives)
		return symbol_absence_is_forbidden(query)
			       ? "it does not exist here, and the files of its process cannot be "
				 "opened: run kymo as root"
			       : "it exists neither here nor in the files of its process";
	if (symbol_absence_is_memfd(path))
		return "it was only in memory (memfd_create), and its process has ended: use 'kymo "
		       "symbolize' while it runs";
	return path[text_path_length(path)] != '\0' /* it was deleted */
		       ? "it was deleted, and its process has ended: use 'kymo symbolize' while it "
			 "runs"
		       : "it does not exist here, and its process has ended: use 'kymo symbolize' "
			 "while it runs, or --sysroot (if it ran in a container, or with a private "
			 "/tmp)";
}

const char *symbol_absence_of_map(const struct symbol_query *query)
{
	const char *path = query->mapping.path;

	if (symbol_absence_is_memfd(path) && query->pid > 0)
		return "it does not exist, and code that is only in memory (memfd_create) and has "
		       "no build id has no other names";
	if (!path || strcmp(path, "//anon") != 0 || query->pid == 0)
		return NULL;
	return query->lives ? symbol_absence_runtimes[query->runtime].alive
			    : symbol_absence_runtimes[query->runtime].ended;
}
