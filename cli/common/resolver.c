/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common/verb.h"
#include "reader/symbols/symbol-absence.h"
#include "writer/fxt/fxt-names.h"

/* The maximum number of processes that are looked up in /proc. */
enum { PROCESSES_MAX = 1 << 20 };

/* Missing names are counted for at most MODULES_MAX modules. */
enum { MODULES_MAX = 1 << 16, MODULES_SHOWN = 20 };

/* Clock snapshots of one boot differ only by adjustments of the wall clock. */
#define SAME_BOOT_NS ((int64_t)2 * 1000000000)

/*
 * The clocks of a snapshot are read one after the other, so a difference below this between two
 * snapshots is no adjustment.
 */
#define CLOCK_SET_NS UINT64_C(1000000)

struct resolver_process {
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0 = unknown */
	uint32_t pid;      /* pid of the process in the kernel */
	bool inspected, lives;
	enum symbol_runtime runtime; /* run-time compiler that the process has mapped */
};

/* Data of the machine's kernel. */
struct resolver_kernel {
	struct symbol_mapping mapping;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
};

/* The lookups in one module. */
struct resolver_module {
	const char *path; /* path in resolver.texts; "" = in no mapping */
	uint64_t n_asked, n_unnamed;
};

void resolver_init(struct resolver *r, struct symbols *symbols, const struct symbol_options *o)
{
	*r = (struct resolver){ .symbols = symbols, .has_sysroot = o->sysroot != NULL };
}

void resolver_deinit(struct resolver *r)
{
	table_deinit_free(&r->kernels);
	table_deinit_free(&r->processes);
	resolver_use(r, NULL);
}

void resolver_use(struct resolver *r, struct symbols *symbols)
{
	table_deinit_free(&r->modules);
	text_set_deinit(&r->texts);
	r->symbols = symbols;
	r->n_asked = r->n_named = 0;
}

/* ---- origin of the archive ---- */

static void resolver_on_start(struct resolver *r, const struct event *ev)
{
	struct utsname here;

	r->has_start = true;
	r->has_clock = false;
	r->other_host |= uname(&here) < 0 || strcmp(ev->start.host, here.nodename) != 0;
}

/* Handles a clock snapshot. The first snapshot after a start belongs to that recording; later ones
 * belong to adjustments of the wall clock. */
static void resolver_on_clock(struct resolver *r, const struct event *ev)
{
	const struct clock_snapshot now = clock_snapshot();
	uint64_t apart_ns = ev->clock.real_ns - ev->clock.boot_ns;
	int64_t apart = (int64_t)(now.real_ns - now.boot_ns - apart_ns);

	if (r->begin_ns == 0) {
		r->begin_ns = ev->clock.boot_ns;
		r->apart_ns = apart_ns;
	}
	r->is_set |= apart_ns + CLOCK_SET_NS < r->apart_ns || apart_ns > r->apart_ns + CLOCK_SET_NS;
	if (r->has_clock)
		return;
	r->has_clock = true;
	r->other_boot |= apart >= SAME_BOOT_NS || apart <= -SAME_BOOT_NS;
}

/* Returns true if the archive was recorded on this machine since its boot. */
static bool resolver_is_of_here(const struct resolver *r)
{
	return r->has_start && r->has_clock && !r->other_host && !r->other_boot;
}

static int resolver_on_task(struct resolver *r, const struct event *ev)
{
	uint64_t key = (uint64_t)ev->pid + 1;
	struct resolver_process *p;

	if (!ev->task.is_process ||
	    (r->processes.n_used >= PROCESSES_MAX && !table_get(&r->processes, key)))
		return 0;
	p = table_make(&r->processes, key, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct resolver_process){
		.start_ns = ev->task.start_ns ?: p->start_ns,
		.pid = ev->task.real_tid ?: ev->pid,
		.runtime = p->runtime,
	};
	return 0;
}

static int resolver_on_kernel(struct resolver *r, const struct event *ev)
{
	struct resolver_kernel *k;
	size_t n = ev->mapping.build_id_size;

	if (!maps_is_kthreadd(ev->pid) || strncmp(ev->mapping.path, "[kernel", 7) != 0)
		return 0;
	k = table_make(&r->kernels, ev->pid, sizeof(*k));
	if (!k)
		return -ENOMEM;
	if (n > sizeof(k->build_id))
		n = 0;
	if (n > 0)
		memcpy(k->build_id, ev->mapping.build_id, n);
	k->mapping = (struct symbol_mapping){
		.path = "[kernel.kallsyms]",
		.build_id = k->build_id,
		.n_build_id = n,
		.start = ev->mapping.start,
		.size = ev->mapping.size,
		.file_offset = ev->mapping.file_offset,
	};
	return 0;
}

