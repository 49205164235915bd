/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A leak report in the text protocol of what an archive has: for verbs that read such reports.
 */
#pragma once

/*
 * If the file PATH ("-" is none) is an archive, however it is packed, puts the report of what lives
 * in the one program that it has watched into a temporary file. *RET_FD is that, the caller's; -1
 * if PATH is no archive. Returns CLI_OK, CLI_DAMAGE if the archive is damaged, or CLI_FAILED when
 * it has said what is wrong.
 */
int archive_report_open(const char *path, int *ret_fd);
