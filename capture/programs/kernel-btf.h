/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's BTF: 150,000 types in 5 MB. libbpf takes 10 ms to parse this BTF, and
 * searches each name from the first type on. This module finds many names in one pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"

struct kernel_btf;

/* Returns 0, or a negative errno if the BTF cannot be read; -EBADMSG if the BTF is damaged. */
int kernel_btf_open(struct kernel_btf **ret);

/* Like kernel_btf_open(), for the BTF in the file PATH. */
int kernel_btf_open_file(const char *path, struct kernel_btf **ret);

/* Returns NULL. */
struct kernel_btf *kernel_btf_free(struct kernel_btf *btf);

DEFINE_CLEANUP(struct kernel_btf *, kernel_btf_free)

struct kernel_btf_name {
	const char *name;
	uint32_t kind; /* BTF_KIND_* */
	uint32_t id;   /* result: the first type of that kind and name; 0 = no such type */
};

/* Looks up the N NAMES in one pass. */
int kernel_btf_find(const struct kernel_btf *btf, struct kernel_btf_name *names, size_t n);

/*
 * Appends a self-contained BTF to RET: all types with one of the N NAMES, the types of their
 * members, and so on. Its pointers lead to void, which suffices for relocations of fields. Returns
 * 0 or a negative errno.
 */
int kernel_btf_extract(const struct kernel_btf *btf, const char *const *names, size_t n,
		       struct outbuf *ret);

/*
 * Sets an element of RET for each of the N tracepoints NAMES that the kernel has. Returns 0 or a
 * negative errno.
 */
int kernel_btf_tracepoints(const struct kernel_btf *btf, const char *const *names, size_t n,
			   bool *ret);

/*
 * Returns 1 if a task still has its memory when its exit is reported, 0 if not, or a negative
 * errno. (Since Linux 6.16, tasks still have their memory then. This version is recognised by the
 * additional argument of the tracepoint.)
 */
int kernel_btf_exits_with_memory(const struct kernel_btf *btf);

/*
 * Finds the offset of x86's preempt count from the CPU's run queue, in bytes. The count and the run
 * queue are per-CPU variables, and the BTF has their positions in the per-CPU section. Returns 1
 * with *RET set, 0 if this kernel has no such variable (other architectures keep the count in the
 * task), or a negative errno.
 */
int kernel_btf_preempt_count(const struct kernel_btf *btf, int64_t *ret_from_rq);
