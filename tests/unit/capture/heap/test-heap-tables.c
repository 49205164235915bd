/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of allocations: what their removal subtracts. Real maps, without programs.
 */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/heap/heap-tables.h"
#include "capture/programs/collector.h"
#include "tests/support/unit.h"

enum { ROOM = 64, COPIED = 5, WHOLE = 3 };

static int make_map(size_t key_size, size_t value_size)
{
	return bpf_map_create(BPF_MAP_TYPE_HASH, "heap_tables", (uint32_t)key_size,
			      (uint32_t)value_size, ROOM, NULL);
}

static void put_stacks(int fd, uint32_t instance, unsigned n, bool is_copied)
{
	for (unsigned i = 0; i < n; i++) {
		const struct memory_stack_key key = { 1 + 2 * i + is_copied, instance, 0 };
		const struct memory_stack stack = { .n_frames = 1, .is_copied = is_copied };

		assert_int_equal(bpf_map_update_elem(fd, &key, &stack, BPF_NOEXIST), 0);
	}
}

static unsigned count_keys(int fd)
{
	struct memory_stack_key key, *last = NULL;
	unsigned n = 0;

	while (bpf_map_get_next_key(fd, last, &key) == 0) {
		last = &key;
		n++;
	}
	return n;
}

/* Another descriptor of the map FD, which cannot change it. */
static int read_only(int fd)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, opts, .open_flags = BPF_F_RDONLY);
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return bpf_map_get_fd_by_id_opts(info.id, &opts);
}

/* Copied stacks of an ended program make room for others, once they are removed. */
TEST(test_forget_copied)
{
	int stacks_fd = make_map(sizeof(struct memory_stack_key), sizeof(struct memory_stack));
	int blocks_fd = make_map(sizeof(struct memory_key), sizeof(struct memory_block));
	int32_t n_copied = 2 * COPIED;
	int unchangeable_fd;
	const struct collector_memory own = { .stacks_fd = stacks_fd,
					      .blocks_fd = blocks_fd,
					      .n_copied = &n_copied };
	struct heap_images images = { 0 };
	struct memory_tables tables;

	(void)state;
	if (stacks_fd == -EPERM)
		skip();
	assert_true(stacks_fd >= 0 && blocks_fd >= 0);
	unchangeable_fd = read_only(stacks_fd);
	/* (this needs CAP_SYS_ADMIN, and maps need only CAP_BPF) */
	if (unchangeable_fd == -EPERM)
		skip();
	assert_true(unchangeable_fd >= 0);
	heap_tables_init(&tables, &own);
	for (uint32_t instance = 1; instance <= 2; instance++) {
		const struct memory_process process = { .instance = instance, .pid = instance };

		assert_non_null(heap_images_add(&images, &process));
		put_stacks(stacks_fd, instance, COPIED, true);
		put_stacks(stacks_fd, instance, WHOLE, false);
	}
	assert_int_equal(heap_tables_forget(&tables, &images, 0), 0);
	assert_int_equal(n_copied, 2 * COPIED);
	assert_int_equal(count_keys(stacks_fd), 2 * (COPIED + WHOLE));
	heap_images_get(&images, 1)->goes = true;
	tables.stacks_fd = unchangeable_fd;
	assert_int_equal(heap_tables_forget(&tables, &images, 0), -EPERM);
	assert_int_equal(n_copied, 2 * COPIED);
	close(tables.stacks_fd);
	tables.stacks_fd = stacks_fd;
	assert_int_equal(heap_tables_forget(&tables, &images, 0), 0);
	assert_int_equal(n_copied, COPIED);
	assert_int_equal(count_keys(stacks_fd), COPIED + WHOLE);
	heap_images_get(&images, 2)->goes = true;
	assert_int_equal(heap_tables_forget(&tables, &images, 0), 0);
	assert_int_equal(n_copied, 0);
	assert_int_equal(count_keys(stacks_fd), 0);
	heap_tables_deinit(&tables);
	heap_images_deinit(&images);
	close(stacks_fd);
	close(blocks_fd);
}

static int note_named(const struct rec_head *rec, void *userdata)
{
	const struct rec_named *named = (const struct rec_named *)rec;
	uint64_t *times = userdata;

	if (rec->kind == REC_NAMED)
		times[named->id] = rec->ts_ns;
	return 0;
}

/* A stack has the time of its first allocation: later, another library can be at its addresses. */
TEST(test_stack_times)
{
	static const struct {
		uint64_t since_ns, expected_ns;
	} rows[] = {
		{ 300, 300 },
		{ 50, 100 },  /* (before the program) */
		{ 900, 500 }, /* (after its end) */
		{ 1000, 500 },
	};
	int stacks_fd = make_map(sizeof(struct memory_stack_key), sizeof(struct memory_stack));
	const struct collector_memory own = { .stacks_fd = stacks_fd, .blocks_fd = -1 };
	const struct memory_process process = {
		.instance = 1, .pid = 1, .since_ns = 100, .ended_ns = 500
	};
	uint64_t times[ARRAY_SIZE(rows)] = { 0 };
	const struct memory_sink sink = { .emit = note_named, .userdata = times };
	struct heap_images images = { 0 };
	struct memory_tables tables;

	(void)state;
	if (stacks_fd == -EPERM)
		skip();
	assert_true(stacks_fd >= 0);
	heap_tables_init(&tables, &own);
	assert_non_null(heap_images_add(&images, &process));
	heap_images_get(&images, 1)->announced = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct memory_stack_key key = { i, 1, 0 };
		const struct memory_stack stack = { .n_frames = 1, .since_ns = rows[i].since_ns };

		assert_int_equal(bpf_map_update_elem(stacks_fd, &key, &stack, BPF_NOEXIST), 0);
	}
	assert_int_equal(heap_tables_usage(&tables, &images, 1000, &sink), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(times[i], rows[i].expected_ns);
	heap_tables_deinit(&tables);
	heap_images_deinit(&images);
	close(stacks_fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forget_copied),
		cmocka_unit_test(test_stack_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
