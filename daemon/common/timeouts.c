/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/common/timeouts.h"

const uint64_t timeout_polkit_usec = 20000000;
const uint64_t timeout_dialogue_usec = 120000000;
const unsigned timeout_output_checks = 10;
