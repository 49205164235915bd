/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library in a program of its own, and the manager's end of its buffers: what was made is
 * written or counted as lost, exactly.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "provider/kymo-provider.h"
#include "tests/support/fixtures/provider-manager.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

KYMO_CATEGORY(numbers);
KYMO_CATEGORY_NAMED(others, "other.events");

enum { THREADS = 8, NUMBERS_MAX = 1000000 };

static const struct provider_buffer_options roomy = { PROVIDER_STREAMING, 256, 64 << 10 };
static const struct provider_buffer_options tiny = { PROVIDER_STREAMING, 2, 4096 };

/* ---- the program ---- */

/* Memory that the program and the test share. */
static struct shared {
	uint64_t made;
	uint64_t go_on; /* steps that the program may take */
	uint64_t step;  /* steps that it has taken */
} * shared;

static unsigned n_numbers;

static void wait_for_session(void)
{
	while (!kymo_is_on(numbers))
		usleep(100);
}

static void wait_for_step(uint64_t step)
{
	__atomic_store_n(&shared->step, step, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->go_on, __ATOMIC_SEQ_CST) < step)
		usleep(100);
}

static void expect_step(uint64_t step)
{
	assert_soon(__atomic_load_n(&shared->step, __ATOMIC_SEQ_CST) >= step);
}

/* Lets the program go on after STEP, which it has reached. */
static void let_go(uint64_t step)
{
	expect_step(step);
	__atomic_store_n(&shared->go_on, step, __ATOMIC_SEQ_CST);
}

static void *write_numbers(void *arg)
{
	uint64_t thread = (uintptr_t)arg;

	for (unsigned i = 0; i < n_numbers; i++)
		kymo_counter(numbers, "number", thread << 32 | i,
			     kymo_int("thread", (int64_t)thread));
	return NULL;
}

static void program_threads(void)
{
	pthread_t threads[THREADS];

	wait_for_session();
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, write_numbers, (void *)i))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	shared->made = (uint64_t)THREADS * n_numbers;
	wait_for_step(1);
}

static uint64_t n_signals;

static void handle_signal(int signal)
{
	uint64_t n = __atomic_fetch_add(&n_signals, 1, __ATOMIC_RELAXED);

	if (n < NUMBERS_MAX)
		kymo_counter(numbers, "number", UINT64_C(1) << 32 | n,
			     kymo_text("in", "a handler"));
	(void)signal;
}

/* Signals arrive at any instruction of the library. */
static void program_signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };

	signal(SIGALRM, handle_signal);
	wait_for_session();
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < NUMBERS_MAX && (i < n_numbers || n_signals < 200); i++) {
		kymo_counter(numbers, "number", i);
		shared->made++;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	shared->made += n_signals < NUMBERS_MAX ? n_signals : NUMBERS_MAX;
	wait_for_step(1);
}

/* Writes until it is killed, and says how far it is. */
static void program_endless(void)
{
	wait_for_session();
	for (uint64_t i = 0; i < NUMBERS_MAX; i++) {
		kymo_counter(numbers, "number", i);
		__atomic_store_n(&shared->made, i + 1, __ATOMIC_SEQ_CST);
		if (i % 100 == 0)
			usleep(1);
	}
	for (;;)
		pause();
}

static void program_fork(void)
{
	pid_t child;
	int status;

	wait_for_session();
	kymo_counter(numbers, "number", 1);
	child = fork();
	if (child == 0) {
		/* Neither here nor in the parent's buffer: the child is no provider yet. */
		if (kymo_is_on(numbers))
			_exit(1);
		kymo_counter(numbers, "number", 2);
		wait_for_step(1);
		if (kymo_provider_start("child") < 0)
			_exit(2);
		wait_for_session();
		kymo_counter(numbers, "number", 3);
		wait_for_step(2);
		_exit(0);
	}
	kymo_counter(numbers, "number", 4);
	if (waitpid(child, &status, 0) != child || status != 0)
		_exit(3);
	wait_for_step(3);
}

/* A child that the library does not notice, since no handler of fork() runs. */
static void program_raw_fork(void)
{
	pid_t child;
	int status;

	wait_for_session();
	kymo_counter(numbers, "number", 1);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		for (int i = 0; i < 10000; i++)
			kymo_counter(numbers, "number", 2);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		_exit(3);
	kymo_counter(numbers, "number", 4);
	wait_for_step(1);
}

