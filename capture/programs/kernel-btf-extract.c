/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extracts types of a BTF into a new one. Types are numbered in the order of discovery: first the
 * requested types, then the types of their members.
 */
#include "capture/programs/kernel-btf-parts.h"

#include <errno.h>
#include <string.h>

struct btf_extract {
	const struct kernel_btf *btf;
	uint32_t *numbers; /* number of each type of BTF in the extract; 0 = not discovered */
	struct outbuf
		/*
		 * An array of uint32_t: types of BTF, in the order of their numbers in the extract.
		 */
		type_ids;
	struct outbuf types, strings;
};

static void btf_extract_deinit(struct btf_extract *e)
{
	free(e->numbers);
	outbuf_deinit(&e->type_ids);
	outbuf_deinit(&e->types);
	outbuf_deinit(&e->strings);
}

/* Returns the number of type ID in the extract. */
static uint32_t btf_extract_number(struct btf_extract *e, uint32_t id)
{
	if (!kernel_btf_type(e->btf, id))
		return 0;
	if (!e->numbers[id] && outbuf_append(&e->type_ids, &id, sizeof(id)) == 0)
		e->numbers[id] = (uint32_t)(e->type_ids.size / sizeof(id));
	return e->numbers[id];
}

static uint32_t btf_extract_text(struct btf_extract *e, uint32_t offset)
{
	const char *text = kernel_btf_text(e->btf, offset);
	uint32_t at = (uint32_t)e->strings.size;

	return *text && outbuf_append(&e->strings, text, strlen(text) + 1) == 0 ? at : 0;
}

static void btf_extract_members(struct btf_extract *e, struct btf_type *t)
{
	struct btf_member *m = btf_members(t);

	for (unsigned i = 0; i < btf_vlen(t); i++) {
		m[i].name_off = btf_extract_text(e, m[i].name_off);
		m[i].type = btf_extract_number(e, m[i].type);
	}
}

static void btf_extract_values(struct btf_extract *e, struct btf_type *t)
{
	for (unsigned i = 0; i < btf_vlen(t); i++) {
		uint32_t *name =
			btf_is_enum64(t) ? &btf_enum64(t)[i].name_off : &btf_enum(t)[i].name_off;

		*name = btf_extract_text(e, *name);
	}
}

/* Replaces the names and numbers of types in T, a copy of a type, by those of the extract. */
static void btf_extract_adapt(struct btf_extract *e, struct btf_type *t)
{
	t->name_off = btf_extract_text(e, t->name_off);
	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		btf_array(t)->type = btf_extract_number(e, btf_array(t)->type);
		btf_array(t)->index_type = btf_extract_number(e, btf_array(t)->index_type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		btf_extract_members(e, t);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		btf_extract_values(e, t);
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		t->type = btf_extract_number(e, t->type);
		break;
	case BTF_KIND_PTR:
		t->type = 0;
		break;
	}
}

/* Returns true if a member can have type T. Functions and variables are excluded. */
static bool btf_extract_fits(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
	case BTF_KIND_PTR:
	case BTF_KIND_ARRAY:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return true;
	}
	return false;
}

static int btf_extract_copy_type(struct btf_extract *e, uint32_t id)
{
	static const struct btf_type nothing = { .info = BTF_KIND_FWD << 24 };
	const struct btf_type *t = kernel_btf_type(e->btf, id);
	void *copy;

	if (!btf_extract_fits(t))
		t = &nothing;
	copy = outbuf_reserve(&e->types, kernel_btf_type_bytes(t));
	if (!copy)
		return e->types.error;
	memcpy(copy, t, kernel_btf_type_bytes(t));
	btf_extract_adapt(e, copy);
	return e->strings.error ?: e->type_ids.error;
}

static int btf_extract_on_root(uint32_t id, size_t name, void *userdata)
{
	struct btf_extract *e = userdata;

	btf_extract_number(e, id);
	return e->type_ids.error;
}

static int btf_extract_write(const struct btf_extract *e, struct outbuf *ret)
{
	const struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = (uint32_t)e->types.size,
		.str_off = (uint32_t)e->types.size,
		.str_len = (uint32_t)e->strings.size,
	};

	outbuf_append(ret, &h, sizeof(h));
	outbuf_append(ret, e->types.data, e->types.size);
	return outbuf_append(ret, e->strings.data, e->strings.size);
}

int kernel_btf_extract(const struct kernel_btf *btf, const char *const *names, size_t n,
		       struct outbuf *ret)
{
	static const uint32_t kinds = UINT32_C(1) << BTF_KIND_INT | UINT32_C(1) << BTF_KIND_STRUCT |
				      UINT32_C(1) << BTF_KIND_UNION | UINT32_C(1) << BTF_KIND_ENUM |
				      UINT32_C(1) << BTF_KIND_ENUM64 |
				      UINT32_C(1) << BTF_KIND_TYPEDEF |
				      UINT32_C(1) << BTF_KIND_FWD | UINT32_C(1) << BTF_KIND_FLOAT;
	_cleanup_(btf_extract_deinit) struct btf_extract e = { .btf = btf };
	int r;

	e.numbers = calloc(btf->n_types, sizeof(*e.numbers));
	if (!e.numbers)
		return -ENOMEM;
	r = outbuf_append(&e.strings, "", 1)
		    ?: kernel_btf_each(btf, kinds, names, n, btf_extract_on_root, &e);
	for (size_t i = 0; r == 0 && i < e.type_ids.size / sizeof(uint32_t); i++)
		r = btf_extract_copy_type(&e, ((const uint32_t *)e.type_ids.data)[i]);
	return r < 0 ? r : btf_extract_write(&e, ret);
}
