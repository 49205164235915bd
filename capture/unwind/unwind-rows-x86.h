/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the rules of rows (bpf/record-unwind.h) for x86-64, from the call frame information about
 * CFA, return address and rbp. A rule says how a walk finds the caller. Three kinds of expressions
 * are known by their bytes: linkers write them for PLTs, the C library for signal frames, and
 * compilers for aligned stacks.
 */
#pragma once

#include <stdint.h>

#include "capture/unwind/unwind-cfi.h"

/*
 * Returns the rule for STATE of an FDE with CIE; UNWIND_UNSUPPORTED with the cause if rows cannot
 * express it.
 */
uint32_t unwind_rule_x86(const struct cfi_cie *cie, const struct cfi_state *state);
