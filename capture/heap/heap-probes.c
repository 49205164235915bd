/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/file-kind.h"
#include "base/text.h"
#include "capture/heap/probe-holder.h"
#include "capture/proc/task-state.h"

bool heap_probes_are_cancelled(const struct heap_probes_args *how)
{
	return how->sink->called_off && how->sink->called_off(how->sink->userdata);
}

/* ---- texts ---- */

static const char *heap_probes_base(const char *path)
{
	const char *name = strrchr(path, '/');

	return name ? name + 1 : path;
}

/* Writes "FILE: FUNCTION FUNCTION ..." to TEXT. */
static void heap_probes_describe_file(char *text, size_t size, const char *path,
				      const struct allocator_probe *probes, size_t n)
{
	size_t used = (size_t)snprintf(text, size, "%s:", heap_probes_base(path));
	uint64_t listed = 0;

	for (size_t i = 0; i < n && used < size; i++) {
		if (listed >> probes[i].function & 1)
			continue;
		listed |= UINT64_C(1) << probes[i].function;
		used += (size_t)snprintf(text + used, size - used, " %s", probes[i].name);
	}
}

static void heap_probes_add_text(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	if (*more)
		snprintf(text + used, size - used, "%s%s", used ? "; " : "", more);
}

void heap_probes_describe(const struct heap_probes *a, char *ret, size_t size)
{
	char text[MEMORY_TEXT_BYTES] = "";

	for (size_t i = 0; i < a->n_files; i++)
		if (a->files[i].is_mapped)
			heap_probes_add_text(text, sizeof(text), a->files[i].text);
	heap_probes_add_text(text, sizeof(text), a->refused);
	/* Paths can contain any bytes, and the text can have been cut in a character. */
	text_clean(ret, size, text, strlen(text));
}

/* ---- files ---- */

static bool heap_probes_wanted(const struct heap_probes_args *how, uint32_t function)
{
	uint32_t category = function >= MEMORY_FN_SHM_OPEN         ? CATEGORY_SHM
			    : function >= MEMORY_FN_PTHREAD_CREATE ? CATEGORY_THREADS
								   : CATEGORY_MEMORY;

	/* Shared memory is traced by its system calls. */
	return category != CATEGORY_SHM && how->options->categories & category;
}

/* A check of the files of a process. */
struct check_work {
	const struct heap_probes_args *how;
	struct heap_probes *traced;
	struct heap_probes_found *found;
	unsigned n_new;       /* number of files that got probes */
	unsigned n_reporting; /* number of these files whose probes report resources */
	bool is_partial;      /* some files must be checked again */
	/* Ids of probes of the last holder, which the probes of the new holder replace. */
	uint32_t replaced[HEAP_PROBES_FILES_MAX];
	size_t n_replaced;
};

static struct heap_probes_file *heap_probes_file_of(struct heap_probes *traced,
						    const struct allocator_file *file)
{
	for (size_t i = 0; i < traced->n_files; i++)
		if (traced->files[i].inode == file->inode &&
		    traced->files[i].device == file->device)
			return &traced->files[i];
	return NULL;
}

/*
 * Returns true if PROBES report blocks. A probe on the entry of operator new alone does not count,
 * since it only identifies the caller of malloc().
 */
static bool heap_probes_allocate(const struct allocator_probe *probes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (probes[i].kind != ALLOCATOR_PROBE_ENTRY &&
		    probes[i].function < MEMORY_FN_PTHREAD_CREATE)
			return true;
	return false;
}

/* Returns true if PROBES report any resource. */
static bool heap_probes_report(const struct allocator_probe *probes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (probes[i].kind != ALLOCATOR_PROBE_ENTRY)
			return true;
	return false;
}

/*
 * The functions of PROBES, as bits. A probe on the entry of operator new alone is left out: it only
 * identifies the caller of malloc().
 */
static uint32_t heap_probes_functions(const struct allocator_probe *probes, size_t n)
{
	uint32_t functions = 0;

	for (size_t i = 0; i < n; i++)
		if (probes[i].function != MEMORY_FN_NEW && probes[i].function < MEMORY_FN_MAX)
			functions |= UINT32_C(1) << probes[i].function;
	return functions;
}

