/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, after a range of its pages has got other mappings: the program in the
 * kernel, with an entry that the test makes.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "bpf/kymo.skel.h"
#include "bpf/record-unwind.h"
#include "capture/programs/program-iterator.h"
#include "tests/support/unit.h"

enum {
	TGID = 4711,
	FILE_1 = 3,
	FILE_2 = 5,
	FAR_PAGE = 1 << 20, /* behind a program that is no PIE */
};

static struct kymo_bpf *skel;

/* Loads the tested programs alone, with their maps. */
FIXTURE(setup)
{
	struct bpf_program *program;
	struct bpf_map *map;

	libbpf_set_print(NULL);
	skel = kymo_bpf__open();
	if (!skel)
		return -1;
	bpf_object__for_each_program(program, skel->obj) bpf_program__set_autoload(
		program, program == skel->progs.on_unwind_forget ||
				 program == skel->progs.on_iter_unwind_vma);
	bpf_object__for_each_map(map, skel->obj)
	{
		const char *name = bpf_map__name(map);

		bpf_map__set_autocreate(map, bpf_map__is_internal(map) ||
						     strncmp(name, "unwind_", 7) == 0 ||
						     strncmp(name, "filter_", 7) == 0);
	}
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
	unsigned n_replaced = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &range, .ctx_size_in = sizeof(range));
	int fd = bpf_map__fd(skel->maps.unwind_processes);
	__u32 tgid = TGID;

	memset(&process, 0, sizeof(process));
	process.mm = 1;
	process.n = n;
	memcpy(process.mappings, before, n * sizeof(*before));
	for (unsigned i = 0; i < n; i++) {
		uint64_t from = UNWIND_WHERE_FIRST(before[i].where);

		n_replaced += from < end && from + UNWIND_WHERE_N(before[i].where) > first;
	}
	assert_int_equal(bpf_map_update_elem(fd, &tgid, &process, BPF_ANY), 0);
	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(skel->progs.on_unwind_forget), &opts), 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &tgid, &process), 0);
	assert_int_equal(process.sequence, 2);
	/* (from now on, their addresses have two meanings, and stacks have ids with files) */
	assert_int_equal(process.replaced, n_replaced);
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

/* Lists the mappings of all processes. */
static void list_mapped(void)
{
	_cleanup_close_ int fd = program_iterator_open(skel->progs.on_iter_unwind_vma);
	char nothing[64];

	assert_true(fd >= 0);
	while (program_iterator_read(fd, nothing, sizeof(nothing)) > 0)
		;
}

/*
 * A new mapping in the middle of another one has the last place, and the rest of that one has none.
 * Mappings for which there is no place change nothing.
 */
TEST(test_insert_full)
{
	const size_t bytes = 4 << UNWIND_PAGE_SHIFT;
	struct unwind_mapping after[UNWIND_MAPPINGS_MAX];
	/* (below the program, even if that is no PIE, and its libraries: thus listed first) */
	uint8_t *code =
		mmap((void *)(UINT64_C(1000) << UNWIND_PAGE_SHIFT), bytes, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	__u32 tgid = (__u32)getpid();
	uint64_t before, mm;
	int fd;

	if ((int)(intptr_t)*state == -EPERM || code == MAP_FAILED)
		skip();
	fd = bpf_map__fd(skel->maps.unwind_processes);
	list_mapped();
	assert_int_equal(bpf_map_lookup_elem(fd, &tgid, &process), 0);
	mm = process.mm;
	for (unsigned n = UNWIND_MAPPINGS_MAX - 2; n <= UNWIND_MAPPINGS_MAX; n++) {
		bool fits = n < UNWIND_MAPPINGS_MAX;

		memset(&process, 0, sizeof(process));
		process.mm = mm;
		process.n = n;
		process.mappings[0] = mapping(998, 10, 0, FILE_1);
		for (unsigned i = 1; i < n; i++)
			process.mappings[i] = mapping(FAR_PAGE + 100 * i, 10, i, FILE_2);
		memcpy(after, process.mappings, sizeof(after));
		after[0] = mapping(998, 2, 0, FILE_1);
		if (fits) {
			unsigned n_new = n == UNWIND_MAPPINGS_MAX - 2 ? 2 : 1;

			memmove(&after[1 + n_new], &after[1], (n - 1) * sizeof(*after));
			after[1] = mapping(1000, 4, 0, UNWIND_FILE_NONE);
			after[1].generation = 0;
			if (n_new == 2)
				after[2] = mapping(1004, 4, 6, FILE_1);
		}
		assert_int_equal(bpf_map_update_elem(fd, &tgid, &process, BPF_ANY), 0);
		before = skel->bss->unwind_no_room;
		list_mapped();
		assert_true(skel->bss->unwind_no_room > before);
		assert_int_equal(bpf_map_lookup_elem(fd, &tgid, &process), 0);
		/* one change, and none by later mappings, nor when they are listed again */
		assert_int_equal(process.sequence, 2);
		expect(after, UNWIND_MAPPINGS_MAX);
		list_mapped();
		assert_int_equal(bpf_map_lookup_elem(fd, &tgid, &process), 0);
		assert_int_equal(process.sequence, 2);
		expect(after, UNWIND_MAPPINGS_MAX);
	}
	munmap(code, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_insert_full),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
