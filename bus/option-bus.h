/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session as both ends of the bus have them: the values in the a{sv} of
 * CreateSession and of the property Options, by the table of options.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "capture/options/option-table.h"

/* The D-Bus type of the value of ROW; NULL if it is not on the bus. */
const char *option_bus_type(const struct option_row *row);

/*
 * Reads the value of ROW from M, whose variant was entered, into TO; OPTION_FILES is read by the
 * caller. Returns 0, -EINVAL with a sentence in WHY ("" of what libsystemd refuses), or another
 * errno.
 */
int option_bus_read(sd_bus_message *m, const struct option_row *row, struct session_options *to,
		    char why[static VALUE_WHY_MAX]);

/*
 * Appends the entries {sv} of O: those that are set, or all that another one may see if SHOWN.
 * Returns 0 or a negative errno.
 */
int option_bus_append(sd_bus_message *m, const struct session_options *o, bool shown);
