/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long kymod-fake waits for polkit: less than the real one, so that a test sees the end of it.
 */
#include "daemon/polkit.h"

const uint64_t polkit_patience_usec = 8000000;
const uint64_t polkit_dialogue_usec = 16000000;
