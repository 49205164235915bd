/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "capture/unwind/python-layouts.h"
#include "capture/unwind/unwind-process.h"

enum {
	NAMES_FEW = 1024,     /* if fewer numbers are free, */
	NAMES_RECYCLED = 512, /* this many are made free */
	BLOCKS_AT_ONCE = 64,  /* number of blocks of a table that one system call adds */
};

/* ---- init and deinit ---- */

static int unwind_maps_copy_fd(int fd, int *ret)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? -errno : 0;
}

static size_t unwind_maps_files_bytes(void)
{
	size_t page = (size_t)getpagesize();

	return (UNWIND_FILES_MAX * sizeof(struct unwind_file) + page - 1) & ~(page - 1);
}

int unwind_maps_init(struct unwind_maps *maps, const struct unwind_maps *from)
{
	void *files;
	int r;

	memset(maps, 0, sizeof(*maps));
	unwind_kept_init(&maps->kept);
	maps->asks_fd = maps->files_fd = maps->tables_fd = -1;
	maps->names_fd = maps->free_names_fd = maps->processes_fd = maps->list_fd = -1;
	maps->seen_fd = -1;
	r = unwind_maps_copy_fd(from->asks_fd, &maps->asks_fd)
		    ?: unwind_maps_copy_fd(from->files_fd, &maps->files_fd)
		    ?: unwind_maps_copy_fd(from->tables_fd, &maps->tables_fd)
		    ?: unwind_maps_copy_fd(from->names_fd, &maps->names_fd)
		    ?: unwind_maps_copy_fd(from->free_names_fd, &maps->free_names_fd)
		    ?: unwind_maps_copy_fd(from->processes_fd, &maps->processes_fd);
	if (r == 0 && from->list_fd >= 0)
		r = unwind_maps_copy_fd(from->list_fd, &maps->list_fd);
	if (r == 0 && from->seen_fd > 0)
		r = unwind_maps_copy_fd(from->seen_fd, &maps->seen_fd);
	if (r < 0)
		return r;
	maps->publisher = unwind_publisher_new(maps->tables_fd);
	if (!maps->publisher)
		return -ENOMEM;
	files = mmap(NULL, unwind_maps_files_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
		     maps->files_fd, 0);
	if (files == MAP_FAILED)
		return -errno;
	maps->files = files;
	maps->kept.files = files;
	return 0;
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	unwind_publisher_free(maps->publisher);
	unwind_kept_deinit(&maps->kept);
	if (maps->files)
		munmap(maps->files, unwind_maps_files_bytes());
	close_fd(maps->asks_fd);
	close_fd(maps->files_fd);
	close_fd(maps->tables_fd);
	close_fd(maps->names_fd);
	close_fd(maps->free_names_fd);
	close_fd(maps->processes_fd);
	close_fd(maps->seen_fd);
	close_fd(maps->list_fd);
}

uint32_t unwind_maps_seen_pid(const struct unwind_maps *maps, uint32_t pid)
{
	const uint64_t key = UNWIND_SEEN_OF(pid);
	uint32_t seen;

	if (maps->seen_fd <= 0)
		return pid;
	return bpf_map_lookup_elem(maps->seen_fd, &key, &seen) < 0 ? 0 : seen;
}

void unwind_maps_list(const struct unwind_maps *maps, uint32_t pid)
{
	union bpf_iter_link_info process = { .task = { .tid = unwind_maps_seen_pid(maps, pid) } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &process,
		    .iter_info_len = sizeof(process));
	_cleanup_close_ int link = -1, fd = -1;
	char nothing[64];
	ssize_t n;

	if (maps->list_fd < 0 || process.task.tid == 0)
		return;
	link = bpf_link_create(maps->list_fd, 0, BPF_TRACE_ITER, &opts);
	fd = link < 0 ? -1 : bpf_iter_create(link);
	if (fd < 0)
		return;
	do
		n = read(fd, nothing, sizeof(nothing));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
}

/* ---- a table in blocks ---- */

static uint32_t unwind_maps_n_blocks(const struct unwind_table *table)
{
	return (table->n_rows + UNWIND_BLOCK_ROWS - 1) / UNWIND_BLOCK_ROWS;
}

