/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that tests run by the shell.
 */
#pragma once

/* Runs a command in the directory DIR; what it says is added to the file "log" there. Returns what
 * system() does: 0 if it went well. */
int command_in(const char *dir, const char *format, ...) __attribute__((format(printf, 2, 3)));
