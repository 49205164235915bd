/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process has a list of programs, one per exec, newest first. A program has a sorted set of
 * ranges that do not overlap, and a list of covered ranges. Processes share a set from the fork
 * until one of them changes it.
 */
#include "model/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/array.h"

/* The koids of each machine begin at a multiple of 1 << FXT_KOID_TID_BITS. */
enum { MACHINES_MAX = 1 << (32 - FXT_KOID_TID_BITS) };

/* The maximum number of ancestors examined for the mappings of a process. */
enum { ANCESTORS_MAX = 16 };

/*
 * The part of a mapping that no other mapping covers. LAST is inclusive, so that a range can
 * contain the last address of the address space.
 */
struct range {
	uint64_t first, last;
	struct mapping *mapping; /* a counted reference */
};

/* A part of a mapping that was covered by another one at UNTIL_NS. */
struct covered {
	struct range range;
	uint64_t until_ns;
};

struct set {
	unsigned n_refs;
	struct range *ranges; /* sorted by address */
	size_t n_ranges, room_ranges;
	struct covered *covered; /* covered ranges; only with MAPS_OF_ALL_TIMES */
	size_t n_covered, room_covered;
};

struct program {
	uint64_t from_ns;
	struct set *set; /* a counted reference; NULL = nothing is mapped */
	/*
	 * An exec maps its program first. Lists of a process's mappings begin with the program,
	 * except for code without a file. BEGINS: an exec or a list has begun, and none of its
	 * files was mapped yet.
	 */
	bool begins;
	/* Hash of the first file that was mapped after `begins` was set; 0 = unknown. */
	uint64_t file;
	struct program *older;
};

struct process {
	uint32_t pid, parent;
	bool known; /* an exec, a fork or mappings of this process were seen */
	bool ended; /* the process ended at ended_ns */
	uint64_t ended_ns;
	uint64_t version;
	struct program program;
};

struct maps {
	enum maps_mode mode;
	struct table processes; /* pid + 1 -> struct process */
	uint64_t last_number, last_version;
	uint64_t begin_ns; /* begin of the first archive */
	uint64_t n_mappings, n_dropped;
	size_t bytes;                 /* bytes used by mappings and ranges */
	size_t bytes_max, of_one_max; /* limits from maps_bound() */
	/* one bit for each possible first koid of a machine */
	uint64_t machines[MACHINES_MAX / 64];
};

/* ---- ownership ---- */

static size_t maps_bytes_of_mapping(const struct mapping *mapping)
{
	return sizeof(*mapping) + mapping->build_id_size +
	       (mapping->path ? strlen(mapping->path) : 0);
}

static void maps_unref_mapping(struct maps *m, struct mapping *mapping)
{
	if (--mapping->n_refs > 0)
		return;
	m->bytes -= maps_bytes_of_mapping(mapping);
	free(mapping->path);
	free(mapping->build_id);
	free(mapping);
	m->n_mappings--;
}

static void maps_unref_set(struct maps *m, struct set *set)
{
	if (!set || --set->n_refs > 0)
		return;
	for (size_t i = 0; i < set->n_ranges; i++)
		maps_unref_mapping(m, set->ranges[i].mapping);
	for (size_t i = 0; i < set->n_covered; i++)
		maps_unref_mapping(m, set->covered[i].range.mapping);
	m->bytes -= set->room_ranges * sizeof(*set->ranges);
	free(set->ranges);
	free(set->covered);
	free(set);
}

/* Discards the programs older than P. */
static void maps_forget_older(struct maps *m, struct program *p)
{
	struct program *next;

	for (struct program *old = p->older; old; old = next) {
		next = old->older;
		maps_unref_set(m, old->set);
		free(old);
	}
	p->older = NULL;
}

static void maps_free_process(struct maps *m, struct process *p)
{
	if (!p)
		return;
	maps_forget_older(m, &p->program);
	maps_unref_set(m, p->program.set);
	free(p);
}

