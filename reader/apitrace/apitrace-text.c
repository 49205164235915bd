/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/apitrace/apitrace-text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct printer {
	struct outbuf *to;
	const struct apitrace_text_options *options;
};

static void apitrace_text_put(struct outbuf *to, const char *text)
{
	outbuf_append(to, text, strlen(text));
}

/* ---- names ---- */

int apitrace_text_name(struct outbuf *to, const struct apitrace_text *name)
{
	/* The name ends at the first NUL, as in other tools that read the format. */
	size_t n = name->n > 0 ? strnlen(name->bytes, name->n) : 0, plain = 0, room, before;
	char *cleaned;

	while (plain < n && name->bytes[plain] >= ' ' && name->bytes[plain] <= '~')
		plain++;
	if (plain == n)
		return outbuf_append(to, name->bytes, n);
	room = 3 * n + 1;
	before = to->size;
	cleaned = outbuf_reserve(to, room);
	if (!cleaned)
		return to->error;
	to->size = before + text_clean(cleaned, room, name->bytes, n);
	return 0;
}

/* ---- text ---- */

/*
 * Writes the escape of C as apitrace's own tool does. Printable ASCII, tab, CR and LF need no
 * escape.
 */
static void apitrace_text_put_escape(struct outbuf *to, uint32_t c)
{
	char text[8] = "\\";
	unsigned high = (c >> 3) & 7, n = 1;

	if (high > 0) {
		text[n++] = (char)('0' + high);
		text[n++] = (char)('0' + high);
	}
	text[n++] = (char)('0' + (c & 7));
	outbuf_append(to, text, n);
}

static void apitrace_text_put_char(const struct printer *p, uint32_t c)
{
	char byte = (char)c;

	if (c == '"')
		apitrace_text_put(p->to, "\\\"");
	else if (c == '\\')
		apitrace_text_put(p->to, "\\\\");
	else if ((c >= ' ' && c <= '~') || c == '\t')
		outbuf_append(p->to, &byte, 1);
	else if (c == '\n')
		apitrace_text_put(p->to, p->options->one_line ? "\\n" : "\n");
	else if (c != '\r')
		apitrace_text_put_escape(p->to, c);
}

static void apitrace_text_put_string(const struct printer *p, const struct apitrace_text *text)
{
	apitrace_text_put(p->to, "\"");
	for (size_t i = 0; i < text->n && text->bytes[i]; i++)
		apitrace_text_put_char(p, (uint32_t)(unsigned char)text->bytes[i]);
	apitrace_text_put(p->to, "\"");
}

static void apitrace_text_put_wide(const struct printer *p, const struct apitrace_value *v)
{
	apitrace_text_put(p->to, "L\"");
	for (size_t i = 0; i < v->wide.n && v->wide.chars[i]; i++)
		apitrace_text_put_char(p, v->wide.chars[i]);
	apitrace_text_put(p->to, "\"");
}

/* ---- values ---- */

static void apitrace_text_put_value(const struct printer *p, const struct apitrace_value *v);

static void apitrace_text_put_enum(const struct printer *p, const struct apitrace_value *v)
{
	const struct apitrace_set *set = v->set.set;

	for (size_t i = 0; i < set->n; i++) {
		if (set->values[i].value == v->set.value) {
			apitrace_text_name(p->to, &set->values[i].name);
			return;
		}
	}
	outbuf_print(p->to, "%" PRId64, (int64_t)v->set.value);
}

static void apitrace_text_put_bitmask(const struct printer *p, const struct apitrace_value *v)
{
	const struct apitrace_set *set = v->set.set;
	uint64_t left = v->set.value;
	bool first = true;

	for (size_t i = 0; i < set->n; i++) {
		uint64_t flag = set->values[i].value;

		if (flag ? (left & flag) == flag : left == 0) {
			apitrace_text_put(p->to, first ? "" : " | ");
			apitrace_text_name(p->to, &set->values[i].name);
			left &= ~flag;
			first = false;
		}
		if (left == 0)
			break;
	}
	if (left || first)
		outbuf_print(p->to, "%s0x%" PRIx64, first ? "" : " | ", left);
}

static void apitrace_text_put_array(const struct printer *p, const struct apitrace_value *v)
{
	if (v->items.n == 1) {
		apitrace_text_put(p->to, "&");
		apitrace_text_put_value(p, v->items.first);
		return;
	}
	apitrace_text_put(p->to, "{");
	for (const struct apitrace_value *item = v->items.first; item; item = item->next) {
		apitrace_text_put(p->to, item == v->items.first ? "" : ", ");
		apitrace_text_put_value(p, item);
	}
	apitrace_text_put(p->to, "}");
}

/* Prints members. An unnamed struct has its members in the outer struct. */
static const char *apitrace_text_put_members(const struct printer *p,
					     const struct apitrace_value *v, const char *separator)
{
	const struct apitrace_value *member = v->members.first;

	for (size_t i = 0; member; i++, member = member->next) {
		const struct apitrace_text *name = &v->members.names->names[i];

		if (name->n == 0 && member->type == APITRACE_STRUCT) {
			separator = apitrace_text_put_members(p, member, separator);
			continue;
		}
		apitrace_text_put(p->to, separator);
		apitrace_text_name(p->to, name);
		apitrace_text_put(p->to, " = ");
		apitrace_text_put_value(p, member);
		separator = ", ";
	}
	return separator;
}

