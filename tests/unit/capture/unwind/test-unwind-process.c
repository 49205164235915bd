/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, while another thread changes them in place, as the programs do.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/unwind/unwind-process.h"
#include "tests/support/unit.h"

enum { READS = 2000, PAGE = 4096 };

static struct unwind_process *entry; /* element 0 of the map FD */
static int fd;

FIXTURE(set_up)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "process", sizeof(uint32_t), sizeof(*entry), 1,
			    &opts);
	*state = (void *)(intptr_t)fd;
	if (fd < 0)
		return 0;
	entry = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return entry == MAP_FAILED ? -1 : 0;
}

FIXTURE(tear_down)
{
	if (fd < 0)
		return 0;
	munmap(entry, PAGE);
	close(fd);
	return 0;
}

TEST(test_states)
{
	struct unwind_process read;

	if ((intptr_t)*state == -EPERM)
		skip();
	entry->n = UNWIND_MAPPINGS_MAX;
	entry->mappings[UNWIND_MAPPINGS_MAX - 1].where = 7;
	assert_int_equal(unwind_process_read(fd, 0, &read), 0);
	assert_memory_equal(&read, entry, sizeof(read));
	entry->sequence = 1;
	assert_int_equal(unwind_process_read(fd, 0, &read), -EAGAIN);
	entry->sequence = 2;
	entry->n++;
	assert_int_equal(unwind_process_read(fd, 0, &read), -EAGAIN);
	assert_int_equal(unwind_process_read(fd, 1, &read), -ENOENT);
}

static bool ends;

/* Changes the entry until the test ends. All of its mappings are equal between two changes. */
static void *change(void *unused)
{
	volatile struct unwind_process *p = entry;

	(void)unused;
	for (uint64_t i = 1; !__atomic_load_n(&ends, __ATOMIC_RELAXED); i++) {
		__atomic_fetch_add(&entry->sequence, 1, __ATOMIC_SEQ_CST);
		p->n = 100 + i % 100;
		for (unsigned at = 0; at < 100 + i % 100; at++)
			p->mappings[at].where = i;
		__atomic_fetch_add(&entry->sequence, 1, __ATOMIC_SEQ_CST);
		/* (so that some attempts succeed, also with one CPU) */
		if (i % 16 == 0)
			usleep(1);
	}
	return NULL;
}

TEST(test_changes)
{
	struct unwind_process read;
	unsigned n = 0;
	pthread_t thread;

	if ((intptr_t)*state == -EPERM)
		skip();
	memset(entry, 0, sizeof(*entry));
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	while (n < READS) {
		int r = unwind_process_read(fd, 0, &read);

		if (r == -EAGAIN) {
			sched_yield();
			continue;
		}
		assert_int_equal(r, 0);
		for (unsigned i = 1; i < read.n; i++)
			assert_int_equal(read.mappings[i].where, read.mappings[0].where);
		n++;
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
