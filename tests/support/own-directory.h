/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of a test: in a directory of its own, or below a directory that stands for the root of a
 * machine.
 */
#pragma once

#include <stddef.h>

/* For cmocka: the test runs in a new and empty directory, which goes with all that is in it,
 * unless KEEP_TMP is set. */
int own_directory_set_up(void **state);
int own_directory_tear_down(void **state);

/* Its path. */
const char *own_directory(void);

/* Writes the N bytes at P to the file ROOT PATH, over what is there; the directories of PATH
 * ("/a/b") are made. The file itself stays the same one: who has it open sees what is new. */
void put_bytes(const char *root, const char *path, const void *p, size_t n);

/* The same with a text, and where there are no directories to be made ROOT may be "". */
void put_text(const char *root, const char *path, const char *text);

/* The bytes in the file PATH, or a negative errno. */
long size_of_file(const char *path);
