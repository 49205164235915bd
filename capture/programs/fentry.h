/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether eBPF programs can be attached to the beginning of a kernel function (fentry),
 * which some machines do not support.
 */
#pragma once

#include <stdbool.h>

#include "capture/programs/kernel-btf.h"

/* Returns true if a program can be attached to FUNCTION, which must be in the kernel's BTF. */
bool fentry_works(const struct kernel_btf *btf, const char *function);
