/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/open-native.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/archive/perfetto-trace.h"
#include "cli/common/temporary-file.h"
#include "cli/common/verb.h"
#include "cli/open/open-named.h"

enum { OPEN_NATIVE_PATH = 64 };

struct open_native {
	int fd;
};

static int open_native_put(void *userdata, const void *p, size_t n)
{
	struct open_native *o = userdata;
	const char *next = p;

	while (n > 0) {
		ssize_t done = write(o->fd, next, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return cli_failed("cannot write the temporary trace: %s", strerror(errno));
		next += done;
		n -= (size_t)done;
	}
	return CLI_OK;
}

/* Writes the trace of IN to FD. Returns CLI_OK, or CLI_FAILED after an error message. */
static int open_native_make(struct open_trace *in, int fd, uint64_t *ret_left_out)
{
	struct open_native o = { .fd = fd };

	return perfetto_trace(in, open_native_put, &o, ret_left_out);
}

/* Opens the copy with names again, as an archive called NAME. */
static int open_native_open_named(struct open_trace *in, int named_fd, const char *name)
{
	char path[OPEN_NATIVE_PATH];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", named_fd);
	r = open_trace(in, path);
	if (r == CLI_OK)
		in->name = name;
	return r;
}

int open_native(struct open_trace *t, const char *path, int named_fd, int *ret_fd)
{
	_cleanup_(open_trace_close) struct open_trace named = OPEN_TRACE_NULL;
	_cleanup_close_ int fd = -1;
	struct open_trace *in = named_fd >= 0 ? &named : t;
	uint64_t n_left_out;
	int r;

	*ret_fd = -1;
	if (named_fd >= 0) {
		r = open_native_open_named(&named, named_fd, t->name);
	} else {
		r = open_trace_again(t, path);
		if (r == CLI_OK && !open_named_has(t, UINT64_C(1) << EVENT_START))
			return CLI_OK;
		r = r ?: open_trace_again(t, path);
	}
	if (r != CLI_OK)
		return r;
	fd = temporary_file_open();
	if (fd < 0 || open_native_make(in, fd, &n_left_out) != CLI_OK) {
		cli_error("cannot make a native trace of %s: the UI shows the archive itself, "
			  "without states of threads, command lines and reasons of waits; set "
			  "TMPDIR to a directory with more room",
			  t->name);
		return CLI_OK;
	}
	*ret_fd = TAKE_FD(fd);
	/* (the damage of T was reported when the copy was made) */
	return perfetto_trace_complain(t, n_left_out,
				       named_fd >= 0 ? CLI_OK : open_trace_finish(t));
}
