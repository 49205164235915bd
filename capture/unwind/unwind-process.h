/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, as the programs have them (struct unwind_process). The programs change
 * them in place, while the kernel copies them for user space.
 */
#pragma once

#include <stdint.h>

#include "bpf/record-unwind.h"

/*
 * Copies the mappings of process PID in the map FD to RET, as they were at one moment. Returns 0;
 * -EAGAIN if the programs are changing them; -ENOENT if they have no mappings of PID; or another
 * negative errno.
 */
int unwind_process_read(int fd, uint32_t pid, struct unwind_process *ret);
