/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-redact.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "edit/edit-find.h"
#include "edit/edit-part.h"
#include "reader/fxt/fxt-object.h"
#include "writer/fxt/fxt-perfetto.h"
#include "model/maps.h"

/* The length of a replaced word, in letters and digits of 5 bits each. */
enum { WORD_LETTERS = 10 };

struct edit_redact {
	struct edit_copy *copy;
	bool keep_kernel;
	struct edit_part_mark mark;
	bool system_redacted; /* the blob "this is Linux" was written */
	uint8_t key[crypto_generichash_KEYBYTES];
	struct edit_redact_counts counts;
};

/* Computes the keyed hash of N bytes. It cannot be reversed without the key. SIZE is the size of
 * the result. */
static void edit_redact_hash(const struct edit_redact *r, const void *p, size_t n, void *ret,
			     size_t size)
{
	uint8_t full[crypto_generichash_BYTES_MAX];

	crypto_generichash(full, sizeof(full), p, n, r->key, sizeof(r->key));
	memcpy(ret, full, size);
}

/* Writes the replacement of the word of N bytes at WORD to TO. Returns its length. */
static size_t edit_redact_put_word(const struct edit_redact *r, const char *word, size_t n,
				   char *to)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	uint64_t bits;

	edit_redact_hash(r, word, n, &bits, sizeof(bits));
	for (unsigned i = 0; i < WORD_LETTERS; i++, bits >>= 5)
		to[i] = letters[bits & 31];
	return WORD_LETTERS;
}

static bool edit_redact_separates(char c)
{
	return c == '/' || c == ' ';
}

/*
 * Replaces each word of a text, so that paths keep their depth, and command lines keep their number
 * of arguments.
 */
static size_t edit_redact_put_text(const struct edit_redact *r, const char *text, size_t n,
				   char *to)
{
	size_t size = 0;

	for (size_t begin = 0, end; begin < n; begin = end) {
		end = begin + 1;
		if (edit_redact_separates(text[begin])) {
			to[size++] = text[begin];
		} else {
			while (end < n && !edit_redact_separates(text[end]))
				end++;
			size += edit_redact_put_word(r, text + begin, end - begin, to + size);
		}
		if (size > FXT_STRING_BYTES_MAX - WORD_LETTERS)
			break;
	}
	return size;
}

/* ---- rules ---- */

static bool edit_redact_is_pseudo(uint64_t koid)
{
	return koid >> FXT_KOID_TID_BITS == 1;
}

/*
 * Returns true if the name of an object is kept: a name that kymo itself gave, or the name of a
 * kernel thread if keep_kernel is set.
 */
static bool edit_redact_keeps_object(const struct edit_redact *r, const struct fxt_record *record)
{
	uint64_t koid = record->kernel_object.koid;

	if (!edit_copy_is_kymo(record->provider))
		return false;
	/* The name "?" is kept, since readers must know that the thread is unknown. */
	if (edit_redact_is_pseudo(koid) || fxt_object_is_unknown(record))
		return true;
	if (!r->keep_kernel)
		return false;
	return maps_is_kthreadd(koid) || maps_is_kthreadd(edit_find_koid(record, FXT_NAME_PROCESS));
}

static bool edit_redact_is_own(const struct fxt_record *record)
{
	return edit_copy_is_kymo(record->provider) &&
	       (record->type != FXT_RECORD_EVENT || fxt_text_known(&record->category));
}

static bool edit_redact_is_tracepoint(const struct fxt_record *record)
{
	return fxt_record_row(record) == FXT_ROW_TRACEPOINT;
}

/* Returns the field to which the argument NAME of RECORD belongs; NULL = no field. */
static const struct fxt_event_field *edit_redact_field(const struct fxt_record *record, int name)
{
	/* (the name of a call is that of its function, so the row of calls is not found by name) */
	if (record->type == FXT_RECORD_EVENT && record->subtype == FXT_EVENT_DURATION_COMPLETE &&
	    fxt_text_known(&record->category) == FXT_NAME_CALLS && !fxt_record_row(record))
		return fxt_event_field_named(FXT_ROW_CALL, name);
	return fxt_record_field(record, name);
}

