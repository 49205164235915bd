/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of record and argument, from the program to the archive; and programs that lie.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "provider/kymo-provider.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-reader.h"
#include "tests/support/fixtures/provider-manager.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

KYMO_CATEGORY(kinds);

static const struct provider_buffer_options roomy = { PROVIDER_STREAMING, 64, 64 << 10 };

static pid_t program_pid;

FIXTURE(set_up)
{
	struct provider_manager *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	provider_manager_init(m);
	*state = m;
	return 0;
}

FIXTURE(tear_down)
{
	if (program_pid > 0 && waitpid(program_pid, NULL, WNOHANG) == 0)
		kill(program_pid, SIGKILL);
	provider_manager_deinit(*state);
	free(*state);
	return 0;
}

/* ---- every kind ---- */

static char long_name[2001];

static void scoped(int n)
{
	kymo_scope(kinds, "scope", kymo_int("n", n));
	kymo_scope(kinds, "inner");
	if (n == 0)
		return;
	kymo_instant(kinds, "inside");
}

static void write_all_kinds(void)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	static struct kymo_name long_one = { long_name, 2000, 0 };
	uint64_t track = kymo_track_new("a queue"), start = kymo_now();

	kymo_thread_name("the writer");
	scoped(0);
	scoped(1);
	kymo_instant(kinds, "arguments", kymo_null("null"), kymo_int("i32", -5),
		     kymo_unsigned("u32", 4000000000U), kymo_int("i64", INT64_MIN),
		     kymo_unsigned("u64", UINT64_MAX), kymo_double("double", 0.5),
		     kymo_text("text", "sch\xc3\xb6n"), kymo_text("empty", ""),
		     kymo_pointer("pointer", &bytes), kymo_koid("koid", track), kymo_bool("yes", 1),
		     kymo_bool("no", 0), kymo_bytes("blob", bytes, 3));
	kymo_counter(kinds, "counter", 7, kymo_unsigned("value", 3));
	kymo_begin(kinds, "pair");
	kymo_end(kinds, "pair");
	kymo_complete(kinds, "complete", start);
	kymo_async_begin(kinds, "async", 11);
	kymo_async_instant(kinds, "async", 11);
	kymo_async_end(kinds, "async", 11);
	kymo_begin(kinds, "sender");
	kymo_flow_begin(kinds, "flow", 12);
	kymo_flow_step(kinds, "flow", 12);
	kymo_flow_end(kinds, "flow", 12);
	kymo_end(kinds, "sender");
	kymo_on(track, KYMO_INSTANT, kinds, "on a track", 0);
	kymo_log(kinds, "a line");
	kymo_blob(kinds, "stream", bytes, 3);
	kymo_object(kinds, &bytes, "three bytes", kymo_int("size", 3));
	kymo_event_write(&kymo_category_kinds, KYMO_INSTANT, 0, &long_one, 0, NULL, 0);
}

static void wait_for_session(void)
{
	while (!kymo_is_on(kinds))
		usleep(100);
}

static void run_all_kinds(void)
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	wait_for_session();
	write_all_kinds();
	while (kymo_is_on(kinds))
		usleep(100);
	kymo_provider_stop();
}

/* More threads than the table has: the later ones are inline. */
static void *write_one(void *unused)
{
	kymo_instant(kinds, "thread");
	return unused;
}

static void run_many_threads(void)
{
	pthread_t thread;

	wait_for_session();
	for (int i = 0; i < 300; i++) {
		if (pthread_create(&thread, NULL, write_one, NULL))
			_exit(2);
		pthread_join(thread, NULL);
	}
	while (kymo_is_on(kinds))
		usleep(100);
	kymo_provider_stop();
}

static pid_t run_program(void (*program)(void))
{
	program_pid = fork();
	if (program_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (kymo_provider_start("kinds") < 0)
			_exit(9);
		program();
		_exit(0);
	}
	assert_true(program_pid > 0);
	return program_pid;
}

/* The numbers of records in an archive. */
struct found {
	unsigned events[FXT_EVENT_FLOW_END + 1], logs, blobs, objects, names, args;
	unsigned args_by_type[FXT_ARG_BLOB + 1];
	unsigned on_track;
	uint64_t last_thread;
	unsigned n_threads; /* changes of the thread between events */
	bool long_name;
};

/* (notes and warnings depend on the rest of an archive) */
static void ignore_finding(void *userdata, const struct fxt_finding *finding)
{
}

