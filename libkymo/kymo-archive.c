/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libkymo/kymo-archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/fxt/fxt-object.h"
#include "model/koids.h"
#include "writer/pack/pack.h"

/* Limits: longer names are cut, and names beyond the total size are not kept. */
enum { NAME_BYTES_MAX = 1024, NAMES_BYTES_MAX = 64 << 20 };

struct kymo_named {
	uint64_t process; /* process of a thread */
	size_t bytes;     /* size of the name as it counts in name_bytes */
	char name[];
};

const char *kymo_version(void)
{
	return KYMO_VERSION;
}

uint32_t kymo_koid_tid(uint64_t koid)
{
	return fxt_koid_tid(koid);
}

/* ---- opening ---- */

static int kymo_archive_start(kymo_archive **ret, kymo_archive *a, int error)
{
	int r = error ?: fxt_reader_new_source(&a->reader, packed_stream_read, &a->stream);

	if (r != 0) {
		kymo_archive_free(a);
		return r > 0 ? -EBADMSG : r;
	}
	a->kinds = UINT64_MAX;
	*ret = a;
	return 0;
}

int kymo_archive_open_fd(kymo_archive **ret, int fd)
{
	kymo_archive *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	return kymo_archive_start(ret, a,
				  packed_stream_init_fd(&a->stream, fd, packed_stream_is_archive));
}

int kymo_archive_open_memory(kymo_archive **ret, const void *p, size_t n)
{
	kymo_archive *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	return kymo_archive_start(
		ret, a, packed_stream_init_memory(&a->stream, p, n, packed_stream_is_archive));
}

kymo_archive *kymo_archive_free(kymo_archive *a)
{
	if (!a)
		return NULL;
	fxt_reader_free(a->reader);
	packed_stream_deinit(&a->stream);
	outbuf_deinit(&a->event.texts);
	table_deinit_free(&a->processes);
	table_deinit_free(&a->threads);
	kymo_columns_deinit(&a->columns);
	free(a);
	return NULL;
}

/* ---- names and losses ---- */

static uint64_t kymo_archive_koid(const struct fxt_record *record, int name)
{
	struct fxt_arg arg;

	return fxt_args_find(record->args, name, FXT_ARG_KOID, &arg) ? arg.uint64 : 0;
}

static int kymo_archive_store_object(kymo_archive *a, const struct fxt_record *record)
{
	bool is_thread = record->kernel_object.type == FXT_OBJECT_THREAD;
	struct table *to = is_thread ? &a->threads : &a->processes;
	uint64_t koid = record->kernel_object.koid;
	size_t n = record->name.bytes ? record->name.length : 0;
	struct kymo_named *named, *before;

	if (koid == 0 || (!is_thread && record->kernel_object.type != FXT_OBJECT_PROCESS) ||
	    fxt_object_is_unknown(record))
		return 0;
	n = n < NAME_BYTES_MAX ? n : NAME_BYTES_MAX;
	if (a->name_bytes + sizeof(*named) + n > NAMES_BYTES_MAX)
		return 0;
	named = calloc(1, sizeof(*named) + n + 1);
	if (!named)
		return -ENOMEM;
	if (n > 0)
		memcpy(named->name, record->name.bytes, n);
	if (is_thread)
		named->process = kymo_archive_koid(record, FXT_NAME_PROCESS);
	named->bytes = sizeof(*named) + n;
	before = table_get(to, koid);
	if (table_set(to, koid, named) < 0) {
		free(named);
		return -ENOMEM;
	}
	a->name_bytes += named->bytes - (before ? before->bytes : 0);
	free(before);
	return 0;
}

static void kymo_archive_count_losses(kymo_archive *a, const struct fxt_record *record)
{
	struct fxt_arg arg;

	if (record->type == FXT_RECORD_METADATA && record->subtype == FXT_METADATA_PROVIDER_EVENT &&
	    record->metadata.number == FXT_PROVIDER_EVENT_BUFFER_FILLED)
		a->full_buffers++;
	if (record->type == FXT_RECORD_EVENT && record->subtype == FXT_EVENT_INSTANT &&
	    fxt_text_known(&record->name) == FXT_NAME_LOST &&
	    fxt_text_known(&record->category) == FXT_NAME_KYMO &&
	    fxt_args_find(record->args, FXT_NAME_COUNT, FXT_ARG_UINT64, &arg))
		a->lost += arg.uint64;
}

