/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether programs can be attached to the beginning of a kernel function (fentry): some machines do
 * not support it.
 */
#pragma once

#include <stdbool.h>

/* Tries it with FUNCTION, which must be in the kernel's BTF. */
bool fentry_works(const char *function);
