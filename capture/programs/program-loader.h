/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an object's eBPF programs with libbpf, but without its searches in the kernel's BTF. They
 * take longer than all other work, since each begins at the first type. The types that relocations
 * need are extracted in one pass, and the hooks' numbers are found in another one (kernel-btf.h).
 */
#pragma once

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "capture/programs/kernel-btf.h"

struct program_loader;

/*
 * To be called before an object is opened, with *RET_PATH in its open options (btf_custom_path;
 * owned by the result). Returns 0 or a negative errno.
 */
int program_loader_new(struct program_loader **ret, const char **ret_path);

/*
 * To be called before this thread loads OBJECT. Programs can still be left out afterwards. Returns
 * 0 or a negative errno.
 */
int program_loader_prepare(struct program_loader *l, const struct kernel_btf *btf,
			   struct bpf_object *object);

/* To be called after loading, or after its failure. Returns NULL. */
struct program_loader *program_loader_free(struct program_loader *l);

DEFINE_CLEANUP(struct program_loader *, program_loader_free)
