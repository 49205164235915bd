/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose arguments are in the tables of the recorder (capture/options/call-spec.h).
 */
#pragma once

#include <stdbool.h>

#include "reader/places/place-functions.h"

/* Whether the arguments of the specification TEXT, if it omits them, are in the tables. */
bool call_known_is(const char *text);

/* Whether one of the functions F of FILE is in them. Then the recorder uses the tables. */
bool call_known_any(const char *file, const struct place_functions *f);
