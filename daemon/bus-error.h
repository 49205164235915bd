/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How failures are called on the bus. Inside the daemon a failure is a negative errno with a
 * sentence; one table gives it its D-Bus name.
 */
#pragma once

#include <systemd/sd-bus.h>

#define BUS_ERROR_PREFIX "org.kymo.Trace1.Error."

/*
 * Fills RETERR (if it is not set yet) with the name that ERROR, a negative errno, has on the bus,
 * and with a sentence for people: FORMAT, or the table's own where FORMAT is NULL. Returns ERROR.
 */
int bus_error_set(sd_bus_error *reterr, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Answers CALL with the same. Returns a negative errno if it could not be sent. */
int bus_error_reply(sd_bus_message *call, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
