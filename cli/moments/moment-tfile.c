/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/moments/moment-tfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/moments/moment-libraries.h"
#include "reader/places/places.h"
#include "model/koids.h"
#include "model/moment-data.h"
#include "model/moment-values.h"
#include "writer/tfile/tfile-writer.h"
#include "writer/tfile/tfile-x86-64.h"

enum {
	LIBRARIES_MAX = 256,
	BLOCKS_MAX = MOMENT_PLAN_LOADS_MAX + MOMENT_PLAN_TSVS_MAX + 20,
	COMMAND_BYTES = 400, /* sufficient for the names of all variables of a point */
	BUILD_ID_TEXT_MAX = 2 * 64 + 1,
};

/* Numbers of trace state variables. */
enum {
	VAR_TIMESTAMP = 1,
	VAR_TIME,
	VAR_PID,
	VAR_TID,
	VAR_CPU,
	VAR_HIT,
	VAR_COUNTERS, /* number of the first counter of points */
	COUNTERS_MAX = 256,
};

static const struct tfile_variable moment_tfile_variables[] = {
	{ VAR_TIMESTAMP, 0, true, TFILE_VARIABLE_TIMESTAMP },
	{ VAR_TIME, 0, false, TFILE_VARIABLE_TIME },
	{ VAR_PID, 0, false, TFILE_VARIABLE_PID },
	{ VAR_TID, 0, false, TFILE_VARIABLE_TID },
	{ VAR_CPU, 0, false, TFILE_VARIABLE_CPU },
	{ VAR_HIT, 0, false, "hit" },
};

struct moment_hit {
	struct event ev;
	void *data;   /* data of the event; owned */
	uint32_t run; /* number of the process's run */
};

/* A file that a process had mapped. */
struct moment_tfile_kept {
	char *path, *build_id; /* both owned */
	uint64_t start, size, file_offset;
};

struct moment_tfile_process {
	struct moment_tfile_kept *files; /* files of all programs of the process; owned */
	uint32_t *runs;                  /* run of each file; owned */
	size_t n, room, runs_room;
	uint32_t run; /* number of calls of exec so far */
};

static void moment_tfile_free_process(struct moment_tfile_process *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->files[i].path);
		free(p->files[i].build_id);
	}
	free(p->files);
	free(p->runs);
}

void moment_tfile_deinit(struct moment_tfile *t)
{
	struct moment_tfile_process *p;

	for (size_t i = 0; i < t->n; i++)
		free(t->hits[i].data);
	free(t->hits);
	for (size_t pos = 0; (p = table_next(&t->processes, &pos));)
		moment_tfile_free_process(p);
	table_deinit_free(&t->processes);
	moment_store_deinit(&t->store);
}

/* ---- input ---- */

static struct moment_tfile_process *moment_tfile_process_of(struct moment_tfile *t, uint32_t pid)
{
	return table_make(&t->processes, (uint64_t)pid + 1, sizeof(struct moment_tfile_process));
}

static int moment_tfile_on_hit(struct moment_tfile *t, const struct event *ev)
{
	const struct moment_tfile_process *p = moment_tfile_process_of(t, ev->pid);
	struct moment_hit *hit;

	if (!p || GROW(t->hits, t->room, t->n + 1) < 0)
		return -ENOMEM;
	hit = &t->hits[t->n];
	*hit = (struct moment_hit){
		.ev = *ev,
		.data = malloc(ev->moment.n_bytes),
		.run = p->run,
	};
	if (!hit->data)
		return -ENOMEM;
	memcpy(hit->data, ev->moment.data, ev->moment.n_bytes);
	hit->ev.moment.data = hit->data;
	t->n++;
	return 0;
}

static int moment_tfile_keep(struct moment_tfile_process *p, const struct moment_tfile_kept *file)
{
	struct moment_tfile_kept copy = *file;

	copy.path = strdup(file->path);
	copy.build_id = strdup(file->build_id);
	if (!copy.path || !copy.build_id || GROW(p->files, p->room, p->n + 1) < 0 ||
	    GROW(p->runs, p->runs_room, p->n + 1) < 0) {
		free(copy.path);
		free(copy.build_id);
		return -ENOMEM;
	}
	p->files[p->n] = copy;
	p->runs[p->n++] = p->run;
	return 0;
}

