/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables in the maps where programs find them: added, removed, and replaced under another
 * generation. Real maps, without programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/unwind/unwind-maps.h"
#include "capture/unwind/unwinder.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/unwind-map-set.h"

enum { N_ROWS = 3 * UNWIND_BLOCK_ROWS - 7 };

static struct unwind_maps maps;
static struct unwind_row rows[N_ROWS];

FIXTURE(setup)
{
	int r = unwind_map_set_make(&maps);

	for (unsigned i = 0; i < N_ROWS; i++)
		rows[i] =
			(struct unwind_row){ i * 16, UNWIND_RULE(UNWIND_SP, 0, (int)(i % 9 + 1)) };
	*state = (void *)(intptr_t)r;
	return 0;
}

FIXTURE(teardown)
{
	unwind_maps_deinit(&maps);
	return 0;
}

static struct unwind_table make_table(void)
{
	struct unwind_table table = { .n_segments = 1, .n_rows = N_ROWS, .rows = rows };

	table.segments[0].offset = 0x1000;
	table.segments[0].address = table.first_address = 0x401000;
	table.segments[0].size = 0x8000;
	return table;
}

/* The map that programs would find at NUMBER: a descriptor, or -ENOENT. */
static int find_table(uint32_t number)
{
	uint32_t id;

	if (bpf_map_lookup_elem(maps.tables_fd, &number, &id) < 0)
		return -errno;
	return bpf_map_get_fd_by_id(id);
}

static void assert_there(uint32_t number)
{
	int fd = find_table(number);
	struct unwind_root root;
	struct unwind_block block;
	uint32_t key = 0;

	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &root), 0);
	assert_int_equal(root.n_blocks, 3);
	assert_int_equal(root.shift, 0);
	assert_int_equal(root.first[2], rows[2 * UNWIND_BLOCK_ROWS].address);
	assert_int_equal(root.first[3], UNWIND_NO_ADDRESS);
	key = 3;
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &block), 0);
	assert_memory_equal(block.rows, rows + 2 * UNWIND_BLOCK_ROWS,
			    (UNWIND_BLOCK_ROWS - 7) * sizeof(rows[0]));
	assert_int_equal(block.rows[UNWIND_BLOCK_ROWS - 1].address, UNWIND_NO_ADDRESS);
	close(fd);
}

TEST(test_put_and_take)
{
	struct unwind_table table = make_table();

	unwind_map_set_need(state);
	assert_int_equal(unwind_maps_put(&maps, 5, &table), 0);
	assert_int_equal(maps.files[5].state, UNWIND_FILE_READY);
	assert_true(maps.files[5].segments[0].delta == (uint64_t)-0x1000);
	unwind_maps_settle(&maps);
	assert_there(5);
	assert_int_equal(maps.all_bytes, unwind_maps_table_bytes(&table));
	unwind_maps_reset_file(&maps, 5);
	unwind_maps_settle(&maps);
	assert_int_equal(find_table(5), -ENOENT);
	assert_int_equal(maps.files[5].state, UNWIND_FILE_NEW);
	assert_int_equal(maps.all_bytes, 0);
}

/* More than there are threads that wait for the kernel. */
TEST(test_many)
{
	struct unwind_table table = make_table();

	unwind_map_set_need(state);
	for (uint32_t i = 1; i <= 100; i++)
		assert_int_equal(unwind_maps_put(&maps, i, &table), 0);
	unwind_maps_settle(&maps);
	for (uint32_t i = 1; i <= 100; i++)
		assert_there(i);
	assert_int_equal(find_table(101), -ENOENT);
}

TEST(test_no_rows)
{
	struct unwind_table table = { 0 };

	unwind_map_set_need(state);
	assert_int_equal(unwind_maps_put(&maps, 7, &table), 0);
	unwind_maps_settle(&maps);
	assert_int_equal(maps.files[7].state, UNWIND_FILE_EMPTY);
	assert_int_equal(find_table(7), -ENOENT);
}

TEST(test_least_used)
{
	struct unwind_table table = make_table();

	unwind_map_set_need(state);
	assert_int_equal(unwind_maps_least_used(&maps, UNWIND_FILE_NONE), UNWIND_FILE_NONE);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(unwind_maps_put(&maps, i, &table), 0);
		maps.files[i].used = 10 - i;
	}
	assert_int_equal(unwind_maps_least_used(&maps, UNWIND_FILE_NONE), 3);
	assert_int_equal(unwind_maps_least_used(&maps, 3), 2);
}

