/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks by tables in a collector: the programs that track mappings, and the unwinder that makes
 * the tables.
 */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "capture/proc/proc.h"
#include "capture/proc/task-state.h"
#include "capture/programs/fentry.h"
#include "capture/programs/load-error.h"
#include "capture/programs/map-records.h"
#include "capture/programs/program-iterator.h"
#include "capture/unwind/python-layouts.h"
#include "capture/unwind/unwind-process.h"

/* The maximum wait for tables, before a recording begins and at its end. */
#define READY_NS_MAX UINT64_C(1000000000)
/*
 * The maximum wait before a recording of a command begins, for files on this machine. The command
 * waits, too, so nothing is missed meanwhile.
 */
#define READY_COMMAND_NS_MAX UINT64_C(5000000000)

enum { MAPPED_FILES_MAX = 8192 };

/* Returns true if the eBPF programs support tables on this architecture. */
static bool collector_unwind_possible(void)
{
#if defined(__x86_64__)
	return true;
#else
	return false;
#endif
}

bool collector_unwinds(const struct session_options *o)
{
	return collector_unwind_possible() && o->categories & CATEGORIES_USER_STACKS &&
	       (o->stacks == STACKS_AUTO || o->stacks == STACKS_EH);
}

uint64_t collector_ready_ns(const struct session_options *o)
{
	/*
	 * While the recording waits, events of other running processes are missed. So the recording
	 * waits longer only if the only selected process is a command that waits, too. (A process
	 * that has not called exec need not be a command: it can be a worker of a server that only
	 * forks.)
	 */
	bool awaits_command = o->command_waits && o->filter.n_pids == 1 &&
			      !task_state_has_executed((pid_t)o->filter.pids[0]);

	return awaits_command ? READY_COMMAND_NS_MAX : READY_NS_MAX;
}

int collector_configure_unwinding(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	struct bpf_map *maps[] = {
		skel->maps.unwind_processes,  skel->maps.unwind_blank,
		skel->maps.unwind_file_names, skel->maps.unwind_free_names,
		skel->maps.unwind_files,      skel->maps.unwind_tables,
		skel->maps.unwind_asks,       skel->maps.unwind_ends,
		skel->maps.unwind_remembered, skel->maps.python_layouts,
		skel->maps.python_counts,     skel->maps.python_sent,
		skel->maps.unwind_seen_ids,
	};
	struct bpf_program *programs[] = {
		skel->progs.on_unwind_exec,
		skel->progs.on_unwind_fork,
		skel->progs.on_unwind_exit,
		skel->progs.on_iter_unwind_vma,
	};
	bool wanted = collector_unwinds(o);
	/*
	 * The maps are needed even without these walks, because Linux 6.1 verifies functions that
	 * walk by tables even if nothing calls them.
	 */
	bool mapped = wanted || o->categories & (CATEGORIES_USER_STACKS | CATEGORY_CALLS);
	bool hooked = wanted && fentry_works(c->btf, "perf_event_mmap");
	uint64_t device, inode;
	int r = 0;

	bpf_program__set_autoload(skel->progs.on_unwind_map, hooked);
	bpf_program__set_autoload(skel->progs.on_unwind_gap, wanted && !hooked);
	bpf_program__set_autoload(skel->progs.on_unwind_forget, wanted && !hooked);
	c->table_bytes_max = o->stack_tables_bytes;
	c->ready_ns_max = collector_ready_ns(o);
	if (!proc_sees_all() && proc_pid_namespace(&device, &inode)) {
		skel->rodata->unwind_ns_device = device;
		skel->rodata->unwind_ns_inode = inode;
		r = bpf_map__set_max_entries(skel->maps.unwind_seen_ids, UNWIND_SEEN_IDS_MAX);
	}
	skel->rodata->unwind_by_tables = wanted;
	skel->rodata->unwind_learns_from_walks = wanted && !hooked;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		bpf_program__set_autoload(programs[i], wanted);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(maps); i++)
		r = bpf_map__set_autocreate(maps[i], mapped);
	return r;
}

static bool collector_has_unwinding(const struct collector *c)
{
	return bpf_program__autoload(c->skel->progs.on_unwind_exec);
}