static int moment_tfile_on_mapping(struct moment_tfile *t, const struct event *ev)
{
	struct moment_tfile_process *p = moment_tfile_process_of(t, ev->pid);
	char build_id[BUILD_ID_TEXT_MAX] = "";

	if (*ev->mapping.path != '/')
		return 0;
	for (uint32_t i = 0; i < ev->mapping.build_id_size && i * 2 + 2 < BUILD_ID_TEXT_MAX; i++)
		snprintf(build_id + i * 2, 3, "%02x", ev->mapping.build_id[i]);
	return p ? moment_tfile_keep(p,
				     &(struct moment_tfile_kept){
					     .path = (char *)ev->mapping.path,
					     .build_id = build_id,
					     .start = ev->mapping.start,
					     .size = ev->mapping.size,
					     .file_offset = ev->mapping.file_offset,
				     })
		 : -ENOMEM;
}

/* Handles a fork: the child inherits the mappings of its parent. */
static int moment_tfile_on_fork(struct moment_tfile *t, const struct event *ev)
{
	struct moment_tfile_process *to = moment_tfile_process_of(t, ev->fork.child_pid);
	const struct moment_tfile_process *from = table_get(&t->processes, (uint64_t)ev->pid + 1);
	int r = to ? 0 : -ENOMEM;

	if (!from || ev->fork.child_pid == ev->pid)
		return r;
	for (size_t i = 0; r == 0 && i < from->n; i++)
		if (from->runs[i] == from->run)
			r = moment_tfile_keep(to, &from->files[i]);
	return r;
}

static int moment_tfile_on_exec(struct moment_tfile *t, const struct event *ev)
{
	struct moment_tfile_process *p = moment_tfile_process_of(t, ev->pid);

	if (p)
		p->run++;
	return p ? 0 : -ENOMEM;
}

int moment_tfile_on_event(void *tfile, const struct event *ev)
{
	struct moment_tfile *t = tfile;
	int r = moment_store_add(&t->store, ev);

	if (r < 0)
		return r;
	switch (ev->kind) {
	case EVENT_MOMENT:
		return moment_tfile_on_hit(t, ev);
	case EVENT_MAPPING:
		return moment_tfile_on_mapping(t, ev);
	case EVENT_FORK:
		return moment_tfile_on_fork(t, ev);
	case EVENT_EXEC:
		return moment_tfile_on_exec(t, ev);
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_CALLS]) == 0)
			t->n_lost += ev->lost.count;
		return 0;
	default:
		return 0;
	}
}

DEFINE_ORDER(moment_tfile_compare_runs, struct moment_tfile_run,
	     COMPARE(x->pid, y->pid) ?: COMPARE(x->number, y->number))

int moment_tfile_runs(const struct moment_tfile *t, struct moment_tfile_run **ret, size_t *ret_n)
{
	struct moment_tfile_run *runs = calloc(t->n + 1, sizeof(*runs));
	size_t n = 0;

	if (!runs)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		runs[i] = (struct moment_tfile_run){ t->hits[i].ev.pid, t->hits[i].run };
	SORT(runs, t->n, moment_tfile_compare_runs);
	for (size_t i = 0; i < t->n; i++)
		if (n == 0 || moment_tfile_compare_runs(&runs[n - 1], &runs[i]) != 0)
			runs[n++] = runs[i];
	*ret = runs;
	*ret_n = n;
	return 0;
}

/* ---- mapped files ---- */

struct moment_tfile_files {
	struct tfile_script script;
	struct tfile_script_file libraries[LIBRARIES_MAX];
	struct tfile_map maps[LIBRARIES_MAX];
	size_t n;
	struct moment_libraries list; /* memory with the list of libraries, for each frame; owned */
};

static void moment_tfile_files_freep(struct moment_tfile_files **f)
{
	if (*f)
		moment_libraries_deinit(&(*f)->list);
	free(*f);
}

/*
 * Returns the load bias of the file, from the addresses of its code. If the file is unreadable, its
 * addresses are assumed to equal its file offsets.
 */
static uint64_t moment_tfile_bias(const struct moment_tfile_kept *file)
{
	const struct places_options none = { 0 };
	_cleanup_(places_freep) struct places *p = NULL;
	char why[PLACES_WHY_MAX];
	uint64_t vaddr = file->file_offset;

	if (places_open(&p, file->path, &none, why, sizeof(why)) == 0)
		places_address(p, file->file_offset, &vaddr);
	return file->start - vaddr;
}