/* Whether something is unknown without PROBES: allocations, frees, or the life of threads. */
static bool heap_probes_matter(const struct allocator_probe *probes, size_t n)
{
	return heap_probes_functions(probes, n) != 0;
}

/* Returns the reason why FILE has no probes, or NULL if it need not have any. */
static const char *heap_probes_why_not(const struct allocator_file *file)
{
	uint32_t flags = file->list->flags;

	if (file->error == -ETIME)
		return "no probes: it takes too long to read";
	if (file->error == -EBUSY)
		return "no probes: its file system does not answer";
	if (file->error == -EUSERS)
		return "no probes: too many files of its user do not answer";
	if (file->error < 0 && file->error != -ENOEXEC)
		return "no probes: it cannot be read";
	if (flags & ALLOCATORS_GO)
		return "a Go program, which moves its stacks: not probed";
	if (flags & ALLOCATORS_FOREIGN)
		return "not probed: it is for another machine, or 32-bit";
	if (flags & ALLOCATORS_STATIC && flags & ALLOCATORS_NO_SYMBOLS)
		return "its allocator is unknown: static and stripped; use a build with symbols";
	return NULL;
}

/* Updates, by the result for FILE, the judgement of whether the process is watched. */
static void heap_probes_find(struct check_work *check_work, const struct allocator_file *file)
{
	struct heap_probes_found *found = check_work->found;
	const char *why = heap_probes_why_not(file);

	found->any = true;
	found->is_static |= (file->list->flags & ALLOCATORS_STATIC) != 0;
	if (why && !*found->why)
		snprintf(found->why, sizeof(found->why), "%.60s: %s", heap_probes_base(file->path),
			 why);
}

static void heap_probes_refuse(struct heap_probes *traced, const char *path, const char *why)
{
	snprintf(traced->refused, sizeof(traced->refused), "%.60s: %s", heap_probes_base(path),
		 why);
}

/* Updates the judgement of whether the process is watched. FILE is mapped and has probes. */
static void heap_probes_find_probed(struct heap_probes_found *found, struct heap_probes_file *file)
{
	file->is_mapped = true;
	found->missing |= file->missing;
	if (!file->allocates)
		return;
	found->allocates = true;
	if (found->since_ns < file->since_ns)
		found->since_ns = file->since_ns;
}

/* The required probes of a file. */
struct wanted {
	const struct allocator_file *file;
	const struct allocator_probe *probes;
	size_t n;
};

/*
 * Attaches probes for the holder. These probes keep the probes of KNOWN in place. Perf events with
 * programs belong to their thread, so the perf events are attached again.
 */
static int heap_probes_hold_file(struct check_work *check_work, const struct wanted *wanted,
				 struct heap_probes_file *known)
{
	const struct heap_probes_args *how = check_work->how;
	struct heap_probes *traced = check_work->traced;
	bool anew = how->own->way == PROBES_PERF;
	uint32_t *id = anew ? &known->probes : &known->held, old = *id;
	struct probes_target target = {
		.way = anew ? PROBES_PERF : PROBES_HOLD,
		.pid = traced->holder,
		.fd = wanted->file->fd,
		.probes = wanted->probes,
		.n = wanted->n,
	};
	struct probes_failed failed = { 0 };
	int r;

	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		target.programs[i] = anew ? how->own->programs[i] : -1;
	r = probe_attacher_attach(how->attacher, &target, id, &failed);
	if (r == -ENOMEM)
		return r;
	/* -ESRCH means that the holder has ended. Another holder is selected later. */
	if (r != -ESRCH)
		known->holder = traced->holder;
	traced->has_gap |= heap_probes_matter(wanted->probes, wanted->n) &&
			   ((r < 0 && r != -ESRCH) || (failed.n && !known->is_refused));
	if (r == 0 && old)
		check_work->replaced[check_work->n_replaced++] = old;
	return 0;
}

