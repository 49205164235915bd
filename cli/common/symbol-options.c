/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/symbol-options.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/common/verb.h"

int symbol_options_add_dir(void *options, char *dir)
{
	struct symbol_options *o = options;

	if (o->n_debug_dirs == SYMBOL_OPTIONS_DIRS_MAX)
		return cli_usage_error("--debug-dir can be given at most %d times",
				       SYMBOL_OPTIONS_DIRS_MAX);
	o->debug_dirs[o->n_debug_dirs++] = dir;
	return CLI_OK;
}

/* Reports the missing directory. */
static int symbol_options_check_dir(const char *option, const char *path)
{
	struct stat st;

	if (!path)
		return CLI_OK;
	if (stat(path, &st) < 0)
		return cli_failed("%s %s: %m", option, path);
	if (!S_ISDIR(st.st_mode))
		return cli_failed("%s %s: not a directory", option, path);
	return CLI_OK;
}

int symbol_options_open(const struct symbol_options *o, struct symbols **ret)
{
	int r = o->none ? CLI_OK : symbol_options_check_dir("--sysroot", o->sysroot), e;

	for (size_t i = 0; !o->none && r == CLI_OK && i < o->n_debug_dirs; i++)
		r = symbol_options_check_dir("--debug-dir", o->debug_dirs[i]);
	if (o->none || r != CLI_OK)
		return r;
	e = symbols_new(ret, &(struct symbols_options){
				     .sysroot = o->sysroot,
				     .debug_dirs = o->debug_dirs,
				     .n_debug_dirs = o->n_debug_dirs,
				     .debuginfod = o->debuginfod,
				     .lines = !o->no_lines,
			     });
	if (e == 0)
		return CLI_OK;
	return cli_failed("cannot look up names: %s", strerror(-e));
}
