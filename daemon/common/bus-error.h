/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of errors on the bus. Inside the daemon, a failure is a negative errno with an error
 * message. One table maps each errno to a D-Bus name.
 */
#pragma once

#include <systemd/sd-bus.h>

#define BUS_ERROR_PREFIX "org.kymo.Trace1.Error."

/*
 * Fills RETERR, unless it is set already, with the D-Bus name of ERROR, a negative errno, and an
 * error message: FORMAT with its arguments, or the message of the table if FORMAT is NULL. Returns
 * ERROR.
 */
int bus_error_set(sd_bus_error *reterr, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Replies to CALL with the error that bus_error_set() makes. Returns a negative errno if the reply
 * could not be sent.
 */
int bus_error_reply(sd_bus_message *call, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