int maps_new(struct maps **ret, enum maps_mode mode)
{
	struct maps *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->mode = mode;
	m->machines[0] = 1;
	maps_bound(m, SIZE_MAX, SIZE_MAX);
	*ret = m;
	return 0;
}

void maps_bound(struct maps *m, size_t bytes, size_t of_one)
{
	m->bytes_max = bytes;
	m->of_one_max = of_one;
}

struct maps *maps_free(struct maps *m)
{
	struct process *p;

	if (!m)
		return NULL;
	for (size_t pos = 0; (p = table_next(&m->processes, &pos));)
		maps_free_process(m, p);
	table_deinit(&m->processes);
	return free_ptr(m);
}

/* ---- processes ---- */

static struct process *maps_find_process(const struct maps *m, uint32_t pid)
{
	return table_get(&m->processes, (uint64_t)pid + 1);
}

static struct process *maps_get_process(struct maps *m, uint32_t pid)
{
	struct process *p = table_make(&m->processes, (uint64_t)pid + 1, sizeof(*p));

	if (p)
		p->pid = pid;
	return p;
}

/* Returns the process PID, or the ancestor whose mappings PID has. */
static struct process *maps_process_to_query(const struct maps *m, uint32_t pid)
{
	struct process *p = maps_find_process(m, pid);

	for (unsigned i = 0; p && !p->known && p->parent != 0 && i < ANCESTORS_MAX; i++)
		p = maps_find_process(m, p->parent);
	return p;
}

/*
 * Begins a new program of P with the mappings SET. The previous program is kept as an older one;
 * with MAPS_OF_NOW, it is discarded.
 */
static int maps_begin_program(struct maps *m, struct process *p, uint64_t ts_ns, struct set *set)
{
	if (m->mode == MAPS_OF_ALL_TIMES && p->program.set) {
		struct program *old = malloc(sizeof(*old));

		if (!old)
			return -ENOMEM;
		*old = p->program;
		p->program.older = old;
	} else {
		maps_unref_set(m, p->program.set);
	}
	if (set)
		set->n_refs++;
	p->program = (struct program){ .from_ns = ts_ns, .set = set, .older = p->program.older };
	p->known = true;
	p->version = ++m->last_version;
	return 0;
}

/* ---- sets ---- */

DEFINE_ORDER_OF_POINTERS(compare_numbers, struct mapping, COMPARE(x->number, y->number))

/* Returns the first range that ends at or after ADDRESS. */
static size_t maps_lower_bound(const struct set *set, uint64_t address)
{
	return ARRAY_FIRST(i, 0, set->n_ranges, set->ranges[i].last >= address);
}

static int maps_insert_range(struct maps *m, struct set *set, size_t at, struct range range)
{
	size_t room = set->room_ranges;

	if (GROW(set->ranges, set->room_ranges, set->n_ranges + 1) < 0)
		return -ENOMEM;
	m->bytes += (set->room_ranges - room) * sizeof(range);
	memmove(&set->ranges[at + 1], &set->ranges[at], (set->n_ranges - at) * sizeof(range));
	set->ranges[at] = range;
	set->n_ranges++;
	range.mapping->n_refs++;
	return 0;
}

static void maps_remove_range(struct maps *m, struct set *set, size_t at)
{
	struct mapping *mapping = set->ranges[at].mapping;

	set->n_ranges--;
	memmove(&set->ranges[at], &set->ranges[at + 1],
		(set->n_ranges - at) * sizeof(*set->ranges));
	maps_unref_mapping(m, mapping);
}

static int maps_keep_covered(struct set *set, struct range range, uint64_t until_ns)
{
	if (GROW(set->covered, set->room_covered, set->n_covered + 1) < 0)
		return -ENOMEM;
	set->covered[set->n_covered++] = (struct covered){ range, until_ns };
	range.mapping->n_refs++;
	return 0;
}

