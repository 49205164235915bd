/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/microhttpd.h"

#include "base/cleanup.h"
#include "base/load-library.h"

static const struct library_function microhttpd_functions[] = {
	{ "MHD_add_response_header", offsetof(struct microhttpd, add_response_header) },
	{ "MHD_create_response_from_buffer",
	  offsetof(struct microhttpd, create_response_from_buffer) },
	{ "MHD_create_response_from_callback",
	  offsetof(struct microhttpd, create_response_from_callback) },
	{ "MHD_destroy_response", offsetof(struct microhttpd, destroy_response) },
	{ "MHD_get_connection_info", offsetof(struct microhttpd, get_connection_info) },
	{ "MHD_lookup_connection_value", offsetof(struct microhttpd, lookup_connection_value) },
	{ "MHD_queue_response", offsetof(struct microhttpd, queue_response) },
	{ "MHD_start_daemon", offsetof(struct microhttpd, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct microhttpd, stop_daemon) },
};

int microhttpd_load(struct microhttpd *to)
{
	/*
	 * The library has had this soname since 0.9.71, the oldest version that the build accepts.
	 */
	return load_library("libmicrohttpd.so.12", microhttpd_functions,
			    ARRAY_SIZE(microhttpd_functions), to);
}
