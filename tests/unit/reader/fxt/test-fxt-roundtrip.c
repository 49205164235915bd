/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader reads exactly the records that the FXT writer has written: records of every type with
 * arguments of every type, made at random (always the same ones), of several providers. Each field
 * is compared, and the check finds nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-reader.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-writer.h"

enum { N_PROVIDERS = 3, N_RECORDS = 3000, N_SEEDS = 12, POOL_BYTES = 1 << 17 };

/* The written records, in the order of the functions below. */
enum kind {
	KIND_EVENT,
	KIND_USERSPACE_OBJECT,
	KIND_KERNEL_OBJECT,
	KIND_LOG,
	KIND_BLOB,
	KIND_LARGE_BLOB,
	KIND_SWITCH,
	KIND_WAKEUP,
	KIND_LEGACY_SWITCH,
	KIND_MODULE,
	KIND_MMAP,
	KIND_BACKTRACE,
	KIND_MAX,
};

struct made {
	enum kind kind;
	uint32_t provider_id;
	struct fxt_out_arg args[FXT_ARGS_MAX];
	union {
		struct fxt_event event;
		struct fxt_userspace_object user;
		struct fxt_kernel_object kernel;
		struct fxt_log log;
		struct fxt_blob blob;
		struct fxt_large_blob large;
		struct fxt_switch sw;
		struct fxt_wakeup wake;
		struct fxt_legacy_switch legacy;
		struct fxt_module module;
		struct fxt_mmap map;
		struct fxt_backtrace trace;
	};
};

struct world {
	uint64_t random;
	struct outbuf out;
	struct fxt_writer w;
	struct fxt_out_provider providers[N_PROVIDERS];
	uint8_t *bytes; /* POOL_BYTES of any bytes */
	char *letters;  /* POOL_BYTES of text */
	struct made *made;
	size_t n_made;
};

/* ---- random values ---- */

