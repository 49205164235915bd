/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the file at PATH. Returns its *RET_N bytes, for free(), or NULL with errno. Exactly as
 * long, so that a sanitizer sees a read past the end.
 */
uint8_t *whole_file(const char *path, size_t *ret_n);