uint64_t unwind_maps_table_bytes(const struct unwind_table *table)
{
	return (1 + (uint64_t)unwind_maps_n_blocks(table)) * sizeof(struct unwind_block);
}

static void unwind_maps_fill_root(struct unwind_root *root, const struct unwind_table *table)
{
	uint32_t n = unwind_maps_n_blocks(table);

	memset(root, 0xff, sizeof(*root)); /* this sets each element to UNWIND_NO_ADDRESS */
	root->n_blocks = n;
	root->shift = 0;
	while ((n - 1) >> root->shift >= UNWIND_ROOT_SLOTS)
		root->shift++;
	for (uint32_t i = 0; i < n; i += UINT32_C(1) << root->shift)
		root->first[i >> root->shift] = table->rows[(size_t)i * UNWIND_BLOCK_ROWS].address;
}

static void unwind_maps_fill_block(struct unwind_block *block, const struct unwind_table *table,
				   uint32_t number)
{
	size_t first = (size_t)number * UNWIND_BLOCK_ROWS, n = table->n_rows - first;

	memset(block, 0xff, sizeof(*block));
	if (n > UNWIND_BLOCK_ROWS)
		n = UNWIND_BLOCK_ROWS;
	memcpy(block->rows, table->rows + first, n * sizeof(block->rows[0]));
}

union unwind_maps_element {
	struct unwind_root root;
	struct unwind_block block;
};

/* Elements of a map of blocks that one call adds. */
struct unwind_maps_batch {
	uint32_t keys[BLOCKS_AT_ONCE];
	union unwind_maps_element elements[BLOCKS_AT_ONCE];
};

/* Adds the elements from FIRST up to END to FD, at most as many as fit into BATCH. */
static int unwind_maps_put_blocks(int fd, const struct unwind_table *table, uint32_t first,
				  uint32_t end, struct unwind_maps_batch *batch)
{
	uint32_t n = 0;

	for (uint32_t i = first; i < end && n < BLOCKS_AT_ONCE; i++, n++) {
		batch->keys[n] = i;
		if (i == 0)
			unwind_maps_fill_root(&batch->elements[n].root, table);
		else
			unwind_maps_fill_block(&batch->elements[n].block, table, i - 1);
	}
	return bpf_map_update_batch(fd, batch->keys, batch->elements, &n, NULL) < 0 ? -errno : 0;
}

/* Makes a map with the blocks of TABLE. Returns its descriptor or a negative errno. */
static int unwind_maps_make_blocks(const struct unwind_table *table)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	uint32_t n = 1 + unwind_maps_n_blocks(table);
	_cleanup_free_ struct unwind_maps_batch *batch = malloc(sizeof(*batch));
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_blocks", sizeof(n),
						sizeof(batch->elements[0]), n, &opts);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (!batch)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i += BLOCKS_AT_ONCE)
		r = unwind_maps_put_blocks(fd, table, i, n, batch);
	return r < 0 ? r : TAKE_FD(fd);
}

/* ---- files ---- */

/*
 * The eBPF programs read the other members only in state UNWIND_FILE_READY. The rows of the table
 * can arrive a moment later.
 */
static void unwind_maps_set_state(struct unwind_file *f, uint32_t state)
{
	__atomic_store_n(&f->state, state, __ATOMIC_RELEASE);
}

/* Stores what TABLE says about an interpreter. */
static void unwind_maps_put_python(struct unwind_file *f, const struct unwind_table *table)
{
	const struct unwind_python *p = &table->python;
	struct python_file python = {
		.layout = python_layout_number(p),
		.runtime = p->runtime - table->first_address,
		.code_type = p->code_type - table->first_address,
	};

	for (size_t i = 0; i < ARRAY_SIZE(python.parts); i++) {
		python.parts[i].begin = (uint32_t)(p->parts[i].begin - table->first_address);
		python.parts[i].end = (uint32_t)(p->parts[i].end - table->first_address);
	}
	f->python = p->runtime ? python : (struct python_file){ 0 };
}