static int collector_fill_layouts(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.python_layouts), r = 0;

	for (uint32_t i = 0; r == 0 && i < PYTHON_LAYOUT_ROWS; i++)
		if (bpf_map_update_elem(fd, &i, &python_layout_rows[i].layout, BPF_ANY) < 0)
			r = -errno;
	return r;
}

int collector_make_unwinder(struct collector *c)
{
	const struct unwind_maps maps = {
		.asks_fd = bpf_map__fd(c->skel->maps.unwind_asks),
		.files_fd = bpf_map__fd(c->skel->maps.unwind_files),
		.tables_fd = bpf_map__fd(c->skel->maps.unwind_tables),
		.names_fd = bpf_map__fd(c->skel->maps.unwind_file_names),
		.free_names_fd = bpf_map__fd(c->skel->maps.unwind_free_names),
		.processes_fd = bpf_map__fd(c->skel->maps.unwind_processes),
		.list_fd = bpf_program__autoload(c->skel->progs.on_unwind_map)
				   ? -1
				   : bpf_program__fd(c->skel->progs.on_iter_unwind_vma),
		.seen_fd = proc_sees_all() ? -1 : bpf_map__fd(c->skel->maps.unwind_seen_ids),
	};

	if (!collector_has_unwinding(c))
		return 0;
	return collector_fill_layouts(c) ?: unwinder_new(&maps, c->table_bytes_max, &c->unwinder);
}

/* Forgets the known mappings of processes, because they have changed meanwhile. */
static void collector_forget_mapped(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.unwind_processes);
	uint32_t tgid;

	while (bpf_map_get_next_key(fd, NULL, &tgid) == 0)
		if (bpf_map_delete_elem(fd, &tgid) < 0)
			break;
}

/* Runs the iterator over all mappings. */
static int collector_list_mapped(struct collector *c)
{
	_cleanup_close_ int fd = program_iterator_open(c->skel->progs.on_iter_unwind_vma);
	char nothing[64];
	ssize_t n;

	if (fd < 0)
		return fd;
	do
		n = program_iterator_read(fd, nothing, sizeof(nothing));
	while (n > 0);
	return (int)n;
}

/*
 * Returns true if mapping M of a process agrees with REC: the two are equal, or at different
 * addresses.
 */
static bool collector_mapping_holds(struct collector *c, const struct unwind_mapping *m,
				    const struct rec_mapping *rec)
{
	uint64_t first = rec->start >> UNWIND_PAGE_SHIFT;
	uint64_t end = (rec->start + rec->bytes) >> UNWIND_PAGE_SHIFT;
	uint64_t m_first = UNWIND_WHERE_FIRST(m->where), m_end = m_first + UNWIND_WHERE_N(m->where);
	uint32_t number = m->file;
	struct unwind_file file;

	if (m_end <= first || m_first >= end)
		return true;
	if (number == UNWIND_FILE_NONE)
		return rec->inode == 0 && !map_records_lacks_inode(rec);
	return m_first == first && m->file_page == rec->file_offset >> UNWIND_PAGE_SHIFT &&
	       bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.unwind_files), &number, &file) == 0 &&
	       file.inode == rec->inode;
}

/* Makes the eBPF programs forget the mappings of process TGID from page FIRST up to END. */
static void collector_forget_range(struct collector *c, uint32_t tgid, uint64_t first, uint64_t end)
{
	struct unwind_range range = { .first = first, .end = end, .tgid = tgid };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &range, .ctx_size_in = sizeof(range));
	int fd = bpf_program__fd(c->skel->progs.on_unwind_forget);

	if (bpf_prog_test_run_opts(fd, &opts) < 0)
		bpf_map_delete_elem(bpf_map__fd(c->skel->maps.unwind_processes), &tgid);
}

/*
 * Makes the unwinder list the mappings of process PID. Returns false if the unwinder has no room.
 * Then the unwinder is not asked again in this drain, since each request takes its lock.
 */
static bool collector_unwind_list(struct collector *c, uint32_t pid)
{
	c->lists_full = c->lists_full || !unwinder_list(c->unwinder, pid);
	return !c->lists_full;
}

/*
 * Lists the mappings of the process of REC, if this can request the table of the file that REC
 * maps. If the file is new, the process is listed at once. If the file is known, but its table was
 * not requested (for example, because only processes that are not selected have mapped it), the
 * process is listed after the drain, once for all of its files.
 */
