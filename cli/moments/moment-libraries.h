/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in which GDB finds the shared libraries of a process (writer/tfile/tfile-link-map.h).
 * The archive does not have this memory, so it is made from the mappings in the archive and from
 * the files. The list of libraries is at addresses below 64 KiB, where programs cannot have memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "writer/tfile/tfile-script.h"

struct moment_libraries {
	struct outbuf head, dynamic, list;
	uint64_t head_at, dynamic_at, list_at;
};

/*
 * Makes the memory for PROGRAM and the N LIBRARIES. GDB reads the list again at each frame, so each
 * frame needs this memory, which has at most 8 KiB. Returns 0; -ENOEXEC if a file is unreadable, or
 * if the program has no libraries or too many; or -ENOMEM.
 */
int moment_libraries_make(struct moment_libraries *ret, const struct tfile_script_file *program,
			  const struct tfile_script_file *libraries, size_t n);
void moment_libraries_deinit(struct moment_libraries *l);
