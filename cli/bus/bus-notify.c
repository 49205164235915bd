/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/bus/bus-notify.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "base/clock.h"

void bus_notify_ready(const char *status)
{
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void bus_notify_status(const char *status)
{
	sd_notifyf(0, "STATUS=%s", status);
}

void bus_notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void bus_notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		   clock_read_ns(CLOCK_MONOTONIC) / 1000);
}