int unwind_maps_put(struct unwind_maps *maps, uint32_t number, const struct unwind_table *table)
{
	struct unwind_file *f = &maps->files[number];
	int blocks, r;

	if (table->n_rows == 0) {
		unwind_maps_put_nothing(maps, number);
		return 0;
	}
	blocks = unwind_maps_make_blocks(table);
	if (blocks < 0)
		return blocks;
	memset(f->segments, 0, sizeof(f->segments));
	for (uint32_t i = 0; i < table->n_segments; i++) {
		const struct unwind_segment *s = &table->segments[i];

		f->segments[i].offset = s->offset;
		f->segments[i].size = s->size;
		f->segments[i].delta = s->address - s->offset - table->first_address;
	}
	f->n_segments = table->n_segments;
	unwind_maps_put_python(f, table);
	unwind_maps_set_state(f, UNWIND_FILE_READY);
	unwind_kept_put(&maps->kept, number, f, blocks);
	r = unwind_publisher_put(maps->publisher, number, blocks);
	if (r < 0)
		return r;
	maps->bytes[number] = unwind_maps_table_bytes(table);
	maps->all_bytes += maps->bytes[number];
	return 0;
}

void unwind_maps_put_nothing(struct unwind_maps *maps, uint32_t number)
{
	unwind_maps_set_state(&maps->files[number], UNWIND_FILE_EMPTY);
}

bool unwind_maps_look_up(const struct unwind_maps *maps, uint32_t pid, struct unwind_process *ret)
{
	return unwind_process_read(maps->processes_fd, pid, ret) == 0;
}

bool unwind_maps_has(const struct unwind_maps *maps, const struct unwind_ask *ask,
		     uint32_t *ret_sequence)
{
	struct unwind_process process;
	const struct unwind_mapping *m;

	if (!unwind_maps_look_up(maps, ask->pid, &process))
		return false;
	*ret_sequence = process.sequence;
	for (uint32_t i = 0; i < process.n; i++) {
		m = &process.mappings[i];
		if (UNWIND_WHERE_FIRST(m->where) == ask->start >> UNWIND_PAGE_SHIFT)
			return m->file == ask->number && m->generation == ask->generation;
	}
	return false;
}

bool unwind_maps_ask(struct unwind_maps *maps, uint32_t pid, const struct unwind_mapping *m,
		     struct unwind_ask *ret)
{
	uint32_t state = UNWIND_FILE_NEW;
	struct unwind_file *f;