static void program_again(void)
{
	for (uint64_t step = 1; step <= 3; step++) {
		wait_for_session();
		kymo_counter(numbers, "number", step);
		kymo_counter(others, "number", 99);
		wait_for_step(step);
	}
}

static pid_t program_pid;

static pid_t run_program(void (*program)(void), unsigned numbers)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	n_numbers = numbers;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (kymo_provider_start("test program") < 0)
			_exit(9);
		program();
		_exit(0);
	}
	assert_true(pid > 0);
	return program_pid = pid;
}

static void expect_success(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- the test ---- */

/* Which numbers have arrived; a bit for each. */
static uint64_t (*arrived)[NUMBERS_MAX / 64 + 1];
static uint64_t n_twice, n_wrong;

static void take_number(void *userdata, const uint64_t *words)
{
	uint64_t number = words[fxt_get_record_words(words[0]) - 1];
	uint64_t thread = number >> 32, n = number & UINT32_MAX;

	if (thread >= THREADS || n >= NUMBERS_MAX) {
		n_wrong++;
		return;
	}
	n_twice += arrived[thread][n / 64] >> n % 64 & 1;
	arrived[thread][n / 64] |= UINT64_C(1) << n % 64;
	(void)userdata;
}

FIXTURE(set_up)
{
	struct provider_manager *m = calloc(1, sizeof(*m));

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	arrived = calloc(THREADS, sizeof(*arrived));
	assert_non_null(m);
	assert_non_null(arrived);
	assert_ptr_not_equal(shared, MAP_FAILED);
	n_twice = n_wrong = 0;
	provider_manager_init(m);
	m->event = take_number;
	*state = m;
	return 0;
}

FIXTURE(tear_down)
{
	/* (of a test that failed) */
	if (program_pid > 0 && waitpid(program_pid, NULL, WNOHANG) == 0)
		kill(program_pid, SIGKILL);
	provider_manager_deinit(*state);
	free(*state);
	free(arrived);
	munmap(shared, sizeof(*shared));
	return 0;
}

/* Everything that arrived is right, and arrived once. */
static void expect_clean(struct provider_manager *m, struct provider_losses *ret)
{
	const struct provider_record_counts *counts = provider_records_counts(m->records);

	provider_buffer_losses(m->buffer, ret);
	assert_int_equal(n_wrong, 0);
	assert_int_equal(n_twice, 0);
	assert_int_equal(ret->garbage, 0);
	assert_int_equal(ret->large, 0);
	assert_int_equal(ret->durable, 0);
	assert_int_equal(counts->garbage, 0);
}

/* Runs PROGRAM with a buffer of OPTIONS. Returns the losses, which with the records are exact. */
static struct provider_losses count(struct provider_manager *m, void (*program)(void),
				    unsigned numbers, const struct provider_buffer_options *options)
{
	struct provider_losses losses;
	pid_t pid;

	provider_manager_listen(m);
	pid = run_program(program, numbers);
	provider_manager_accept(m);
	assert_string_equal(m->message.text, "test program");
	provider_manager_start(m, "numb*", options);
	while (__atomic_load_n(&shared->step, __ATOMIC_SEQ_CST) < 1) {
		if (options->mode == PROVIDER_STREAMING)
			provider_manager_read(m, false);
		usleep(500);
	}
	expect_step(1);
	provider_manager_stop(m);
	let_go(1);
	provider_manager_read(m, true);
	expect_success(pid);
	expect_clean(m, &losses);
	assert_int_equal(losses.unfinished, 0);
	assert_int_equal(m->n_events + losses.full + losses.overwritten, shared->made);
	return losses;
}

TEST(threads_in_a_roomy_buffer)
{
	struct provider_manager *m = *state;
	struct provider_losses losses = count(m, program_threads, unit_rounds(NUMBERS_MAX), &roomy);

	assert_true(m->n_events > 0);
	assert_int_equal(losses.overwritten, 0);
}

TEST(threads_in_a_tiny_buffer)
{
	struct provider_manager *m = *state;
	struct provider_losses losses = count(m, program_threads, unit_rounds(NUMBERS_MAX), &tiny);

	assert_true(losses.full > 0);
	assert_true(m->n_events > 0);
}

TEST(threads_in_a_oneshot_buffer)
{
	struct provider_manager *m = *state;
	const struct provider_buffer_options options = { PROVIDER_ONESHOT, 8, 4096 };
	struct provider_losses losses = count(m, program_threads, 10000, &options);

	/* An event has four or, with an index of its thread, fewer words. */
	assert_true(m->n_events >= 5 * 4096 / 48);
	assert_true(losses.full > 0);
}

TEST(threads_in_a_circular_buffer)
{
	struct provider_manager *m = *state;
	const struct provider_buffer_options options = { PROVIDER_CIRCULAR, 128, 4096 };
	struct provider_losses losses = count(m, program_threads, 50000, &options);
	bool has_last = false;

	assert_true(losses.overwritten > 0);
	for (int i = 0; i < THREADS; i++)
		has_last |= arrived[i][49999 / 64] >> 49999 % 64 & 1;
	assert_true(has_last);
}

TEST(signal_handlers)
{
	count(*state, program_signals, 20000, &roomy);
}

TEST(signal_handlers_in_a_tiny_buffer)
{
	count(*state, program_signals, 20000, &tiny);
}

TEST(killed_programs_leave_what_they_wrote)
{
	struct provider_manager *m = *state;
	const struct provider_buffer_options options = { PROVIDER_ONESHOT, 1024, 64 << 10 };
	struct provider_losses losses;
	uint64_t made;
	pid_t pid;
	int status;

	provider_manager_listen(m);
	pid = run_program(program_endless, 0);
	provider_manager_accept(m);
	provider_manager_start(m, "*", &options);
	assert_soon(__atomic_load_n(&shared->made, __ATOMIC_SEQ_CST) > 1000);
	provider_manager_read(m, false);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	made = shared->made;
	provider_manager_read(m, true);
	expect_clean(m, &losses);
	assert_int_equal(losses.full, 0);
	/* The program can have been killed after an event, before it said so. */
	assert_in_range(m->n_events + losses.unfinished, made, made + 1);
	assert_in_range(m->n_events, made, made + 1);
}

TEST(children_are_silent_until_they_start)
{
	struct provider_manager *m = *state, *other = calloc(1, sizeof(*other));
	struct provider_losses losses;
	pid_t pid;

	provider_manager_listen(m);
	pid = run_program(program_fork, 0);
	provider_manager_accept(m);
	provider_manager_start(m, "numbers", &roomy);
	let_go(1);
	/* The child's connection has its own session. */
	*other = (struct provider_manager){ .listener = -1, .clock = m->clock };
	other->writer.out = &other->out;
	other->event = take_number;
	other->link = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);
	provider_manager_expect(other, PROVIDER_HELLO);
	assert_string_equal(other->message.text, "child");
	provider_manager_start(other, "numbers", &roomy);
	expect_step(2);
	provider_manager_stop(other);
	let_go(2);
	provider_manager_read(other, true);
	assert_int_equal(other->n_events, 1);
	assert_int_equal(arrived[0][0], 1 << 3);
	expect_step(3);
	provider_manager_stop(m);
	let_go(3);
	provider_manager_read(m, true);
	expect_success(pid);
	expect_clean(m, &losses);
	assert_int_equal(m->n_events, 2);
	assert_int_equal(arrived[0][0], 1 << 1 | 1 << 3 | 1 << 4);
	close_fd(other->link);
	provider_buffer_free(other->buffer);
	provider_records_free(other->records);
	outbuf_deinit(&other->out);
	free(other);
}