static bool edit_redact_keeps_argument(const struct edit_redact *r, const struct fxt_record *record,
				       int name)
{
	const struct fxt_event_field *f = edit_redact_field(record, name);

	if (!edit_redact_is_own(record))
		return false;
	if (f && f->flags & FXT_FIELD_PLAIN)
		return true;
	/* Events of kymo's pseudo-threads are about the kernel, except those of tracepoints. */
	return r->keep_kernel && !edit_redact_is_tracepoint(record) &&
	       record->type == FXT_RECORD_EVENT && edit_redact_is_pseudo(record->thread.pid) &&
	       record->thread.pid != FXT_KOID_KYMO && record->thread.pid != FXT_KOID_CODE;
}

static bool edit_redact_keeps_name(const struct edit_redact *r, const struct fxt_record *record)
{
	if (record->type == FXT_RECORD_KERNEL_OBJECT)
		return edit_redact_keeps_object(r, record);
	if (record->type == FXT_RECORD_BLOB)
		return edit_redact_is_own(record);
	if (record->type == FXT_RECORD_EVENT &&
	    (edit_redact_is_tracepoint(record) || fxt_record_row(record) == FXT_ROW_REQUEST))
		return edit_redact_is_own(record);
	return record->type == FXT_RECORD_EVENT && edit_redact_is_own(record) && r->keep_kernel;
}

static size_t edit_redact_replace_text(void *userdata, const struct fxt_record *record,
				       enum edit_text what, int arg_name, const char *text,
				       size_t n, char *to)
{
	struct edit_redact *r = userdata;

	if (what == EDIT_TEXT_ARG && edit_redact_keeps_argument(r, record, arg_name))
		return EDIT_TEXT_AS_IT_IS;
	if (what == EDIT_TEXT_ARG_NAME && edit_redact_is_own(record) &&
	    edit_redact_is_tracepoint(record))
		return EDIT_TEXT_AS_IT_IS;
	if (what == EDIT_TEXT_NAME && edit_redact_keeps_name(r, record))
		return EDIT_TEXT_AS_IT_IS;
	r->counts.texts++;
	return edit_redact_put_text(r, text, n, to);
}

/*
 * Replaces devices and inodes of mapped files in kymo's own events. Equal files stay equal. 0 (no
 * file) stays 0.
 */
static void edit_redact_hide_file(struct edit_redact *r, const struct fxt_record *record, int name,
				  struct fxt_out_arg *arg)
{
	const struct fxt_event_field *f = fxt_record_field(record, name);

	if (!f || !(f->flags & FXT_FIELD_SECRET) || arg->type != f->type || arg->u64 == 0)
		return;
	edit_redact_hash(r, &arg->u64, sizeof(arg->u64), &arg->u64, sizeof(arg->u64));
	arg->u64 = (arg->u64 & INT64_MAX) | 1;
	r->counts.numbers++;
}

/*
 * Returns true if argument NAME is the value of a program's variable, in an event of a moment for
 * Perfetto.
 */
static bool edit_redact_is_value(const struct fxt_record *record, int name)
{
	return edit_redact_is_own(record) && record->type == FXT_RECORD_EVENT &&
	       fxt_text_known(&record->category) == FXT_NAME_MOMENTS &&
	       fxt_record_row(record) == FXT_ROW_NONE && name != FXT_NAME_POINT &&
	       name != FXT_NAME_HIT && name != FXT_NAME_CPU && name != FXT_NAME_CALL_STACK;
}

/* Replaces numbers in events of other programs. Equal numbers stay equal. */
static bool edit_redact_replace_number(void *userdata, const struct fxt_record *record, int name,
				       struct fxt_out_arg *arg)
{
	struct edit_redact *r = userdata;
	bool own;

	if (arg->type == FXT_ARG_BLOB) {
		arg->blob.size = 0;
		r->counts.blobs++;
		return true;
	}
	if (edit_redact_is_value(record, name)) {
		r->counts.numbers++;
		return false;
	}
	/* The meaning of a tracepoint's fields is unknown, so they are replaced, too. */
	own = edit_redact_is_own(record) &&
	      (!edit_redact_is_tracepoint(record) || name == FXT_NAME_CPU);
	if (own)
		edit_redact_hide_file(r, record, name, arg);
	if (own || arg->type == FXT_ARG_STRING || arg->type == FXT_ARG_NULL ||
	    arg->type == FXT_ARG_BOOL || arg->type == FXT_ARG_KOID ||
	    record->type == FXT_RECORD_SCHEDULING)
		return true;
	r->counts.numbers++;
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		edit_redact_hash(r, &arg->u32, sizeof(arg->u32), &arg->u32, sizeof(arg->u32));
		arg->u32 &= INT32_MAX;
		return true;
	case FXT_ARG_DOUBLE:
		edit_redact_hash(r, &arg->u64, sizeof(arg->u64), &arg->u64, sizeof(arg->u64));
		arg->f64 = (double)(arg->u64 >> 11) / (double)(UINT64_C(1) << 53);
		return true;
	default:
		edit_redact_hash(r, &arg->u64, sizeof(arg->u64), &arg->u64, sizeof(arg->u64));
		arg->u64 &= INT64_MAX;
		return true;
	}
}

