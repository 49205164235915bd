/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sets themselves, for call-sets.c.
 */
#pragma once

#include "base/calls/call-sets.h"

extern const struct call_set call_set_rows[];
extern const size_t call_set_n_rows;
