/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/folder.h"

#include <fcntl.h>

#include "base/cleanup.h"

DIR *folder_list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		close_fd(fd);
	return dir;
}
