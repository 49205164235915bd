/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session as the argument of CreateSession, a{sv}.
 */
#include "bus/option-bus.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

int bus_append_options(sd_bus_message *m, const struct bus_client_create_args *args)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0 && args->output_fd >= 0)
		r = sd_bus_message_append(m, "{sv}", "output", "h", args->output_fd);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "linger", "b", (int)args->linger);
	if (r >= 0)
		r = option_bus_append(m, args->options, false);
	return r < 0 ? r : sd_bus_message_close_container(m);
}
