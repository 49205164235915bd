/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of ended programs: those of one process in their order, in whatever order they become
 * known.
 */
#include <time.h>

#include "base/cleanup.h"
#include "capture/heap/heap-images.h"
#include "tests/support/unit.h"

enum { PID = 7, MANY = 20000 };

FIXTURE(setup)
{
	static struct heap_images images;

	images = (struct heap_images){ 0 };
	*state = &images;
	return 0;
}

FIXTURE(teardown)
{
	heap_images_deinit(*state);
	return 0;
}

static struct heap_image *add(struct heap_images *images, uint32_t pid, uint32_t instance)
{
	const struct memory_process process = {
		.instance = instance,
		.pid = pid,
		.since_ns = 1000 * (uint64_t)instance,
		.flags = MEMORY_PROCESS_IMAGE,
	};
	struct heap_image *image = heap_images_add(images, &process);

	assert_non_null(image);
	return image;
}

/* The instances that can be reported, in their order, and 0. */
static void expect_ended(struct heap_images *images, const uint32_t *instances)
{
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	struct heap_image **ended;
	size_t i = 0;

	assert_int_equal(heap_images_ended(images, &list), 0);
	ended = (struct heap_image **)list.data;
	for (; instances[i]; i++) {
		assert_true(list.size > i * sizeof(*ended));
		assert_int_equal(ended[i]->process.instance, instances[i]);
	}
	assert_int_equal(list.size, i * sizeof(*ended));
}

TEST(test_known_once)
{
	struct heap_images *images = *state;
	struct heap_image *image = add(images, PID, 3);

	assert_ptr_equal(add(images, PID, 3), image);
	assert_ptr_equal(heap_images_get(images, 3), image);
	assert_null(heap_images_get(images, 4));
	assert_null(heap_images_add(images, &(struct memory_process){ .pid = PID }));
}

TEST(test_later_ones_wait)
{
	struct heap_images *images = *state;
	static const uint32_t order[] = { 5, 2, 9, 4 };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		add(images, PID, order[i])->ended = order[i] != 4;
	add(images, PID + 1, 3)->ended = true;
	expect_ended(images, (uint32_t[]){ 2, 3, 0 });
	heap_images_get(images, 4)->ended = true;
	expect_ended(images, (uint32_t[]){ 2, 3, 4, 5, 9, 0 });
}

TEST(test_who_goes_is_waited_for_no_more)
{
	struct heap_images *images = *state;

	for (uint32_t instance = 1; instance <= 4; instance++)
		add(images, PID, instance)->ended = instance > 1;
	expect_ended(images, (uint32_t[]){ 0 });
	heap_images_remove(images, heap_images_get(images, 1));
	expect_ended(images, (uint32_t[]){ 2, 3, 4, 0 });
	heap_images_remove(images, heap_images_get(images, 3));
	heap_images_remove(images, heap_images_get(images, 4));
	expect_ended(images, (uint32_t[]){ 2, 0 });
	add(images, PID, 6)->ended = true;
	expect_ended(images, (uint32_t[]){ 2, 6, 0 });
	heap_images_remove(images, heap_images_get(images, 2));
	heap_images_remove(images, heap_images_get(images, 6));
	expect_ended(images, (uint32_t[]){ 0 });
	assert_null(add(images, PID, 8)->earlier);
}

/* A program whose end was not reported ended when the next one began. */
TEST(test_not_reported)
{
	struct heap_images *images = *state;
	struct heap_image *first = add(images, PID, 1), *last = add(images, PID, 2);

	memory_image_end_unreported(first);
	assert_true(first->ended);
	assert_int_equal(first->process.lost, 1);
	assert_int_equal(first->process.ended_ns, 1999);
	assert_true(first->process.flags & MEMORY_PROCESS_EXECED);
	memory_image_end_unreported(last);
	assert_int_equal(last->process.ended_ns, 0);
	assert_false(last->process.flags & MEMORY_PROCESS_EXECED);
	expect_ended(images, (uint32_t[]){ 1, 2, 0 });
}

/* There is no search through all of them for each: it would take minutes. */
TEST(test_many)
{
	struct heap_images *images = *state;
	clock_t begin = clock();

	for (uint32_t instance = 1; instance <= MANY; instance++)
		add(images, PID, instance)->ended = true;
	for (uint32_t instance = 1; instance <= MANY; instance++) {
		assert_null(heap_images_get(images, instance)->earlier);
		heap_images_remove(images, heap_images_get(images, instance));
	}
	assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
}