TEST(children_of_clone_write_nothing)
{
	struct provider_manager *m = *state;
	struct provider_losses losses;
	pid_t pid;

	provider_manager_listen(m);
	pid = run_program(program_raw_fork, 0);
	provider_manager_accept(m);
	provider_manager_start(m, "numbers", &roomy);
	expect_step(1);
	provider_manager_stop(m);
	let_go(1);
	provider_manager_read(m, true);
	expect_success(pid);
	expect_clean(m, &losses);
	assert_int_equal(m->n_events, 2);
	assert_int_equal(arrived[0][0], 1 << 1 | 1 << 4);
}

/* A program finds a manager that comes later, goes on without it, and finds the next one. */
TEST(managers_come_and_go)
{
	struct provider_manager *m = *state;
	pid_t pid = run_program(program_again, 0);

	provider_manager_listen(m);
	provider_manager_accept(m);
	provider_manager_start(m, "numbers", &roomy);
	expect_step(1);
	/* (the manager ends without a word) */
	provider_manager_read(m, false);
	assert_int_equal(arrived[0][0], 1 << 1);
	provider_manager_close(m);

	provider_manager_listen(m);
	provider_manager_accept(m);
	provider_manager_start(m, "numbers", &roomy);
	let_go(1);
	expect_step(2);
	provider_manager_stop(m);
	provider_manager_read(m, true);
	assert_int_equal(arrived[0][0], 1 << 1 | 1 << 2);

	provider_manager_start(m, "numbers", &roomy);
	let_go(2);
	expect_step(3);
	provider_manager_stop(m);
	let_go(3);
	provider_manager_read(m, true);
	expect_success(pid);
	assert_int_equal(arrived[0][0], 1 << 1 | 1 << 2 | 1 << 3);
	assert_int_equal(m->n_events, 3);
}

