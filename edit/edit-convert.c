/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "edit/edit-copy-state.h"
#include "edit/edit-kept.h"
#include "reader/fxt/fxt-row.h"

static const char lost_text[] = "(lost)";

/* The category, the name, and the names and values of all arguments have an index each. */
static_assert(EDIT_KEPT_STRING_FIRST + 2 + 2 * FXT_ARGS_MAX - 1 <= FXT_STRING_FIXED_MAX, "places");

/* ---- text ---- */

/* Returns the buffer for text I. If there is no memory, returns NULL and sets the output's error.
 */
static char *edit_convert_place(struct edit_copy *c, unsigned i)
{
	if (!c->texts[i])
		c->texts[i] = malloc(EDIT_TEXT_ROOM);
	if (!c->texts[i])
		c->to->bytes.error = -ENOMEM;
	return c->texts[i];
}

/* Copies the N bytes at BYTES to the next buffer, as valid UTF-8 of at most MAX bytes with a
 * NUL. */
static const char *edit_convert_clean(struct edit_copy *c, const char *bytes, size_t n, size_t max,
				      size_t *ret_n)
{
	char *to = edit_convert_place(c, c->n_texts++);

	*ret_n = 0;
	if (!to)
		return "";
	if (n <= max && text_is_utf8(bytes, n) && !(c->rules.mends && memchr(bytes, '\0', n))) {
		memcpy(to, bytes, n);
		to[n] = '\0';
		*ret_n = n;
	} else {
		*ret_n = text_clean(to, max + 1, bytes, n);
		c->counts.texts++;
	}
	return to;
}

/* Applies rules.text() to S, whose text is in the buffer used last. */
static void edit_convert_replace(struct edit_copy *c, enum edit_text what, int arg_name,
				 struct fxt_out_string *s)
{
	char *from = edit_convert_place(c, c->n_texts - 1),
	     *to = edit_convert_place(c, EDIT_TEXTS_MAX - 1);
	size_t n;

	if (!from || !to)
		return;
	n = c->rules.text(c->rules.userdata, c->record, what, arg_name, s->text, s->length, to);
	if (n == EDIT_TEXT_AS_IT_IS)
		return;
	memcpy(from, to, n);
	from[n] = '\0';
	s->length = n;
}

/*
 * Returns the name of fxt-names.h (enum fxt_name) that T equals, or 0. kymo's own names are known
 * by their indices, even if the records that define them were lost.
 */
static int edit_known_name(const struct edit_copy *c, const struct fxt_text *t)
{
	if (t->bytes || !c->provider->named)
		return fxt_text_known(t);
	return t->ref <= FXT_NAME_RESERVED && fxt_name_texts[t->ref] ? t->ref : 0;
}

/* Writes a string record for S, at the next index for strings of this record. */
static struct fxt_out_string edit_set_apart(struct edit_copy *c, const struct fxt_out_string *s)
{
	unsigned index = EDIT_KEPT_STRING_FIRST + c->n_strings++;

	fxt_write_string(&c->own.writer, index, s->text, s->length);
	return (struct fxt_out_string){ .index = index };
}

/* Converts T to a string that can be written into the output. */
struct fxt_out_string edit_convert_text(struct edit_copy *c, const struct fxt_text *t,
					enum edit_text what, int arg_name)
{
	struct fxt_out_string s = { 0 };
	bool is_word = what == EDIT_TEXT_CATEGORY || what == EDIT_TEXT_ARG_NAME ||
		       (what == EDIT_TEXT_NAME && c->record->type == FXT_RECORD_EVENT);
	bool in_record =
		what == EDIT_TEXT_LOG || what == EDIT_TEXT_MODULE || what == EDIT_TEXT_PROVIDER;
	int known = edit_known_name(c, t);

	if (known && !in_record && (c->provider->named || c->rules.apart) &&
	    (is_word || !c->rules.text))
		return fxt_named((enum fxt_name)known);
	if (!t->bytes && !known) {
		c->counts.strings++;
		s.text = lost_text;
		s.length = strlen(lost_text);
		return c->rules.apart ? edit_set_apart(c, &s) : s;
	}
	if (t->bytes && t->length == 0)
		return s;
	if (t->bytes)
		s.text =
			edit_convert_clean(c, t->bytes, t->length, FXT_STRING_BYTES_MAX, &s.length);
	else
		s.text = edit_convert_clean(c, fxt_name_texts[known], strlen(fxt_name_texts[known]),
					    FXT_STRING_BYTES_MAX, &s.length);
	if (c->rules.text && !(known && is_word))
		edit_convert_replace(c, what, arg_name, &s);
	return c->rules.apart && !in_record ? edit_set_apart(c, &s) : s;
}

