/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether programs can be attached to the beginning of a kernel function (fentry): some machines do
 * not support this.
 */
#pragma once

#include <stdbool.h>

#include "capture/programs/kernel-btf.h"

/* Returns true if a program can be attached to FUNCTION, which must be in the kernel's BTF. */
bool fentry_works(const struct kernel_btf *btf, const char *function);
