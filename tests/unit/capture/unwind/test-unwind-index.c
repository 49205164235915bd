/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, after a range of its pages has got other mappings: the program in the
 * kernel, with an entry that the test makes.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "bpf/kymo.skel.h"
#include "bpf/record-unwind.h"
#include "tests/support/unit.h"

enum { TGID = 4711, FILE_1 = 3, FILE_2 = 5 };

static struct kymo_bpf *skel;

/* Loads this program alone, with its maps. */
FIXTURE(setup)
{
	struct bpf_program *program;
	struct bpf_map *map;

	libbpf_set_print(NULL);
	skel = kymo_bpf__open();
	if (!skel)
		return -1;
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, program == skel->progs.on_unwind_forget);
	bpf_object__for_each_map(map, skel->obj) bpf_map__set_autocreate(
		map, bpf_map__is_internal(map) || map == skel->maps.unwind_processes);
	*state = (void *)(intptr_t)kymo_bpf__load(skel);
	return 0;
}

FIXTURE(teardown)
{
	kymo_bpf__destroy(skel);
	return 0;
}

static struct unwind_mapping mapping(uint64_t first, uint64_t n, uint32_t file_page, uint16_t file)
{
	return (struct unwind_mapping){ UNWIND_WHERE(first, n), file_page, file, 1 };
}

static struct unwind_process process;

/* Forgets the pages from FIRST to END of a process with the N mappings at BEFORE. */
static void forget(const struct unwind_mapping *before, uint32_t n, uint64_t first, uint64_t end)
{
	struct unwind_range range = { .first = first, .end = end, .tgid = TGID };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &range, .ctx_size_in = sizeof(range));
	int fd = bpf_map__fd(skel->maps.unwind_processes);
	__u32 tgid = TGID;

	memset(&process, 0, sizeof(process));
	process.mm = 1;
	process.n = n;
	memcpy(process.mappings, before, n * sizeof(*before));
	assert_int_equal(bpf_map_update_elem(fd, &tgid, &process, BPF_ANY), 0);
	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(skel->progs.on_unwind_forget), &opts), 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &tgid, &process), 0);
	assert_int_equal(process.sequence, 2);
}

static void expect(const struct unwind_mapping *after, uint32_t n)
{
	assert_int_equal(process.n, n);
	assert_memory_equal(process.mappings, after, n * sizeof(*after));
}

#define FORGET(first, end, ...)                                                                    \
	do {                                                                                       \
		const struct unwind_mapping after_[] = { __VA_ARGS__ };                            \
                                                                                                   \
		forget(three, ARRAY_SIZE(three), first, end);                                      \
		expect(after_, ARRAY_SIZE(after_));                                                \
	} while (0)

TEST(test_forget)
{
	const struct unwind_mapping three[] = {
		mapping(100, 10, 7, FILE_1),
		mapping(200, 10, 0, FILE_2),
		mapping(300, 10, 1, FILE_1),
	};

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	/* nothing, all of one, its end, and its beginning */
	FORGET(150, 160, three[0], three[1], three[2]);
	FORGET(200, 210, three[0], three[2]);
	FORGET(205, 250, three[0], mapping(200, 5, 0, FILE_2), three[2]);
	FORGET(150, 205, three[0], mapping(205, 5, 5, FILE_2), three[2]);
	/* the middle: both parts remain, in the order of their addresses */
	FORGET(203, 205, three[0], mapping(200, 3, 0, FILE_2), mapping(205, 5, 5, FILE_2),
	       three[2]);
	FORGET(101, 109, mapping(100, 1, 7, FILE_1), mapping(109, 1, 16, FILE_1), three[1],
	       three[2]);
	FORGET(301, 302, three[0], three[1], mapping(300, 1, 1, FILE_1),
	       mapping(302, 8, 3, FILE_1));
	/* several, of which the last one remains in part */
	FORGET(105, 302, mapping(100, 5, 7, FILE_1), mapping(302, 8, 3, FILE_1));
	FORGET(0, 1000, );
}

/* An entry that is full has no room for the second part. */
TEST(test_full)
{
	struct unwind_mapping all[UNWIND_MAPPINGS_MAX], after[UNWIND_MAPPINGS_MAX];
	uint64_t before;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	for (unsigned i = 0; i < UNWIND_MAPPINGS_MAX; i++)
		all[i] = mapping(100 * (i + 1), 10, i, FILE_1);
	memcpy(after, all, sizeof(all));
	after[3] = mapping(400, 2, 3, FILE_1);
	before = skel->bss->unwind_no_room;
	forget(all, UNWIND_MAPPINGS_MAX, 402, 403);
	expect(after, UNWIND_MAPPINGS_MAX);
	assert_int_equal(skel->bss->unwind_no_room, before + 1);
	/* (without the last one, there is room) */
	memmove(&after[5], &after[4], (UNWIND_MAPPINGS_MAX - 5) * sizeof(*after));
	after[4] = mapping(403, 7, 6, FILE_1);
	forget(all, UNWIND_MAPPINGS_MAX - 1, 402, 403);
	expect(after, UNWIND_MAPPINGS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
