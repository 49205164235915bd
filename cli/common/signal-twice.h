/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a second signal that ends a command is another request. */
#pragma once

#include <stdint.h>

/*
 * timeout(1), and other programs that end a process and its group, send their signal twice. A
 * signal that comes later than this after the first is meant as another one.
 */
#define SIGNAL_TWICE_NS UINT64_C(300000000)
