/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of libFuzzer for all targets. Options on the command line follow these, and so have
 * precedence.
 */
#include <stddef.h>

#include "base/cleanup.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * An input reaches thousands of places in the code. Tracking how often each place is reached
 * (-entropic) took nine tenths of the time: without it, fuzz-edit and fuzz-fxt-reader run ten times
 * as often.
 */
static char no_entropic[] = "-entropic=0";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char *args[64];

	if ((size_t)*argc + 2 > ARRAY_SIZE(args))
		return 0;
	args[0] = (*argv)[0];
	args[1] = no_entropic;
	for (int i = 1; i < *argc; i++)
		args[i + 1] = (*argv)[i];
	++*argc;
	*argv = args;
	return 0;
}
