/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timeouts of kymod-fake: shorter than the real ones, so that tests can wait for them.
 */
#include "daemon/common/timeouts.h"

const uint64_t timeout_polkit_usec = 8000000;
const uint64_t timeout_dialogue_usec = 16000000;
const unsigned timeout_output_checks = 4;
