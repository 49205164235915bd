/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The type that the files kernel-btf*.c share: a BTF whose sections and types were checked to be
 * complete.
 */
#pragma once

#include <bpf/btf.h>

#include "capture/programs/kernel-btf.h"

struct kernel_btf {
	uint8_t *data;
	size_t size;
	bool is_mapped;
	const uint8_t *types;
	const char *strings;
	uint32_t n_types; /* including void, which is number 0 */
	uint32_t n_string_bytes;
	uint32_t *at; /* offset of each type from `types` */
};

/* Returns type ID, which must not be 0; NULL if the BTF has no such type. */
static inline const struct btf_type *kernel_btf_type(const struct kernel_btf *btf, uint32_t id)
{
	return id > 0 && id < btf->n_types ? (const void *)(btf->types + btf->at[id]) : NULL;
}

static inline const char *kernel_btf_text(const struct kernel_btf *btf, uint32_t offset)
{
	return offset < btf->n_string_bytes ? btf->strings + offset : "";
}

/* Returns the size of T with its members in bytes; 0 if its kind is unknown. */
size_t kernel_btf_type_bytes(const struct btf_type *t);

/*
 * Calls FN with the number of each type whose kind is in KINDS (bits) and whose name is one of the
 * N different NAMES. Returns 0, or the negative result of FN.
 */
typedef int (*kernel_btf_fn)(uint32_t id, size_t name, void *userdata);
int kernel_btf_each(const struct kernel_btf *btf, uint32_t kinds, const char *const *names,
		    size_t n, kernel_btf_fn fn, void *userdata);
