/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process beside the service that has CAP_SYS_ADMIN, and opens perf events for it where kernels
 * ask for that: kymo-perf.service.
 */
#pragma once

#include <stdint.h>

/*
 * Answers all who connect to the socket that systemd has passed, in a thread each, until nobody has
 * for IDLE_NS (0 = for ever). The mode of the socket is what keeps others than root away. Returns 0
 * or a negative errno, which was logged.
 */
int perf_events_serve(uint64_t idle_ns);
