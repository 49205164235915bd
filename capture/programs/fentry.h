/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether programs can be put where a function of the kernel begins (fentry): not every machine
 * lets them.
 */
#pragma once

#include <stdbool.h>

/* Tries it, with FUNCTION, which the kernel's BTF has to name. */
bool fentry_works(const char *function);
