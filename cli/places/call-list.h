/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the recorder would find for a specification: by the symbols of a file, or by
 * the names of system calls. They are searched with the recorder's own code
 * (capture/probes/call-places.h).
 */
#pragma once

#include "capture/options/options.h"
#include "reader/places/places.h"

/* Receives the specification of one function. */
typedef void call_list_fn(const char *spec, void *userdata);

/*
 * Calls FN for each function of SPEC. SPEC is a result of call_resolve() (call-resolve.h) for
 * FILTER. Code that is specified by its location counts as one function. Returns 0, or a negative
 * errno with an error message in WHY.
 */
int call_list_each(const char *spec, const struct capture_filter *filter, call_list_fn *fn,
		   void *userdata, char why[static PLACES_WHY_MAX]);