/* Unmaps FIRST..LAST. */
static int maps_cover(struct maps *m, struct set *set, uint64_t first, uint64_t last,
		      uint64_t ts_ns)
{
	size_t i = maps_lower_bound(set, first);
	int r = 0;

	while (r == 0 && i < set->n_ranges && set->ranges[i].first <= last) {
		struct range whole = set->ranges[i], hidden = whole;

		hidden.first = whole.first > first ? whole.first : first;
		hidden.last = whole.last < last ? whole.last : last;
		if (m->mode == MAPS_OF_ALL_TIMES)
			r = maps_keep_covered(set, hidden, ts_ns);
		if (r == 0 && whole.last > last)
			r = maps_insert_range(m, set, i + 1,
					      (struct range){ last + 1, whole.last,
							      whole.mapping });
		if (r < 0)
			break;
		if (whole.first < first)
			set->ranges[i++].last = first - 1;
		else
			maps_remove_range(m, set, i);
	}
	return r;
}

static int maps_copy_set(struct maps *m, const struct set *from, struct set **ret)
{
	struct set *set = calloc(1, sizeof(*set));
	int r = set ? 0 : -ENOMEM;

	if (set)
		set->n_refs = 1;
	for (size_t i = 0; r == 0 && from && i < from->n_ranges; i++)
		r = maps_insert_range(m, set, i, from->ranges[i]);
	for (size_t i = 0; r == 0 && from && i < from->n_covered; i++)
		r = maps_keep_covered(set, from->covered[i].range, from->covered[i].until_ns);
	if (r < 0) {
		maps_unref_set(m, set);
		return r;
	}
	*ret = set;
	return 0;
}

/* Gives P's program its own copy of the set if the set is shared. */
static int maps_own_set(struct maps *m, struct process *p)
{
	struct set *set;
	int r;

	if (p->program.set && p->program.set->n_refs == 1)
		return 0;
	r = maps_copy_set(m, p->program.set, &set);
	if (r < 0)
		return r;
	maps_unref_set(m, p->program.set);
	p->program.set = set;
	return 0;
}

/* Lists the mappings of SET in the order in which they were added, each one once. The caller frees
 * the list. Returns their number, or -ENOMEM. */
static ssize_t maps_list_mappings(const struct set *set, struct mapping ***ret)
{
	struct mapping **list = malloc((set->n_ranges + 1) * sizeof(struct mapping *));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < set->n_ranges; i++)
		list[i] = set->ranges[i].mapping;
	SORT(list, set->n_ranges, compare_numbers);
	for (size_t i = 0; i < set->n_ranges; i++)
		if (n == 0 || list[n - 1] != list[i])
			list[n++] = list[i];
	*ret = list;
	return (ssize_t)n;
}

/* Removes the mappings before NUMBER from SET. */
static void maps_remove_before(struct maps *m, struct set *set, uint64_t number)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_ranges; i++) {
		if (set->ranges[i].mapping->number >= number)
			set->ranges[n++] = set->ranges[i];
		else
			maps_unref_mapping(m, set->ranges[i].mapping);
	}
	set->n_ranges = n;
}

/*
 * Called when SET is full. Removes an eighth of its mappings at once, since each call examines all
 * of them.
 */
static int maps_make_room(struct maps *m, struct set *set)
{
	_cleanup_free_ struct mapping **list = NULL;
	ssize_t n = maps_list_mappings(set, &list), gone = n / 8;

	if (n < 0)
		return (int)n;
	maps_remove_before(m, set, list[gone]->number);
	m->n_dropped += (uint64_t)gone;
	return 0;
}

/* ---- events ---- */

/* Returns a hash of the file of MAPPING and of its position in the address space; never 0. */
static uint64_t maps_code_of(const struct mapping *mapping)
{
	const uint64_t key[] = {
		mapping->start - mapping->file_offset,
		mapping->device,
		mapping->inode,
		table_hash(mapping->path, strlen(mapping->path)),
		mapping->build_id_size ? table_hash(mapping->build_id, mapping->build_id_size) : 0,
	};

	return table_hash(key, sizeof(key));
}

