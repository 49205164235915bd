/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an object's eBPF programs as libbpf does, without its searches in the kernel's BTF, which
 * take longer than all the rest: each name from the first type on. The types that relocations need
 * are extracted, and the hooks' numbers found, in one pass each (kernel-btf.h).
 */
#pragma once

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "capture/programs/kernel-btf.h"

struct program_loader;

/*
 * Before an object is opened: with *RET_PATH in its open options (btf_custom_path; owned by the
 * result). Returns 0 or a negative errno.
 */
int program_loader_new(struct program_loader **ret, const char **ret_path);

/*
 * Before it is loaded by this thread: OBJECT's programs, of which some may be left out later.
 * Returns 0 or a negative errno.
 */
int program_loader_prepare(struct program_loader *l, const struct kernel_btf *btf,
			   struct bpf_object *object);

/* When it is loaded, or when that has failed. Returns NULL. */
struct program_loader *program_loader_free(struct program_loader *l);

DEFINE_CLEANUP(struct program_loader *, program_loader_free)
