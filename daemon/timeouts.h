/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the service waits for others. In a file of its own: the daemon that tests run has less
 * of it.
 */
#pragma once

#include <stdint.h>

/*
 * For an answer of polkit's, in us: without a dialogue, and with one, for which somebody has to
 * find a password.
 */
extern const uint64_t timeout_polkit_usec, timeout_dialogue_usec;

/*
 * For a removed session's output: so many looks, TIMEOUT_OUTPUT_CHECK_NS apart, without a byte.
 * They are counted, and not the time: a machine that stood still meanwhile has had none to write.
 */
#define TIMEOUT_OUTPUT_CHECK_NS UINT64_C(1000000000)
extern const unsigned timeout_output_checks;
