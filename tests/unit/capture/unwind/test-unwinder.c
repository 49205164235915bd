/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of this process's own files, from the list of its mappings by the program in the
 * kernel to the last table.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "bpf/kymo.skel.h"
#include "capture/proc/reader-process.h"
#include "capture/unwind/unwind-process.h"
#include "capture/unwind/unwinder.h"
#include "tests/support/cfi-entries.h"
#include "tests/support/cfi-file.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

#define BYTES_MAX  ((uint64_t)64 << 20)
#define TIMEOUT_NS UINT64_C(1000000000)

static const struct unwinder_limits a_second = { .all_ns = TIMEOUT_NS, .local_ns = TIMEOUT_NS };

/* More than this process has. */
enum { FILES_FEW = 64, DESCRIPTORS_MAX = 256 };

static struct kymo_bpf *skel;
static struct unwinder *unwinder;

static int make_unwinder(void)
{
	const struct unwind_maps maps = {
		.asks_fd = bpf_map__fd(skel->maps.unwind_asks),
		.files_fd = bpf_map__fd(skel->maps.unwind_files),
		.tables_fd = bpf_map__fd(skel->maps.unwind_tables),
		.names_fd = bpf_map__fd(skel->maps.unwind_file_names),
		.free_names_fd = bpf_map__fd(skel->maps.unwind_free_names),
		.processes_fd = bpf_map__fd(skel->maps.unwind_processes),
		.list_fd = bpf_program__fd(skel->progs.on_iter_unwind_vma),
		.seen_fd = -1,
	};

	return unwinder_new(&maps, BYTES_MAX, &unwinder);
}

/* Loads the program that lists mappings alone, with its maps. Returns 0 or a negative errno. */
static int load_lister(void)
{
	struct bpf_program *program;
	struct bpf_map *map;

	libbpf_set_print(NULL);
	skel = kymo_bpf__open();
	if (!skel)
		return -errno;
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, program == skel->progs.on_iter_unwind_vma);
	bpf_object__for_each_map(map, skel->obj)
	{
		const char *name = bpf_map__name(map);

		bpf_map__set_autocreate(map, bpf_map__is_internal(map) ||
						     strncmp(name, "unwind_", 7) == 0 ||
						     strncmp(name, "filter_", 7) == 0);
	}
	return kymo_bpf__load(skel);
}

FIXTURE(set_up_lister)
{
	*state = (void *)(intptr_t)load_lister();
	return 0;
}

FIXTURE(set_up)
{
	int r = load_lister();

	*state = (void *)(intptr_t)(r < 0 ? r : make_unwinder());
	return 0;
}

FIXTURE(tear_down)
{
	unwinder = unwinder_free(unwinder);
	kymo_bpf__destroy(skel);
	return 0;
}

static bool has_tables(void)
{
	return unwinder_wait(unwinder, &a_second) && unwinder_counts(unwinder).n_asked > 0;
}

