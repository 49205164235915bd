/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-args.h"

#include <string.h>

#include "writer/fxt/fxt-writer.h"

/* Resolves the reference REF. An inline string is read from *P, which moves behind it. Returns
 * false if the string does not fit before END. */
static bool fxt_args_read_text(const struct fxt_provider *provider, unsigned ref,
			       const uint64_t **p, const uint64_t *end, struct fxt_text *ret)
{
	uint32_t length = (uint32_t)fxt_get_string_ref_length(ref);

	if (!fxt_get_string_ref_inline(ref)) {
		*ret = fxt_provider_string(provider, ref);
		return true;
	}
	if (fxt_stream_words(length) > (uint64_t)(end - *p))
		return false;
	*ret = (struct fxt_text){ (const char *)*p, length, -1, (uint16_t)ref };
	*p += fxt_stream_words(length);
	return true;
}

/* Reads the value of *ARG from P. Returns NULL, or an error message. */
static const char *fxt_args_read_value(const struct fxt_provider *provider, struct fxt_arg *arg,
				       const uint64_t *p, const uint64_t *end)
{
	uint64_t head = arg->words[0];
	uint32_t value32 = (uint32_t)fxt_get_arg_value32(head);

	switch (arg->type) {
	case FXT_ARG_INT32:
		arg->int32 = (int32_t)value32;
		return NULL;
	case FXT_ARG_UINT32:
		arg->uint32 = value32;
		return NULL;
	case FXT_ARG_BOOL:
		arg->boolean = value32 & 1;
		return NULL;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		if (p == end)
			return "an argument is too short for its value";
		memcpy(&arg->uint64, p, sizeof(arg->uint64));
		return NULL;
	case FXT_ARG_STRING:
		if (!fxt_args_read_text(provider, (unsigned)fxt_get_arg_value_ref(head), &p, end,
					&arg->text))
			return "an argument is too short for its string";
		return NULL;
	case FXT_ARG_BLOB:
		if (fxt_stream_words(value32) > (uint64_t)(end - p))
			return "an argument is too short for its blob";
		arg->blob.data = (const uint8_t *)p;
		arg->blob.size = value32;
		return NULL;
	default: /* null, and unknown types, which are skipped by their size */
		return NULL;
	}
}

int fxt_args_next(struct fxt_args *it, struct fxt_arg *ret)
{
	const uint64_t *p = it->next, *end;
	uint64_t words;

	if (it->n_left == 0)
		return FXT_ARGS_END;
	it->n_left--;
	words = p < it->end ? fxt_get_arg_words(*p) : 0;
	if (words == 0 || words > (uint64_t)(it->end - p)) {
		it->n_left = 0;
		it->damage = p == it->end ? "fewer arguments than the record counts"
			     : words == 0 ? "an argument of size 0"
					  : "an argument is larger than its record";
		return FXT_ARGS_DAMAGE;
	}
	end = p + words;
	it->next = end;
	ret->type = (unsigned)fxt_get_arg_type(*p);
	ret->n_words = (unsigned)words;
	ret->words = p;
	p++;
	if (!fxt_args_read_text(it->provider, (unsigned)fxt_get_arg_name(ret->words[0]), &p, end,
				&ret->name)) {
		it->damage = "an argument is too short for its name";
		return FXT_ARGS_DAMAGE;
	}
	it->damage = fxt_args_read_value(it->provider, ret, p, end);
	return it->damage ? FXT_ARGS_DAMAGE : FXT_ARGS_NEXT;
}

bool fxt_args_copy_value(const struct fxt_arg *arg, struct fxt_out_arg *ret)
{
	ret->type = (enum fxt_arg_type)arg->type;
	switch (arg->type) {
	case FXT_ARG_NULL:
		return true;
	case FXT_ARG_INT32:
		ret->i32 = arg->int32;
		return true;
	case FXT_ARG_UINT32:
		ret->u32 = arg->uint32;
		return true;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
		ret->u64 = arg->uint64;
		return true;
	case FXT_ARG_DOUBLE:
		ret->f64 = arg->real;
		return true;
	case FXT_ARG_BOOL:
		ret->boolean = arg->boolean;
		return true;
	case FXT_ARG_BLOB:
		ret->blob.data = arg->blob.data;
		ret->blob.size = arg->blob.size;
		return true;
	default:
		return false;
	}
}

bool fxt_args_find(struct fxt_args args, int name, enum fxt_arg_type type, struct fxt_arg *ret)
{
	int outcome;

	while ((outcome = fxt_args_next(&args, ret)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && ret->type == (unsigned)type &&
		    fxt_text_known(&ret->name) == name)
			return true;
	return false;
}
