/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/microhttpd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/cleanup.h"

static const struct {
	const char *name;
	size_t offset;
} microhttpd_functions[] = {
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
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_NODELETE);
	int r = 0;

	if (!library)
		return -ENOPKG;
	for (size_t i = 0; i < ARRAY_SIZE(microhttpd_functions); i++) {
		void **function = (void **)(void *)((char *)to + microhttpd_functions[i].offset);

		*function = dlsym(library, microhttpd_functions[i].name);
		if (!*function)
			r = -ENOPKG;
	}
	dlclose(library);
	return r;
}