/*
 * Returns true if EV maps the file of PROGRAM itself. If an earlier mapping can be missing, the
 * first file can be a library.
 */
static bool maps_is_of_program(struct program *program, const struct event *ev)
{
	const char *path = ev->mapping.path;
	const uint64_t key[] = { ev->mapping.device, ev->mapping.inode,
				 table_hash(path, strlen(path)) };
	uint64_t file = table_hash(key, sizeof(key));

	/* ("//anon" is no file) */
	if (path[0] != '/' || path[1] == '/')
		return false;
	if (program->begins)
		program->file = file;
	program->begins = false;
	return program->file == file;
}

/*
 * Counts the mapping EV of P as dropped. Files that are mapped later are not taken for the first
 * file of P.
 */
static void maps_drop_mapping(struct maps *m, struct process *p, const struct event *ev)
{
	if (p)
		maps_is_of_program(&p->program, ev);
	m->n_dropped++;
}

static struct mapping *maps_make_mapping(struct maps *m, const struct event *ev)
{
	struct mapping *mapping = calloc(1, sizeof(*mapping));

	if (!mapping)
		return NULL;
	*mapping = (struct mapping){
		.pid = ev->pid,
		.ts_ns = ev->ts_ns <= m->begin_ns ? 0 : ev->ts_ns,
		.start = ev->mapping.start,
		.size = ev->mapping.size,
		.file_offset = ev->mapping.file_offset,
		.device = ev->mapping.device,
		.inode = ev->mapping.inode,
		.path = strdup(ev->mapping.path),
		.module_id = ev->mapping.module_id,
		.build_id_size = ev->mapping.build_id_size,
		.build_id = malloc(ev->mapping.build_id_size + 1),
		.n_refs = 1,
	};
	m->n_mappings++;
	m->bytes += maps_bytes_of_mapping(mapping);
	if (!mapping->path || !mapping->build_id) {
		maps_unref_mapping(m, mapping);
		return NULL;
	}
	if (mapping->build_id_size)
		memcpy(mapping->build_id, ev->mapping.build_id, mapping->build_id_size);
	mapping->code = maps_code_of(mapping);
	mapping->number = ++m->last_number;
	return mapping;
}

static int maps_add_mapping(struct maps *m, const struct event *ev)
{
	uint64_t first = ev->mapping.start, last = first + ev->mapping.size - 1;
	struct process *p;
	struct mapping *mapping;
	struct set *set;
	int r;

	if (ev->mapping.size == 0 || last < first)
		return 0;
	if (m->n_mappings >= MAPS_MAX || m->bytes >= m->bytes_max) {
		maps_drop_mapping(m, maps_find_process(m, ev->pid), ev);
		return 0;
	}
	p = maps_get_process(m, ev->pid);
	r = p ? maps_own_set(m, p) : -ENOMEM;
	if (r < 0)
		return r;
	/* (The head of an archive lists all mappings of a process. In a part that was cut out, the
	 * list comes before the begin of the session.) */
	p->program.begins |=
		!p->known && (m->begin_ns == 0 || ev->ts_ns <= m->begin_ns) && m->n_dropped == 0;
	p->known = true;
	p->version = ++m->last_version;
	set = p->program.set;
	mapping = maps_make_mapping(m, ev);
	if (!mapping)
		return -ENOMEM;
	mapping->is_program = maps_is_of_program(&p->program, ev);
	r = maps_cover(m, set, first, last, ev->ts_ns);
	if (r == 0 && set->n_ranges >= m->of_one_max)
		r = maps_make_room(m, set);
	if (r == 0)
		r = maps_insert_range(m, set, maps_lower_bound(set, first),
				      (struct range){ first, last, mapping });
	maps_unref_mapping(m, mapping);
	return r;
}

