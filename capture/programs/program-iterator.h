/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs iterators: eBPF programs that the kernel calls for each object of a kind.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <bpf/libbpf.h>

/* Returns a descriptor, or a negative errno. Reading the descriptor runs the iterator PROG. */
int program_iterator_open(struct bpf_program *prog);

/*
 * Like program_iterator_open(), for an iterator of tasks. The iterator is called only for the task
 * PID, if that task is alive. Older kernels find the task only if it is the first thread of its
 * process.
 */
int program_iterator_open_process(struct bpf_program *prog, uint32_t pid);

/*
 * Reads the next output of the iterator FD, up to SIZE bytes. The kernel ends a read after a
 * million objects without output. This function then continues. Returns the number of bytes, 0 at
 * the end, or a negative errno.
 */
ssize_t program_iterator_read(int fd, void *buffer, size_t size);
