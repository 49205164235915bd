/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of programs that are started through the dynamic loader ("ld.so PROGRAM"). The kernel
 * executes the loader, and names the process after it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/record.h"

/* Returns true if COMM, a name as the kernel has it, is the name of a dynamic loader. */
bool loader_name_is(const char comm[static REC_COMM_BYTES]);

/*
 * Writes the name that the kernel would give to the program that a loader starts. The N bytes at
 * ARGS are the arguments of the loader, separated by NUL. Returns false if the arguments start no
 * program, or are cut before its name.
 */
bool loader_name_program(char to[static REC_COMM_BYTES], const char *args, size_t n);