static void count_event(struct found *f, const struct fxt_record *r)
{
	struct fxt_args args = r->args;
	struct fxt_arg arg;

	f->events[r->subtype]++;
	assert_int_equal(r->thread.pid, MANAGER_PROCESS);
	f->on_track += r->thread.tid == MANAGER_PROCESS + 1;
	f->n_threads += r->thread.tid != f->last_thread;
	f->last_thread = r->thread.tid;
	f->long_name |= r->name.length == 2000;
	while (fxt_args_next(&args, &arg) == FXT_ARGS_NEXT) {
		f->args++;
		f->args_by_type[arg.type]++;
	}
}

static void count_archive(const struct provider_manager *m, struct found *f)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *lint = NULL;
	const struct fxt_record *r;

	assert_int_equal(fxt_lint_new(&lint, ignore_finding, NULL), 0);
	assert_int_equal(fxt_reader_new_memory(&reader, m->out.data, m->out.size), 0);
	while (fxt_reader_next(reader, &r) > 0) {
		assert_non_null(r);
		assert_int_equal(fxt_lint_record(lint, r), 1);
		if (r->type == FXT_RECORD_EVENT)
			count_event(f, r);
		f->logs += r->type == FXT_RECORD_LOG;
		f->blobs += r->type == FXT_RECORD_BLOB;
		f->objects += r->type == FXT_RECORD_USERSPACE_OBJECT;
		f->names += r->type == FXT_RECORD_KERNEL_OBJECT;
	}
	assert_int_equal(fxt_lint_finish(lint), 0);
}

/* Reads the buffer. Returns the number of records so far. */
static uint64_t read_and_count(struct provider_manager *m)
{
	provider_manager_read(m, false);
	assert_int_equal(provider_records_counts(m->records)->garbage, 0);
	return provider_records_counts(m->records)->written;
}

static void record_program(struct provider_manager *m, void (*program)(void), uint64_t n_records,
			   struct found *ret)
{
	struct provider_losses losses;
	int status;

	provider_manager_listen(m);
	run_program(program);
	provider_manager_accept(m);
	provider_manager_start(m, "other,kin*", &roomy);
	assert_soon(read_and_count(m) >= n_records);
	provider_manager_stop(m);
	provider_manager_read(m, true);
	assert_int_equal(waitpid(program_pid, &status, 0), program_pid);
	assert_int_equal(status, 0);
	assert_int_equal(provider_records_counts(m->records)->written, n_records);
	provider_buffer_losses(m->buffer, &losses);
	assert_int_equal(losses.garbage + losses.full + losses.large + losses.unfinished, 0);
	count_archive(m, ret);
}

TEST(all_kinds_arrive)
{
	struct provider_manager *m = *state;
	struct found f = { 0 };

	record_program(m, run_all_kinds, 27, &f);
	/* inside, arguments, on a track, and the one with the long name */
	assert_int_equal(f.events[FXT_EVENT_INSTANT], 4);
	assert_int_equal(f.events[FXT_EVENT_COUNTER], 1);
	/* four scopes, the pair, and the sender */
	assert_int_equal(f.events[FXT_EVENT_DURATION_BEGIN], 6);
	assert_int_equal(f.events[FXT_EVENT_DURATION_END], 6);
	assert_int_equal(f.events[FXT_EVENT_DURATION_COMPLETE], 1);
	for (unsigned type = FXT_EVENT_ASYNC_BEGIN; type <= FXT_EVENT_FLOW_END; type++)
		assert_int_equal(f.events[type], 1);
	for (unsigned type = FXT_ARG_NULL; type <= FXT_ARG_BLOB; type++)
		assert_true(f.args_by_type[type] >= 1);
	assert_int_equal(f.args, 13 + 1 + 2);
	assert_int_equal(f.on_track, 1);
	assert_int_equal(f.logs, 1);
	assert_int_equal(f.blobs, 1);
	assert_int_equal(f.objects, 1);
	assert_int_equal(f.names, 2);
	assert_true(f.long_name);
}

TEST(threads_beyond_the_table_arrive)
{
	struct provider_manager *m = *state;
	struct found f = { 0 };

	record_program(m, run_many_threads, 300, &f);
	assert_int_equal(f.events[FXT_EVENT_INSTANT], 300);
	assert_int_equal(f.n_threads, 300);
}

/* ---- lies ---- */

/* A buffer, whose data file the test writes as a program would. */
struct victim {
	struct provider_buffer *buffer;
	uint8_t *file;
	size_t bytes;
	uint64_t n_records, n_bytes;
};

static int take_any(void *userdata, const uint64_t *words, unsigned n_words, bool is_durable)
{
	struct victim *v = userdata;

	assert_int_equal(fxt_get_record_words(words[0]), n_words);
	v->n_records++;
	v->n_bytes += n_words * FXT_WORD_BYTES;
	return 0;
}

