/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/find-debuginfod.h"

#include <errno.h>

#ifdef HAVE_DEBUGINFOD

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The library is loaded only on demand, since it depends on many others. */
struct functions {
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	int (*find_executable)(debuginfod_client *client, const unsigned char *build_id, int n,
			       char **path);
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id, int n,
			      char **path);
};

static bool find_debuginfod_load_functions(struct functions *f)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return false;
	f->begin = dlsym(library, "debuginfod_begin");
	f->end = dlsym(library, "debuginfod_end");
	f->find_executable = dlsym(library, "debuginfod_find_executable");
	f->find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
	dlclose(library);
	return f->begin && f->end && f->find_executable && f->find_debuginfo;
}

int find_debuginfod(const uint8_t *build_id, size_t n, bool debug, char *to, size_t room)
{
	_cleanup_free_ char *path = NULL;
	debuginfod_client *client;
	struct functions f;
	int fd, length;

	if (!find_debuginfod_load_functions(&f))
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