static uint64_t any(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static unsigned below(struct world *w, unsigned n)
{
	return (unsigned)(any(w) >> 16) % n;
}

/* Of any magnitude, often at the limits. */
static uint64_t number(struct world *w)
{
	switch (below(w, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	default:
		return any(w) >> below(w, 64);
	}
}

/* Mostly small, sometimes up to MAX. */
static size_t size(struct world *w, unsigned max)
{
	return below(w, below(w, 100) == 0 ? max + 1 : 20);
}

/* ---- parts of records ---- */

static const char *const words[] = {
	"a", "path", "exactly8", "ninechars", "\u00e4", "\u65e5\u672c\u8a9e", "r\u00e9sum\u00e9",
};

static struct fxt_out_string make_string(struct world *w)
{
	static const enum fxt_name names[] = { FXT_NAME_KYMO, FXT_NAME_FILE, FXT_NAME_COUNT };
	struct fxt_out_string s = { 0 };

	switch (below(w, 5)) {
	case 0:
		/* The second provider has no names. */
		if (w->w.provider != &w->providers[1])
			s.index = names[below(w, ARRAY_SIZE(names))];
		return s;
	case 1:
	case 2:
		s = fxt_interned(words[below(w, ARRAY_SIZE(words))]);
		break;
	default:
		s.text = w->letters + below(w, POOL_BYTES / 2);
		s.length = size(w, FXT_STRING_BYTES_MAX + 1);
	}
	s.is_inline = below(w, 2) == 0;
	return s;
}

static struct fxt_out_thread make_thread(struct world *w)
{
	/* More of them than the table can hold. */
	return (struct fxt_out_thread){
		.pid = below(w, 20) == 0 ? number(w) : below(w, 10),
		.tid = below(w, 20) == 0 ? number(w) : below(w, 40),
		.is_inline = below(w, 4) == 0,
	};
}

static struct fxt_out_arg make_arg(struct world *w)
{
	struct fxt_out_arg arg = { below(w, FXT_ARG_BLOB + 1), make_string(w) };

	switch (arg.type) {
	case FXT_ARG_STRING:
		arg.text = make_string(w);
		break;
	case FXT_ARG_BOOL:
		arg.boolean = below(w, 2);
		break;
	case FXT_ARG_BLOB:
		arg.blob.data = w->bytes + below(w, POOL_BYTES / 2);
		arg.blob.size = size(w, 33000);
		break;
	default:
		arg.u64 = number(w);
	}
	return arg;
}

static unsigned make_args(struct world *w, struct fxt_out_arg *args, unsigned max)
{
	unsigned n = below(w, below(w, 4) == 0 ? max + 1 : 3);

	for (unsigned i = 0; i < n; i++)
		args[i] = make_arg(w);
	return n;
}

/* ---- records ---- */

static int make_event(struct world *w, struct made *m)
{
	struct fxt_event *ev = &m->event;

	*ev = (struct fxt_event){
		.type = below(w, FXT_EVENT_FLOW_END + 1),
		.category = make_string(w),
		.name = make_string(w),
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
		.id = number(w),
	};
	if (ev->type == FXT_EVENT_DURATION_COMPLETE && ev->id < ev->ts_ticks)
		ev->id = ev->ts_ticks;
	if (ev->type == FXT_EVENT_INSTANT || ev->type == FXT_EVENT_DURATION_BEGIN ||
	    ev->type == FXT_EVENT_DURATION_END)
		ev->id = 0;
	return fxt_write_event(&w->w, ev);
}

static int make_userspace_object(struct world *w, struct made *m)
{
	m->user = (struct fxt_userspace_object){
		.pointer = number(w),
		.process = make_thread(w),
		.name = make_string(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
	};
	return fxt_write_userspace_object(&w->w, &m->user);
}

static int make_kernel_object(struct world *w, struct made *m)
{
	m->kernel = (struct fxt_kernel_object){
		.type = below(w, below(w, 2) ? 3 : FXT_OBJECT_TYPE_MAX + 1),
		.koid = number(w),
		.name = make_string(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
	};
	if (m->kernel.type == FXT_OBJECT_THREAD) {
		m->args[0] = (struct fxt_out_arg){ FXT_ARG_KOID, fxt_interned("process"),
						   .u64 = number(w) };
		m->kernel.n_args += m->kernel.n_args == 0;
	}
	return fxt_write_kernel_object(&w->w, &m->kernel);
}

static int make_log(struct world *w, struct made *m)
{
	m->log = (struct fxt_log){
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.text = w->letters + below(w, POOL_BYTES / 2),
		.length = size(w, FXT_STRING_BYTES_MAX + 1),
	};
	return fxt_write_log(&w->w, &m->log);
}

static int make_blob(struct world *w, struct made *m)
{
	m->blob = (struct fxt_blob){
		.name = make_string(w),
		.type = below(w, FXT_BLOB_TYPE_MAX + 1),
		.data = w->bytes + below(w, POOL_BYTES / 2),
		.size = size(w, FXT_BLOB_BYTES_MAX + 1),
	};
	return fxt_write_blob(&w->w, &m->blob);
}

static int make_large_blob(struct world *w, struct made *m)
{
	m->large = (struct fxt_large_blob){
		.category = make_string(w),
		.name = make_string(w),
		.data = w->bytes + below(w, POOL_BYTES / 2),
		.size = size(w, POOL_BYTES / 2),
		.has_metadata = below(w, 2),
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
	};
	return fxt_write_large_blob(&w->w, &m->large);
}

static int make_switch(struct world *w, struct made *m)
{
	m->sw = (struct fxt_switch){
		.ts_ticks = number(w),
		.cpu = below(w, FXT_CPU_MAX + 1),
		.out_state = below(w, FXT_STATE_DEAD + 1),
		.out_tid = number(w),
		.in_tid = number(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
	};
	return fxt_write_switch(&w->w, &m->sw);
}

static int make_wakeup(struct world *w, struct made *m)
{
	m->wake = (struct fxt_wakeup){
		.ts_ticks = number(w),
		.cpu = below(w, FXT_CPU_MAX + 1),
		.tid = number(w),
		.args = m->args,
		.n_args = make_args(w, m->args, FXT_ARGS_MAX),
	};
	return fxt_write_wakeup(&w->w, &m->wake);
}

static int make_legacy_switch(struct world *w, struct made *m)
{
	m->legacy = (struct fxt_legacy_switch){
		.ts_ticks = number(w),
		.cpu = below(w, FXT_LEGACY_CPU_MAX + 1),
		/* any but running */
		.out_state = below(w, 6) ? FXT_STATE_SUSPENDED + below(w, 4) : FXT_STATE_NEW,
		.out = make_thread(w),
		.in = make_thread(w),
		.out_priority = (uint8_t)below(w, 256),
		.in_priority = (uint8_t)below(w, 256),
	};
	return fxt_write_legacy_switch(&w->w, &m->legacy);
}

static int make_module(struct world *w, struct made *m)
{
	m->module = (struct fxt_module){
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.id = below(w, FXT_MODULE_ID_MAX + 1),
		/* The pool ends with a NUL. */
		.name = w->letters + POOL_BYTES - 1 - below(w, FXT_MODULE_NAME_MAX + 1),
		.build_id = w->bytes + below(w, POOL_BYTES / 2),
		.build_id_size = below(w, FXT_BUILD_ID_BYTES_MAX + 1),
	};
	return fxt_write_module(&w->w, &m->module);
}

static int make_mmap(struct world *w, struct made *m)
{
	m->map = (struct fxt_mmap){
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.module_id = below(w, FXT_MODULE_ID_MAX + 1),
		.flags = below(w, FXT_MMAP_FLAGS_MAX + 1),
		.start = number(w),
		.range = number(w),
		.vaddr = number(w),
	};
	return fxt_write_mmap(&w->w, &m->map);
}

static int make_backtrace(struct world *w, struct made *m)
{
	m->trace = (struct fxt_backtrace){
		.ts_ticks = number(w),
		.thread = make_thread(w),
		.frames = (const uint64_t *)w->bytes + below(w, 1000),
		.n_frames = below(w, FXT_BACKTRACE_MAX + 1),
	};
	return fxt_write_backtrace(&w->w, &m->trace);
}

static int (*const makers[KIND_MAX])(struct world *, struct made *) = {
	make_event,         make_userspace_object, make_kernel_object, make_log,
	make_blob,          make_large_blob,       make_switch,        make_wakeup,
	make_legacy_switch, make_module,           make_mmap,          make_backtrace,
};

/* ---- the archive ---- */

static void set_up_world(struct world *w, uint64_t seed)
{
	*w = (struct world){ .random = seed };
	w->w.out = &w->out;
	w->bytes = malloc(POOL_BYTES);
	w->letters = malloc(POOL_BYTES);
	w->made = calloc(N_RECORDS, sizeof(*w->made));
	assert_true(w->bytes && w->letters && w->made);
	for (size_t i = 0; i < POOL_BYTES; i++) {
		w->bytes[i] = (uint8_t)any(w);
		w->letters[i] = (char)(' ' + any(w) % 90);
	}
	w->letters[POOL_BYTES - 1] = '\0';
	assert_int_equal(fxt_write_magic(&w->w), 0);
	for (uint32_t i = 0; i < N_PROVIDERS; i++) {
		/* (a reader of kymo's strings requires kymo's ticks) */
		bool is_kymo = i != 1;

		assert_int_equal(fxt_out_provider_init(&w->providers[i], UINT32_MAX - i), 0);
		assert_int_equal(fxt_write_provider_info(&w->w, &w->providers[i],
							 is_kymo ? "kymo" : "round trip"),
				 0);
		assert_int_equal(fxt_write_initialization(&w->w, is_kymo ? 1000000000 : 1000000001),
				 0);
		if (is_kymo)
			assert_int_equal(fxt_write_names(&w->w), 0);
	}
}

static void tear_down_world(struct world *w)
{
	for (size_t i = 0; i < N_PROVIDERS; i++)
		fxt_out_provider_deinit(&w->providers[i]);
	outbuf_deinit(&w->out);
	free(w->bytes);
	free(w->letters);
	free(w->made);
}

static void make_records(struct world *w)
{
	while (w->n_made < N_RECORDS) {
		struct made *m = &w->made[w->n_made];
		size_t before;

		if (below(w, 10) == 0)
			assert_int_equal(
				fxt_write_section(&w->w, &w->providers[below(w, N_PROVIDERS)]), 0);
		before = w->out.size;
		m->kind = below(w, KIND_MAX);
		m->provider_id = w->w.provider->id;
		if (makers[m->kind](w, m) == 0)
			w->n_made++;
		else
			assert_int_equal(w->out.size, before); /* it was too long */
	}
	assert_int_equal(w->out.error, 0);
	assert_int_equal(fxt_whole_records(w->out.data, w->out.size), w->out.size);
}

/* ---- comparing ---- */

static void assert_bytes(const void *is, uint64_t n_is, const void *want, size_t n_want)
{
	assert_int_equal(n_is, n_want);
	assert_true(n_want == 0 || memcmp(is, want, n_want) == 0);
}

static void assert_string(const struct fxt_text *is, const struct fxt_out_string *want)
{
	assert_non_null(is->bytes);
	if (want->index > 0) {
		assert_int_equal(is->ref, want->index);
		assert_int_equal(fxt_text_known(is), want->index);
		return;
	}
	assert_bytes(is->bytes, is->length, want->text, want->length);
	if (want->length > 0)
		assert_int_equal(fxt_get_string_ref_inline(is->ref), want->is_inline);
}

/* REF is the record's thread. */
static void assert_thread(const struct fxt_record *r, const struct fxt_out_thread *want,
			  uint64_t ref)
{
	assert_int_equal(ref == 0, want->is_inline);
	assert_true(r->thread.defined);
	assert_true(r->thread.pid == want->pid);
	assert_true(r->thread.tid == want->tid);
}

static void assert_arg(const struct fxt_arg *is, const struct fxt_out_arg *want)
{
	assert_int_equal(is->type, want->type);
	assert_string(&is->name, &want->name);
	switch (want->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		assert_int_equal(is->uint32, want->u32);
		break;
	case FXT_ARG_STRING:
		assert_string(&is->text, &want->text);
		break;
	case FXT_ARG_BOOL:
		assert_int_equal(is->boolean, want->boolean);
		break;
	case FXT_ARG_BLOB:
		assert_bytes(is->blob.data, is->blob.size, want->blob.data, want->blob.size);
		break;
	default:
		assert_true(is->uint64 == want->u64);
	}
}

static void assert_args(const struct fxt_record *r, const struct fxt_out_arg *want, unsigned n)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
		assert_arg(&arg, &want[i]);
	}
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
}

static void assert_kind(const struct fxt_record *r, unsigned type, unsigned subtype)
{
	assert_int_equal(r->type, type);
	assert_int_equal(r->subtype, subtype);
}

static void compare_said(const struct fxt_record *r, const struct made *m)
{
	uint64_t head = r->words[0];

	switch (m->kind) {
	case KIND_EVENT:
		assert_kind(r, FXT_RECORD_EVENT, m->event.type);
		assert_true(r->ts_ticks == m->event.ts_ticks);
		assert_thread(r, &m->event.thread, fxt_get_event_thread(head));
		assert_string(&r->category, &m->event.category);
		assert_string(&r->name, &m->event.name);
		assert_args(r, m->args, m->event.n_args);
		assert_true(r->event.value == m->event.id);
		break;
	case KIND_USERSPACE_OBJECT:
		assert_kind(r, FXT_RECORD_USERSPACE_OBJECT, 0);
		assert_true(r->userspace_object.pointer == m->user.pointer);
		assert_int_equal(fxt_get_userspace_thread(head) == 0, m->user.process.is_inline);
		assert_true(r->thread.pid == m->user.process.pid);
		assert_string(&r->name, &m->user.name);
		assert_args(r, m->args, m->user.n_args);
		break;
	case KIND_KERNEL_OBJECT:
		assert_kind(r, FXT_RECORD_KERNEL_OBJECT, 0);
		assert_int_equal(r->kernel_object.type, m->kernel.type);
		assert_true(r->kernel_object.koid == m->kernel.koid);
		assert_string(&r->name, &m->kernel.name);
		assert_args(r, m->args, m->kernel.n_args);
		break;
	default:
		assert_kind(r, FXT_RECORD_LOG, 0);
		assert_true(r->ts_ticks == m->log.ts_ticks);
		assert_thread(r, &m->log.thread, fxt_get_log_thread(head));
		assert_bytes(r->name.bytes, r->name.length, m->log.text, m->log.length);
	}
}

static void compare_blobs(const struct fxt_record *r, const struct made *m)
{
	const struct fxt_large_blob *large = &m->large;

	if (m->kind == KIND_BLOB) {
		assert_kind(r, FXT_RECORD_BLOB, 0);
		assert_string(&r->name, &m->blob.name);
		assert_int_equal(r->blob.type, m->blob.type);
		assert_bytes(r->blob.data, r->blob.size, m->blob.data, m->blob.size);
		return;
	}
	assert_kind(r, FXT_RECORD_LARGE, !large->has_metadata);
	assert_string(&r->category, &large->category);
	assert_string(&r->name, &large->name);
	if (large->has_metadata) {
		assert_true(r->ts_ticks == large->ts_ticks);
		assert_thread(r, &large->thread, fxt_get_large_blob_thread(r->words[1]));
		assert_args(r, m->args, large->n_args);
	}
	assert_bytes(r->blob.data, r->blob.size, large->data, large->size);
}

static void compare_sched(const struct fxt_record *r, const struct made *m)
{
	switch (m->kind) {
	case KIND_SWITCH:
		assert_kind(r, FXT_RECORD_SCHEDULING, FXT_SCHED_SWITCH);
		assert_true(r->ts_ticks == m->sw.ts_ticks);
		assert_int_equal(r->sw.cpu, m->sw.cpu);
		assert_int_equal(r->sw.out_state, m->sw.out_state);
		assert_true(r->sw.out_tid == m->sw.out_tid);
		assert_true(r->sw.in_tid == m->sw.in_tid);
		assert_args(r, m->args, m->sw.n_args);
		break;
	case KIND_WAKEUP:
		assert_kind(r, FXT_RECORD_SCHEDULING, FXT_SCHED_WAKEUP);
		assert_true(r->ts_ticks == m->wake.ts_ticks);
		assert_int_equal(r->wake.cpu, m->wake.cpu);
		assert_true(r->wake.tid == m->wake.tid);
		assert_args(r, m->args, m->wake.n_args);
		break;
	default:
		assert_kind(r, FXT_RECORD_SCHEDULING, FXT_SCHED_LEGACY_SWITCH);
		assert_true(r->ts_ticks == m->legacy.ts_ticks);
		assert_int_equal(r->sw.cpu, m->legacy.cpu);
		assert_int_equal(r->sw.out_state, m->legacy.out_state);
		assert_true(r->sw.out_pid == m->legacy.out.pid);
		assert_true(r->sw.out_tid == m->legacy.out.tid);
		assert_true(r->sw.in_pid == m->legacy.in.pid);
		assert_true(r->sw.in_tid == m->legacy.in.tid);
		assert_int_equal(r->sw.out_priority, m->legacy.out_priority);
		assert_int_equal(r->sw.in_priority, m->legacy.in_priority);
	}
}

static void compare_profiler(const struct fxt_record *r, const struct made *m)
{
	uint64_t ref = fxt_get_profiler_thread(r->words[0]);

	switch (m->kind) {
	case KIND_MODULE:
		assert_kind(r, FXT_RECORD_PROFILER, FXT_PROFILER_MODULE);
		assert_true(r->ts_ticks == m->module.ts_ticks);
		assert_thread(r, &m->module.thread, ref);
		assert_int_equal(r->module.id, m->module.id);
		assert_bytes(r->name.bytes, r->name.length, m->module.name, strlen(m->module.name));
		assert_bytes(r->module.build_id, r->module.build_id_size, m->module.build_id,
			     m->module.build_id_size);
		break;
	case KIND_MMAP:
		assert_kind(r, FXT_RECORD_PROFILER, FXT_PROFILER_MMAP);
		assert_true(r->ts_ticks == m->map.ts_ticks);
		assert_thread(r, &m->map.thread, ref);
		assert_int_equal(r->mmap.module_id, m->map.module_id);
		assert_int_equal(r->mmap.flags, m->map.flags);
		assert_true(r->mmap.start == m->map.start);
		assert_true(r->mmap.range == m->map.range);
		assert_true(r->mmap.vaddr == m->map.vaddr);
		break;
	default:
		assert_kind(r, FXT_RECORD_PROFILER, FXT_PROFILER_BACKTRACE);
		assert_true(r->ts_ticks == m->trace.ts_ticks);
		assert_thread(r, &m->trace.thread, ref);
		assert_bytes(r->backtrace.frames, r->backtrace.n_frames * 8ull, m->trace.frames,
			     m->trace.n_frames * 8);
	}
}

static void compare(const struct fxt_record *r, const struct made *m)
{
	if (m->kind <= KIND_LOG)
		compare_said(r, m);
	else if (m->kind <= KIND_LARGE_BLOB)
		compare_blobs(r, m);
	else if (m->kind <= KIND_LEGACY_SWITCH)
		compare_sched(r, m);
	else
		compare_profiler(r, m);
	assert_int_equal(r->provider->id, m->provider_id);
	assert_int_equal(r->provider->ticks_per_second,
			 m->provider_id == UINT32_MAX - 1 ? 1000000001 : 1000000000);
}

static bool is_for_the_tables(const struct fxt_record *r)
{
	return r->type <= FXT_RECORD_THREAD;
}

static void round_trip(uint64_t seed)
{
	const struct fxt_record *record;
	struct fxt_reader *reader = NULL;
	struct world w;
	size_t n = 0;
	int e;

	set_up_world(&w, seed);
	make_records(&w);
	assert_int_equal(fxt_reader_new_memory(&reader, w.out.data, w.out.size), 0);
	while ((e = fxt_reader_next(reader, &record)) == FXT_READER_RECORD) {
		struct fxt_findings findings;

		fxt_check_record(record, &findings);
		for (unsigned i = 0; i < findings.n; i++) {
			const struct fxt_finding_kind *kind =
				&fxt_finding_kinds[findings.list[i].id];

			if (kind->severity == FXT_SEVERITY_ERROR)
				fail_msg("seed %lu, record %zu: %s", (unsigned long)seed, n,
					 kind->text);
		}
		if (is_for_the_tables(record))
			continue;
		assert_true(n < w.n_made);
		compare(record, &w.made[n++]);
	}
	assert_int_equal(e, FXT_READER_END);
	assert_int_equal(n, w.n_made);
	fxt_reader_free(reader);
	tear_down_world(&w);
}

TEST(test_round_trip)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		round_trip(seed * UINT64_C(0x9e3779b97f4a7c15));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
