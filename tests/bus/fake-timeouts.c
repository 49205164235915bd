/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timeouts of kymod-fake: shorter than the real ones, so that tests can wait for them.
 */
#include "daemon/common/timeouts.h"

/* With a sanitizer, polkit and the service need longer for the answers that come in time. */
#if defined(__SANITIZE_ADDRESS__)
#define FACTOR 3
#else
#define FACTOR 1
#endif

const uint64_t timeout_polkit_usec = 8000000 * FACTOR;
const uint64_t timeout_dialogue_usec = 16000000 * FACTOR;
const unsigned timeout_output_checks = 4;