static void victim_init(struct victim *v, const struct provider_buffer_options *options)
{
	memset(v, 0, sizeof(*v));
	assert_int_equal(provider_buffer_new(&v->buffer, options), 0);
	v->bytes = PROVIDER_BLOCKS_OFFSET + (size_t)options->n_blocks * options->block_bytes;
	v->file = mmap(NULL, v->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       provider_buffer_data_fd(v->buffer), 0);
	assert_ptr_not_equal(v->file, MAP_FAILED);
}

static void victim_deinit(struct victim *v)
{
	munmap(v->file, v->bytes);
	provider_buffer_free(v->buffer);
}

TEST(files_cannot_be_changed_in_size_or_sealed)
{
	struct victim v;
	int data, control;

	victim_init(&v, &roomy);
	data = provider_buffer_data_fd(v.buffer);
	control = provider_buffer_control_fd(v.buffer);
	assert_int_equal(ftruncate(data, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(data, (off_t)v.bytes * 2), -1);
	assert_int_equal(ftruncate(control, 0), -1);
	assert_int_equal(fcntl(data, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control, 0),
			 MAP_FAILED);
	assert_int_equal(write(control, "x", 1), -1);
	assert_int_equal(fallocate(control, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096),
			 -1);
	/* Holes in the data are only missing records. */
	assert_int_equal(
		fallocate(data, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)v.bytes), 0);
	assert_int_equal(provider_buffer_read(v.buffer, true, take_any, &v), 0);
	assert_int_equal(v.n_records, 0);
	victim_deinit(&v);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 20;
}

/*
 * Writes random words, which are often plausible, over the table, the durable part and the blocks.
 */
static void scribble(uint8_t *file, size_t bytes, uint64_t *seed, unsigned n)
{
	uint64_t *words = (uint64_t *)file;
	struct provider_block *table = (struct provider_block *)(file + PROVIDER_TABLE_OFFSET);

	while (n-- > 0) {
		size_t at = next_random(seed) % (bytes / sizeof(*words));
		uint64_t kind = next_random(seed) % 4;

		if (kind == 0)
			words[at] = next_random(seed) % 5000 << 4 | next_random(seed) % 16;
		else if (kind == 1)
			words[at] = 0;
		else
			words[at] = next_random(seed) << 32 | next_random(seed) % 256 << 4 | 4;
		table[next_random(seed) % 64].number = next_random(seed) % 1000;
		table[next_random(seed) % 64].end = next_random(seed) % 70000;
		((struct provider_data *)file)->durable_used = next_random(seed);
	}
}

TEST(random_buffers_are_bounded)
{
	struct victim v;
	uint64_t seed = 1, before;

	for (enum provider_mode mode = PROVIDER_ONESHOT; mode <= PROVIDER_CIRCULAR; mode++) {
		const struct provider_buffer_options options = { mode, 64, 4096 };

		victim_init(&v, &options);
		for (unsigned i = 0; i < unit_rounds(2000); i++) {
			scribble(v.file, v.bytes, &seed, 50);
			before = v.n_bytes;
			assert_int_equal(provider_buffer_read(v.buffer, i % 10 == 9, take_any, &v),
					 0);
			assert_true(v.n_bytes - before <= v.bytes);
		}
		victim_deinit(&v);
	}
}

static uint32_t stop_scribbling;

static void *scribble_on(void *arg)
{
	struct victim *v = arg;
	uint64_t seed = 7;

	while (!__atomic_load_n(&stop_scribbling, __ATOMIC_RELAXED))
		scribble(v->file, v->bytes, &seed, 100);
	return NULL;
}

/* Reads the buffer. Returns the number of places that were garbage so far. */
static uint64_t read_garbage(struct victim *v)
{
	struct provider_losses losses;

	assert_int_equal(provider_buffer_read(v->buffer, false, take_any, v), 0);
	provider_buffer_losses(v->buffer, &losses);
	return losses.garbage;
}