static int heap_probes_file(struct check_work *check_work, const struct wanted *wanted)
{
	const struct heap_probes_args *how = check_work->how;
	const struct allocator_file *file = wanted->file;
	struct heap_probes *traced = check_work->traced;
	struct heap_probes_file *to = &traced->files[traced->n_files];
	bool allocates = heap_probes_allocate(wanted->probes, wanted->n);
	uint32_t missing = heap_probes_functions(wanted->probes, wanted->n);
	/* (BPF links belong to processes, perf events to threads) */
	pid_t holder = how->own->way == PROBES_PERF ? traced->holder : 0;
	struct probes_target target = {
		.way = how->own->way,
		.pid = holder ?: (pid_t)traced->pid,
		.fd = file->fd,
		.probes = wanted->probes,
		.n = wanted->n,
	};
	char why[64];
	struct probes_failed failed = { 0 };
	int r;

	if (traced->n_files == HEAP_PROBES_FILES_MAX) {
		check_work->found->missing |= missing;
		heap_probes_refuse(traced, file->path, "no probes: too many files");
		return 0;
	}
	memcpy(target.programs, how->own->programs, sizeof(target.programs));
	*to = (struct heap_probes_file){ .device = file->device, .inode = file->inode };
	r = probe_attacher_attach(how->attacher, &target, &to->probes, &failed);
	if (r == -ESRCH || r == -ENOMEM)
		return r;
	if (r < 0) {
		check_work->is_partial = true;
		check_work->found->missing |= missing;
		snprintf(why, sizeof(why), "no probes: %s", strerror(-r));
		heap_probes_refuse(traced, file->path, why);
		return 0;
	}
	if (failed.n) {
		snprintf(why, sizeof(why), "%zu of its probes could not be placed", failed.n);
		heap_probes_refuse(traced, file->path, why);
	}
	heap_probes_describe_file(to->text, sizeof(to->text), file->path, wanted->probes,
				  wanted->n);
	to->since_ns = clock_boot_ns();
	to->holder = holder;
	to->is_refused = failed.n > 0;
	to->missing = failed.functions & ~(UINT32_C(1) << MEMORY_FN_NEW);
	to->allocates =
		failed.n < wanted->n && !(file->list->flags & ALLOCATORS_CALLS_OTHER) && allocates;
	heap_probes_find_probed(check_work->found, to);
	traced->n_files++;
	check_work->n_new++;
	check_work->n_reporting += heap_probes_report(wanted->probes, wanted->n);
	return to->holder == traced->holder ? 0 : heap_probes_hold_file(check_work, wanted, to);
}

/*
 * Returns true if calls can have been missed in the file KNOWN before its new holder gets probes. A
 * perf event's program does not run after the end of its thread, even if a breakpoint of another
 * consumer is still in place. (If calls have been missed already, the code need not be read: a
 * process whose files cannot be read delays its watch only once.)
 */
static bool heap_probes_has_gap(const struct check_work *check_work, const struct wanted *wanted,
				const struct heap_probes_file *known)
{
	if (check_work->how->own->way == PROBES_PERF || check_work->traced->has_gap)
		return true;
	return !known->is_refused && probe_holder_misses(check_work->traced->holder, wanted->file,
							 wanted->probes, wanted->n);
}

/*
 * Attaches probes of the file KNOWN for the new holder, and notes whether calls can have been
 * missed. A breakpoint that is in place now can still be removed before it has a new holder, and
 * the new probes insert it again. So removals are looked up before the code is read and again when
 * the probes are in place: a removal is either seen, or it ended before the code was read.
 */
static int heap_probes_change_holder(struct check_work *check_work, const struct wanted *wanted,
				     struct heap_probes_file *known)
{
	const struct probe_removals *removals = check_work->how->removals;
	struct heap_probes *traced = check_work->traced;
	uint64_t since_ns =
		traced->unheld_ns > known->since_ns ? traced->unheld_ns : known->since_ns;
	unsigned slot = probe_removals_slot(wanted->file->fd);
	bool removed = probe_removals_since(removals, slot, since_ns);
	bool has_gap = heap_probes_has_gap(check_work, wanted, known);
	int r = heap_probes_hold_file(check_work, wanted, known);

	/* (If probes of KNOWN are refused again, their own removal counts here, too.) */
	removed |= probe_removals_since(removals, slot, since_ns);
	has_gap |= removed && !known->is_refused;
	traced->has_gap |= has_gap && heap_probes_matter(wanted->probes, wanted->n);
	return r;
}

