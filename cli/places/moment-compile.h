/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiles moments from the command line to plans (model/moments/moment-plan.h), with the debug
 * information of their files:
 *
 *	FILE:FUNCTION          after its prologue; `*` and `?` are wildcards
 *	FILE:SOURCE:LINE       each place where the code of that line begins
 *	FILE:0xADDRESS         an address in the file
 *	FILE:usdt:PROVIDER:NAME  a static probe, with its arguments as arg1 and so on
 *
 * Each can be followed by conditions and actions (cli/places/moment-spec.h).
 */
#pragma once

#include "capture/options/options.h"

/*
 * Compiles TEXT, for the processes in FILTER, into TO: a plan and an open file for each address.
 * COLLECT lists the collected data (words with commas between them: regs, stack=BYTES, args,
 * locals, NAME, *NAME, *NAME@N, $NAME; NULL = args, locals and 4096 bytes of stack). Returns
 * CLI_OK, or an enum cli_exit after an error message; NAME is the name of the option.
 */
int moment_compile(const char *name, const char *text, const char *collect,
		   const struct capture_filter *filter, struct call_options *to);

/*
 * Compiles TEXT, which names static probes (FILE:usdt:...), like moment_compile(). But if COLLECT
 * is NULL, only the arguments of the probes are collected, for which no debug information is
 * needed.
 */
int moment_compile_static(const char *name, const char *text, const char *collect,
			  const struct capture_filter *filter, struct call_options *to);
