/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options --no-symbols, --debug-dir, --debuginfod and --sysroot of verbs that name addresses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/common/verb-options.h"
#include "reader/symbols/symbols.h"

enum { SYMBOL_OPTIONS_DIRS_MAX = 64 };

struct symbol_options {
	bool none;       /* use only the names in the archive */
	bool no_lines;   /* use only symbol tables, without DWARF */
	bool debuginfod; /* also query debuginfod servers */
	const char *sysroot;
	const char *debug_dirs[SYMBOL_OPTIONS_DIRS_MAX];
	size_t n_debug_dirs;
};

/*
 * The rows of the options. SYMBOL_PLACE_ROWS: where to search for names. The other rows are for
 * verbs that can work without names, and can also switch the search for names off. O is a struct
 * symbol_options *.
 */
#define SYMBOL_PLACE_ROWS(o)                                                                       \
	OPTION_VALUE("debug-dir", 0, symbol_options_add_dir, o),                                   \
		OPTION_FLAG("debuginfod", &(o)->debuginfod),                                       \
		OPTION_TEXT("sysroot", 0, &(o)->sysroot)
#define SYMBOL_NONE_ROW(o) OPTION_FLAG("no-symbols", &(o)->none)
#define SYMBOL_PLACE_HELP                                                                          \
	"      --debug-dir=DIR    look for debug files in DIR, before /usr/lib/debug\n"            \
	"      --debuginfod       request missing files from the servers in DEBUGINFOD_URLS\n"     \
	"      --sysroot=DIR      look for the recorded paths below DIR\n"
#define SYMBOL_NONE_HELP "      --no-symbols       use only names in the archive\n"

/* Parses the value of --debug-dir (verb-options.h) into a struct symbol_options. */
int symbol_options_add_dir(void *options, char *dir);

/* Opens *RET, or sets it to NULL with --no-symbols. Returns CLI_OK, or CLI_FAILED after an error
 * message. */
int symbol_options_open(const struct symbol_options *o, struct symbols **ret);
