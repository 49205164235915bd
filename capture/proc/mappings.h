/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of code that exist when a recording begins, in processes and in the kernel.
 *
 * ROOT is the root directory, "" for this machine. Mappings that cannot be read are left out: the
 * process has ended, or addresses are hidden.
 */
#pragma once

#include <stdint.h>

#include "bpf/record.h"
#include "capture/proc/proc-records.h"

/*
 * Called with each mapping, its time and CPU 0. Returns 0 or a negative errno, which ends the list.
 */
typedef int (*mapping_fn)(const struct rec_mapping *rec, void *userdata);

/*
 * Lists the executable mappings of process PID. The build ids come from the kernel (since 6.11),
 * for files on local file systems: the kernel can hold the lock of the process's address space
 * while it reads them. Returns 0; the result of FN that ended the list; or -ETIME: the list is
 * incomplete, because it grew while it was read. This can wait forever for the lock of the address
 * space.
 */
int mappings_of_process(const char *root, uint32_t pid, mapping_fn fn, void *userdata);

/*
 * Like mappings_of_process(), but by bounded_read(), so this does not wait long. FN is called after
 * the reading. Also returns a negative errno of bounded_read(), and -EMSGSIZE if there are too many
 * mappings.
 */
int mappings_of_process_bounded(const char *root, uint32_t pid, mapping_fn fn, void *userdata,
				uint64_t *cpu_ns_sum);

/*
 * Lists the kernel's TEXT and its modules as mappings of process 2. If TEXT is NULL, its addresses
 * are found in /proc/kallsyms, which takes tens of milliseconds. Returns like
 * mappings_of_process().
 */
int mappings_of_kernel(const char *root, const struct kernel_text *text, mapping_fn fn,
		       void *userdata);