/* Bytes that change while they are read. */
TEST(buffers_that_change_are_bounded)
{
	const struct provider_buffer_options options = { PROVIDER_STREAMING, 64, 4096 };
	struct victim v;
	pthread_t thread;
	uint64_t before;

	victim_init(&v, &options);
	stop_scribbling = 0;
	assert_int_equal(pthread_create(&thread, NULL, scribble_on, &v), 0);
	assert_soon(read_garbage(&v) > 0);
	for (unsigned i = 0; i < unit_rounds(3000); i++) {
		before = v.n_bytes;
		assert_int_equal(provider_buffer_read(v.buffer, i % 10 == 9, take_any, &v), 0);
		assert_true(v.n_bytes - before <= v.bytes);
	}
	__atomic_store_n(&stop_scribbling, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	victim_deinit(&v);
}

/* ---- records that are garbage ---- */

static bool only_thread_5(void *userdata, uint64_t thread, uint64_t *ret)
{
	*ret = thread;
	return thread == 5;
}

static bool before_1000(void *userdata, uint64_t stamp, uint64_t *ret)
{
	*ret = stamp;
	return stamp < 1000;
}

#define HEAD(type, words) (fxt_put_record_type(type) | fxt_put_record_words(words))
#define INLINE(n)         (UINT64_C(0x8000) | (n))

struct garbage_case {
	uint64_t words[6];
	bool is_durable, is_right;
};

/* Adds the record of C, which is skipped and counted unless it is right. */
static void expect_case(struct provider_records *p, struct fxt_writer *w,
			const struct garbage_case *c)
{
	uint64_t garbage = provider_records_counts(p)->garbage;
	unsigned n_words = (unsigned)fxt_get_record_words(c->words[0]);
	size_t size = w->out->size;

	assert_int_equal(provider_records_add(p, w, c->words, n_words, c->is_durable), 0);
	if (provider_records_counts(p)->garbage - garbage != !c->is_right)
		fail_msg("a record with the header 0x%llx", (unsigned long long)c->words[0]);
	if (!c->is_right)
		assert_int_equal(w->out->size, size);
}

TEST(garbage_is_skipped_and_counted)
{
	const struct provider_rules rules = { .pid = 4,
					      .koid = only_thread_5,
					      .time = before_1000 };
	const uint64_t event =
		HEAD(FXT_RECORD_EVENT, 4) | fxt_put_event_category(1) | fxt_put_event_name(1);
	const struct garbage_case cases[] = {
		{ { fxt_string_header(1, 3), 0x636261 }, true, true },
		{ { fxt_string_header(2, 3), 0x636261 }, false, false },
		{ { fxt_string_header(0, 3), 0x636261 }, true, false },
		{ { fxt_string_header(3, 3), 0xffffff }, true, false }, /* not UTF-8 */
		{ { event, 10, 0, 5 }, false, true },
		{ { event, 10, 0, 5 }, true, false },
		{ { event, 1000, 0, 5 }, false, false }, /* a time outside */
		{ { event, 10, 0, 6 }, false, false },   /* a thread of another process */
		{ { event, 10, 1, 5 }, false, false },   /* a process */
		{ { event | fxt_put_event_thread(9), 10, 0, 5 }, false, false },
		{ { event | fxt_put_event_type(11), 10, 0, 5 }, false, false },
		{ { event | fxt_put_event_n_args(1), 10, 0, 5 }, false, false },
		{ { event ^ fxt_put_event_name(1 ^ 99), 10, 0, 5 },
		  false,
		  false }, /* no such string */
		{ { event ^ fxt_put_event_name(1 ^ INLINE(9)), 10, 0, 5 }, false, false },
		{ { HEAD(FXT_RECORD_EVENT, 5) | fxt_put_event_category(1) | fxt_put_event_name(1),
		    10, 0, 5, 7 },
		  false,
		  false }, /* a word too many */
		{ { HEAD(FXT_RECORD_EVENT, 5) | fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) |
			    fxt_put_event_category(1) | fxt_put_event_name(1),
		    10, 0, 5, 9 },
		  false,
		  false }, /* it ends before it begins */
		{ { FXT_MAGIC }, false, false },
		{ { HEAD(FXT_RECORD_METADATA, 1) | fxt_put_metadata_type(2) }, false, false },
		{ { HEAD(FXT_RECORD_INITIALIZATION, 2), 1000 }, false, false },
		{ { HEAD(FXT_RECORD_KERNEL_OBJECT, 2) | fxt_put_kernel_object_type(1) |
			    fxt_put_kernel_object_name(1),
		    5 },
		  true,
		  false }, /* a process */
		{ { HEAD(FXT_RECORD_KERNEL_OBJECT, 2) | fxt_put_kernel_object_type(2) |
			    fxt_put_kernel_object_name(1),
		    6 },
		  true,
		  false },
		{ { HEAD(FXT_RECORD_KERNEL_OBJECT, 2) | fxt_put_kernel_object_type(2) |
			    fxt_put_kernel_object_name(1),
		    5 },
		  true,
		  true },
		{ { fxt_wakeup_header(3, 0, 0), 10, 5 }, false, false },
		{ { HEAD(FXT_RECORD_PROFILER, 4), 10, 0, 5 }, false, false },
		{ { HEAD(FXT_RECORD_BLOB, 1) | fxt_put_blob_name(1) |
		    fxt_put_blob_type(FXT_BLOB_PERFETTO) },
		  false,
		  false },
		{ { HEAD(11, 1) }, false, false },
		{ { HEAD(FXT_RECORD_LARGE, 1) }, false, false },
	};
	struct outbuf out = { 0 };
	struct fxt_writer writer = { .out = &out };
	struct provider_records *p;

	assert_int_equal(provider_records_new(&p, 1, "liar", &rules), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(p, &writer, &cases[i]);
	assert_int_equal(provider_records_counts(p)->written, 1);
	provider_records_free(p);
	outbuf_deinit(&out);
}

TEST(ticks_are_interpolated)
{
	static struct provider_ticks t;
	uint64_t ns, last = 0;

	provider_ticks_add(&t, 1000, 5000);
	assert_false(provider_ticks_ns(&t, 1000, &ns));
	for (uint64_t i = 1; i <= 1000; i++)
		provider_ticks_add(&t, 1000 + i * 300, 5000 + i * 100);
	assert_true(t.n <= PROVIDER_TICKS_READINGS);
	assert_false(provider_ticks_ns(&t, 999, &ns));
	assert_false(provider_ticks_ns(&t, 301001, &ns));
	for (uint64_t stamp = 1000; stamp <= 301000; stamp++) {
		assert_true(provider_ticks_ns(&t, stamp, &ns));
		assert_in_range(ns, last, 5000 + (stamp - 1000) / 3);
		assert_true(ns + 1 >= 5000 + (stamp - 1000) / 3);
		last = ns;
	}
}

/* ---- reads that stop ---- */

struct stopping {
	uint64_t seen[16];
	unsigned n, stop_at; /* the record with this number is left in the buffer */
	int how;
};

static int take_until(void *userdata, const uint64_t *words, unsigned n_words, bool is_durable)
{
	struct stopping *s = userdata;

	assert_int_equal(n_words, 2);
	assert_false(is_durable);
	if (words[1] == s->stop_at)
		return s->how;
	s->seen[s->n++] = words[1];
	return 0;
}

/* Writes records with the numbers FIRST to FIRST + 2 to BLOCK. */
static void fill_block(uint8_t *data, unsigned block, uint64_t first)
{
	uint64_t *at = (uint64_t *)(data + PROVIDER_BLOCKS_OFFSET + block * PROVIDER_BLOCK_MIN);
	struct provider_block *row =
		(struct provider_block *)(data + PROVIDER_TABLE_OFFSET) + block;

	for (uint64_t i = 0; i < 3; i++) {
		at[2 * i] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(2);
		at[2 * i + 1] = first + i;
	}
	row->number = block + 1;
	row->end = 3 * 16 + 1;
}

TEST(records_stay_in_the_buffer)
{
	const struct provider_buffer_options two = { PROVIDER_STREAMING, 2, PROVIDER_BLOCK_MIN };
	const size_t bytes = PROVIDER_BLOCKS_OFFSET + 2 * PROVIDER_BLOCK_MIN;
	struct stopping s = { .stop_at = 2, .how = PROVIDER_READ_LATER };
	struct provider_buffer *b;
	uint8_t *data;

	assert_int_equal(provider_buffer_new(&b, &two), 0);
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, provider_buffer_data_fd(b), 0);
	assert_true(data != MAP_FAILED);
	fill_block(data, 0, 1);
	fill_block(data, 1, 4);
	/* The other block is read meanwhile. */
	assert_int_equal(provider_buffer_read(b, false, take_until, &s), PROVIDER_READ_LATER);
	assert_memory_equal(s.seen, ((uint64_t[]){ 1, 4, 5, 6 }), 4 * sizeof(uint64_t));
	s = (struct stopping){ .stop_at = 3, .how = PROVIDER_READ_ENDS };
	assert_int_equal(provider_buffer_read(b, false, take_until, &s), PROVIDER_READ_ENDS);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.seen[0], 2);
	s = (struct stopping){ 0 };
	assert_int_equal(provider_buffer_read(b, true, take_until, &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.seen[0], 3);
	munmap(data, bytes);
	provider_buffer_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_kinds_arrive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_beyond_the_table_arrive, set_up, tear_down),
		cmocka_unit_test(files_cannot_be_changed_in_size_or_sealed),
		cmocka_unit_test(random_buffers_are_bounded),
		cmocka_unit_test(buffers_that_change_are_bounded),
		cmocka_unit_test(garbage_is_skipped_and_counted),
		cmocka_unit_test(ticks_are_interpolated),
		cmocka_unit_test(records_stay_in_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