static int resolver_on_mapping(struct resolver *r, const struct event *ev)
{
	struct resolver_process *p = table_get(&r->processes, (uint64_t)ev->pid + 1);
	enum symbol_runtime runtime = p ? symbol_runtime_of(ev->mapping.path) : 0;

	if (runtime)
		p->runtime = runtime;
	return resolver_on_kernel(r, ev);
}

int resolver_add(struct resolver *r, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_START:
		resolver_on_start(r, ev);
		return 0;
	case EVENT_CLOCK:
		resolver_on_clock(r, ev);
		return 0;
	case EVENT_TASK:
		return r->symbols ? resolver_on_task(r, ev) : 0;
	case EVENT_MAPPING:
		return resolver_on_mapping(r, ev);
	default:
		return 0;
	}
}

void resolver_forget(struct resolver *r, uint32_t pid)
{
	free(table_remove(&r->processes, (uint64_t)pid + 1));
}

/* ---- living processes ---- */

/* Returns the start time of process PID in clock ticks of CLOCK_BOOTTIME; -1 = no such process. */
static int64_t resolver_read_start_ticks(uint32_t pid)
{
	char path[32], line[1024];
	long long ticks = -1;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	/* The name of a process can contain any character, so fields are counted from the last
	 * parenthesis. */
	if (fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) &&
	    sscanf(end + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%lld",
		   &ticks) != 1)
		ticks = -1;
	fclose(f);
	return ticks;
}

/* Returns true if the process that has this pid now is the process in the archive. */
static bool resolver_is_alive(const struct resolver *r, struct resolver_process *p)
{
	int64_t ticks_a_second = sysconf(_SC_CLK_TCK), apart;

	if (!p || !resolver_is_of_here(r) || p->start_ns == 0 || ticks_a_second <= 0)
		return false;
	if (!p->inspected) {
		apart = resolver_read_start_ticks(p->pid) -
			(int64_t)(p->start_ns / (1000000000 / (uint64_t)ticks_a_second));
		p->inspected = true;
		p->lives = apart >= -1 && apart <= 1;
	}
	return p->lives;
}

/* ---- lookups ---- */

/*
 * Returns the wall clock of this machine at TS_NS of the archive (0 = at its begin), also for an
 * earlier boot. Returns 0 if the wall clock is unknown.
 */
static uint64_t resolver_wall_clock(const struct resolver *r, uint64_t ts_ns)
{
	bool known = r->has_start && r->has_clock && !r->other_host && !r->is_set;

	return known ? (ts_ns ?: r->begin_ns) + r->apart_ns : 0;
}

static struct symbol_mapping resolver_mapping_of(const struct profile_place *place,
						 const struct resolver_kernel *kernel)
{
	const struct mapping *m = place->mapping;

	if (!m)
		return kernel ? kernel->mapping : (struct symbol_mapping){ 0 };
	return (struct symbol_mapping){
		.path = m->path,
		.build_id = m->build_id,
		.n_build_id = m->build_id_size,
		.start = m->start,
		.size = m->size,
		.file_offset = m->file_offset,
		.device = m->device,
		.inode = m->inode,
	};
}

/* Fills the query for PLACE. Returns false if PLACE cannot be looked up. */
static bool resolver_make_query(struct resolver *r, const struct profile_place *place,
				struct symbol_query *ret)
{
	bool is_kernel = maps_is_kernel(place->address);
	const struct resolver_kernel *kernel =
		is_kernel ? table_get(&r->kernels, place->owner) : NULL;
	struct resolver_process *p = table_get(&r->processes, (uint64_t)place->owner + 1);

	*ret = (struct symbol_query){
		.kernel = is_kernel,
		.is_return = place->returns,
		.address = place->address,
		.mapping = resolver_mapping_of(place, kernel),
	};
	if (!is_kernel) {
		ret->mapping.mapped_ns =
			place->mapping ? resolver_wall_clock(r, place->mapping->ts_ns) : 0;
		ret->pid = p ? p->pid : 0;
		ret->began_ns = p && p->start_ns ? resolver_wall_clock(r, p->start_ns) : 0;
		ret->lives = resolver_is_alive(r, p);
		ret->runtime = p ? p->runtime : SYMBOL_RUNTIME_UNKNOWN;
		return true;
	}
	/* Without a build id, the start address identifies a kernel only while it runs. */
	return (place->mapping || kernel) &&
	       (ret->mapping.n_build_id > 0 || resolver_is_of_here(r));
}

/* Returns true if an unsure answer is likely to be right. */
static bool resolver_is_believed(const struct resolver *r, const struct symbol_query *query,
				 const struct symbol_frame *frame)
{
	return !frame->unsure || resolver_is_of_here(r) || (r->has_sysroot && !query->kernel);
}

