/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/input-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/verb.h"

int input_file_open(struct input_file *f, const char *path)
{
	*f = (struct input_file)INPUT_FILE_NULL;
	f->name = path;
	if (strcmp(path, "-") == 0) {
		f->name = "standard input";
		f->standard = true;
		if (isatty(STDIN_FILENO))
			return cli_failed(
				"cannot read a trace from a terminal; name a file, or use a pipe");
		f->fd = STDIN_FILENO;
		return CLI_OK;
	}
	if (!*path)
		return cli_failed("empty file name; '-' is standard input");
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (f->fd >= 0)
		return CLI_OK;
	return cli_failed("cannot open %s: %m", path);
}

void input_file_close(struct input_file *f)
{
	if (!f->standard && f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

int input_file_failed(const struct input_file *f, int e)
{
	if (e == -EISDIR)
		return cli_failed("cannot read %s: it is a directory; name the archive in it",
				  f->name);
	return cli_failed("cannot read %s: %s", f->name, strerror(-e));
}

uint64_t input_file_size(const struct input_file *f)
{
	struct stat st;

	return fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

uint64_t input_file_position(const struct input_file *f)
{
	off_t at = lseek(f->fd, 0, SEEK_CUR);

	return at > 0 ? (uint64_t)at : 0;
}
