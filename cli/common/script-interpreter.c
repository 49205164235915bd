/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/script-interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	LINE_BYTES = 256, /* the kernel reads no more bytes */
	SCRIPTS_MAX = 5,
};

int script_interpreter_read(int fd, char to[static PATH_MAX])
{
	char line[LINE_BYTES + 1];
	ssize_t n = pread(fd, line, LINE_BYTES, 0);
	size_t length;
	char *path = line + 2;

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return -ENOEXEC;
	line[n] = '\0';
	path += strspn(path, " \t");
	length = strcspn(path, " \t\n");
	/* (the end of the buffer may have cut the path) */
	if (length == 0 || path + length == line + LINE_BYTES)
		return -ENOEXEC;
	snprintf(to, PATH_MAX, "%.*s", (int)length, path);
	return 0;
}

int script_interpreter_follow(char path[static PATH_MAX])
{
	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return -errno;
		if (script_interpreter_read(fd, path) < 0)
			return 0;
	}
	return -ELOOP;
}
