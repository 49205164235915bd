/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a folder that is open.
 */
#pragma once

#include <dirent.h>

/* Lists it from its beginning, whoever else does. Returns NULL with errno set; else the caller's, for closedir(). */
DIR *folder_list(int dir_fd);
