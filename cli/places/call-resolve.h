/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specifications of calls that need more than the symbol table: lines, addresses, names of C++ and
 * Rust, static probes, and types from debug information. They are translated to specifications with
 * the location of the code in the file and of each argument, since the recorder reads no debug
 * information (capture/options/call-spec.h).
 *
 *	FILE:NAME                    a function by its name in the source: ns::Class::method
 *	FILE:'NAME(TYPE, ...)'       one of several functions with that name
 *	FILE:SOURCE:LINE             a line, where its code begins
 *	FILE:0xADDRESS               an instruction, or the function that begins there
 *	FILE:usdt:PROVIDER:NAME      a static probe
 *
 * Each can be followed by arguments, result and condition, as in call-spec.h.
 */
#pragma once

#include "capture/options/options.h"
#include "cli/places/call-resolved.h"
#include "reader/places/places.h"

/* Resolves TEXT for the processes in FILTER. Texts that the recorder understands are copied.
 * Returns 0, -ENOMEM, or another negative errno with an error message in WHY. */
int call_resolve(const char *text, const struct capture_filter *filter, struct call_resolved *ret,
		 char why[static PLACES_WHY_MAX]);
