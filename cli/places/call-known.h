/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions whose arguments are in the tables of the recorder (capture/options/call-spec.h).
 */
#pragma once

#include <stdbool.h>

#include "reader/places/place-functions.h"

/*
 * Returns true if the specification TEXT omits the arguments and the result, and the tables have
 * them.
 */
bool call_known_is(const char *text);

/*
 * Returns true if the tables have one of the functions F of FILE, so that the recorder uses the
 * tables.
 */
bool call_known_any(const char *file, const struct place_functions *f);