/* Adds a file. The first file that is not a library is the program. */
static void moment_tfile_add_file(struct moment_tfile_files *f,
				  const struct moment_tfile_kept *file)
{
	struct tfile_script_file known = { .path = file->path, .build_id = file->build_id };

	if (f->n == LIBRARIES_MAX)
		return;
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->maps[i].path, file->path) == 0)
			return;
	known.bias = moment_tfile_bias(file);
	f->maps[f->n++] = (struct tfile_map){ .start = file->start,
					      .end = file->start + file->size,
					      .file_offset = file->file_offset,
					      .build_id = file->build_id,
					      .path = file->path };
	if (!f->script.program.path && !strstr(strrchr(file->path, '/'), ".so"))
		f->script.program = known;
	else
		f->libraries[f->script.n_libraries++] = known;
}

static int moment_tfile_add_files(struct moment_tfile_files *f, const struct moment_tfile *t,
				  const struct moment_tfile_run *run)
{
	const struct moment_tfile_process *p = table_get(&t->processes, (uint64_t)run->pid + 1);
	int r = -ENOEXEC;

	for (size_t i = 0; p && i < p->n; i++)
		if (p->runs[i] == run->number)
			moment_tfile_add_file(f, &p->files[i]);
	if (f->script.program.path)
		r = moment_libraries_make(&f->list, &f->script.program, f->libraries,
					  f->script.n_libraries);
	if (r == -ENOMEM)
		return r;
	f->script.libraries = f->libraries;
	f->script.has_link_map = r == 0;
	if (r == 0)
		f->script.n_libraries = 0;
	return 0;
}

/* ---- frames ---- */

static void moment_tfile_registers(const struct event *ev, uint8_t to[TFILE_X86_64_BYTES])
{
	uint64_t r[EVENT_MOMENT_REGISTERS];

	for (unsigned i = 0; i < EVENT_MOMENT_REGISTERS; i++)
		r[i] = moment_data_register(ev, i);
	tfile_x86_64_put(to, &(struct tfile_x86_64){
				     .rax = r[0],
				     .rdx = r[1],
				     .rcx = r[2],
				     .rbx = r[3],
				     .rsi = r[4],
				     .rdi = r[5],
				     .rbp = r[6],
				     .rsp = r[7],
				     .r8 = r[8],
				     .r9 = r[9],
				     .r10 = r[10],
				     .r11 = r[11],
				     .r12 = r[12],
				     .r13 = r[13],
				     .r14 = r[14],
				     .r15 = r[15],
				     .rip = r[16],
				     .eflags = (uint32_t)r[17],
				     .cs = 0x33,
				     .ss = 0x2b,
			     });
}

/* The contents of one file. */
struct moment_tfile_part {
	struct tfile_tracepoint *points; /* sorted by number; owned */
	size_t n_points;
	struct tfile_script_frame *frames; /* owned */
	size_t n_frames, room;
	struct tfile_variable variables[VAR_COUNTERS + COUNTERS_MAX];
	size_t n_variables;
};

/* The actions of a tracepoint as GDB commands. */
struct moment_tfile_commands {
	const char *list[1 + MOMENT_PLAN_TSVS_MAX];
	char texts[1 + MOMENT_PLAN_TSVS_MAX][COMMAND_BYTES];
	size_t n;
};

static void moment_tfile_part_init(struct moment_tfile_part *p)
{
	p->n_variables = ARRAY_SIZE(moment_tfile_variables);
	memcpy(p->variables, moment_tfile_variables, sizeof(moment_tfile_variables));
}

static void moment_tfile_part_deinit(struct moment_tfile_part *p)
{
	for (size_t i = 0; i < p->n_points; i++)
		free((void *)p->points[i].commands);
	free(p->points);
	free(p->frames);
}

/*
 * Returns the number of the counter NAME, which is added if it is new. Returns 0 if another
 * variable has this name, or there is no room.
 */
static uint32_t moment_tfile_find_counter(struct moment_tfile_part *p, const char *name)
{
	for (size_t i = 0; i < p->n_variables; i++)
		if (strcmp(p->variables[i].name, name) == 0)
			return p->variables[i].number >= VAR_COUNTERS ? p->variables[i].number : 0;
	if (p->n_variables == ARRAY_SIZE(p->variables))
		return 0;
	p->variables[p->n_variables] = (struct tfile_variable){
		.number = (uint32_t)p->n_variables + 1,
		.name = name,
	};
	return p->variables[p->n_variables++].number;
}

static struct tfile_block moment_tfile_variable(uint32_t number, uint64_t value)
{
	return (struct tfile_block){ .kind = TFILE_VARIABLE,
				     .variable = { number, (int64_t)value } };
}