static int heap_probes_on_file(const struct allocator_file *file, void *userdata)
{
	bool is_late = file->error == -ETIME || file->error == -EBUSY || file->error == -EUSERS;
	struct check_work *check_work = userdata;
	struct heap_probes *traced = check_work->traced;
	_cleanup_free_ struct allocator_probe *probes = NULL;
	struct heap_probes_file *known;
	struct wanted wanted;
	size_t n = 0;

	if (heap_probes_are_cancelled(check_work->how))
		return -ECANCELED;
	heap_probes_find(check_work, file);
	check_work->is_partial |= is_late;
	if (is_late || file->list->flags & ALLOCATORS_GO)
		heap_probes_refuse(traced, file->path, heap_probes_why_not(file));
	known = heap_probes_file_of(traced, file);
	if (known)
		heap_probes_find_probed(check_work->found, known);
	if (file->error < 0 || file->list->n == 0 || (known && known->holder == traced->holder))
		return 0;
	probes = calloc(file->list->n, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < file->list->n; i++)
		if (heap_probes_wanted(check_work->how, file->list->probes[i].function))
			probes[n++] = file->list->probes[i];
	if (n == 0)
		return 0;
	wanted = (struct wanted){ file, probes, n };
	if (!known)
		return heap_probes_file(check_work, &wanted);
	return heap_probes_change_holder(check_work, &wanted, known);
}

/* Attaches probes to the files that the client has announced. */
static int heap_probes_arm_announced_files(struct check_work *check_work)
{
	const struct memory_options *o = &check_work->how->options->memory;
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->allocators.n; i++) {
		const struct allocator_list *list;
		struct allocator_file file = { .fd = o->allocators.fds[i], .path = "(announced)" };
		char path[512] = "", link[32];
		ssize_t n;
		struct stat st;

		/* Files that the kernel generates are not programs, so they are skipped. */
		if (fstat(file.fd, &st) < 0 || file_kernel_filesystem(file.fd) ||
		    allocator_cache_find(check_work->how->cache, file.fd, &list) < 0)
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", file.fd);
		n = readlink(link, path, sizeof(path) - 1);
		file.path = n > 0 ? path : file.path;
		file.device = st.st_dev;
		file.inode = st.st_ino;
		file.list = list;
		r = heap_probes_on_file(&file, check_work);
	}
	return r;
}

bool heap_probes_has_lost_holder(const struct heap_probes *a)
{
	return task_state_is_ending((pid_t)a->pid, a->holder ?: (pid_t)a->pid);
}

bool heap_probes_lack_holder(const struct heap_probes *a)
{
	return heap_probes_has_lost_holder(a) && task_state_oldest((pid_t)a->pid);
}

/*
 * Selects a new holder if the old one is ending. This is done before the new holder gets any
 * probes, so that the eBPF programs report the end of the new holder. If the new holder ended
 * before they knew it, they do not report this end. So the function then checks whether the new
 * holder has ended. NOW_NS is a time before this call.
 */
static void heap_probes_renew_holder(struct heap_probes *a, const struct heap_probes_args *how,
				     uint64_t now_ns)
{
	for (unsigned i = 0; i < HEAP_PROBES_HOLDERS_MAX; i++) {
		pid_t next;

		if (!heap_probes_has_lost_holder(a)) {
			a->held_ns = now_ns;
			return;
		}
		next = task_state_oldest((pid_t)a->pid);
		if (!next)
			return;
		a->unheld_ns = a->unheld_ns ?: a->held_ns ?: now_ns;
		a->holder = next;
		bpf_map_update_elem(how->own->owners_fd, &a->pid, &(uint32_t){ (uint32_t)next },
				    BPF_ANY);
	}
	a->has_gap = true;
}

/*
 * Notes, after a check of the files with the result R, whether some probes do not belong to the
 * holder: then calls can be missed while the holder runs. If the new holder has ended, too, selects
 * another one.
 */
static void heap_probes_note_unheld(struct heap_probes *a, int r)
{
	bool any = false;

	for (size_t i = 0; i < a->n_files; i++)
		any |= a->files[i].holder != a->holder && (r < 0 || a->files[i].is_mapped);
	if (!any)
		a->unheld_ns = 0;
	else if (!heap_probes_has_lost_holder(a))
		a->has_gap = true;
}

