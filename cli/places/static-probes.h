/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static probes of programs as events of a recording (-e usdt:). Each place of each probe becomes a
 * point whose moments have the arguments of the probe.
 */
#pragma once

#include "capture/options/options.h"

/* In a list of categories, the file and the names of static probes follow this. */
#define STATIC_PROBES_PREFIX "usdt:"

/*
 * Adds the points of TEXT, "FILE:[PROVIDER:]PROBE [ACTION ...]", to TO. FILE can be the short name
 * of a library ("libc"). PROVIDER and PROBE can have wildcards. Actions and COLLECT are those of
 * --moment; COLLECT NULL = the arguments of the probe. Returns CLI_OK, or an enum cli_exit after an
 * error message, in which OPTION is the name of the option.
 */
int static_probes_compile(const char *option, const char *text, const char *collect,
			  const struct capture_filter *filter, struct call_options *to);