/* A program that calls exec has no leaks, so unknown blocks of its begin are no gap. */
TEST(test_gap)
{
	struct heap_images *images = *state;
	struct heap_image *image = add(images, PID, 1);
	static const uint32_t gaps[] = { WATCHED_GAP_NONE, WATCHED_GAP_THREAD, WATCHED_GAP_LATE,
					 WATCHED_GAP_UNSEEN, WATCHED_GAP_LOADED };

	for (size_t i = 0; i < ARRAY_SIZE(gaps); i++) {
		*image = (struct heap_image){ .process.flags = MEMORY_PROCESS_IMAGE,
					      .complete = true };
		if (gaps[i] != WATCHED_GAP_NONE)
			memory_image_add_gap(image, gaps[i]);
		assert_int_equal(memory_image_gap(image), gaps[i]);
		image->process.flags |= MEMORY_PROCESS_EXECED;
		assert_int_equal(memory_image_gap(image),
				 gaps[i] == WATCHED_GAP_THREAD ? gaps[i] : WATCHED_GAP_NONE);
		assert_int_equal(image->complete, gaps[i] == WATCHED_GAP_NONE);
	}
}

/* The functions without probes tell whether allocations or threads are incomplete. */
TEST(test_missing)
{
	static const struct {
		uint32_t functions, gap;
	} rows[] = {
		{ 0, WATCHED_GAP_NONE },
		{ 1u << MEMORY_FN_MALLOC, WATCHED_GAP_REFUSED_MEMORY },
		{ 1u << MEMORY_FN_HEAP_DESTROY, WATCHED_GAP_REFUSED_MEMORY },
		{ 1u << MEMORY_FN_PTHREAD_CREATE, WATCHED_GAP_REFUSED_THREADS },
		{ 1u << MEMORY_FN_PTHREAD_JOIN | 1u << MEMORY_FN_FREE, WATCHED_GAP_REFUSED },
	};
	struct heap_image *image = add(*state, PID, 1);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		*image = (struct heap_image){ .complete = true };
		memory_image_note_missing(image, rows[i].functions);
		assert_int_equal(memory_image_gap(image), rows[i].gap);
		assert_int_equal(image->complete, rows[i].functions == 0);
	}
}

/* Files that are loaded later can lack probes of the other kind. */
TEST(test_missing_later)
{
	const uint32_t free = 1u << MEMORY_FN_FREE, create = 1u << MEMORY_FN_PTHREAD_CREATE;
	const uint32_t pairs[][2] = { { free, create },
				      { create, free },
				      { create, free | create } };
	struct heap_image *image = add(*state, PID, 1);

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		image->gap = WATCHED_GAP_NONE;
		memory_image_note_missing(image, pairs[i][0]);
		memory_image_note_missing(image, pairs[i][1]);
		assert_int_equal(image->gap, WATCHED_GAP_REFUSED);
		memory_image_note_missing(image, pairs[i][0]);
		assert_int_equal(image->gap, WATCHED_GAP_REFUSED);
	}
	/* (a gap of another kind is more) */
	image->gap = WATCHED_GAP_THREAD;
	memory_image_note_missing(image, free);
	memory_image_note_missing(image, create);
	assert_int_equal(image->gap, WATCHED_GAP_THREAD);
}

/* The programs report that another process used its memory. An earlier gap is more. */
TEST(test_shared)
{
	struct heap_images *images = *state;
	struct heap_image *image = add(images, PID, 1);

	image->process.flags = MEMORY_PROCESS_SHARED;
	assert_int_equal(memory_image_gap(image), WATCHED_GAP_SHARED);
	image->process.flags |= MEMORY_PROCESS_EXECED;
	assert_int_equal(memory_image_gap(image), WATCHED_GAP_NONE);
	memory_image_add_gap(image, WATCHED_GAP_THREAD);
	assert_int_equal(memory_image_gap(image), WATCHED_GAP_THREAD);
}

/* The first allocator that is loaded later is a gap, from its mapping to its probes. */
TEST(test_loaded)
{
	struct heap_images *images = *state;
	struct heap_image *image = add(images, PID, 1);

	image->complete = true;
	memory_image_note_probed(image, 100, 50); /* while its initial libraries are loaded */
	image->settled = true;
	memory_image_note_probed(image, 100, 150); /* nothing new */
	assert_int_equal(image->gap, WATCHED_GAP_NONE);
	assert_true(image->complete);
	memory_image_note_probed(image, 300, 200);
	memory_image_note_probed(image, 500, 400);
	memory_image_note_probed(image, 300, 600); /* one was unloaded */
	assert_int_equal(image->gap, WATCHED_GAP_LOADED);
	assert_int_equal(image->gap_from_ns, 200);
	assert_int_equal(image->gap_to_ns, 300);
	assert_int_equal(image->probed_ns, 500);
	assert_false(image->complete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later_ones_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_goes_is_waited_for_no_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_not_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loaded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
