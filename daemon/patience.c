/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/patience.h"

const uint64_t patience_polkit_usec = 20000000;
const uint64_t patience_dialogue_usec = 120000000;
const unsigned patience_output_looks = 10;
