/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data about a task from /proc. A call can block, since the command line is in the memory of
 * another process. So only worker threads may call functions that are not noted otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record.h"

/*
 * Returns true if all processes of the machine are visible, with the ids that the kernel uses. Does
 * not block.
 */
bool proc_sees_all(void);

/*
 * Sets *RET_DEVICE and *RET_INODE to those of this process's pid namespace, as the kernel has them.
 * Returns false if they are unknown. Does not block.
 */
bool proc_pid_namespace(uint64_t *ret_device, uint64_t *ret_inode);

/*
 * Returns true if this process reads the clocks that the kernel's records contain: a process in
 * another time namespace can have other clocks. Does not block.
 */
bool proc_has_kernel_clock(void);

/*
 * Returns true if thread or process TID has certainly ended: requires proc_sees_all(). Does not
 * block.
 */
bool proc_is_gone(uint32_t tid);

/*
 * Returns true if the main thread of process PID is exiting or gone: its directory in /proc then
 * has no descriptors and mappings, or soon loses them, even if other threads still have them.
 */
bool proc_is_exiting(uint32_t pid);

/*
 * Reads the identity of TID, as far as /proc has it (without a start time). Returns 0, or -ESRCH if
 * TID has ended.
 */
int proc_identity(uint32_t tid, struct rec_identity *ret);

/*
 * Writes the path of the cgroup (version 2) of process PID to TO, cleaned (text_clean()), or "".
 * Does not block.
 */
void proc_cgroup(uint32_t pid, char *to, size_t room);

/*
 * Reads the command line of process PID, at most ROOM bytes, whose arguments are separated by NUL.
 * Returns the number of bytes, 0 if the process has no command line or has ended; or a negative
 * errno of bounded_read() if the command line, which is in the memory of the process, cannot be
 * read in time. Adds the CPU time to *CPU_NS_SUM atomically, unless that is NULL.
 */
ssize_t proc_command(uint32_t pid, char *to, size_t room, uint64_t *cpu_ns_sum);
