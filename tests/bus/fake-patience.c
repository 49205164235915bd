/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long kymod-fake waits: less than the real one, so that a test sees the end of it.
 */
#include "daemon/patience.h"

const uint64_t patience_polkit_usec = 8000000;
const uint64_t patience_dialogue_usec = 16000000;
const unsigned patience_output_looks = 4;
