/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/proc/loader-name.h"

enum { BITMAP_WORDS = TASKS_TID_MAX / 64 };

static bool tasks_test_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void tasks_set_bit(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static void tasks_clear_bit(uint64_t *bits, uint32_t i)
{
	bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

int tasks_init(struct tasks *t)
{
	*t = (struct tasks){ 0 };
	t->announced = calloc(BITMAP_WORDS, sizeof(*t->announced));
	t->named = calloc(BITMAP_WORDS, sizeof(*t->named));
	t->ended = calloc(BITMAP_WORDS, sizeof(*t->ended));
	if (!t->announced || !t->named || !t->ended) {
		tasks_deinit(t);
		return -ENOMEM;
	}
	return 0;
}

static void task_free(struct task *task)
{
	if (!task)
		return;
	free(task->command_line);
	free(task->given_name);
	free(task);
}

static void tasks_free_all(struct table *tasks)
{
	struct task *task;

	for (size_t pos = 0; (task = table_next(tasks, &pos));)
		task_free(task);
	table_deinit(tasks);
}

void tasks_deinit(struct tasks *t)
{
	tasks_free_all(&t->by_tid);
	tasks_free_all(&t->dead);
	free(t->dead_order);
	table_deinit_free(&t->cgroups);
	table_deinit_free(&t->cgroups_aside);
	table_deinit(&t->cgroups_missing);
	table_deinit(&t->asked);
	table_deinit(&t->last_starts);
	free(t->announced);
	free(t->named);
	free(t->ended);
	free(t->owner);
	free(t->changes);
	*t = (struct tasks){ 0 };
}

void tasks_set_announced(struct tasks *t, uint32_t tid)
{
	if (tid == 0 || tid >= TASKS_TID_MAX)
		return;
	tasks_set_bit(t->announced, tid);
	tasks_set_bit(t->named, tid);
}

int tasks_set_asked(struct tasks *t, uint32_t tid, uint64_t asked)
{
	return table_set(&t->asked, tid, (void *)(uintptr_t)asked);
}

struct task *tasks_get(const struct tasks *t, uint32_t tid)
{
	return table_get(&t->by_tid, tid);
}

const struct task *tasks_find(const struct tasks *t, uint32_t tid)
{
	const struct task *task = tasks_get(t, tid);

	return task ? task : table_get(&t->dead, tid);
}

/* ---- ended tasks ---- */

int tasks_will_split(struct tasks *t)
{
	t->dead_order = calloc(TASKS_DEAD_MAX, sizeof(*t->dead_order));
	if (!t->dead_order)
		return -ENOMEM;
	t->splits = true;
	return 0;
}

/* Called when TASK has ended. TASK is freed when TASKS_DEAD_MAX other tasks have ended after it. */
static void tasks_retire(struct tasks *t, struct task *task)
{
	struct task_dead *place = &t->dead_order[t->n_dead++ % TASKS_DEAD_MAX];
	const struct task *oldest = place->died ? table_get(&t->dead, place->tid) : NULL;

	if (oldest && oldest->died == place->died)
		task_free(table_remove(&t->dead, place->tid));
	*place = (struct task_dead){ task->tid, task->died };
}

static void tasks_forget_dead(struct tasks *t, uint32_t tid)
{
	if (t->splits)
		task_free(table_remove(&t->dead, tid));
}

/*
 * Adds TASK, which has ended, to the ended tasks that are kept. Returns false if there is no
 * memory.
 */
static bool tasks_add_dead(struct tasks *t, struct task *task)
{
	tasks_forget_dead(t, task->tid);
	if (table_set(&t->dead, task->tid, task) < 0)
		return false;
	task->died = ++t->n_died;
	/*
	 * A process has the name of its main thread, so that thread is kept as long as the process
	 * lives.
	 */
	if (task->tid != task->pid || tasks_test_bit(t->ended, task->pid))
		tasks_retire(t, task);
	return true;
}

int tasks_split(struct tasks *t)
{
	uint64_t *announced = calloc(BITMAP_WORDS, sizeof(*announced));
	const struct task *task;

	if (!announced)
		return -ENOMEM;
	for (size_t pos = 0; (task = table_next(&t->by_tid, &pos));)
		announced[task->tid / 64] |=
			t->announced[task->tid / 64] & UINT64_C(1) << (task->tid % 64);
	free(t->announced);
	t->announced = announced;
	return 0;
}

uint32_t tasks_koid_at(const struct tasks *t, uint32_t tid, uint64_t ts_ns)
{
	uint64_t oldest = t->n_changes > TASKS_CHANGES_MAX ? t->n_changes - TASKS_CHANGES_MAX : 0;
	uint32_t koid = tasks_koid(t, tid);

	for (uint64_t i = t->n_changes; i-- > oldest;) {
		const struct task_change *change = &t->changes[i % TASKS_CHANGES_MAX];

		if (change->tid != tid)
			continue;
		if (change->start_ns <= ts_ns)
			break;
		koid = change->koid_before;
	}
	return koid;
}

/* Called when the tid gets another owner, which started at START_NS. The new owner gets a new koid
 * if the old koid is in the archive. */
static int tasks_next_owner(struct tasks *t, uint32_t tid, uint64_t start_ns)
{
	uint32_t koid = tasks_koid(t, tid);

	tasks_clear_bit(t->announced, tid);
	tasks_clear_bit(t->ended, tid);
	if (!tasks_test_bit(t->named, tid))
		return 0;
	if (!t->owner) {
		t->owner = calloc(TASKS_TID_MAX, sizeof(*t->owner));
		if (!t->owner)
			return -ENOMEM;
	}
	if (!t->changes) {
		t->changes = calloc(TASKS_CHANGES_MAX, sizeof(*t->changes));
		if (!t->changes)
			return -ENOMEM;
	}
	t->changes[t->n_changes++ % TASKS_CHANGES_MAX] =
		(struct task_change){ start_ns, tid, koid };
	if (t->owner[tid] == 0)
		t->owner[tid] = FXT_KOID_REUSE_FIRST;
	else if (t->owner[tid] < FXT_KOID_REUSE_LAST)
		t->owner[tid]++;
	else if (t->splits)
		t->owner[tid] = 0;
	else
		t->n_merged++;
	return 0;
}

static struct task *tasks_add(struct tasks *t, uint32_t tid)
{
	struct task *task = table_make(&t->by_tid, tid, sizeof(*task));

	if (task)
		task->tid = tid;
	return task;
}

const char *tasks_cgroup_path(const struct tasks *t, uint64_t id)
{
	return id ? table_get(&t->cgroups, id) ?: table_get(&t->cgroups_aside, id) : NULL;
}

/* Returns true if the unknown task of ID has the tid of an ended one that the archive has. */
static bool tasks_is_successor(const struct tasks *t, const struct rec_identity *id)
{
	uint64_t last = (uintptr_t)table_get(&t->last_starts, id->tid);

	/* (a thread that executes a program takes the tid and the start time of the main thread) */
	return id->start_ns && tasks_test_bit(t->named, id->tid) && !tasks_asked(t, id->tid) &&
	       last > 1 && last != id->start_ns + 1;
}

int tasks_update(struct tasks *t, const struct rec_identity *id, bool is_new)
{
	struct task *task = tasks_get(t, id->tid);
	bool changed;
	int r;

	if (id->tid == 0 || id->tid >= TASKS_TID_MAX)
		return 0;
	/* The start time decides, since a task can be listed before its fork is read. Identities
	 * that were looked up in /proc have no start time (0). */
	if (task && (task->start_ns == 0 || id->start_ns == 0))
		is_new = false;
	else if (task)
		is_new = task->start_ns != id->start_ns;
	else
		is_new |= tasks_is_successor(t, id);
	if (is_new) {
		r = tasks_next_owner(t, id->tid, id->start_ns);
		if (r < 0)
			return r;
		tasks_forget(t, id->tid);
		tasks_forget_dead(t, id->tid);
		task = NULL;
	}
	if (!task) {
		task = tasks_add(t, id->tid);
		if (!task)
			return -ENOMEM;
	}
	changed = task->pid != id->pid || task->uid != id->uid || task->cgroup_id != id->cgroup_id;
	task->pid = id->pid;
	task->uid = id->uid;
	if (id->start_ns)
		task->start_ns = id->start_ns;
	task->cgroup_id = id->cgroup_id;
	/* The first parent has made the task. Later parents adopt orphans. */
	if (task->parent_pid == 0)
		task->parent_pid = id->parent_pid;
	/*
	 * If the name is that of a loader, it may be replaced by the name of a program of this
	 * process or its parent.
	 */
	changed |= tasks_set_comm(t, id->tid, id->comm);
	if (changed)
		tasks_clear_bit(t->announced, id->tid);
	/*
	 * If there is no memory, or if there are too many cgroups, the path is written with the
	 * next change of the task.
	 */
	if (changed && id->cgroup_id && !tasks_cgroup_path(t, id->cgroup_id) &&
	    t->cgroups_missing.n_used < TASKS_CGROUPS_MAX)
		table_set(&t->cgroups_missing, id->cgroup_id, t);
	return 0;
}

/* Finds the program that the dynamic loader runs in TASK: a known program of its process, or of
 * its parent. */
static void tasks_find_loaded(const struct tasks *t, struct task *task)
{
	const uint32_t from[] = { task->pid, task->parent_pid };

	for (size_t i = 0; i < ARRAY_SIZE(from) && !*task->loaded; i++) {
		const struct task *other = tasks_find(t, from[i]);

		if (other && other->is_loader)
			memcpy(task->loaded, other->loaded, sizeof(task->loaded));
	}
}

/* Sets the name of TASK. Returns 1 if the name has changed, otherwise 0. */
static int tasks_set_name(struct tasks *t, struct task *task,
			  const char name[static REC_COMM_BYTES])
{
	char clean[TASK_COMM_MAX];

	text_clean(clean, sizeof(clean), name, strnlen(name, REC_COMM_BYTES));
	if (strcmp(clean, task->comm) == 0)
		return 0;
	memcpy(task->comm, clean, sizeof(clean));
	tasks_clear_bit(t->announced, task->tid);
	return 1;
}

int tasks_set_comm(struct tasks *t, uint32_t tid, const char comm[static REC_COMM_BYTES])
{
	struct task *task = tasks_get(t, tid);

	if (!task)
		return 0;
	task->is_loader = loader_name_is(comm);
	if (!task->is_loader)
		*task->loaded = '\0';
	else if (!*task->loaded)
		tasks_find_loaded(t, task);
	return tasks_set_name(t, task, *task->loaded ? task->loaded : comm);
}

int tasks_set_command(struct tasks *t, uint32_t tid, uint64_t start_ns, const char *args, size_t n,
		      bool is_cut)
{
	struct task *task = tasks_get(t, tid);
	char clean[TASK_COMMAND_MAX], loaded[REC_COMM_BYTES], *copy;

	if (!task || (start_ns != 0 && task->start_ns != start_ns))
		return 0;
	task->command_old = false;
	if (task->is_loader && loader_name_program(loaded, args, n)) {
		memcpy(task->loaded, loaded, sizeof(loaded));
		tasks_set_name(t, task, loaded);
	}
	text_join_args(clean, sizeof(clean), args, n, is_cut);
	if (task->command_line && strcmp(task->command_line, clean) == 0)
		return 0;
	copy = strdup(clean);
	if (!copy)
		return -ENOMEM;
	free(task->command_line);
	task->command_line = copy;
	tasks_clear_bit(t->announced, tid);
	return 1;
}

/* Moves the paths of cgroups that have TASKS to KEPT. */
static void tasks_keep_cgroups_of(struct tasks *t, const struct table *tasks, struct table *kept)
{
	const struct task *task;
	char *path;

	for (size_t pos = 0; (task = table_next(tasks, &pos));) {
		path = table_remove(&t->cgroups, task->cgroup_id)
			       ?: table_remove(&t->cgroups_aside, task->cgroup_id);
		/*
		 * If there is no memory, the path is unknown until the eBPF programs send it again.
		 */
		if (path && table_set(kept, task->cgroup_id, path) < 0)
			free(path);
	}
}

/*
 * Keeps the paths of cgroups that have a task, and sets the other paths aside. If too many cgroups
 * have a task, sets all aside. Forgets the paths that were set aside before.
 */
static void tasks_forget_cgroups(struct tasks *t)
{
	struct table kept = { 0 };

	tasks_keep_cgroups_of(t, &t->by_tid, &kept);
	tasks_keep_cgroups_of(t, &t->dead, &kept);
	table_deinit_free(&t->cgroups_aside);
	t->cgroups_aside = t->cgroups;
	t->cgroups = kept;
	if (kept.n_used > TASKS_CGROUPS_MAX / 4 * 3) {
		table_deinit_free(&t->cgroups_aside);
		t->cgroups_aside = kept;
		t->cgroups = (struct table){ 0 };
	}
	t->cgroups_forgotten = true;
}

/* Called when the path of cgroup ID is new: its processes must be announced again. */
static void tasks_reannounce_cgroup(struct tasks *t, uint64_t id)
{
	const struct task *task;

	for (size_t pos = 0; (task = table_next(&t->by_tid, &pos));)
		if (task->cgroup_id == id && task->tid == task->pid && task->tid < TASKS_TID_MAX)
			tasks_clear_bit(t->announced, task->tid);
}

int tasks_set_cgroup(struct tasks *t, const struct rec_cgroup *rec)
{
	static const char rest[] = "/...";
	char path[TASK_CGROUP_MAX];
	size_t n;

	if (rec->id == 0)
		return 0;
	n = text_clean(path, sizeof(path) - sizeof(rest), rec->path, rec->bytes - 1);
	if (rec->is_cut)
		memcpy(path + n, rest, sizeof(rest));
	if (table_remove(&t->cgroups_missing, rec->id))
		tasks_reannounce_cgroup(t, rec->id);
	if (t->cgroups.n_used >= TASKS_CGROUPS_MAX)
		tasks_forget_cgroups(t);
	return table_copy(&t->cgroups, rec->id, path, strlen(path) + 1) ? 0 : -ENOMEM;
}

bool tasks_set_ended(struct tasks *t, uint32_t pid)
{
	struct task *main_thread;

	if (pid >= TASKS_TID_MAX || tasks_test_bit(t->ended, pid))
		return false;
	tasks_set_bit(t->ended, pid);
	main_thread = t->splits ? table_get(&t->dead, pid) : NULL;
	if (main_thread)
		tasks_retire(t, main_thread);
	return true;
}

void tasks_forget(struct tasks *t, uint32_t tid)
{
	struct task *task = table_remove(&t->by_tid, tid);

	if (t->last_starts.n_used >= TASKS_STARTS_MAX)
		table_deinit(&t->last_starts);
	/* If there is no memory, the next owner of the tid can be mistaken for this task. */
	if (task)
		(void)!table_set(&t->last_starts, tid, (void *)(uintptr_t)(task->start_ns + 1));
	if (!task || !t->splits || !tasks_add_dead(t, task))
		task_free(task);
}

ssize_t tasks_find_gone(struct tasks *t, uint64_t at_ns, bool (*is_gone)(uint32_t tid),
			uint32_t **ret)
{
	uint32_t *gone = calloc(t->by_tid.n_used + 1, sizeof(*gone));
	struct task *task;
	ssize_t n = 0;

	if (!gone)
		return -ENOMEM;
	for (size_t pos = 0; (task = table_next(&t->by_tid, &pos));) {
		if (task->gone_ns && task->gone_ns < at_ns)
			gone[n++] = task->tid;
		/*
		 * The record of the end of this task may not have arrived yet, so the task counts
		 * as gone only from the next call on.
		 */
		else if (!task->gone_ns && is_gone(task->tid))
			task->gone_ns = clock_boot_ns();
	}
	*ret = gone;
	return n;
}

int tasks_give_name(struct tasks *t, uint32_t koid, const char *name, size_t n)
{
	uint32_t tid = fxt_koid_tid(koid);
	struct task *task = tasks_get(t, tid);
	char *copy;

	if (!task || tasks_koid(t, tid) != koid)
		return 0;
	copy = strndup(name, n);
	if (!copy)
		return -ENOMEM;
	free(task->given_name);
	task->given_name = copy;
	return 0;
}

void tasks_drop_name(struct tasks *t, uint32_t tid)
{
	struct task *task = tasks_get(t, tid);

	if (task)
		task->given_name = free_ptr(task->given_name);
}

void tasks_describe(const struct tasks *t, const struct task *task, struct event *ret)
{
	uint32_t koid = tasks_koid(t, task->tid);

	*ret = (struct event){
		.kind = EVENT_TASK,
		.pid = tasks_koid(t, task->pid),
		.tid = koid,
		.task = {
			.comm = task->comm,
			.given_name = task->given_name,
			.command_line = task->command_line ? task->command_line : "",
			.start_ns = task->start_ns,
			.cgroup_id = task->cgroup_id,
			.cgroup_path = tasks_cgroup_path(t, task->cgroup_id),
			.parent_pid = tasks_koid(t, task->parent_pid),
			.uid = task->uid,
			.real_tid = koid != task->tid ? task->tid : 0,
			.is_process = task->tid == task->pid,
		},
	};
}
