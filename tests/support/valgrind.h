/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests that valgrind cannot run (valgrind itself makes system calls that are forbidden to the
 * tested code), or for which fewer repetitions are enough.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}
