/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-archive-args.h"

#include <errno.h>

static const void *fxt_archive_value_of(const struct fxt_event_field *f, const struct event *ev)
{
	return (const char *)ev + f->offset;
}

static uint32_t fxt_archive_u32_of(const struct fxt_event_field *f, const struct event *ev)
{
	return *(const uint32_t *)fxt_archive_value_of(f, ev);
}

static uint64_t fxt_archive_u64_of(const struct fxt_event_field *f, const struct event *ev)
{
	return *(const uint64_t *)fxt_archive_value_of(f, ev);
}

static const char *fxt_archive_text_of(const struct fxt_event_field *f, const struct event *ev)
{
	return *(const char *const *)fxt_archive_value_of(f, ev);
}

static bool fxt_archive_is_set(const struct fxt_event_field *f, const struct event *ev)
{
	switch ((enum fxt_field_form)f->form) {
	case FXT_FORM_U64:
	case FXT_FORM_TIME:
	case FXT_FORM_POINTER:
		return fxt_archive_u64_of(f, ev) != 0;
	case FXT_FORM_BOOL:
	case FXT_FORM_LETTER:
		return *(const char *)fxt_archive_value_of(f, ev) != 0;
	case FXT_FORM_TEXT:
	case FXT_FORM_WORD:
		return *fxt_archive_text_of(f, ev) != '\0';
	case FXT_FORM_BUILD_ID:
		return ev->mapping.build_id_size > 0;
	default:
		return fxt_archive_u32_of(f, ev) != 0;
	}
}

static bool fxt_archive_is_written(const struct fxt_event_field *f, const struct event *ev)
{
	switch (f->flags & FXT_FIELD_WHEN) {
	case FXT_FIELD_IF_SET:
		return fxt_archive_is_set(f, ev);
	case FXT_FIELD_IF_THERE:
		return fxt_archive_text_of(f, ev) != NULL;
	case FXT_FIELD_IF_KNOWN:
		return fxt_archive_u32_of(f, ev) != UINT32_MAX;
	case FXT_FIELD_IF_NEXT:
		return fxt_archive_is_written(f + 1, ev);
	default:
		return (f->flags & FXT_FIELD_WHEN) != FXT_FIELD_UNWRITTEN;
	}
}

/*
 * Writes BYTES in hexadecimal. snprintf() would take more time for this than everything else that
 * is written for a mapping.
 */
static void fxt_archive_put_hex(char *to, const uint8_t *bytes, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < n; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

/* Sets *RET to the name of the enum value V, by its fixed index, or as text if it has none. */
static int fxt_archive_get_enum(struct fxt_out_string *ret, unsigned v, const uint8_t *names,
				const char *const *texts, unsigned n)
{
	if (v >= n)
		return -EINVAL;
	*ret = names[v] ? fxt_named(names[v]) : fxt_interned(texts[v]);
	return 0;
}

static int fxt_archive_fill_value(struct fxt_archive_args *args, struct fxt_out_arg *to,
				  const struct fxt_event_field *f, const struct event *ev)
{
	switch ((enum fxt_field_form)f->form) {
	case FXT_FORM_KOID:
		to->u64 = fxt_archive_u32_of(f, ev);
		return 0;
	case FXT_FORM_U64:
	case FXT_FORM_TIME:
	case FXT_FORM_POINTER:
		to->u64 = fxt_archive_u64_of(f, ev);
		return 0;
	case FXT_FORM_BOOL:
		to->boolean = *(const bool *)fxt_archive_value_of(f, ev);
		return 0;
	case FXT_FORM_TEXT:
		to->text = fxt_inline(fxt_archive_text_of(f, ev));
		return 0;
	case FXT_FORM_WORD:
		to->text = fxt_interned(fxt_archive_text_of(f, ev));
		return 0;
	case FXT_FORM_LETTER:
		args->letter[0] = *(const char *)fxt_archive_value_of(f, ev);
		args->letter[1] = '\0';
		to->text = fxt_inline(args->letter);
		return 0;
	case FXT_FORM_RESOURCE:
		return fxt_archive_get_enum(&to->text, fxt_archive_u32_of(f, ev),
					    fxt_resource_names, resource_names, RESOURCE_MAX);
	case FXT_FORM_REACH:
		return fxt_archive_get_enum(&to->text, fxt_archive_u32_of(f, ev), fxt_reach_names,
					    reach_names, REACH_MAX);
	case FXT_FORM_BUILD_ID:
		if (ev->mapping.build_id_size > FXT_BUILD_ID_BYTES_MAX)
			return -EINVAL;
		fxt_archive_put_hex(args->build_id, ev->mapping.build_id,
				    ev->mapping.build_id_size);
		to->text = fxt_inline(args->build_id);
		return 0;
	default:
		to->u32 = fxt_archive_u32_of(f, ev);
		return 0;
	}
}

int fxt_archive_fill_args(struct fxt_archive_args *args, enum fxt_row_id row,
			  const struct event *ev)
{
	int r = 0;

	args->n = 0;
	for (const struct fxt_event_field *f = fxt_event_rows[row].fields; r == 0 && f->name; f++) {
		struct fxt_out_arg *to = &args->list[args->n];

		if (!fxt_archive_is_written(f, ev))
			continue;
		*to = (struct fxt_out_arg){ .type = f->type, .name = fxt_named(f->name) };
		r = fxt_archive_fill_value(args, to, f, ev);
		args->n++;
	}
	return r;
}
