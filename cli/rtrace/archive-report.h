/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a leak report in the text protocol from an archive, for verbs that read such reports.
 */
#pragma once

/*
 * If the file PATH is an archive with any compression, writes the report of the live blocks of its
 * only watched program to a temporary file. *RET_FD is that file, owned by the caller; or -1 if
 * PATH is not an archive or is "-". Returns CLI_OK, CLI_DAMAGE if the archive is damaged, or
 * CLI_FAILED after an error message.
 */
int archive_report_open(const char *path, int *ret_fd);
