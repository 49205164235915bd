/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether programs can be put where a task begins to exit (fentry of do_exit()): not every machine lets them.
 */
#pragma once

#include <stdbool.h>

/* Tries it. */
bool exit_hook_works(void);
