/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of a session that have to do with unwind tables, without its programs. */
#pragma once

#include "capture/unwind/unwind-maps.h"

/*
 * Makes them, for MAPS. Returns 0 or a negative errno: -EPERM without the right to make maps. MAPS
 * may be deinitialised either way.
 */
int unwind_map_set_make(struct unwind_maps *maps);
