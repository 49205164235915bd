/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule that decides whether a second signal that ends a command is a new request. */
#pragma once

#include <stdint.h>

/*
 * A signal is a new request if it comes later than this after the first one. timeout(1), and other
 * programs that end a process and its group, send their signal twice.
 */
#define SIGNAL_TWICE_NS UINT64_C(300000000)