/* The least recently used tables are removed, but none for a table that is too large anyway. */
TEST(test_room)
{
	struct unwind_table table = make_table();
	uint64_t bytes = unwind_maps_table_bytes(&table), max = 4 * bytes, n;

	unwind_map_set_need(state);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_true(unwind_maps_make_room(&maps, i, bytes, max, &n));
		assert_int_equal(n, 0);
		assert_int_equal(unwind_maps_put(&maps, i, &table), 0);
		maps.files[i].used = 10 - i;
	}
	assert_false(unwind_maps_make_room(&maps, 5, max + 1, max, &n));
	assert_int_equal(n, 0);
	assert_int_equal(maps.all_bytes, max);
	/* (plus a sixteenth) */
	assert_true(unwind_maps_make_room(&maps, 5, bytes, max, &n));
	assert_int_equal(n, 2);
	assert_int_equal(find_table(3), -ENOENT);
	assert_int_equal(find_table(4), -ENOENT);
	assert_there(1);
	assert_true(unwind_maps_make_room(&maps, 5, max, max, &n));
	assert_int_equal(n, 2);
}

/* Numbers of files that were not used for long are reused, and have no tables then. */
TEST(test_recycle)
{
	enum { USED = UNWIND_FILES_MAX - 100 };
	struct unwind_table table = make_table();
	struct unwind_file_name name;
	unsigned n = 0, again = 0;

	unwind_map_set_need(state);
	for (unsigned i = 0; i < USED; i++) {
		struct unwind_file_key key = { .inode = 1000 + i };

		/* (like the programs' numbers) */
		name = (struct unwind_file_name){ .number = (uint16_t)(UNWIND_FILE_VDSO + 1 + i) };
		assert_int_equal(bpf_map_update_elem(maps.names_fd, &key, &name, BPF_ANY), 0);
		maps.files[name.number].used = name.number;
		if (i < 10)
			assert_int_equal(unwind_maps_put(&maps, name.number, &table), 0);
	}
	unwind_maps_recycle_names(&maps);
	while (bpf_map_lookup_and_delete_elem(maps.free_names_fd, NULL, &name) == 0) {
		n++;
		if (maps.files[name.number].generation > 0) {
			again++;
			assert_int_equal(name.generation, maps.files[name.number].generation);
			assert_int_equal(maps.files[name.number].state, UNWIND_FILE_NEW);
			assert_int_equal(find_table(name.number), -ENOENT);
		}
	}
	assert_int_equal(again, 512);
	assert_int_equal(n, 512);
	assert_int_equal(maps.all_bytes, 0);
}

/* A table is requested once, by the first process, and not for another file of that number. */
TEST(test_ask)
{
	struct unwind_mapping m = { .where = UNWIND_WHERE(0x400, 3), .file = 9, .generation = 2 };
	struct unwind_ask ask;

	unwind_map_set_need(state);
	maps.files[9].generation = 1;
	assert_false(unwind_maps_ask(&maps, 77, &m, &ask));
	assert_int_equal(maps.files[9].state, UNWIND_FILE_NEW);
	maps.files[9].generation = 2;
	assert_true(unwind_maps_ask(&maps, 77, &m, &ask));
	assert_int_equal(maps.files[9].state, UNWIND_FILE_ASKED);
	assert_int_equal(ask.number, 9);
	assert_int_equal(ask.generation, 2);
	assert_int_equal(ask.pid, 77);
	assert_int_equal(ask.start, 0x400000);
	assert_int_equal(ask.end, 0x403000);
	assert_false(unwind_maps_ask(&maps, 78, &m, &ask));
	unwind_maps_mark_new(&maps, 9);
	assert_true(unwind_maps_ask(&maps, 78, &m, &ask));
	m.file = UNWIND_FILE_NONE;
	assert_false(unwind_maps_ask(&maps, 77, &m, &ask));
}

/* An unwinder that could not begin releases only its own resources. */
TEST(test_failed)
{
	const struct unwind_maps from = { -1, -1, -1, -1, -1, -1 };
	struct rlimit before, few = { 0 };
	struct unwinder *u = NULL;

	unwind_map_set_need(state);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	unwind_maps_deinit(&maps);
	assert_true(unwind_maps_init(&maps, &from) < 0);
	unwind_maps_deinit(&maps);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_true(unwinder_new(&from, 1 << 20, &u) < 0);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_true(unwinder_new(&from, 1 << 20, &u) < 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_true(unwind_maps_init(&maps, &from) < 0); /* (for the tear-down) */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_put_and_take, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_least_used, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recycle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ask, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