/* ---- reading ---- */

static int kymo_archive_process(kymo_archive *a, const struct fxt_record *record)
{
	int r = record->type == FXT_RECORD_KERNEL_OBJECT ? kymo_archive_store_object(a, record) : 0;

	if (r < 0)
		return r;
	kymo_archive_count_losses(a, record);
	if (!kymo_event_fill(&a->event, record) || !(a->kinds >> a->event.kind & 1))
		return 0;
	kymo_event_fill_texts(&a->event, record);
	if (!a->in_block)
		kymo_event_fill_arguments(&a->event, record);
	if (a->event.process == 0 && record->type == FXT_RECORD_SCHEDULING)
		a->event.process = kymo_archive_thread_process(a, a->event.thread);
	return a->event.texts.error ?: 1;
}

int kymo_archive_next(kymo_archive *a)
{
	const struct fxt_record *record;
	int r;

	while ((r = packed_stream_next_record(&a->stream, a->reader, &record, &a->damage)) ==
	       FXT_READER_RECORD) {
		r = kymo_archive_process(a, record);
		if (r != 0)
			return r > 0 ? KYMO_EVENT : r;
	}
	return r == FXT_READER_DAMAGE ? KYMO_DAMAGE : r;
}

const kymo_event *kymo_archive_event(const kymo_archive *a)
{
	return &a->event;
}

const char *kymo_archive_damage(const kymo_archive *a, uint64_t *ret_offset, uint64_t *ret_bytes)
{
	if (ret_offset)
		*ret_offset = a->damage.offset;
	if (ret_bytes)
		*ret_bytes = a->damage.bytes;
	return a->damage.what ?: "";
}

const char *kymo_archive_compression(const kymo_archive *a)
{
	enum pack_method method = unpack_method(a->stream.unpack);

	return method == PACK_NONE ? "none" : pack_ops(method)->name;
}

uint64_t kymo_archive_lost(const kymo_archive *a)
{
	return a->lost;
}

uint64_t kymo_archive_full_buffers(const kymo_archive *a)
{
	return a->full_buffers;
}

static const struct kymo_named *kymo_archive_named(const struct table *t, uint64_t koid)
{
	return koid == 0 ? NULL : table_get(t, koid);
}

const char *kymo_archive_process_name(const kymo_archive *a, uint64_t process)
{
	const struct kymo_named *named = kymo_archive_named(&a->processes, process);

	return named ? named->name : NULL;
}

const char *kymo_archive_thread_name(const kymo_archive *a, uint64_t thread)
{
	const struct kymo_named *named = kymo_archive_named(&a->threads, thread);

	return named ? named->name : NULL;
}

uint64_t kymo_archive_thread_process(const kymo_archive *a, uint64_t thread)
{
	const struct kymo_named *named = kymo_archive_named(&a->threads, thread);

	return named ? named->process : 0;
}

/* ---- columns ---- */

int kymo_archive_set_column(kymo_archive *a, enum kymo_column column, void *array)
{
	return kymo_columns_set(&a->columns, column, array);
}

void kymo_archive_set_kinds(kymo_archive *a, uint64_t kinds)
{
	a->kinds = kinds;
}

int kymo_archive_next_block(kymo_archive *a, size_t n, size_t *ret_n)
{
	int r = n > 0 ? KYMO_EVENT : -EINVAL;

	*ret_n = 0;
	a->in_block = true;
	while (r == KYMO_EVENT && *ret_n < n) {
		r = kymo_archive_next(a);
		if (r == KYMO_EVENT)
			r = kymo_columns_put(&a->columns, *ret_n, &a->event) ?: KYMO_EVENT;
		if (r == KYMO_EVENT)
			++*ret_n;
	}
	a->in_block = false;
	return r;
}

const char *kymo_archive_text(const kymo_archive *a, uint32_t i)
{
	return kymo_columns_text(&a->columns, i);
}

uint32_t kymo_archive_texts(const kymo_archive *a)
{
	return a->columns.n_texts + 1;
}
