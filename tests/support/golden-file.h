/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that hold what something has to be, byte by byte: tests/golden/. With GOLDEN_UPDATE=1 in
 * the environment they are written instead; look at the diff.
 */
#pragma once

#include <stddef.h>

/* Fails the test if the N bytes at P are not what the file NAME ("fxt/events.fxt") holds. */
void assert_golden(const char *name, const void *p, size_t n);