/* Records the machine of a process whose own koid is KOID, and which is PID in this archive. */
static void maps_add_machine(struct maps *m, uint32_t pid, uint32_t koid)
{
	uint32_t at = (pid - koid) >> FXT_KOID_TID_BITS;

	if (pid >= koid && ((pid - koid) & FXT_KOID_TID_MASK) == 0)
		m->machines[at / 64] |= UINT64_C(1) << at % 64;
}

/* Handles a fork. A new thread of the same process changes nothing. */
static int maps_add_fork(struct maps *m, const struct event *ev)
{
	struct process *parent, *child;
	int r;

	if (ev->fork.child_pid == ev->pid)
		return 0;
	parent = maps_process_to_query(m, ev->pid);
	if (!parent || !parent->known)
		return 0;
	child = maps_get_process(m, ev->fork.child_pid);
	if (!child)
		return -ENOMEM;
	/* If the child was seen before its fork, it already has its own mappings. */
	if (child->known)
		return 0;
	r = maps_begin_program(m, child, ev->ts_ns, parent->program.set);
	if (r < 0)
		return r;
	child->program.begins = parent->program.begins;
	child->program.file = parent->program.file;
	return 0;
}

static int maps_add_exec(struct maps *m, const struct event *ev)
{
	struct process *p = maps_get_process(m, ev->pid);
	int r = p ? maps_begin_program(m, p, ev->ts_ns, NULL) : -ENOMEM;

	if (r == 0)
		p->program.begins = true;
	return r;
}

static int maps_add_task(struct maps *m, const struct event *ev)
{
	struct process *p;

	if (!ev->task.is_process || ev->task.parent_pid == 0 || ev->task.parent_pid == ev->pid ||
	    maps_find_process(m, ev->pid))
		return 0;
	p = maps_get_process(m, ev->pid);
	if (!p)
		return -ENOMEM;
	p->parent = ev->task.parent_pid;
	return 0;
}

void maps_remove(struct maps *m, uint32_t pid)
{
	maps_free_process(m, table_remove(&m->processes, (uint64_t)pid + 1));
}

static void maps_add_exit(struct maps *m, const struct event *ev)
{
	struct process *p = ev->exit.process_ends ? maps_find_process(m, ev->pid) : NULL;

	if (!p)
		return;
	if (m->mode == MAPS_OF_NOW) {
		maps_remove(m, ev->pid);
		return;
	}
	p->ended = true;
	p->ended_ns = ev->ts_ns;
}

int maps_add(struct maps *m, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_START:
		if (m->begin_ns == 0)
			m->begin_ns = ev->ts_ns;
		maps_add_machine(m, ev->pid, FXT_KOID_KYMO);
		return 0;
	case EVENT_MAPPING:
		if (maps_is_kernel(ev->mapping.start))
			maps_add_machine(m, ev->pid, FXT_KOID_KTHREADD);
		return maps_add_mapping(m, ev);
	case EVENT_FORK:
		return maps_add_fork(m, ev);
	case EVENT_EXEC:
		return maps_add_exec(m, ev);
	case EVENT_TASK:
		return maps_add_task(m, ev);
	case EVENT_EXIT:
		maps_add_exit(m, ev);
		return 0;
	default:
		return 0;
	}
}

/* ---- discarding ---- */

/* Discards programs that ended before BEFORE_NS. A program ends when the next newer one begins. */
static void maps_forget_programs(struct maps *m, struct program *newest, uint64_t before_ns)
{
	struct program *p = newest;

	while (p->older && p->from_ns >= before_ns)
		p = p->older;
	maps_forget_older(m, p);
}

static void maps_forget_covered(struct maps *m, struct set *set, uint64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_covered; i++) {
		if (set->covered[i].until_ns >= before_ns)
			set->covered[n++] = set->covered[i];
		else
			maps_unref_mapping(m, set->covered[i].range.mapping);
	}
	set->n_covered = n;
}

