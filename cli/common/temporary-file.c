/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/temporary-file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"

static int temporary_file_open_named(const char *directory)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/kymo-XXXXXX", directory) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int temporary_file_open(void)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	if (!directory || !*directory)
		directory = "/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* (not every file system supports O_TMPFILE) */
	if (fd < 0)
		fd = temporary_file_open_named(directory);
	if (fd < 0)
		cli_error("cannot create a temporary file in %s: %m; set TMPDIR to another "
			  "directory",
			  directory);
	return fd;
}
