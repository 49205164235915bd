/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-packs.h"

#include <string.h>

#include "model/calls/call-structs.h"

#define MASK_STRUCT "struct:sigmask"

enum { SIZE_BYTES = sizeof(int32_t), BITS_UNIT = 8 };

_Static_assert(CALL_ARGS_MAX <= CALL_MEMORIES_MAX, "room for all arguments");

static bool call_pack_is_bits(const struct call_struct *layout)
{
	return layout && layout->n_members > 0 && layout->members[0].kind == CALL_MEMBER_FDS;
}

uint8_t call_pack_memory(const struct call_type *type)
{
	if (call_pack_is_bits(call_struct_by_number(type->layout)))
		return CALL_MEMORY_BITS;
	return type->layout == call_struct_find(MASK_STRUCT, strlen(MASK_STRUCT))
		       ? CALL_MEMORY_MASK
		       : CALL_MEMORY_BYTES;
}

/* Returns the size of memory of TYPE; 0 = it is not known in advance. */
static unsigned call_pack_fixed(const struct call_type *type)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	return layout && !type->is_array && !layout->is_sized ? layout->bytes : 0;
}

/* Returns the size that the copied part of memory of TYPE is a multiple of. */
static unsigned call_pack_unit(const struct call_type *type)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	return call_pack_is_bits(layout) ? BITS_UNIT : layout && type->is_array ? layout->bytes : 1;
}

/* Appends the arguments of SPEC in memory whose `in_out` is IN_OUT. */
static void call_pack_add(const struct call_spec *spec, bool in_out, struct call_pack_plan *plan)
{
	for (size_t i = 0; i < spec->n_args; i++)
		if (call_type_is_memory(&spec->args[i].type) && spec->args[i].type.in_out == in_out)
			plan->args[plan->n++] = (uint8_t)i;
}

bool call_pack_plan(const struct call_spec *spec, struct call_pack_plan *plan)
{
	unsigned left = CALL_PACK_BYTES, n_shares = 0;

	*plan = (struct call_pack_plan){ 0 };
	call_pack_add(spec, true, plan);
	plan->n_outs = plan->n;
	call_pack_add(spec, false, plan);
	if (!call_spec_is_syscall(spec) || plan->n + plan->n_outs <= CALL_TEXTS_MAX)
		return false;
	for (uint8_t i = 0; i < plan->n; i++) {
		const struct call_type *type = &spec->args[plan->args[i]].type;
		unsigned fixed = call_pack_fixed(type);

		/*
		 * Strings and memory that is only written need texts of their own, so there is no
		 * pack.
		 */
		if (type->form != CALL_STRUCT || (type->out && !type->in_out) ||
		    fixed + SIZE_BYTES > left)
			return false;
		left -= fixed + SIZE_BYTES;
		n_shares += fixed == 0;
	}
	for (uint8_t i = 0; i < plan->n; i++) {
		const struct call_type *type = &spec->args[plan->args[i]].type;
		unsigned fixed = call_pack_fixed(type), unit = call_pack_unit(type);

		plan->max[i] = (uint8_t)(fixed ?: left / n_shares / unit * unit);
	}
	return true;
}

void call_pack_split(const struct call_text *text, uint8_t n,
		     struct call_text to[static CALL_MEMORIES_MAX])
{
	size_t left = text && text->bytes > 0 ? (size_t)text->bytes : 0;
	const char *from = text ? text->text : NULL;

	for (uint8_t i = 0; i < n; i++) {
		int32_t size = -1;

		if (left >= sizeof(size)) {
			memcpy(&size, from, sizeof(size));
			from += sizeof(size);
			left -= sizeof(size);
		}
		to[i].bytes = size < 0 || (size_t)size > left ? -1 : size;
		to[i].cut = 0;
		if (to[i].bytes <= 0)
			continue;
		memcpy(to[i].text, from, (size_t)size);
		from += size;
		left -= (size_t)size;
	}
}