/* Makes the blocks of the counters. Returns their number. */
static size_t moment_tfile_counters(struct moment_tfile_part *p, const struct moment_plan *plan,
				    const struct event *ev, struct tfile_block *to)
{
	size_t n = 0;

	for (uint32_t i = 0; plan && i < plan->n_tsvs; i++) {
		uint32_t number = moment_tfile_find_counter(p, plan->tsvs[i].name);
		uint64_t value;

		if (number && moment_values_tsv(plan, ev, i, &value))
			to[n++] = moment_tfile_variable(number, value);
	}
	return n;
}

static struct tfile_block moment_tfile_memory(uint64_t at, const struct outbuf *bytes)
{
	return (struct tfile_block){ .kind = TFILE_MEMORY,
				     .memory = { at, bytes->data, bytes->size } };
}

/* Makes the blocks of the list of libraries. Returns their number. */
static size_t moment_tfile_libraries(const struct moment_libraries *l, struct tfile_block *to)
{
	if (!l->list.size)
		return 0;
	to[0] = moment_tfile_memory(l->head_at, &l->head);
	to[1] = moment_tfile_memory(l->dynamic_at, &l->dynamic);
	to[2] = moment_tfile_memory(l->list_at, &l->list);
	return 3;
}

static int moment_tfile_frame(struct tfile_writer *w, struct moment_tfile_part *p,
			      const struct moment_libraries *libraries,
			      const struct moment_plan *plan, const struct event *ev)
{
	const uint64_t values[] = {
		[VAR_TIMESTAMP] = ev->ts_ns / 1000,
		[VAR_TIME] = ev->ts_ns,
		[VAR_PID] = ev->pid & FXT_KOID_TID_MASK,
		[VAR_TID] = ev->tid & FXT_KOID_TID_MASK,
		[VAR_CPU] = ev->cpu,
		[VAR_HIT] = ev->moment.hit,
	};
	struct tfile_block blocks[BLOCKS_MAX];
	uint8_t registers[TFILE_X86_64_BYTES];
	struct moment_data_block b;
	uint32_t at = 0;
	size_t n = 0;

	moment_tfile_registers(ev, registers);
	blocks[n++] = (struct tfile_block){ .kind = TFILE_REGISTERS,
					    .registers = { registers, sizeof(registers) } };
	for (uint32_t i = VAR_TIMESTAMP; i < ARRAY_SIZE(values); i++)
		blocks[n++] = moment_tfile_variable(i, values[i]);
	n += moment_tfile_counters(p, plan, ev, blocks + n);
	n += moment_tfile_libraries(libraries, blocks + n);
	while (n < BLOCKS_MAX && moment_data_next(ev, &at, &b))
		if (b.bytes > 0 && b.address)
			blocks[n++] = (struct tfile_block){
				.kind = TFILE_MEMORY,
				.memory = { b.address, b.data, (size_t)b.bytes },
			};
	return tfile_writer_frame(w, &(struct tfile_frame){ .tracepoint = ev->moment.point + 1,
							    .blocks = blocks,
							    .n_blocks = n });
}

/* ---- files ---- */

/* Returns the commands of a point of PLAN (NULL = unknown). Returns NULL if there is no memory. */
static struct moment_tfile_commands *moment_tfile_commands_new(struct moment_tfile_part *p,
							       const struct moment_plan *plan)
{
	struct moment_tfile_commands *c = calloc(1, sizeof(*c));
	size_t at;

	if (!c)
		return NULL;
	at = (size_t)snprintf(c->texts[0], COMMAND_BYTES, "collect $regs");
	c->list[c->n++] = c->texts[0];
	for (uint32_t i = 0; plan && i < plan->n_tsvs; i++) {
		const char *name = plan->tsvs[i].name;

		if (!moment_tfile_find_counter(p, name))
			continue;
		at += (size_t)snprintf(c->texts[0] + at, COMMAND_BYTES - at, ", $%s", name);
		if (!plan->tsvs[i].is_counted)
			continue;
		snprintf(c->texts[c->n], COMMAND_BYTES, "teval $%s=$%s+1", name, name);
		c->list[c->n] = c->texts[c->n];
		c->n++;
	}
	return c;
}

