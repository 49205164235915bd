/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of session options on the bus, for both the service and its clients: the a{sv} of
 * CreateSession and of the property Options, according to the table of options.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "capture/options/option-table.h"

/* Returns the D-Bus type of ROW's value, or NULL if the option is not on the bus. */
const char *option_bus_type(const struct option_row *row);

/*
 * Reads the value of ROW from M, whose variant was entered, into TO. The caller reads OPTION_FILES
 * itself. Returns 0; -EINVAL with a sentence in WHY ("" for an error of libsystemd); or another
 * errno.
 */
int option_bus_read(sd_bus_message *m, const struct option_row *row, struct session_options *to,
		    char why[static VALUE_WHY_MAX]);

/*
 * Appends the entries {sv} of O: the options that are set, or, with SHOWN, all options that other
 * users may see. Returns 0 or a negative errno.
 */
int option_bus_append(sd_bus_message *m, const struct session_options *o, bool shown);
