/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the rules of rows (bpf/record-unwind.h) for x86-64, which are the walker's steps to a
 * caller, from the call frame information about CFA, return address and rbp. Expressions are
 * recognized by their bytes: those that linkers write for PLTs, the C library for signal frames,
 * and compilers for aligned stacks.
 */
#pragma once

#include <stdint.h>

#include "capture/unwind/unwind-cfi.h"

/*
 * The rule for STATE of an FDE with CIE; UNWIND_UNSUPPORTED with the cause if rows do not support
 * it.
 */
uint32_t unwind_rule_x86(const struct cfi_cie *cie, const struct cfi_state *state);