/*
 * Replaces the id of a part. The id is a hash of words, without a key, so it would show whether a
 * guess of these words is right.
 */
static uint64_t edit_redact_hide_id(void *userdata, uint64_t id)
{
	const struct edit_redact *r = userdata;

	edit_redact_hash(r, &id, sizeof(id), &id, sizeof(id));
	return id;
}

/* ---- records ---- */

int edit_redact_new(struct edit_redact **ret, struct edit_output *out,
		    const struct edit_redact_options *options)
{
	_cleanup_(edit_redact_freep) struct edit_redact *r = calloc(1, sizeof(*r));
	struct edit_rules rules = { .text = edit_redact_replace_text,
				    .arg = edit_redact_replace_number };
	int e;

	if (!r || sodium_init() < 0)
		return -ENOMEM;
	r->keep_kernel = options->keep_kernel;
	r->mark = (struct edit_part_mark){ .edit = EDIT_PART_REDACTED,
					   .hide = edit_redact_hide_id,
					   .userdata = r };
	if (!options->key)
		randombytes_buf(r->key, sizeof(r->key));
	else if (options->key_size < EDIT_REDACT_KEY_MIN)
		return -EINVAL;
	else
		crypto_generichash(r->key, sizeof(r->key), options->key, options->key_size, NULL,
				   0);
	rules.userdata = r;
	e = edit_copy_new(&r->copy, out, &rules);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

struct edit_redact *edit_redact_free(struct edit_redact *r)
{
	if (!r)
		return NULL;
	edit_copy_free(r->copy);
	sodium_memzero(r->key, sizeof(r->key));
	return free_ptr(r);
}

/*
 * Replaces the blob with data about the system by a blob that only says "Linux", which Perfetto's
 * UI needs. Leaves out the bytes of other blobs.
 */
static int edit_redact_blob(struct edit_redact *r, struct fxt_record *record)
{
	_cleanup_(outbuf_deinit) struct outbuf info = { 0 };

	if (record->type == FXT_RECORD_BLOB && edit_redact_is_own(record) &&
	    fxt_text_known(&record->name) == FXT_NAME_PERFETTO && !r->system_redacted) {
		r->system_redacted = true;
		fxt_perfetto_system_info(&info, "", "");
		if (info.error < 0)
			return info.error;
		record->blob.size = info.size;
		record->blob.data = info.data;
		return edit_copy_record(r->copy, record->provider, record);
	}
	r->counts.blobs++;
	return 0;
}

int edit_redact_record(struct edit_redact *r, const struct fxt_record *record)
{
	struct fxt_record changed = *record;
	uint8_t build_id[crypto_generichash_BYTES_MAX];
	int e = edit_part_mark_before(&r->mark, r->copy, record->provider, record);

	if (e != 0)
		return e < 0 ? e : 0;
	switch (record->type) {
	case FXT_RECORD_BLOB:
	case FXT_RECORD_LARGE:
		return edit_redact_blob(r, &changed);
	case FXT_RECORD_PROFILER:
		if (record->subtype != FXT_PROFILER_MODULE)
			break;
		if (changed.module.build_id_size > sizeof(build_id))
			changed.module.build_id_size = sizeof(build_id);
		edit_redact_hash(r, record->module.build_id, record->module.build_id_size, build_id,
				 changed.module.build_id_size);
		changed.module.build_id = build_id;
		break;
	default:
		break;
	}
	return edit_copy_record(r->copy, record->provider, &changed);
}

void edit_redact_get_counts(const struct edit_redact *r, struct edit_redact_counts *ret)
{
	*ret = r->counts;
	ret->copied = *edit_copy_counts(r->copy);
}
