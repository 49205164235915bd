/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/find-debuginfod.h"

#include <errno.h>

#ifdef HAVE_DEBUGINFOD

#include <elfutils/debuginfod.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/load-library.h"

/* The library depends on many others, so it is loaded only on demand. */
struct functions {
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	int (*find_executable)(debuginfod_client *client, const unsigned char *build_id, int n,
			       char **path);
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id, int n,
			      char **path);
};

static int find_debuginfod_load(struct functions *f)
{
	static const struct library_function functions[] = {
		{ "debuginfod_begin", offsetof(struct functions, begin) },
		{ "debuginfod_end", offsetof(struct functions, end) },
		{ "debuginfod_find_executable", offsetof(struct functions, find_executable) },
		{ "debuginfod_find_debuginfo", offsetof(struct functions, find_debuginfo) },
	};

	return load_library("libdebuginfod.so.1", functions, ARRAY_SIZE(functions), f);
}

int find_debuginfod(const uint8_t *build_id, size_t n, bool debug, char *to, size_t room)
{
	_cleanup_free_ char *path = NULL;
	debuginfod_client *client;
	struct functions f;
	int fd, length;

	if (find_debuginfod_load(&f) < 0)
		return -ENOSYS;
	client = f.begin();
	if (!client)
		return -ENOMEM;
	if (debug)
		fd = f.find_debuginfo(client, build_id, (int)n, &path);
	else
		fd = f.find_executable(client, build_id, (int)n, &path);
	f.end(client);
	if (fd < 0)
		return fd;
	length = snprintf(to, room, "%s", path);
	if (length <= 0 || (size_t)length >= room) {
		close(fd);
		return -ENAMETOOLONG;
	}
	return fd;
}

#else

int find_debuginfod(const uint8_t *build_id, size_t n, bool debug, char *to, size_t room)
{
	return -ENOSYS;
}

#endif