TEST(test_own_files)
{
	int files_fd = bpf_map__fd(skel->maps.unwind_files);
	struct unwind_process process;
	struct unwinder_counts counts;
	struct unwind_file file;
	uint32_t key, device, n = 0;
	uint16_t number = UNWIND_FILE_NONE;
	struct stat st;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	device = (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev));
	assert_false(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_int_equal(number, UNWIND_FILE_NONE);
	unwinder_list(unwinder, (uint32_t)getpid());
	assert_soon(has_tables());
	assert_int_equal(unwind_process_read(bpf_map__fd(skel->maps.unwind_processes),
					     (uint32_t)getpid(), &process),
			 0);
	for (uint32_t i = 0; i < process.n; i++) {
		key = process.mappings[i].file;
		if (key == UNWIND_FILE_NONE)
			continue;
		assert_int_equal(bpf_map_lookup_elem(files_fd, &key, &file), 0);
		assert_int_equal(file.state, UNWIND_FILE_READY);
		n++;
		/* (file systems of several devices have other numbers in stat()) */
		if (file.inode == st.st_ino)
			device = file.device;
	}
	counts = unwinder_counts(unwinder);
	assert_true(n >= 3);
	assert_int_equal(counts.n_tables, n);
	assert_int_equal(counts.n_failed, 0);
	assert_true(counts.bytes > 0);
	/* a file is known by its number, but not if another file has got that number */
	assert_true(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_int_not_equal(number, UNWIND_FILE_NONE);
	key = number++;
	assert_true(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_int_equal(number, key);
	assert_int_equal(bpf_map_lookup_elem(files_fd, &key, &file), 0);
	file.state = UNWIND_FILE_NEW;
	assert_int_equal(bpf_map_update_elem(files_fd, &key, &file, BPF_ANY), 0);
	assert_false(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_int_equal(number, key);
	/* its table is requested again when it is listed again */
	unwinder_list(unwinder, (uint32_t)getpid());
	assert_soon(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_soon(unwinder_wait(unwinder, &a_second));
	file.inode++;
	assert_int_equal(bpf_map_update_elem(files_fd, &key, &file, BPF_ANY), 0);
	assert_false(unwinder_has_asked(unwinder, device, st.st_ino, &number));
	assert_int_equal(number, UNWIND_FILE_NONE);
}

/* ---- numbers that another file gets ---- */

static unsigned n_open_files(void)
{
	unsigned n = 0;
	struct stat st;

	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		n += fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	return n;
}

/* Whether the tables of N or more of the files from number 1 on have been requested. */
static bool has_requested(const struct unwind_file *files, unsigned n)
{
	unsigned n_requested = 0;

	for (uint32_t i = UNWIND_FILE_VDSO + 1; i < FILES_FEW; i++)
		n_requested +=
			__atomic_load_n(&files[i].state, __ATOMIC_RELAXED) != UNWIND_FILE_NEW;
	return n_requested >= n;
}

/* Tables of local files are waited for when the other time is over. */
TEST(test_waits_for_local)
{
	const struct unwinder_limits limits = { .all_ns = 1, .local_ns = TIMEOUT_NS * 600 };

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	unwinder_list(unwinder, (uint32_t)getpid());
	assert_true(unwinder_wait(unwinder, &limits));
	assert_true(unwinder_counts(unwinder).n_tables >= 3);
}

static bool call_off(void *n_calls)
{
	return ++*(unsigned *)n_calls == 3;
}

/* A wait for a file that never opens is called off long before its limit. */
TEST(test_called_off)
{
	unsigned n_calls = 0;
	const struct unwinder_limits limits = {
		.all_ns = TIMEOUT_NS * 3600,
		.called_off = call_off,
		.userdata = &n_calls,
	};
	void *mapped;
	int fd;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	fd = mute_fuse_open();
	assert_true(fd >= 0);
	mapped = mmap(NULL, MUTE_FUSE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(mapped != MAP_FAILED);
	close(fd);
	mute_fuse_be_mute_to(getpid());
	unwinder_list(unwinder, (uint32_t)getpid());
	assert_false(unwinder_wait(unwinder, &limits));
	assert_int_equal(n_calls, 3);
	mute_fuse_be_mute_to(0);
	assert_soon(unwinder_wait(unwinder, &a_second));
	munmap(mapped, MUTE_FUSE_BYTES);
}

/*
 * Files wait for their tables, and are open. Then their numbers belong to files on FUSE. They are
 * closed all the same.
 */
TEST(test_recycled_numbers)
{
	struct unwind_file saved[FILES_FEW], *files;
	size_t bytes = UNWIND_FILES_MAX * sizeof(*files);
	unsigned n, n_rounds = 0; /* with a file that waited */
	uint64_t until_ns;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	files = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_map__fd(skel->maps.unwind_files), 0);
	assert_ptr_not_equal(files, MAP_FAILED);
	assert_soon(unwinder_wait(unwinder, &a_second));
	n = n_open_files();
	for (unsigned round = 0; round < 1000 && n_rounds < 5; round++) {
		unwinder_list(unwinder, (uint32_t)getpid());
		until_ns = clock_read_ns(CLOCK_MONOTONIC) + SOON_MS * UINT64_C(1000000);
		while (!has_requested(files, 3)) {
			assert_true(clock_read_ns(CLOCK_MONOTONIC) < until_ns);
			sched_yield();
		}
		n_rounds += n_open_files() > n;
		memcpy(saved, files, sizeof(saved));
		for (uint32_t i = UNWIND_FILE_VDSO + 1; i < FILES_FEW; i++) {
			files[i].filesystem = FUSE_SUPER_MAGIC;
			files[i].generation++;
		}
		assert_soon(unwinder_wait(unwinder, &a_second));
		assert_soon(n_open_files() == n);
		for (uint32_t i = UNWIND_FILE_VDSO + 1; i < FILES_FEW; i++) {
			files[i].filesystem = saved[i].filesystem;
			files[i].generation = saved[i].generation;
			files[i].state = UNWIND_FILE_NEW;
		}
	}
	assert_in_range(n_rounds, 1, 5);
	munmap(files, bytes);
}

/* ---- a large file ---- */

/* (files from 8 MiB on are large) */
enum { LARGE_FILE_BYTES = 9 << 20, SMALL_FILE_BYTES = 4096, FDE_CODE_BYTES = 4 };

/*
 * Maps a new file of SIZE bytes, with N_FDES functions. It stays mapped, so that no other file gets
 * its inode, which is returned.
 */
static uint64_t map_table_file(size_t size, uint32_t n_fdes)
{
	struct outbuf frames = { 0 };
	_cleanup_free_ uint8_t *bytes = NULL;
	char path[] = "/tmp/kymo-unwinder.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	put_cie(&frames, DW_EH_PE_absptr, "zR", USUAL);
	for (uint32_t i = 0; i < n_fdes; i++)
		put_fde_at(&frames, LOADED_AT + i * FDE_CODE_BYTES, FDE_CODE_BYTES, NO_BYTES);
	bytes = make_cfi_file(&frames, size);
	assert_true(fd >= 0 && unlink(path) == 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fstat(fd, &st), 0);
	assert_ptr_not_equal(mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
			     MAP_FAILED);
	close(fd);
	return st.st_ino;
}

/* Returns the state of the file with this inode. A file that is not there is new. */
static uint32_t state_of(const struct unwind_file *files, uint64_t inode)
{
	uint32_t state = UNWIND_FILE_NEW;

	for (uint32_t i = UNWIND_FILE_VDSO + 1; i < FILES_FEW; i++)
		if (files[i].inode == inode)
			state = __atomic_load_n(&files[i].state, __ATOMIC_RELAXED);
	return state;
}

/* Whether a table is being made: this process has a child that parses the file. */
static bool makes_table(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* A small file gets its table while that of a large one, requested before, is being made. */
TEST(test_small_before_large)
{
	size_t bytes = UNWIND_FILES_MAX * sizeof(struct unwind_file);
	const struct unwind_file *files;
	bool is_before = false;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	files = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(skel->maps.unwind_files), 0);
	assert_ptr_not_equal(files, MAP_FAILED);
	unwinder_list(unwinder, (uint32_t)getpid());
	assert_soon(has_tables());
	/* (the child that has opened the files on FUSE) */
	reader_process_end_idle();
	assert_soon(!makes_table());
	/* (The small one may get no CPU for as long as the large one takes.) */
	for (unsigned round = 0; round < 5 && !is_before; round++) {
		uint64_t large = map_table_file(LARGE_FILE_BYTES, 300000), small;

		unwinder_list(unwinder, (uint32_t)getpid());
		assert_soon(makes_table() || state_of(files, large) == UNWIND_FILE_READY);
		small = map_table_file(SMALL_FILE_BYTES, 1);
		unwinder_list(unwinder, (uint32_t)getpid());
		assert_soon(state_of(files, small) == UNWIND_FILE_READY);
		is_before = state_of(files, large) != UNWIND_FILE_READY;
		assert_soon(state_of(files, large) == UNWIND_FILE_READY);
	}
	assert_true(is_before);
	munmap((void *)files, bytes);
}

/* ---- requests ---- */

/*
 * Shared with a thread that outlives a failed test. It runs outside of cmocka, so it only counts.
 */
static struct requests {
	struct ring_buffer *ring;
	uint64_t start; /* requests of this mapping are counted */
	unsigned n, n_missing, n_short;
	bool ends;
} requests;

static int on_request(void *userdata, void *data, size_t size)
{
	const struct unwind_ask *ask = data;
	struct requests *r = userdata;
	struct unwind_process process;
	bool has = false;

	if (size < sizeof(*ask)) {
		__atomic_fetch_add(&r->n_short, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (ask->number == UNWIND_FILE_NONE ||
	    ask->start != __atomic_load_n(&r->start, __ATOMIC_RELAXED))
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.unwind_processes), &ask->pid, &process) == 0)
		for (uint32_t i = 0; i < process.n; i++)
			has |= process.mappings[i].file == ask->number &&
			       UNWIND_WHERE_FIRST(process.mappings[i].where) << UNWIND_PAGE_SHIFT ==
				       ask->start;
	__atomic_fetch_add(&r->n_missing, !has, __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->n, 1, __ATOMIC_RELEASE);
	return 0;
}

static void *run_requests(void *userdata)
{
	struct requests *r = userdata;

	while (!__atomic_load_n(&r->ends, __ATOMIC_RELAXED))
		ring_buffer__consume(r->ring);
	return NULL;
}

/* Fills PROCESS with mappings behind all others, so that it takes long to insert one. */
static void fill(struct unwind_process *process)
{
	while (process->n < UNWIND_MAPPINGS_MAX - 1) {
		process->mappings[process->n] = (struct unwind_mapping){
			.where = UNWIND_WHERE((UINT64_C(1) << 35) + 2 * process->n, 1),
			.file = UNWIND_FILE_NONE,
		};
		process->n++;
	}
}

/* Makes the programs forget the last mapping of a file in PROCESS, and the request of its table. */
static void forget_last(struct unwind_process *process, struct requests *r)
{
	uint32_t pid = (uint32_t)getpid(), n = process->n, key;
	struct unwind_file file;

	while (n > 0 && (process->mappings[n - 1].file == UNWIND_FILE_NONE ||
			 process->mappings[n - 1].file == UNWIND_FILE_VDSO))
		n--;
	assert_true(n > 0);
	key = process->mappings[n - 1].file;
	__atomic_store_n(&r->start,
			 UNWIND_WHERE_FIRST(process->mappings[n - 1].where) << UNWIND_PAGE_SHIFT,
			 __ATOMIC_RELAXED);
	process->n--;
	memmove(&process->mappings[n - 1], &process->mappings[n],
		(process->n - (n - 1)) * sizeof(process->mappings[0]));
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.unwind_processes), &pid,
					     process, BPF_ANY),
			 0);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.unwind_files), &key, &file), 0);
	file.state = UNWIND_FILE_NEW;
	assert_int_equal(
		bpf_map_update_elem(bpf_map__fd(skel->maps.unwind_files), &key, &file, BPF_ANY), 0);
}

