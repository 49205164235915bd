/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* The size of the memory of this machine. (Tests have a function of their own.) */
uint64_t machine_memory(void);
