/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sets, for call-sets.c. All names in the first array precede those in the second.
 */
#pragma once

#include "model/calls/call-sets.h"

extern const struct call_set call_set_rows_a_to_l[];
extern const size_t call_set_n_rows_a_to_l;

extern const struct call_set call_set_rows_m_to_z[];
extern const size_t call_set_n_rows_m_to_z;
