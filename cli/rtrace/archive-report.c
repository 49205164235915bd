/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/archive-report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/open-trace.h"
#include "cli/common/temporary-file.h"
#include "cli/common/verb.h"
#include "reader/pack/unpack.h"
#include "writer/fxt/fxt-wire.h"

/* Checks if PATH is an archive, by its first decompressed bytes. Errors are reported elsewhere. */
static bool archive_report_is_archive(const char *path)
{
	_cleanup_close_ int fd =
		strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_(unpack_freep) struct unpack *unpack = NULL;
	uint64_t word = 0;

	if (fd < 0 || lseek(fd, 0, SEEK_CUR) < 0 || unpack_new_fd(&unpack, fd) < 0 ||
	    unpack_read(unpack, &word, sizeof(word)) != sizeof(word))
		return false;
	return word == FXT_MAGIC || word == FXT_MAGIC_SWAPPED;
}

static int archive_report_keep(const struct outbuf *text, int *ret_fd)
{
	_cleanup_close_ int fd = temporary_file_open();
	size_t done = 0;

	if (fd < 0)
		return CLI_FAILED;
	while (done < text->size) {
		ssize_t n = write(fd, text->data + done, text->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cli_failed(
				"cannot write to a temporary file: %m; set TMPDIR to another "
				"directory");
		done += (size_t)n;
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return cli_failed("cannot read a temporary file: %m");
	*ret_fd = TAKE_FD(fd);
	return CLI_OK;
}

int archive_report_open(const char *path, int *ret_fd)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(leaks_input_deinit) struct leaks_input in = { 0 };
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	struct leaks_request request = { .top = UINT64_MAX };
	int r;

	*ret_fd = -1;
	if (!archive_report_is_archive(path))
		return CLI_OK;
	r = open_trace(&t, path) ?: leaks_input_read(&in, &request, &t, NULL);
	if (r != CLI_OK)
		return r;
	if (in.leaks->n_watches != 1)
		return cli_failed(
			"%s contains %zu watched programs, but a report is for one; 'kymo leaks "
			"--rtrace DIR' writes one for each",
			path, (size_t)in.leaks->n_watches);
	if (leaks_rtrace(&in, in.leaks->watches[0], false, &text) < 0)
		return cli_failed("out of memory");
	r = archive_report_keep(&text, ret_fd);
	return r == CLI_OK && in.damaged ? CLI_DAMAGE : r;
}