/*
 * Discards processes that ended before BEFORE_NS. Returns false if more processes may have to be
 * removed.
 */
static bool maps_forget_ended(struct maps *m, uint64_t before_ns)
{
	uint32_t pids[256];
	size_t n = 0;
	struct process *p;

	for (size_t pos = 0; n < ARRAY_SIZE(pids) && (p = table_next(&m->processes, &pos));)
		if (p->ended && p->ended_ns < before_ns)
			pids[n++] = p->pid;
	for (size_t i = 0; i < n; i++)
		maps_remove(m, pids[i]);
	return n < ARRAY_SIZE(pids);
}

void maps_forget(struct maps *m, uint64_t before_ns)
{
	struct process *p;

	while (!maps_forget_ended(m, before_ns))
		;
	for (size_t pos = 0; (p = table_next(&m->processes, &pos));) {
		maps_forget_programs(m, &p->program, before_ns);
		for (struct program *q = &p->program; q; q = q->older)
			if (q->set)
				maps_forget_covered(m, q->set, before_ns);
	}
}

/* ---- look-up ---- */

/* Returns the first range at ADDRESS that was covered later than TS_NS, or NULL. */
static const struct mapping *maps_find_covered(const struct set *set, uint64_t address,
					       uint64_t ts_ns)
{
	for (size_t i = 0; i < set->n_covered; i++) {
		const struct covered *c = &set->covered[i];

		if (address >= c->range.first && address <= c->range.last && ts_ns < c->until_ns &&
		    ts_ns >= c->range.mapping->ts_ns)
			return c->range.mapping;
	}
	return NULL;
}

const struct mapping *maps_find(const struct maps *m, uint32_t pid, uint64_t address,
				uint64_t ts_ns)
{
	const struct process *p = maps_process_to_query(m, pid);
	const struct program *program;
	const struct range *range;
	const struct set *set;
	size_t i;

	if (!p)
		return NULL;
	program = &p->program;
	while (m->mode == MAPS_OF_ALL_TIMES && program->older && ts_ns < program->from_ns)
		program = program->older;
	set = program->set;
	if (!set)
		return NULL;
	i = maps_lower_bound(set, address);
	range = i < set->n_ranges && set->ranges[i].first <= address ? &set->ranges[i] : NULL;
	if (m->mode == MAPS_OF_NOW || (range && range->mapping->ts_ns <= ts_ns))
		return range ? range->mapping : NULL;
	return maps_find_covered(set, address, ts_ns);
}

uint64_t maps_version(const struct maps *m, uint32_t pid)
{
	const struct process *p = maps_process_to_query(m, pid);

	return p ? p->version : 0;
}

uint32_t maps_owner(const struct maps *m, uint32_t pid, uint64_t address)
{
	uint32_t at = pid >> FXT_KOID_TID_BITS;

	if (!maps_is_kernel(address))
		return pid;
	while (!(m->machines[at / 64] >> at % 64 & 1)) /* bit 0 is always set */
		at--;
	return (at << FXT_KOID_TID_BITS) + FXT_KOID_KTHREADD;
}

static int maps_each_of(const struct process *p, maps_fn fn, void *userdata)
{
	_cleanup_free_ struct mapping **list = NULL;
	ssize_t n = p->program.set ? maps_list_mappings(p->program.set, &list) : 0;
	int r = n < 0 ? (int)n : 0;

	for (ssize_t i = 0; r == 0 && i < n; i++)
		r = fn(userdata, p->pid, list[i]);
	return r;
}

int maps_each(const struct maps *m, maps_fn fn, void *userdata)
{
	const struct process *p;
	int r = 0;

	for (size_t pos = 0; r == 0 && (p = table_next(&m->processes, &pos));)
		r = maps_each_of(p, fn, userdata);
	return r;
}

uint64_t maps_n_dropped(const struct maps *m)
{
	return m->n_dropped;
}
