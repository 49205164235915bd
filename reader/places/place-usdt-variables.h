/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of static probes as variables, like those of functions in place-locals.h.
 */
#pragma once

#include "reader/places/place-usdt.h"

/*
 * Adds the variables of ITEM to TO:
 *
 * 	args         all of A
 * 	arg1         one of them
 * 		*arg1        the string that arg1 points to
 * 	*arg1@64     so many characters
 *
 * Returns 1; 0 (ITEM is none of these); or -ENOMEM.
 */
int place_usdt_variables(const struct place_arguments *a, const char *item,
			 struct place_locals *to);
