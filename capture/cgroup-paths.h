/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cgroups there are: the id by which the kernel's records name one is the inode of its folder.
 */
#pragma once

#include <stdint.h>

/*
 * Calls TAKE for each cgroup of the unified hierarchy that this process can see: its id, and its path from the root of
 * the hierarchy ("/" is the root itself), valid UTF-8. Those that are too deep (32) or too many (65536) are left out,
 * and so is what nobody can see any more. It needs no rights, and the folders only: no file in them is opened.
 * Returns 0; what TAKE returned, if not 0, which ends it; or -ENODEV: the hierarchy is not mounted.
 */
int cgroup_paths(int (*take)(uint64_t id, const char *path, void *userdata), void *userdata);