static void apitrace_text_put_blob(const struct printer *p, const struct apitrace_text *blob)
{
	if (p->options->blob)
		p->options->blob(p->options->userdata, p->to, blob);
	else
		outbuf_print(p->to, "blob(%zu)", blob->n);
}

static void apitrace_text_put_value(const struct printer *p, const struct apitrace_value *v)
{
	switch (v->type) {
	case APITRACE_NULL:
		apitrace_text_put(p->to, "NULL");
		break;
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		apitrace_text_put(p->to, v->type == APITRACE_TRUE ? "true" : "false");
		break;
	case APITRACE_SINT:
		outbuf_print(p->to, "%" PRId64, v->sint);
		break;
	case APITRACE_UINT:
		outbuf_print(p->to, "%" PRIu64, v->uint);
		break;
	case APITRACE_FLOAT:
		outbuf_print(p->to, "%.7g", (double)v->f);
		break;
	case APITRACE_DOUBLE:
		outbuf_print(p->to, "%.16g", v->d);
		break;
	case APITRACE_STRING:
		apitrace_text_put_string(p, &v->text);
		break;
	case APITRACE_WSTRING:
		apitrace_text_put_wide(p, v);
		break;
	case APITRACE_BLOB:
		apitrace_text_put_blob(p, &v->text);
		break;
	case APITRACE_ENUM:
		apitrace_text_put_enum(p, v);
		break;
	case APITRACE_BITMASK:
		apitrace_text_put_bitmask(p, v);
		break;
	case APITRACE_ARRAY:
		apitrace_text_put_array(p, v);
		break;
	case APITRACE_STRUCT:
		apitrace_text_put(p->to, "{");
		apitrace_text_put_members(p, v, "");
		apitrace_text_put(p->to, "}");
		break;
	case APITRACE_POINTER:
		outbuf_print(p->to, "0x%" PRIx64, v->uint);
		break;
	case APITRACE_REPR:
		apitrace_text_put_value(p, v->items.first);
		break;
	}
}

/* ---- calls ---- */

int apitrace_text_frame(struct outbuf *to, const struct apitrace_frame *f)
{
	if (f->module.bytes)
		apitrace_text_name(to, &f->module);
	else
		apitrace_text_put(to, "?");
	if (f->function.bytes) {
		apitrace_text_put(to, ": ");
		apitrace_text_name(to, &f->function);
	}
	if (f->has_offset)
		outbuf_print(to, "+0x%" PRIx64, f->offset);
	if (f->file.bytes) {
		apitrace_text_put(to, ": ");
		apitrace_text_name(to, &f->file);
		if (f->has_line)
			outbuf_print(to, ":%" PRIu64, f->line);
	}
	return to->error;
}

static void apitrace_text_put_args(const struct printer *p, const struct apitrace_call *call)
{
	for (size_t i = 0; i < call->function->n; i++) {
		const struct apitrace_value *value = i < call->n_args ? call->args[i].value : NULL;

		apitrace_text_put(p->to, i > 0 ? ", " : "");
		if (!p->options->no_arg_names) {
			apitrace_text_name(p->to, &call->function->names[i]);
			apitrace_text_put(p->to, " = ");
		}
		if (value)
			apitrace_text_put_value(p, value);
		else
			apitrace_text_put(p->to, "?");
	}
}

static void apitrace_text_put_state(struct outbuf *to, const struct apitrace_call *call)
{
	bool fake = call->flags & APITRACE_FLAG_FAKE;
	bool incomplete = call->state == APITRACE_CALL_INCOMPLETE;

	if (fake || incomplete)
		outbuf_print(to, " //%s%s", fake ? " fake" : "", incomplete ? " incomplete" : "");
}

int apitrace_text_call(struct outbuf *to, const struct apitrace_call *call,
		       const struct apitrace_text_options *options)
{
	const struct printer p = { to, options };

	if (!options->no_numbers)
		outbuf_print(to, "%" PRIu64 " ", call->no);
	if (options->thread_ids)
		outbuf_print(to, "@%" PRIx32 " ", (uint32_t)call->thread);
	apitrace_text_name(to, &call->function->name);
	apitrace_text_put(to, "(");
	apitrace_text_put_args(&p, call);
	apitrace_text_put(to, ")");
	if (call->ret) {
		apitrace_text_put(to, " = ");
		apitrace_text_put_value(&p, call->ret);
	}
	apitrace_text_put_state(to, call);
	apitrace_text_put(to, "\n");
	if (options->one_line)
		return to->error;
	if (call->has_backtrace)
		apitrace_text_put(to, "Backtrace:\n");
	for (size_t i = 0; i < call->n_frames; i++) {
		apitrace_text_frame(to, call->frames[i]);
		apitrace_text_put(to, "\n");
	}
	if (apitrace_ends_frame(&call->function->name))
		apitrace_text_put(to, "\n");
	return to->error;
}

int apitrace_text_property(struct outbuf *to, const struct apitrace_property *property,
			   const struct apitrace_text_options *options)
{
	const struct printer p = { to, options };

	apitrace_text_put(to, "// ");
	apitrace_text_name(to, &property->name);
	apitrace_text_put(to, " = ");
	apitrace_text_put_string(&p, &property->value);
	apitrace_text_put(to, "\n");
	return to->error;
}