static int take_nothing(void *userdata, const uint64_t *words, unsigned n_words, bool is_durable)
{
	(void)userdata, (void)words, (void)n_words, (void)is_durable;
	return 0;
}

/* The losses of all programs are added up. */
TEST(counters_cannot_overflow_a_sum)
{
	const struct provider_buffer_options options = { PROVIDER_STREAMING, 4, 4096 };
	_cleanup_(provider_buffer_freep) struct provider_buffer *b = NULL;
	struct provider_losses losses;
	struct provider_data *data;

	assert_int_equal(provider_buffer_new(&b, &options), 0);
	data = mmap(NULL, sizeof(*data), PROT_READ | PROT_WRITE, MAP_SHARED,
		    provider_buffer_data_fd(b), 0);
	assert_true(data != MAP_FAILED);
	for (size_t i = 0; i < PROVIDER_SLOTS; i++)
		data->counters[i].full = UINT64_MAX - i;
	data->counters[1].large = 7;
	assert_int_equal(provider_buffer_read(b, false, take_nothing, NULL), 0);
	provider_buffer_losses(b, &losses);
	assert_int_equal(losses.full, UINT64_C(1) << 44);
	assert_int_equal(losses.large, 7);
	munmap(data, sizeof(*data));
}

/* Empty blocks do not each cost a search through an empty durable part. */
TEST(empty_parts_cost_little)
{
	const struct provider_buffer_options options = { PROVIDER_STREAMING, PROVIDER_BLOCKS_MAX,
							 4096 };
	_cleanup_(provider_buffer_freep) struct provider_buffer *b = NULL;
	struct provider_block *rows;
	struct provider_data *data;
	struct timespec begin, end;

	assert_int_equal(provider_buffer_new(&b, &options), 0);
	data = mmap(NULL, PROVIDER_BLOCKS_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED,
		    provider_buffer_data_fd(b), 0);
	assert_true(data != MAP_FAILED);
	rows = (struct provider_block *)((char *)data + PROVIDER_TABLE_OFFSET);
	data->durable_used = PROVIDER_DURABLE_BYTES;
	for (uint32_t i = 0; i < PROVIDER_BLOCKS_MAX; i++)
		rows[i].number = i + 1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(provider_buffer_read(b, false, take_nothing, NULL), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	/* (32 GiB otherwise) */
	assert_true(end.tv_sec - begin.tv_sec < 3);
	munmap(data, PROVIDER_BLOCKS_OFFSET);
}

int main(void)
{
#define WITH_MANAGER(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_MANAGER(threads_in_a_roomy_buffer),
		WITH_MANAGER(threads_in_a_tiny_buffer),
		WITH_MANAGER(threads_in_a_oneshot_buffer),
		WITH_MANAGER(threads_in_a_circular_buffer),
		WITH_MANAGER(signal_handlers),
		WITH_MANAGER(signal_handlers_in_a_tiny_buffer),
		WITH_MANAGER(killed_programs_leave_what_they_wrote),
		WITH_MANAGER(children_are_silent_until_they_start),
		WITH_MANAGER(children_of_clone_write_nothing),
		WITH_MANAGER(managers_come_and_go),
		cmocka_unit_test(counters_cannot_overflow_a_sum),
		cmocka_unit_test(empty_parts_cost_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
