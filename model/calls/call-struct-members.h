/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structures themselves, for call-structs.c.
 */
#pragma once

#include "model/calls/call-structs.h"

/* Sorted by name. Among equal names, the first with a matching key is used. */
extern const struct call_struct call_struct_rows[];
extern const size_t call_struct_n_rows;