/* Has the table of a file requested N times. */
static void request(unsigned n)
{
	struct unwind_maps maps = { .list_fd = bpf_program__fd(skel->progs.on_iter_unwind_vma) };
	struct unwind_process process;

	for (unsigned i = 1; i <= n; i++) {
		assert_int_equal(unwind_process_read(bpf_map__fd(skel->maps.unwind_processes),
						     (uint32_t)getpid(), &process),
				 0);
		fill(&process);
		forget_last(&process, &requests);
		unwind_maps_list(&maps, (uint32_t)getpid());
		assert_soon(__atomic_load_n(&requests.n, __ATOMIC_ACQUIRE) >= i);
	}
}

/* A thread that reads a request at once finds the mapping of the process. */
TEST(test_mapped_before_request)
{
	struct unwind_maps maps = { 0 };
	struct requests *r = &requests;
	pthread_t thread;

	if ((int)(intptr_t)*state == -EPERM)
		skip();
	assert_int_equal((int)(intptr_t)*state, 0);
	maps.list_fd = bpf_program__fd(skel->progs.on_iter_unwind_vma);
	unwind_maps_list(&maps, (uint32_t)getpid());
	*r = (struct requests){ .start = UINT64_MAX };
	r->ring = ring_buffer__new(bpf_map__fd(skel->maps.unwind_asks), on_request, r, NULL);
	assert_non_null(r->ring);
	ring_buffer__consume(r->ring);
	assert_int_equal(pthread_create(&thread, NULL, run_requests, r), 0);
	request(100);
	__atomic_store_n(&r->ends, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	ring_buffer__free(r->ring);
	assert_int_equal(r->n, 100);
	assert_int_equal(r->n_missing, 0);
	assert_int_equal(r->n_short, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits_for_local, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_recycled_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_small_before_large, set_up, tear_down),
		/* (from here on, this process has a child that answers for a file system) */
		cmocka_unit_test_setup_teardown(test_called_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mapped_before_request, set_up_lister,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