static void collector_request_table(struct collector *c, const struct rec_mapping *rec)
{
	const uint64_t file[] = { rec->device, rec->inode };
	uint64_t key = table_hash(file, sizeof(file));
	void *known = rec->inode ? table_get(&c->mapped_files, key) : NULL;
	uint16_t number = known ? (uint16_t)(uintptr_t)known : UNWIND_FILE_NONE;
	bool asked;

	if (rec->inode == 0)
		return;
	asked = unwinder_has_asked(c->unwinder, (uint32_t)rec->device, rec->inode, &number);
	if (!known && c->mapped_files.n_used >= MAPPED_FILES_MAX)
		table_deinit(&c->mapped_files);
	/* If there is no memory, the file counts as new again the next time. */
	(void)!table_set(&c->mapped_files, key, (void *)(uintptr_t)number);
	if (known ? !asked : !collector_unwind_list(c, rec->head.pid))
		unwind_listed_add(&c->listed_mappers, rec->head.pid);
}

void collector_list_mappers(struct collector *c)
{
	uint64_t now_ns = clock_boot_ns();
	uint32_t pid;

	if (!c->unwinder)
		return;
	/* The unwinder may have made room since the last attempt. */
	c->lists_full = false;
	while (!c->lists_full && (pid = unwind_listed_next(&c->listed_mappers, now_ns)) &&
	       collector_unwind_list(c, pid))
		unwind_listed_done(&c->listed_mappers, pid);
	c->lists_full = false;
}

/* Allows process PID to be listed again, because it is new or has a new program. */
static void collector_begin_lists(struct collector *c, uint32_t pid)
{
	unwind_listed_forget(&c->listed_walked, pid);
	unwind_listed_forget(&c->listed_mappers, pid);
}

/*
 * Mappings with an unknown inode are left out, since their code would be walked by frame pointers.
 */
static void collector_see_mapping(struct collector *c, const struct rec_mapping *rec)
{
	if (map_records_lacks_inode(rec))
		return;
	unwind_seen_add(&c->seen, &(struct unwind_seen_mapping){
					  .ts_ns = rec->head.ts_ns,
					  .start = rec->start,
					  .end = rec->start + rec->bytes,
					  .file_offset = rec->file_offset,
					  .inode = rec->inode,
					  .device = (uint32_t)rec->device,
					  .pid = rec->head.pid,
				  });
}

/*
 * If the kernel lacks the hook, the eBPF programs do not see new mappings. If a known mapping was
 * replaced, its range is forgotten, and learned again. Other mappings of the process stay: an
 * interrupt can learn only one mapping, and REC may be outdated. A new mapping is learned by the
 * first walk through it. But if its file has no table, that walk may be the only walk. So all
 * mappings of the process are listed, and their tables requested.
 */
void collector_check_mapped(struct collector *c, const struct rec_mapping *rec)
{
	struct unwind_process process;
	uint32_t tgid = rec->head.pid;
	bool holds;
	int r;

	if (!collector_has_unwinding(c))
		return;
	collector_see_mapping(c, rec);
	if (bpf_program__autoload(c->skel->progs.on_unwind_map))
		return;
	r = unwind_process_read(bpf_map__fd(c->skel->maps.unwind_processes), tgid, &process);
	if (r < 0 && r != -EAGAIN)
		return;
	/* If the mappings change all the time (-EAGAIN), the range is learned again. */
	holds = r == 0;
	for (uint32_t i = 0; holds && i < process.n; i++)
		holds = collector_mapping_holds(c, &process.mappings[i], rec);
	if (!holds)
		collector_forget_range(c, tgid, rec->start >> UNWIND_PAGE_SHIFT,
				       (rec->start + rec->bytes) >> UNWIND_PAGE_SHIFT);
	collector_request_table(c, rec);
}

void collector_check_new_image(struct collector *c, const struct rec_new_image *rec)
{
	if (!collector_has_unwinding(c))
		return;
	unwind_seen_begin(&c->seen,
			  &(struct unwind_seen_begin){ rec->head.ts_ns, rec->head.pid, 0 });
	collector_begin_lists(c, rec->head.pid);
}

void collector_check_fork(struct collector *c, const struct rec_fork *rec)
{
	if (!collector_has_unwinding(c) || rec->child.pid != rec->child.tid)
		return;
	unwind_seen_begin(&c->seen, &(struct unwind_seen_begin){ rec->head.ts_ns, rec->child.pid,
								 rec->head.pid });
	collector_begin_lists(c, rec->child.pid);
}

