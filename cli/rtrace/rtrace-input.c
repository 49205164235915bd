/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/rtrace-input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/common/temporary-file.h"
#include "cli/common/verb.h"

enum { PIECE_BYTES = 262144 };

/* Reports damage of the compressed data. */
static void rtrace_input_report_damage(struct rtrace_input *in)
{
	const struct unpack_damage *d;

	for (; (d = unpack_damage(in->unpack)); unpack_pop_damage(in->unpack)) {
		cli_error("%s: at byte %" PRIu64 " of the file: %s", in->file.name,
			  d->packed_offset, d->what);
		in->n_damages++;
	}
}

/* ---- temporary files ---- */

static int rtrace_input_write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return cli_failed(
				"cannot write to a temporary file: %m; set TMPDIR to another "
				"directory");
		p += done;
		n -= (size_t)done;
	}
	return CLI_OK;
}

static int rtrace_input_copy_all(struct rtrace_input *in, int fd)
{
	_cleanup_free_ char *piece = malloc(PIECE_BYTES);
	int r = CLI_OK;
	ssize_t n = -ENOMEM;

	while (piece && r == CLI_OK && (n = unpack_read(in->unpack, piece, PIECE_BYTES)) > 0) {
		rtrace_input_report_damage(in);
		r = rtrace_input_write_all(fd, piece, (size_t)n);
	}
	rtrace_input_report_damage(in);
	if (r == CLI_OK && n < 0)
		r = input_file_failed(&in->file, (int)n);
	return r;
}

static int rtrace_input_spool(struct rtrace_input *in)
{
	_cleanup_close_ int fd = temporary_file_open();
	int r = fd < 0 ? CLI_FAILED : rtrace_input_copy_all(in, fd);

	if (r != CLI_OK)
		return r;
	in->unpack = unpack_free(in->unpack);
	in->fd = TAKE_FD(fd);
	in->begin = 0;
	return CLI_OK;
}

/* ---- the input ---- */

/*
 * Returns true if the bytes can be read in place, although the unpacker has already consumed some
 * of them.
 */
static bool rtrace_input_is_seekable(const struct rtrace_input *in, off_t begin)
{
	struct stat st;

	return begin >= 0 && fstat(in->file.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       unpack_method(in->unpack) == PACK_NONE;
}

int rtrace_input_open(struct rtrace_input *in, const char *path, bool once)
{
	off_t begin;
	int r;

	*in = RTRACE_INPUT_NULL;
	r = input_file_open(&in->file, path);
	if (r != CLI_OK)
		return r;
	begin = lseek(in->file.fd, 0, SEEK_CUR);
	r = unpack_new_fd(&in->unpack, in->file.fd);
	if (r < 0)
		return input_file_failed(&in->file, r);
	if (!rtrace_input_is_seekable(in, begin))
		return once ? CLI_OK : rtrace_input_spool(in);
	in->unpack = unpack_free(in->unpack);
	in->fd = in->file.fd;
	in->begin = (uint64_t)begin;
	progress_begin(&in->progress, input_file_size(&in->file));
	return CLI_OK;
}

void rtrace_input_close(struct rtrace_input *in)
{
	progress_clear();
	in->unpack = unpack_free(in->unpack);
	if (in->fd != in->file.fd)
		in->fd = close_fd(in->fd);
	input_file_close(&in->file);
}

ssize_t rtrace_input_read(struct rtrace_input *in, uint64_t offset, void *to, size_t n)
{
	ssize_t got;

	if (in->unpack) {
		if (offset != in->position)
			return -ESPIPE;
		got = unpack_read(in->unpack, to, n);
		rtrace_input_report_damage(in);
		if (got > 0)
			in->position += (uint64_t)got;
		return got;
	}
	progress_show(&in->progress, offset);
	do
		got = pread(in->fd, to, n, (off_t)(in->begin + offset));
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}
