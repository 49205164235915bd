/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file without a name, in TMPDIR. It is deleted when its last descriptor is closed. */
#pragma once

/* Returns a descriptor for reading and writing, or -1 after an error message. */
int temporary_file_open(void);
