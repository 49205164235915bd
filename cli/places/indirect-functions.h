/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an IFUNC. The resolver of an IFUNC selects one of these functions when the
 * program starts.
 */
#pragma once

#include "reader/places/place-functions.h"

/*
 * Finds the functions of the IFUNC with the symbol NAME in P, which is the file at PATH, and adds
 * them to TO. The code of the recorder finds them, in a sandbox (capture/probes/call-places.h). A
 * function without a symbol has the name that the recorder uses, NAME@0xOFFSET. Returns 0; -ENOENT
 * if one of the functions is unknown; or -ENOMEM.
 */
int indirect_functions_add(struct places *p, const char *path, const char *name,
			   struct place_functions *to);

/*
 * Finds out whether the debug information of P has the types of one of the functions F. Returns 1,
 * 0 or -ENOMEM.
 */
int indirect_functions_have_types(struct places *p, const struct place_functions *f);