	if (m->file >= UNWIND_FILES_MAX)
		return false;
	f = &maps->files[m->file];
	/*
	 * The eBPF programs can request the table at the same time. Only one of the requests
	 * counts.
	 */
	if ((uint16_t)f->generation != m->generation ||
	    !__atomic_compare_exchange_n(&f->state, &state, UNWIND_FILE_ASKED, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	*ret = (struct unwind_ask){
		.number = m->file,
		.generation = m->generation,
		.pid = pid,
		.start = UNWIND_WHERE_FIRST(m->where) << UNWIND_PAGE_SHIFT,
		.end = (UNWIND_WHERE_FIRST(m->where) + UNWIND_WHERE_N(m->where))
		       << UNWIND_PAGE_SHIFT,
	};
	return true;
}

void unwind_maps_mark_new(struct unwind_maps *maps, uint32_t number)
{
	unwind_maps_set_state(&maps->files[number], UNWIND_FILE_NEW);
}

void unwind_maps_reset_file(struct unwind_maps *maps, uint32_t number)
{
	unwind_maps_set_state(&maps->files[number], UNWIND_FILE_NEW);
	/*
	 * The table must be removed even if there is no memory for a change: otherwise, the next
	 * file with this number would use its rows.
	 */
	if (unwind_publisher_put(maps->publisher, number, -1) < 0)
		bpf_map_delete_elem(maps->tables_fd, &number);
	unwind_kept_remove(&maps->kept, number);
	maps->all_bytes -= maps->bytes[number];
	maps->bytes[number] = 0;
}

void unwind_maps_settle(struct unwind_maps *maps)
{
	unwind_publisher_drain(maps->publisher);
}

uint32_t unwind_maps_least_used(const struct unwind_maps *maps, uint32_t keep)
{
	uint32_t least = UNWIND_FILE_NONE;

	for (uint32_t i = UNWIND_FILE_VDSO + 1; i < UNWIND_FILES_MAX; i++) {
		if (maps->bytes[i] > 0 && i != keep &&
		    (least == UNWIND_FILE_NONE || maps->files[i].used < maps->files[least].used))
			least = i;
	}
	return least;
}

bool unwind_maps_make_room(struct unwind_maps *maps, uint32_t number, uint64_t bytes,
			   uint64_t bytes_max, uint64_t *ret_n_taken)
{
	uint64_t least_free = bytes_max / 16;

	*ret_n_taken = 0;
	if (maps->all_bytes + bytes <= bytes_max)
		return true;
	if (bytes > bytes_max)
		return false;
	unwind_maps_settle(maps);
	while (maps->all_bytes + bytes > bytes_max - least_free) {
		uint32_t least = unwind_maps_least_used(maps, number);

		if (least == UNWIND_FILE_NONE)
			break;
		unwind_maps_reset_file(maps, least);
		(*ret_n_taken)++;
	}
	unwind_maps_settle(maps);
	return maps->all_bytes + bytes <= bytes_max;
}

/* ---- names ---- */

/* Makes number NUMBER free for another file. */
static void unwind_maps_set_name(struct unwind_maps *maps, uint32_t number)
{
	struct unwind_file_name name = {
		.number = (uint16_t)number,
		.generation = (uint16_t)maps->files[number].generation,
	};

	bpf_map_update_elem(maps->free_names_fd, NULL, &name, BPF_ANY);
}

static int unwind_maps_compare_use(const void *a, const void *b, void *userdata)
{
	const struct unwind_maps *maps = userdata;
	const struct unwind_file_name *x = a, *y = b;
	uint32_t x_used = maps->files[x->number].used, y_used = maps->files[y->number].used;

	return x_used < y_used ? -1 : x_used > y_used;
}

struct unwind_names {
	size_t n;
	struct unwind_file_name names[UNWIND_FILES_MAX];
	struct unwind_file_key keys[UNWIND_FILES_MAX]; /* indexed by number */
};

static void unwind_maps_list_names(const struct unwind_maps *maps, struct unwind_names *to)
{
	struct unwind_file_key key, *before = NULL;
	struct unwind_file_name name;

	to->n = 0;
	while (to->n < UNWIND_FILES_MAX &&
	       bpf_map_get_next_key(maps->names_fd, before, &key) == 0) {
		if (bpf_map_lookup_elem(maps->names_fd, &key, &name) == 0 &&
		    name.number < UNWIND_FILES_MAX) {
			to->names[to->n++] = name;
			to->keys[name.number] = key;
		}
		before = &key;
	}
}

/*
 * Forgets the file of a number. The number gets a new generation, so that mappings with the old
 * generation do not refer to the next file.
 */
static void unwind_maps_forget(struct unwind_maps *maps, uint32_t number,
			       const struct unwind_file_key *key)
{
	if (maps->bytes[number] > 0)
		unwind_maps_reset_file(maps, number);
	bpf_map_delete_elem(maps->names_fd, key);
	maps->files[number].generation++;
	maps->files[number].copied = maps->files[number].copied_waits = 0;
	maps->files[number].copied_allocations = 0;
	unwind_maps_set_state(&maps->files[number], UNWIND_FILE_NEW);
}

void unwind_maps_recycle_names(struct unwind_maps *maps)
{
	_cleanup_free_ struct unwind_names *list = NULL;
	size_t n;

	list = malloc(sizeof(*list));
	if (!list)
		return;
	unwind_maps_list_names(maps, list);
	if (list->n < UNWIND_FILES_MAX - NAMES_FEW)
		return;
	qsort_r(list->names, list->n, sizeof(list->names[0]), unwind_maps_compare_use, maps);
	n = list->n < NAMES_RECYCLED ? list->n : NAMES_RECYCLED;
	unwind_maps_settle(maps);
	for (size_t i = 0; i < n; i++)
		unwind_maps_forget(maps, list->names[i].number, &list->keys[list->names[i].number]);
	unwind_maps_settle(maps);
	for (size_t i = 0; i < n; i++)
		unwind_maps_set_name(maps, list->names[i].number);
}
