/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an object's eBPF programs with libbpf, but without libbpf's searches in the kernel's BTF.
 * Each search begins at the first type, so these searches take longer than all other work. This
 * module extracts the types that relocations need in one pass, and finds the numbers of the hooks
 * in a second pass (kernel-btf.h).
 */
#pragma once

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "capture/programs/kernel-btf.h"

struct program_loader;

/*
 * To be called before an object is opened. *RET_PATH (owned by the result) belongs in the open
 * options, as btf_custom_path. Returns 0 or a negative errno.
 */
int program_loader_new(struct program_loader **ret, const char **ret_path);

/*
 * To be called before this thread loads OBJECT. Programs can still be omitted afterwards. Returns 0
 * or a negative errno.
 */
int program_loader_prepare(struct program_loader *l, const struct kernel_btf *btf,
			   struct bpf_object *object);

/*
 * The eBPF programs can read kernel memory without a helper if the kernel has bpf_rdonly_cast()
 * (Linux 6.2). libbpf would search the kernel's BTF for this function. Instead, the eBPF programs
 * have a call with the number CAST_CALL, which this module replaces in programs with a hook in the
 * kernel's BTF.
 *
 * To be called after program_loader_prepare(). Returns the type that the programs need for the
 * call, a structure that begins with a 32-bit number; 0 if the kernel refuses such a call. Then
 * nothing is replaced, and the verifier must find that no program reaches the call.
 */
uint32_t program_loader_cast_type(const struct program_loader *l);

/* To be called after loading, or after a failure. Returns NULL. */
struct program_loader *program_loader_free(struct program_loader *l);

DEFINE_CLEANUP(struct program_loader *, program_loader_free)
