/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the place of an existing output file. Symbolic links at the end of a path are followed one
 * by one, by their texts, to notice another user's link in a directory like /tmp. Linux refuses to
 * follow such links (fs.protected_symlinks), but this can be turned off.
 */
#pragma once

/*
 * Follows PATH. Returns 0 if *RET_PLACE is the path of the file itself, or 1 if it is that of a
 * link in /proc, which the kernel has to follow; to be freed. Otherwise, returns a negative errno:
 * -EPERM = the link *RET_PLACE belongs to another user, and others can write to its directory.
 */
int output_path_follow(const char *path, char **ret_place);

/*
 * Opens the directory of PATH, for the functions that take a directory. *RET_NAME is the last
 * component of PATH. Returns a descriptor, or a negative errno.
 */
int output_path_open_directory(const char *path, const char **ret_name);