/* Returns the name of the record, cut to the size of a name in a module record. */
const char *edit_convert_module_name(struct edit_copy *c)
{
	struct fxt_out_string name = edit_convert_text(c, &c->record->name, EDIT_TEXT_MODULE, 0);
	char *to;

	/* The name is a C string in the record. */
	if (name.length <= FXT_MODULE_NAME_MAX && name.length == strlen(name.text ?: ""))
		return name.text ?: "";
	to = edit_convert_place(c, c->n_texts++);
	if (!to)
		return "";
	text_clean(to, FXT_MODULE_NAME_MAX + 1, name.text, name.length);
	c->counts.texts++;
	return to;
}

/* ---- koids, times ---- */

uint64_t edit_convert_koid(const struct edit_copy *c, uint64_t koid)
{
	/* Rules do not change the koid of the pseudo-thread "unknown", which exists once per
	 * archive. */
	if (!c->rules.koid || koid == FXT_KOID_UNKNOWN)
		return koid;
	return c->rules.koid(c->rules.userdata, koid);
}

uint64_t edit_shift_ns(uint64_t ns, int64_t shift)
{
	uint64_t shifted = ns + (uint64_t)shift;

	if (shift < 0)
		return shifted > ns ? 0 : shifted;
	return shifted < ns ? UINT64_MAX : shifted;
}

uint64_t edit_convert_time(const struct edit_copy *c, uint64_t ns)
{
	return edit_shift_ns(ns, c->rules.shift_ns);
}

struct fxt_out_thread edit_convert_thread(struct edit_copy *c, const struct fxt_thread *t)
{
	struct fxt_out_thread thread = { .is_inline = c->rules.apart && !c->threads_apart };

	if (!t->defined) {
		c->counts.threads++;
		thread.pid = thread.tid = FXT_KOID_UNKNOWN;
		return thread;
	}
	thread.pid = edit_convert_koid(c, t->pid);
	thread.tid = edit_convert_koid(c, t->tid);
	return thread;
}

/* ---- arguments ---- */

/* Converts the value of ARG. Returns false for an unknown type. */
static bool edit_convert_value(struct edit_copy *c, const struct fxt_arg *arg, int name,
			       struct fxt_out_arg *ret)
{
	if (fxt_args_copy_value(arg, ret))
		return true;
	switch (arg->type) {
	case FXT_ARG_KOID:
		ret->u64 = edit_convert_koid(c, arg->uint64);
		return true;
	case FXT_ARG_STRING:
		ret->text = edit_convert_text(c, &arg->text, EDIT_TEXT_ARG, name);
		return true;
	default:
		return false;
	}
}

/* Returns true if readers reject R because its argument NAME has the type TYPE. */
static bool edit_has_wrong_type(const struct fxt_record *r, int name, unsigned type)
{
	const struct fxt_event_field *f = fxt_record_field(r, name);

	return f && f->flags & FXT_FIELD_STRICT && f->type != type;
}

/* Returns true if one of the arguments so far has NAME. */
static bool edit_has_arg(const struct edit_copy *c, const struct fxt_out_string *name)
{
	for (unsigned i = 0; i < c->n_args; i++) {
		const struct fxt_out_string *other = &c->args[i].name;

		if (other->index == name->index && other->length == name->length &&
		    (name->length == 0 || memcmp(other->text, name->text, name->length) == 0))
			return true;
	}
	return false;
}

/* Adds the arguments that the rules return, if any. */
static void edit_add_args(struct edit_copy *c)
{
	for (unsigned n = 0; c->rules.more && c->n_args < FXT_ARGS_MAX; n++) {
		struct fxt_out_arg *to = &c->args[c->n_args];
		int name = c->rules.more(c->rules.userdata, c->record, n, to);

		if (!name)
			return;
		to->name = c->provider->named ? fxt_named((enum fxt_name)name)
					      : fxt_interned(fxt_name_texts[name]);
		c->n_args++;
	}
}

void edit_convert_args(struct edit_copy *c)
{
	struct fxt_args it = c->record->args;
	struct fxt_arg arg;
	int outcome;

	c->n_args = 0;
	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		struct fxt_out_arg *to = &c->args[c->n_args];
		int name;

		if (outcome == FXT_ARGS_DAMAGE) {
			c->counts.arguments++;
			continue;
		}
		name = edit_known_name(c, &arg.name);
		if (c->rules.mends && arg.name.bytes && arg.name.length == 0) {
			c->counts.arguments++;
			continue;
		}
		if (edit_has_wrong_type(c->record, name, arg.type) ||
		    !edit_convert_value(c, &arg, name, to)) {
			c->counts.arguments++;
			continue;
		}
		to->name = edit_convert_text(c, &arg.name, EDIT_TEXT_ARG_NAME, name);
		if (c->rules.mends && edit_has_arg(c, &to->name)) {
			c->counts.arguments++;
			continue;
		}
		if (!c->rules.arg || c->rules.arg(c->rules.userdata, c->record, name, to))
			c->n_args++;
	}
	edit_add_args(c);
}
