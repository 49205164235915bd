/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timeouts of the service. They are in a file of their own, since the tests link the daemon with a
 * file that has shorter timeouts.
 */
#pragma once

#include <stdint.h>

/*
 * Timeouts of an answer of polkit, in microseconds: without a dialogue, and with a dialogue, in
 * which the user must have time to enter a password.
 */
extern const uint64_t timeout_polkit_usec, timeout_dialogue_usec;

/*
 * The timeout of the output of a removed session: the number of consecutive checks without
 * progress. The checks are TIMEOUT_OUTPUT_CHECK_NS apart. Checks are counted instead of time, since
 * nothing is written while the machine is suspended.
 */
#define TIMEOUT_OUTPUT_CHECK_NS UINT64_C(1000000000)
extern const unsigned timeout_output_checks;
