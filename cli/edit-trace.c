/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/edit-trace.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verb.h"

/* So much is written at once. */
enum { FLUSH_BYTES = 1 << 20 };

static bool is_same_file(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && S_ISREG(sa.st_mode) &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

int edit_trace_open(struct edit_trace *t, const char *path, bool force, const struct open_trace *in,
		    unsigned n)
{
	if (output_file_open(path, "", force, &t->file) < 0)
		return CLI_FAILED;
	for (unsigned i = 0; i < n; i++) {
		if (!is_same_file(t->file.fd, in[i].fd))
			continue;
		cli_error("%s is the archive that is read; name another file for the result", path);
		return CLI_FAILED;
	}
	if (output_file_begin(&t->file) < 0)
		return CLI_FAILED;
	if (edit_output_init(&t->output) == 0)
		return CLI_OK;
	edit_trace_discard(t);
	return edit_trace_failed(t, -ENOMEM);
}

int edit_trace_flush(struct edit_trace *t, bool all)
{
	struct outbuf *b = &t->output.bytes;
	size_t done = 0;

	if (b->size < FLUSH_BYTES && !all)
		return CLI_OK;
	while (done < b->size) {
		ssize_t n = write(t->file.fd, b->data + done, b->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cli_error("cannot write %s: %m", t->file.path);
			return CLI_FAILED;
		}
		done += (size_t)n;
	}
	t->bytes += b->size;
	outbuf_reset(b);
	return CLI_OK;
}

int edit_trace_failed(struct edit_trace *t, int e)
{
	cli_error("cannot make %s: %s", t->file.path, strerror(-e));
	return CLI_FAILED;
}

void edit_trace_discard(struct edit_trace *t)
{
	if (t->file.created)
		output_file_discard(&t->file);
	else
		output_file_begin(&t->file);
}

void edit_trace_close(struct edit_trace *t)
{
	output_file_deinit(&t->file);
	edit_output_deinit(&t->output);
}
