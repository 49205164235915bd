/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file without a name, that goes with its last descriptor; in TMPDIR.
 */
#pragma once

/* Returns a descriptor to read and to write, or -1 when it has said why there is none. */
int temporary_file_open(void);