void collector_check_piece(struct collector *c, const struct rec_piece *piece)
{
	if (!bpf_program__autoload(c->skel->progs.on_unwind_map) && !c->lists_full &&
	    unwind_listed_begin(&c->listed_walked, piece->head.pid, piece->head.ts_ns) &&
	    !collector_unwind_list(c, piece->head.pid))
		unwind_listed_forget(&c->listed_walked, piece->head.pid);
}

_Static_assert(_UNWIND_ENDS == (int)WALK_ENDS_MAX && UNWIND_END_BUSY == (int)WALK_BUSY &&
		       UNWIND_END_TABLE == (int)WALK_NO_TABLE,
	       "causes have the same numbers in the programs and in archives");

void collector_count_walks(struct collector *c, uint64_t ret[static WALK_ENDS_MAX])
{
	_cleanup_free_ uint64_t *counts = calloc(c->n_cpus, sizeof(*counts));
	int fd = bpf_map__fd(c->skel->maps.unwind_ends);

	memset(ret, 0, WALK_ENDS_MAX * sizeof(*ret));
	for (uint32_t i = 0; counts && c->unwinder && i < WALK_ENDS_MAX; i++) {
		if (bpf_map_lookup_elem(fd, &i, counts) < 0)
			continue;
		for (unsigned cpu = 0; cpu < c->n_cpus; cpu++)
			ret[i] += counts[cpu];
	}
	for (size_t i = 0; i < WALK_ENDS_MAX; i++)
		ret[i] += c->resumed[i];
}

_Static_assert(PYTHON_COUNT_STACKS == (int)PYTHON_STACKS_ALL &&
		       PYTHON_COUNT_NO_THREAD == (int)PYTHON_STACKS_NO_THREAD &&
		       PYTHON_COUNT_UNREADABLE == (int)PYTHON_STACKS_UNREADABLE &&
		       PYTHON_COUNT_FULL == (int)PYTHON_STACKS_FULL &&
		       _PYTHON_COUNTS == (int)PYTHON_STACKS_UNNAMED,
	       "the programs count all but the last one");

void collector_count_python(struct collector *c, uint64_t ret[static PYTHON_STACKS_MAX])
{
	_cleanup_free_ uint64_t *counts = calloc(c->n_cpus, sizeof(*counts));
	int fd = bpf_map__fd(c->skel->maps.python_counts);

	memset(ret, 0, PYTHON_STACKS_MAX * sizeof(*ret));
	for (uint32_t i = 0; counts && c->unwinder && i < _PYTHON_COUNTS; i++) {
		if (bpf_map_lookup_elem(fd, &i, counts) < 0)
			continue;
		for (unsigned cpu = 0; cpu < c->n_cpus; cpu++)
			ret[i] += counts[cpu];
	}
}

/* Writes VERSION (Py_Version) to TO. */
static void collector_describe_python(uint32_t version, char to[static COLLECTOR_PYTHON_TEXT])
{
	bool is_build = false;

	for (unsigned i = 0; i < PYTHON_LAYOUT_ROWS; i++)
		is_build |= python_layout_rows[i].version == version >> 16;
	if (version == 0)
		snprintf(to, COLLECTOR_PYTHON_TEXT, "before 3.11");
	else
		snprintf(to, COLLECTOR_PYTHON_TEXT, "%u.%u.%u%s", version >> 24,
			 version >> 16 & 0xff, version >> 8 & 0xff,
			 is_build ? " (another build)" : "");
}

unsigned collector_unknown_pythons(struct collector *c,
				   char to[static COLLECTOR_PYTHONS_MAX][COLLECTOR_PYTHON_TEXT])
{
	uint32_t versions[UNWINDER_PYTHONS_MAX];
	unsigned n = c->unwinder ? unwinder_unknown_pythons(c->unwinder, versions) : 0;

	_Static_assert((int)UNWINDER_PYTHONS_MAX == (int)COLLECTOR_PYTHONS_MAX, "room for all");

	for (unsigned i = 0; i < n; i++)
		collector_describe_python(versions[i], to[i]);
	return n;
}

