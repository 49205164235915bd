/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/fxt/fxt-writer.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	uint16_t index;
	const char *text;
} fixed_names[] = {
#define X(id, index, text) { index, text },
	FXT_NAMES(X)
#undef X
};

int fxt_writer_init(struct fxt_writer *w, struct outbuf *out)
{
	int r;

	*w = (struct fxt_writer){ .out = out };
	r = fxt_table_init(&w->strings, FXT_NAME_RESERVED + 1, FXT_STRING_INDEX_MAX);
	if (r == 0)
		r = fxt_table_init(&w->threads, 1, FXT_THREAD_INDEX_MAX);
	if (r < 0)
		fxt_writer_deinit(w);
	return r;
}

void fxt_writer_deinit(struct fxt_writer *w)
{
	fxt_table_deinit(&w->strings);
	fxt_table_deinit(&w->threads);
}

/* Reserves a whole record, or returns NULL with *RETERR set. */
static fxt_word *reserve(struct fxt_writer *w, size_t words, int *reterr)
{
	fxt_word *p;

	if (words > FXT_RECORD_WORDS_MAX) {
		*reterr = -EMSGSIZE;
		return NULL;
	}
	p = outbuf_reserve(w->out, words * FXT_WORD_BYTES);
	if (!p)
		*reterr = w->out->error;
	return p;
}

/* Copies a stream; the padding is zero already. Returns where the next atom goes. */
static fxt_word *put_stream(fxt_word *p, const void *data, size_t n)
{
	if (n > 0)
		memcpy(p, data, n);
	return p + fxt_stream_words(n);
}

static int write_string(struct fxt_writer *w, uint16_t index, const char *text, size_t n)
{
	int r;
	fxt_word *p = reserve(w, 1 + fxt_stream_words(n), &r);

	if (!p)
		return r;
	*p = fxt_put_record_type(FXT_RECORD_STRING) |
	     fxt_put_record_words(1 + fxt_stream_words(n)) | fxt_put_string_index(index) |
	     fxt_put_string_length(n);
	put_stream(p + 1, text, n);
	return 0;
}

/* The reference to TEXT through the table; the empty string is 0. */
static int string_ref(struct fxt_writer *w, const char *text, uint16_t *ret_ref)
{
	size_t n = strlen(text);
	int r;

	if (n > FXT_STRING_BYTES_MAX)
		return -EMSGSIZE;
	if (n == 0) {
		*ret_ref = 0;
		return 0;
	}
	r = fxt_table_string(&w->strings, text, n, ret_ref);
	if (r < 0)
		return w->out->error = r;
	return r == FXT_TABLE_NEW ? write_string(w, *ret_ref, text, n) : 0;
}

static int thread_ref(struct fxt_writer *w, uint32_t pid, uint32_t tid, uint16_t *ret_ref)
{
	fxt_word *p;
	int r;

	r = fxt_table_thread(&w->threads, pid, tid, ret_ref);
	if (r < 0)
		return w->out->error = r;
	if (r == FXT_TABLE_KNOWN)
		return 0;
	p = reserve(w, 3, &r);
	if (!p)
		return r;
	p[0] = fxt_put_record_type(FXT_RECORD_THREAD) | fxt_put_record_words(3) |
	       fxt_put_thread_index(*ret_ref);
	p[1] = pid;
	p[2] = tid;
	return 0;
}

static size_t arg_words(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_BOOL:
		return 1;
	case FXT_ARG_STRING:
		return 1 + fxt_stream_words(strlen(arg->text));
	case FXT_ARG_BLOB:
		return 1 + fxt_stream_words(arg->blob.size);
	default:
		return 2;
	}
}

static fxt_word *put_arg(fxt_word *p, const struct fxt_arg *arg)
{
	size_t words = arg_words(arg), n;

	*p = fxt_put_arg_type(arg->type) | fxt_put_arg_words(words) | fxt_put_arg_name(arg->name);
	switch (arg->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		*p |= fxt_put_arg_value32(arg->u32);
		break;
	case FXT_ARG_BOOL:
		*p |= fxt_put_arg_value32(arg->boolean);
		break;
	case FXT_ARG_STRING:
		n = strlen(arg->text);
		if (n > 0)
			*p |= fxt_put_arg_value_ref(fxt_put_string_ref_inline(1) |
						    fxt_put_string_ref_length(n));
		put_stream(p + 1, arg->text, n);
		break;
	case FXT_ARG_BLOB:
		*p |= fxt_put_arg_value32(arg->blob.size);
		put_stream(p + 1, arg->blob.data, arg->blob.size);
		break;
	default:
		memcpy(p + 1, &arg->u64, sizeof(arg->u64));
	}
	return p + words;
}

/* The words of a record that has WORDS beside its arguments, or a negative errno if it is more than
 * the format can hold. */
static int record_words(size_t words, const struct fxt_arg *args, unsigned n_args,
			size_t *ret_words)
{
	if (n_args > FXT_ARGS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < n_args; i++) {
		if (args[i].type == FXT_ARG_STRING && strlen(args[i].text) > FXT_STRING_BYTES_MAX)
			return -EMSGSIZE;
		words += arg_words(&args[i]);
		if (words > FXT_RECORD_WORDS_MAX)
			return -EMSGSIZE;
	}
	*ret_words = words;
	return 0;
}

static void put_args(fxt_word *p, const struct fxt_arg *args, unsigned n_args)
{
	for (unsigned i = 0; i < n_args; i++)
		p = put_arg(p, &args[i]);
}

