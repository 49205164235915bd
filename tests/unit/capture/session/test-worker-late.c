/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of ended processes are examined one by one, after other orders. Nothing is recorded.
 */
#include <stdio.h>
#include <string.h>

#include "capture/heap/heap-records.h"
#include "capture/session/worker-state.h"
#include "tests/support/unit.h"

enum { FILES = 2000, PID = 500, PATH_BYTES = 32 };

struct fixture {
	struct abandoned_threads *abandoned_threads;
	struct worker *worker;
};

FIXTURE(set_up)
{
	static const struct session_options options = { 0 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->abandoned_threads = abandoned_threads_new(0);
	assert_non_null(f->abandoned_threads);
	assert_int_equal(worker_new(&options, f->abandoned_threads, &f->worker), 0);
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	worker_free(f->worker);
	abandoned_threads_unref(f->abandoned_threads);
	free(f);
	return 0;
}

/* Orders the examination of FILES files that do not exist. */
static void order_files(struct worker *w)
{
	struct {
		struct rec_mapping rec;
		char path[PATH_BYTES];
	} all = { .rec = { .head = { .size = sizeof(all), .kind = REC_MAPPING, .pid = PID } } };

	for (uint64_t i = 1; i <= FILES; i++) {
		all.rec.inode = i;
		snprintf(all.path, sizeof(all.path), "/nonexistent/%u", (unsigned)i);
		assert_true(worker_order_examination(w, &all.rec));
	}
}

static size_t n_examined(struct worker *w)
{
	size_t n;

	pthread_mutex_lock(&w->lock);
	n = w->results.examined.size / sizeof(struct late_file);
	pthread_mutex_unlock(&w->lock);
	return n;
}

static uint64_t n_searched(struct worker *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->results.n_searches;
	pthread_mutex_unlock(&w->lock);
	return n;
}

static unsigned n_holders(struct worker *w)
{
	unsigned n;

	pthread_mutex_lock(&w->lock);
	n = w->n_holders;
	pthread_mutex_unlock(&w->lock);
	return n;
}

TEST(test_all)
{
	struct fixture *f = *state;
	const struct late_file *files;

	order_files(f->worker);
	assert_soon(n_examined(f->worker) == FILES);
	files = (const struct late_file *)f->worker->results.examined.data;
	for (size_t i = 0; i < FILES; i++) {
		assert_int_equal(files[i].inode, i + 1);
		assert_false(files[i].is_harmless);
	}
}

/* A process that is held at its exit waits only for the file that is being examined. */
TEST(test_search_first)
{
	struct fixture *f = *state;

	order_files(f->worker);
	assert_soon(n_examined(f->worker) > 0);
	assert_int_equal(worker_order_search(f->worker, PID), 1);
	assert_soon(n_searched(f->worker) == 1);
	assert_in_range(n_examined(f->worker), 1, FILES - 1);
}

/* The end waits for no other file. */
TEST(test_end)
{
	struct fixture *f = *state;
	struct worker *w = f->worker;

	pthread_mutex_lock(&w->lock);
	w->n_holders++; /* the test is one, too */
	pthread_mutex_unlock(&w->lock);
	order_files(w);
	assert_soon(n_examined(w) > 0);
	f->worker = worker_free(w);
	assert_soon(n_holders(w) == 1);
	assert_in_range(n_examined(w), 1, FILES - 1);
	worker_release(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_search_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
