/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmicrohttpd, loaded on demand. libmicrohttpd needs GnuTLS and eight more libraries. If kymo
 * were linked with all of these, loading them would take a third of the CPU time of each start. But
 * only `kymo open` uses them.
 */
#pragma once

#include <microhttpd.h>

/* The functions in use, with the names and types of the library, without "MHD_". */
struct microhttpd {
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_callback) *create_response_from_callback;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_get_connection_info) *get_connection_info;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
};

/*
 * Loads the library and fills TO. The library stays loaded. Returns 0, or -ENOPKG if the library is
 * missing or too old.
 */
int microhttpd_load(struct microhttpd *to);
