/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --no-symbols, --debug-dir, --debuginfod and --sysroot of verbs that give addresses names.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "reader/symbols/symbols.h"

enum { SYMBOL_OPTIONS_DIRS_MAX = 64 };

/* What getopt_long() answers for them; no verb has such numbers of its own. */
enum {
	SYMBOL_OPTION_NONE = 1024,
	SYMBOL_OPTION_DEBUG_DIR,
	SYMBOL_OPTION_DEBUGINFOD,
	SYMBOL_OPTION_SYSROOT,
};

struct symbol_options {
	bool none;       /* no names but those in the archive */
	bool no_lines;   /* functions by symbol tables: no DWARF is read */
	bool debuginfod; /* ask servers, too */
	const char *sysroot;
	const char *debug_dirs[SYMBOL_OPTIONS_DIRS_MAX];
	size_t n_debug_dirs;
};

/* Where names are looked for; and, for those who can do without, whether. */
#define SYMBOL_PLACE_OPTIONS                                                                       \
	{ "debug-dir", required_argument, NULL, SYMBOL_OPTION_DEBUG_DIR },                         \
		{ "debuginfod", no_argument, NULL, SYMBOL_OPTION_DEBUGINFOD },                     \
	{                                                                                          \
		"sysroot", required_argument, NULL, SYMBOL_OPTION_SYSROOT                          \
	}
#define SYMBOL_NONE_OPTION                                                                         \
	{                                                                                          \
		"no-symbols", no_argument, NULL, SYMBOL_OPTION_NONE                                \
	}
#define SYMBOL_PLACE_HELP                                                                          \
	"      --debug-dir=DIR    look for debug files in DIR, too, before /usr/lib/debug\n"       \
	"      --debuginfod       ask the servers in DEBUGINFOD_URLS for what is not found\n"      \
	"      --sysroot=DIR      the recorded programs and libraries are below DIR\n"
#define SYMBOL_NONE_HELP "      --no-symbols       only names that are in the archive\n"

/* Takes what getopt_long() answered. Returns CLI_OK, CLI_USAGE when it has said what is wrong, or -1
 * if it is none of these options. */
int symbol_options_take(struct symbol_options *o, int answer, const char *value);

/* Opens *RET, or leaves it NULL with --no-symbols. Returns CLI_OK, or CLI_FAILED when it has said why. */
int symbol_options_open(const struct symbol_options *o, struct symbols **ret);