/* Notes the point of EV. In this process, its address is the instruction pointer in EV. */
static int moment_tfile_note_point(struct moment_tfile_part *p, const struct moment_plan *plan,
				   const struct event *ev)
{
	struct moment_tfile_commands *commands;
	size_t i = 0, room = p->n_points;

	while (i < p->n_points && p->points[i].number != ev->moment.point + 1)
		i++;
	if (i < p->n_points)
		return 0;
	if (GROW(p->points, room, p->n_points + 1) < 0)
		return -ENOMEM;
	commands = moment_tfile_commands_new(p, plan);
	if (!commands)
		return -ENOMEM;
	p->points[p->n_points++] = (struct tfile_tracepoint){
		.number = ev->moment.point + 1,
		.address = moment_data_register(ev, MOMENT_DATA_IP),
		.passes = plan ? plan->stop : 0,
		.commands = commands->list,
		.n_commands = commands->n,
	};
	return 0;
}

static int moment_tfile_note_frame(struct moment_tfile_part *p, const struct moment_plan *plan,
				   const struct event *ev)
{
	if (GROW(p->frames, p->room, p->n_frames + 1) < 0)
		return -ENOMEM;
	p->frames[p->n_frames] = (struct tfile_script_frame){
		.number = (uint32_t)p->n_frames,
		.tracepoint = ev->moment.point + 1,
		.tid = ev->tid & FXT_KOID_TID_MASK,
		.ts_ns = ev->ts_ns,
		.text = plan ? plan->name : "",
	};
	p->n_frames++;
	return 0;
}

/* Collects the frames of RUN, from *AT on. */
static int moment_tfile_frames(const struct moment_tfile *t, const struct moment_tfile_run *run,
			       const struct moment_libraries *libraries, size_t *at, bool *ret_more,
			       struct tfile_writer *w, struct moment_tfile_part *p)
{
	int r = 0;

	for (*ret_more = false; r == 0 && *at < t->n; ++*at) {
		const struct event *ev = &t->hits[*at].ev;
		const struct moment_plan *plan;

		if (ev->pid != run->pid || t->hits[*at].run != run->number ||
		    ev->moment.point >= TFILE_TRACEPOINT_MAX)
			continue;
		if (w->frames == TFILE_FRAMES_GOOD) {
			*ret_more = true;
			return 0;
		}
		plan = moment_store_plan(&t->store, ev);
		r = moment_tfile_note_point(p, plan, ev)
			    ?: moment_tfile_note_frame(p, plan, ev)
				       ?: moment_tfile_frame(w, p, libraries, plan, ev);
	}
	return r;
}

static int moment_tfile_head(const struct moment_tfile *t, const struct moment_tfile_part *p,
			     const struct moment_tfile_files *files, struct outbuf *to)
{
	struct tfile_head head = {
		.register_bytes = TFILE_X86_64_BYTES,
		.status = { .stop = TFILE_STOP_COMMAND,
			    .has = TFILE_HAS_FRAMES | TFILE_HAS_CREATED,
			    .frames = p->n_frames,
			    .created = p->n_frames + t->n_lost },
		.variables = p->variables,
		.n_variables = p->n_variables,
		.tracepoints = p->points,
		.n_tracepoints = p->n_points,
		.maps = files->maps,
		.n_maps = files->n,
	};

	head.description = tfile_x86_64_description(&head.n_description);
	return tfile_writer_head(to, &head);
}

int moment_tfile_write(const struct moment_tfile *t, const struct moment_tfile_run *run,
		       const char *path, size_t *at, bool *ret_more, struct outbuf *trace,
		       struct outbuf *script)
{
	_cleanup_(moment_tfile_files_freep) struct moment_tfile_files *files =
		calloc(1, sizeof(*files));
	_cleanup_(moment_tfile_part_deinit) struct moment_tfile_part part = { 0 };
	_cleanup_(outbuf_deinit) struct outbuf frames = { 0 };
	struct tfile_writer w;
	int r;

	if (!files)
		return -ENOMEM;
	moment_tfile_part_init(&part);
	r = moment_tfile_add_files(files, t, run);
	files->script.trace = path;
	tfile_writer_init(&w, &frames, TFILE_X86_64_BYTES, TFILE_LITTLE);
	r = r ?: moment_tfile_frames(t, run, &files->list, at, ret_more, &w, &part)
		    ?: tfile_writer_end(&w) ?: moment_tfile_head(t, &part, files, trace)
		    ?: outbuf_append(trace, frames.data, frames.size);
	files->script.frames = part.frames;
	files->script.n_frames = part.n_frames;
	return r ?: tfile_script_write(script, &files->script);
}
