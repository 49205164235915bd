/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments as people ask for them, compiled to plans (base/moments/moment-plan.h) by the debug
 * information of their files:
 *
 *	FILE:FUNCTION          behind what sets up its frame; `*` and `?` stand for others
 *	FILE:SOURCE:LINE       each place where the code of that line begins
 *	FILE:0xADDRESS         an address of the file's own
 *	FILE:usdt:PROVIDER:NAME  a static probe, with its arguments as arg1 and so on
 *
 * and behind it conditions and actions (cli/service/moment-spec.h).
 */
#pragma once

#include "capture/options/options.h"

/*
 * Compiles TEXT, for the processes in FILTER, with what is collected by COLLECT (words with commas
 * between them: regs, stack=BYTES, args, locals, NAME, *NAME, *NAME@N, $NAME; NULL = args, locals
 * and 4096 bytes of stack), into TO: a plan and an open file for each address. Returns CLI_OK, or
 * an enum cli_exit when it has said why; NAME is that of the option.
 */
int moment_compile(const char *name, const char *text, const char *collect,
		   const struct capture_filter *filter, struct call_options *to);
