/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as a call trace, plain and in a container. All calls can be shown, and written
 * again. The text of the written trace is that of the input.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/apitrace/apitrace-reader.h"
#include "reader/apitrace/apitrace-text.h"
#include "reader/pack/unpack.h"
#include "writer/apitrace/apitrace-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The limit of the text of calls: a function with many arguments can be called often. */
enum { TEXT_MAX = 4 << 20, UNPACKED_MAX = 1 << 20 };

static const struct apitrace_text_options plain = { .thread_ids = true };

static void found(void *userdata, enum apitrace_finding_id id, uint64_t offset)
{
	size_t size = *(const size_t *)userdata;

	assert(id < APITRACE_FINDING_MAX && offset <= size);
}

static void write_details(struct apitrace_writer *w, const struct apitrace_call *call)
{
	if (call->flags)
		apitrace_writer_flags(w, (uint32_t)call->flags);
	if (call->has_backtrace)
		apitrace_writer_backtrace(w, call->frames, call->n_frames);
	for (uint32_t i = 0; i < call->n_args; i++) {
		if (!call->args[i].value)
			continue;
		apitrace_writer_arg(w, i);
		apitrace_put_value(w, call->args[i].value);
	}
	if (call->ret) {
		apitrace_writer_ret(w);
		apitrace_put_value(w, call->ret);
	}
}

/* Calls are numbered again, in the order of their begins. */
static int write_call(struct apitrace_writer *w, const struct apitrace_call *call)
{
	uint32_t no = apitrace_writer_enter(w, (uint32_t)call->thread, call->function);

	write_details(w, call);
	if (apitrace_writer_end(w) < 0)
		return w->error;
	apitrace_writer_leave(w, no);
	return apitrace_writer_end(w);
}

/* Reads all calls. TEXT and W, if not NULL, get the text and the calls. Returns the number of
 * calls. */
static uint64_t read_calls(const uint8_t *data, size_t size, struct outbuf *text,
			   struct apitrace_writer *w)
{
	static const struct apitrace_text_options numberless = { .no_numbers = true };
	_cleanup_(apitrace_reader_freep) struct apitrace_reader *reader = NULL;
	_cleanup_(outbuf_deinit) struct outbuf other = { .limit = TEXT_MAX };
	const struct apitrace_call *call;
	bool damaged = false;
	uint64_t n = 0;
	int r = apitrace_reader_new_memory(&reader, data, size, found, &size);

	assert(r >= 0);
	if (r > 0)
		return 0;
	while ((r = apitrace_reader_next(reader, &call)) > 0) {
		if (r == APITRACE_DAMAGE) {
			assert(!damaged && apitrace_reader_damage(reader)->what);
			assert(apitrace_reader_damage(reader)->offset <= size);
			damaged = true;
			continue;
		}
		n++;
		assert(call->n_args <= call->function->n && call->offset < size);
		outbuf_reset(&other);
		apitrace_text_call(&other, call, &plain);
		apitrace_is_query(call);
		apitrace_text_call(text, call, &numberless);
		if (w && w->error == 0)
			write_call(w, call);
	}
	assert(r == 0 && apitrace_reader_offset(reader) <= size);
	return n;
}

static void read_twice(const uint8_t *data, size_t size)
{
	_cleanup_(outbuf_deinit) struct outbuf first = { .limit = TEXT_MAX },
					       second = { .limit = TEXT_MAX };
	_cleanup_(outbuf_deinit) struct outbuf written = { .limit = TEXT_MAX };
	struct apitrace_writer w;
	uint64_t n;

	apitrace_writer_init(&w, &written);
	assert(apitrace_writer_header(&w, NULL, 0) == 0);
	n = read_calls(data, size, &first, &w);
	/* (a flag of value 0 after others is read, but cannot be written) */
	if (w.error < 0)
		return;
	assert(read_calls(written.data, written.size, &second, NULL) == n);
}

static void read_packed(const uint8_t *data, size_t size)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_free_ uint8_t *all = malloc(UNPACKED_MAX);
	size_t n = 0;
	ssize_t got;

	assert(unpack_new_memory_detecting(&u, data, size, apitrace_is_stream) == 0);
	while (n < UNPACKED_MAX && (got = unpack_read(u, all + n, UNPACKED_MAX - n)) > 0)
		n += (size_t)got;
	if (unpack_method(u) != PACK_NONE)
		read_twice(all, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	apitrace_is_stream(data, size);
	read_twice(data, size);
	read_packed(data, size);
	return 0;
}
