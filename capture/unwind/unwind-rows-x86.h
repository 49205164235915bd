/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of rows (bpf/record-unwind.h) for x86-64: the walker's steps to find a caller, made from
 * the call frame information about CFA, return address and rbp. Expressions are recognized by their
 * bytes: those that linkers write for PLTs, the C library for signal frames, and compilers for
 * aligned stacks.
 */
#pragma once

#include <stdint.h>

#include "capture/unwind/unwind-cfi.h"

/* The rule for STATE, of a CIE like CIE; UNWIND_UNSUPPORTED, with the cause, if there is none. */
uint32_t unwind_rule_x86(const struct cfi_cie *cie, const struct cfi_state *state);
