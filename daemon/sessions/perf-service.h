/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The separate process that has CAP_SYS_ADMIN, and opens perf events for the service on kernels
 * that require this capability: kymo-perf.service.
 */
#pragma once

#include <stdint.h>

/*
 * Answers all connections to the socket that systemd has passed, each in its own thread. Returns
 * when there was no connection for IDLE_NS (0 = never). The mode of the socket restricts access to
 * root. Returns 0, or a negative errno, which was logged.
 */
int perf_service_serve(uint64_t idle_ns);