int fxt_write_head(struct fxt_writer *w, uint32_t provider_id, const char *name)
{
	size_t n = strlen(name), words = 1 + 1 + fxt_stream_words(n) + 1 + 2;
	fxt_word *p;
	int r;

	if (n > FXT_PROVIDER_NAME_MAX)
		return -EMSGSIZE;
	p = reserve(w, words, &r);
	if (!p)
		return r;
	w->provider_id = provider_id;
	*p++ = FXT_MAGIC;
	*p = fxt_put_record_type(FXT_RECORD_METADATA) |
	     fxt_put_record_words(1 + fxt_stream_words(n)) |
	     fxt_put_metadata_type(FXT_METADATA_PROVIDER_INFO) | fxt_put_provider_id(provider_id) |
	     fxt_put_provider_name_length(n);
	p = put_stream(p + 1, name, n);
	*p++ = fxt_put_record_type(FXT_RECORD_METADATA) | fxt_put_record_words(1) |
	       fxt_put_metadata_type(FXT_METADATA_PROVIDER_SECTION) |
	       fxt_put_provider_id(provider_id);
	*p++ = fxt_put_record_type(FXT_RECORD_INITIALIZATION) | fxt_put_record_words(2);
	*p = 1000000000;
	for (size_t i = 0; i < ARRAY_SIZE(fixed_names); i++) {
		r = write_string(w, fixed_names[i].index, fixed_names[i].text,
				 strlen(fixed_names[i].text));
		if (r < 0)
			return r;
	}
	return 0;
}

int fxt_write_kernel_object(struct fxt_writer *w, unsigned type, uint64_t koid, const char *name,
			    const struct fxt_arg *args, unsigned n_args)
{
	size_t words;
	uint16_t ref;
	fxt_word *p;
	int r;

	r = record_words(2, args, n_args, &words);
	if (r < 0)
		return r;
	r = string_ref(w, name, &ref);
	if (r < 0)
		return r;
	p = reserve(w, words, &r);
	if (!p)
		return r;
	p[0] = fxt_put_record_type(FXT_RECORD_KERNEL_OBJECT) | fxt_put_record_words(words) |
	       fxt_put_kernel_object_type(type) | fxt_put_kernel_object_name(ref) |
	       fxt_put_kernel_object_n_args(n_args);
	p[1] = koid;
	put_args(p + 2, args, n_args);
	return 0;
}

static bool event_has_id(enum fxt_event_type type)
{
	switch (type) {
	case FXT_EVENT_INSTANT:
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return false;
	default:
		return true;
	}
}

int fxt_write_event(struct fxt_writer *w, const struct fxt_event *ev)
{
	size_t words;
	uint16_t thread;
	fxt_word *p;
	int r;

	r = record_words(2 + event_has_id(ev->type), ev->args, ev->n_args, &words);
	if (r < 0)
		return r;
	r = thread_ref(w, ev->pid, ev->tid, &thread);
	if (r < 0)
		return r;
	p = reserve(w, words, &r);
	if (!p)
		return r;
	p[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(words) |
	       fxt_put_event_type(ev->type) | fxt_put_event_n_args(ev->n_args) |
	       fxt_put_event_thread(thread) | fxt_put_event_category(ev->category) |
	       fxt_put_event_name(ev->name);
	p[1] = ev->ts_ns;
	put_args(p + 2, ev->args, ev->n_args);
	if (event_has_id(ev->type))
		p[words - 1] = ev->id;
	return 0;
}

int fxt_write_synthetic_switch(struct fxt_writer *w, const struct fxt_switch *sw)
{
	int r;
	fxt_word *p;

	if (sw->cpu > FXT_CPU_MAX)
		return -EINVAL;
	p = reserve(w, 7, &r);
	if (!p)
		return r;
	p[0] = fxt_switch_header(7, 3, sw->cpu, sw->out_state);
	p[1] = sw->ts_ns;
	p[2] = sw->out_tid;
	p[3] = sw->in_tid;
	p[4] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_OUTGOING_WEIGHT, (uint32_t)sw->out_weight);
	p[5] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_INCOMING_WEIGHT, (uint32_t)sw->in_weight);
	p[6] = fxt_arg32(FXT_ARG_BOOL, FXT_NAME_SYNTHETIC, 1);
	return 0;
}

int fxt_write_blob(struct fxt_writer *w, enum fxt_name name, enum fxt_blob_type type,
		   const void *data, size_t size)
{
	size_t words = 1 + fxt_stream_words(size);
	fxt_word *p;
	int r;

	if (size > FXT_BLOB_BYTES_MAX)
		return -EMSGSIZE;
	p = reserve(w, words, &r);
	if (!p)
		return r;
	*p = fxt_put_record_type(FXT_RECORD_BLOB) | fxt_put_record_words(words) |
	     fxt_put_blob_name(name) | fxt_put_blob_length(size) | fxt_put_blob_type(type);
	put_stream(p + 1, data, size);
	return 0;
}

int fxt_write_provider_event(struct fxt_writer *w, unsigned event_id)
{
	int r;
	fxt_word *p = reserve(w, 1, &r);

	if (!p)
		return r;
	*p = fxt_put_record_type(FXT_RECORD_METADATA) | fxt_put_record_words(1) |
	     fxt_put_metadata_type(FXT_METADATA_PROVIDER_EVENT) |
	     fxt_put_provider_id(w->provider_id) | fxt_put_provider_event_id(event_id);
	return 0;
}

size_t fxt_whole_records(const uint8_t *data, size_t n)
{
	size_t whole = 0, next;
	fxt_word header;

	while (n - whole >= sizeof(header)) {
		memcpy(&header, data + whole, sizeof(header));
		next = whole + fxt_get_record_words(header) * FXT_WORD_BYTES;
		if (next > n)
			break;
		whole = next;
	}
	return whole;
}