/* Finds the frames at PLACE. Returns their number, or -ENOMEM. */
static int resolver_find_frames(struct resolver *r, const struct profile_place *place)
{
	const struct symbol_frame *found;
	struct symbol_query query;
	const char *module = NULL;
	bool known = false;
	size_t n;
	int e;

	if (!resolver_make_query(r, place, &query))
		return 0;
	e = symbols_resolve(r->symbols, &query, &found, &n);
	if (e < 0)
		return e;
	if (place->mapping) {
		module = text_set_keep_path(&r->texts, place->mapping->path);
		if (!module)
			return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		known |= found[i].function || found[i].source;
		r->frames[i] = (struct frame){
			.function = found[i].function ?: "",
			.source = found[i].source ?: "",
			.module = module ?: found[i].module ?: "",
			.line = found[i].line,
			.depth = (uint32_t)i,
		};
	}
	return known && resolver_is_believed(r, &query, &found[0]) ? (int)n : 0;
}

static int resolver_count(struct resolver *r, const struct profile_place *place, bool named)
{
	const char *path = text_set_keep(&r->texts, place->mapping ? place->mapping->path : "");
	struct resolver_module *m;

	if (!path)
		return -ENOMEM;
	if (r->modules.n_used >= MODULES_MAX && !table_get(&r->modules, (uintptr_t)path))
		return 0;
	m = table_make(&r->modules, (uintptr_t)path, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->path = path;
	m->n_asked++;
	m->n_unnamed += !named;
	return 0;
}

int resolver_find(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	struct resolver *r = userdata;
	int n, e;

	if (!r->symbols)
		return 0;
	n = resolver_find_frames(r, place);
	e = n < 0 ? n : resolver_count(r, place, n > 0);
	if (e < 0)
		return e;
	r->n_asked++;
	r->n_named += n > 0;
	*ret = r->frames;
	return n;
}

int resolver_called(struct resolver *r, const struct profile_place *place, const char **ret)
{
	struct symbol_query query;

	if (!r->symbols || !place->returns || !place->mapping ||
	    !resolver_make_query(r, place, &query))
		return 0;
	return symbols_called(r->symbols, &query, ret);
}

bool resolver_is_of_file(const struct profile_place *place)
{
	const struct symbol_mapping mapping = resolver_mapping_of(place, NULL);

	return symbols_is_of_file(&mapping);
}

int resolver_begins(struct resolver *r, const struct profile_place *place)
{
	struct symbol_query query;

	if (!r->symbols || !place->mapping || !resolver_make_query(r, place, &query))
		return -ENOENT;
	return symbols_begins(r->symbols, &query);
}

/* ---- missing names ---- */

DEFINE_ORDER_OF_POINTERS(compare_modules, struct resolver_module,
			 COMPARE(y->n_unnamed, x->n_unnamed) ?: strcmp(x->path, y->path))

/*
 * Returns the modules as a new list (free() it), sorted by the number of unnamed addresses, largest
 * first; and their number.
 */
static const struct resolver_module **resolver_sort_modules(const struct resolver *r, size_t *ret_n)
{
	return (const struct resolver_module **)table_sorted(&r->modules, compare_modules, ret_n);
}

void resolver_print_missing(const struct resolver *r)
{
	size_t pos = 0, n = 0, n_modules;
	_cleanup_free_ const struct resolver_module **list = resolver_sort_modules(r, &n_modules);
	const struct symbol_problem *problem;

	for (; n < n_modules && list[n]->n_unnamed > 0; n++)
		if (n < MODULES_SHOWN)
			fprintf(stderr, "  %" PRIu64 " of %" PRIu64 " without a name: %s\n",
				list[n]->n_unnamed, list[n]->n_asked,
				*list[n]->path ? list[n]->path : "(not mapped)");
	if (n > MODULES_SHOWN)
		fprintf(stderr, "  ... and in %zu more modules (--json shows all)\n",
			n - MODULES_SHOWN);
	while (r->symbols && (problem = symbols_next_problem(r->symbols, &pos)))
		cli_error("%s: %s", problem->file, problem->what);
}

struct json_object *resolver_json_modules(const struct resolver *r)
{
	size_t n;
	_cleanup_free_ const struct resolver_module **list = resolver_sort_modules(r, &n);

	return JSON_LIST(m, list, n,
			 JSON_OBJECT(JSON("module", (*m)->path), JSON("addresses", (*m)->n_asked),
				     JSON("unnamed", (*m)->n_unnamed)));
}

struct json_object *resolver_json_problems(const struct resolver *r)
{
	struct json_object *array = json_object_new_array();
	const struct symbol_problem *problem;
	size_t pos = 0;

	while (r->symbols && (problem = symbols_next_problem(r->symbols, &pos))) {
		json_append_item(array, JSON_OBJECT(JSON_OF(problem, file),
						    JSON("problem", problem->what)));
	}
	return array;
}