/*
 * Returns a time after which the files that the current check of A finds were mapped. The check
 * began at NOW_NS.
 */
static uint64_t heap_probes_mapped_ns(const struct heap_probes *a, uint64_t now_ns)
{
	uint64_t mapped_ns = a->mapped_ns > a->checked_ns ? a->mapped_ns : a->checked_ns;

	/*
	 * Before the first check, the program was not watched, so the time at which the process was
	 * reported is used.
	 */
	mapped_ns = mapped_ns ?: a->happened_ns ?: now_ns;
	return a->missed_ns && a->missed_ns < mapped_ns ? a->missed_ns : mapped_ns;
}

/* Writes to TO why the files of a process are not known: the error is R. */
static void heap_probes_explain(char to[static MEMORY_REASON_BYTES], int r)
{
	const char *why = strerror(-r);

	if (r == -ETIME || r == -EBUSY)
		why = "the lock of its address space is held";
	else if (r == -EUSERS)
		why = "too many readings hang";
	else if (r == -EMSGSIZE)
		why = "there are too many";
	snprintf(to, MEMORY_REASON_BYTES, "its mappings cannot be listed: %s", why);
}

unsigned heap_probes_check(struct heap_probes *a, const struct heap_probes_args *how)
{
	struct check_work check_work = { .how = how, .traced = a, .found = &a->announced };
	int r = a->n_files ? 0 : heap_probes_arm_announced_files(&check_work);
	uint64_t now_ns = clock_boot_ns();

	heap_probes_renew_holder(a, how, now_ns);
	if (check_work.n_new)
		heap_probes_describe(a, a->announced_text, sizeof(a->announced_text));
	a->found = (struct heap_probes_found){ .mapped_ns = heap_probes_mapped_ns(a, now_ns) };
	a->mapped_ns = 0;
	a->missed_ns = a->found.mapped_ns;
	for (size_t i = 0; i < a->n_files; i++)
		a->files[i].is_mapped = false;
	check_work.found = &a->found;
	if (r == 0)
		r = allocators_of_process(a->holder ?: (pid_t)a->pid, how->cache,
					  heap_probes_on_file, &check_work);
	/* (after all files, because these removals would count as removals in the other files) */
	probe_attacher_detach(how->attacher, check_work.replaced, check_work.n_replaced);
	heap_probes_note_unheld(a, r);
	if (r == 0)
		a->examined_ns = now_ns;
	if (r == 0 && !check_work.is_partial) {
		a->checked_ns = now_ns;
		a->missed_ns = 0;
	}
	if (a->n_files == 0 && !a->found.any && r < 0 && r != -ESRCH && r != -ECANCELED) {
		a->found.any = true;
		heap_probes_explain(a->found.why, r);
	}
	/*
	 * -ESRCH means that the process has ended. Then the rest of its files is unknown, and the
	 * result is discarded.
	 */
	if (r == -ESRCH)
		a->found = (struct heap_probes_found){ 0 };
	return check_work.n_reporting;
}

/* Lists the ids of all probes in RET. Returns the number of ids. */
static size_t heap_probes_of(const struct heap_probes *a, uint32_t ret[2 * HEAP_PROBES_FILES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_files; i++) {
		ret[n++] = a->files[i].probes;
		if (a->files[i].held)
			ret[n++] = a->files[i].held;
	}
	return n;
}

void heap_probes_strip(struct heap_probes *a, const struct heap_probes_args *how)
{
	uint32_t probes[2 * HEAP_PROBES_FILES_MAX];

	probe_attacher_detach(how->attacher, probes, heap_probes_of(a, probes));
	a->n_files = 0;
	a->unheld_ns = 0;
	a->refused[0] = '\0';
	a->next_check_ns = 0;
}

void heap_probes_free(struct heap_probes *a, const struct heap_probes_args *how,
		      struct outbuf *going)
{
	uint32_t probes[2 * HEAP_PROBES_FILES_MAX];
	size_t n = heap_probes_of(a, probes);

	if (a->holder)
		bpf_map_delete_elem(how->own->owners_fd, &a->pid);
	if (outbuf_append(going, probes, n * sizeof(probes[0])) < 0)
		probe_attacher_detach(how->attacher, probes, n);
	free(a);
}