/*
 * Returns the number of frames of WALK; 0 if WALK must be tried again, since a later attempt may
 * find more frames.
 */
static unsigned collector_end_walk(struct collector *c, const struct unwind_resumed *walk,
				   bool can_retry)
{
	if (can_retry && unwind_resume_can_improve(walk->end)) {
		__atomic_store_n(&c->has_kept, true, __ATOMIC_RELAXED);
		return 0;
	}
	c->resumed[walk->end]++;
	return walk->n_frames;
}

void collector_skip_walk(struct collector *c)
{
	__atomic_fetch_add(&c->n_copied, 1, __ATOMIC_RELAXED);
}

unsigned collector_resume_walk(struct collector *c, const struct rec_piece *piece, bool can_retry,
			       uint64_t frames[static STACK_FRAMES_MAX])
{
	struct unwind_resumed walk =
		unwinder_resume(c->unwinder, &c->seen, piece, piece + 1, frames);
	uint32_t *size = &c->skel->bss->piece_size;

	__atomic_fetch_add(&c->n_copied, 1, __ATOMIC_RELAXED);
	if (walk.ran_out && piece->n_room == PIECE_BYTES(*size) && *size + 1 < PIECE_SIZES)
		*size += 1;
	return collector_end_walk(c, &walk, can_retry);
}

unsigned collector_walk_waiting(struct collector *c, const struct rec_piece *piece, bool can_retry,
				uint64_t frames[static STACK_FRAMES_MAX])
{
	struct unwind_resumed walk;

	if (!c->unwinder)
		return unwind_resume_frames(piece, piece + 1, frames);
	walk = unwinder_resume(c->unwinder, &c->seen, piece, piece + 1, frames);
	return collector_end_walk(c, &walk, can_retry);
}

void collector_await_tables(struct collector *c)
{
	_cleanup_free_ struct piece_budget *budgets = calloc(c->n_cpus, sizeof(*budgets));
	const struct unwinder_limits limits = { .all_ns = READY_NS_MAX, .local_ns = READY_NS_MAX };
	uint64_t n_sent = 0;
	uint32_t zero = 0;

	if (!c->unwinder || !budgets ||
	    bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.piece_budgets), &zero, budgets) < 0)
		return;
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++)
		n_sent += budgets[cpu].sent;
	/*
	 * Callers finish all walks that were put off at each pause, so each of these walks is
	 * waited for only once.
	 */
	if (n_sent > __atomic_load_n(&c->n_copied, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&c->has_kept, false, __ATOMIC_RELAXED))
		unwinder_wait(c->unwinder, &limits);
}

struct stack_tables collector_count_tables(struct collector *c)
{
	struct unwinder_counts counts = { 0 };

	if (c->unwinder)
		counts = unwinder_counts(c->unwinder);
	return (struct stack_tables){ counts.n_tables, counts.n_failed, counts.n_evicted,
				      counts.bytes, c->n_copied };
}

int collector_prepare_unwinding(struct collector *c, bool (*called_off)(void *userdata),
				void *userdata, char **reterr_text)
{
	const struct unwinder_limits limits = {
		.all_ns = READY_NS_MAX,
		.local_ns = c->ready_ns_max,
		.called_off = called_off,
		.userdata = userdata,
	};
	int r = collector_has_unwinding(c) ? collector_list_mapped(c) : 0;

	if (r < 0)
		return load_error(r, "list the mappings", reterr_text);
	if (c->unwinder)
		unwinder_wait(c->unwinder, &limits);
	return 0;
}

int collector_start_unwinding(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	const struct attach_row rows[] = {
		{ skel->progs.on_unwind_exit, &skel->links.on_unwind_exit },
		{ skel->progs.on_unwind_fork, &skel->links.on_unwind_fork },
		{ skel->progs.on_unwind_exec, &skel->links.on_unwind_exec },
		{ skel->progs.on_unwind_map, &skel->links.on_unwind_map },
		{ skel->progs.on_unwind_gap, &skel->links.on_unwind_gap },
	};
	int r;

	if (!collector_has_unwinding(c))
		return 0;
	collector_forget_mapped(c);
	r = collector_attach_rows(rows, ARRAY_SIZE(rows), reterr_text);
	if (r < 0)
		return r;
	r = collector_list_mapped(c);
	return r < 0 ? load_error(r, "list the mappings", reterr_text) : 0;
}
