/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, as the eBPF programs have them (struct unwind_process). These programs
 * can change the mappings in place while the kernel copies them for user space.
 */
#pragma once

#include <stdint.h>

#include "bpf/record-unwind.h"

/*
 * Copies the mappings of process PID in the map FD to RET, as they were at one moment. Returns 0;
 * -EAGAIN if eBPF programs are changing the mappings; -ENOENT if there are no mappings of PID; or
 * another negative errno.
 */
int unwind_process_read(int fd, uint32_t pid, struct unwind_process *ret);
