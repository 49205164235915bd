/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/python/python-names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python/python-code.h"
#include "model/frames.h"

enum {
	OVERHEAD = 48,  /* bytes that malloc() and the table take for each element */
	ADDRESSES = 16, /* from each place to the next */
	NAME_MAX_BYTES = 3 * PYTHON_NAME_BYTES + sizeof("..."),
	FILE_MAX_BYTES = 3 * PYTHON_FILE_BYTES + sizeof("..."),
};

struct python_code {
	uint32_t first_line, n_lines;
	const char *file; /* behind the name */
	const uint8_t *lines;
	char name[];
};

struct python_place {
	uint64_t address;
	uint32_t chunk; /* in which the name was written */
};

void python_names_deinit(struct python_names *p)
{
	table_deinit_free(&p->now);
	table_deinit_free(&p->before);
	table_deinit_free(&p->places);
}

/* ---- code objects ---- */

/* Returns the memory that CODE uses. */
static size_t python_names_bytes(const struct python_code *code)
{
	return (size_t)(code->lines - (const uint8_t *)code) + code->n_lines + OVERHEAD;
}

int python_names_add(struct python_names *p, const struct rec_python_code *rec)
{
	char name[NAME_MAX_BYTES], file[FILE_MAX_BYTES] = "...";
	size_t n_name, n_file, bytes, at = rec->file_is_cut ? strlen(file) : 0;
	struct python_code *code = table_get(&p->now, rec->id);

	if (code && (*code->name || rec->n_name == 0))
		return 0;
	if (code) {
		p->bytes -= python_names_bytes(code);
		free(table_remove(&p->now, rec->id));
	}
	python_code_text(rec->name, rec->n_name, rec->name_kind, name, sizeof(name) - 3);
	if (rec->name_is_cut)
		strcat(name, "...");
	python_code_text(rec->file, rec->n_file, rec->file_kind, file + at, sizeof(file) - at);
	n_name = strlen(name) + 1;
	n_file = strlen(file) + 1;
	bytes = n_name + n_file + rec->n_lines;
	code = table_make(&p->now, rec->id, sizeof(*code) + bytes);
	if (!code)
		return -ENOMEM;
	code->first_line = rec->first_line;
	code->n_lines = rec->n_lines;
	memcpy(code->name, name, n_name);
	memcpy(code->name + n_name, file, n_file);
	memcpy(code->name + n_name + n_file, rec->lines, rec->n_lines);
	code->file = code->name + n_name;
	code->lines = (const uint8_t *)code->name + n_name + n_file;
	p->bytes += python_names_bytes(code);
	return 0;
}

bool python_names_turn(struct python_names *p)
{
	if (p->bytes <= PYTHON_CODES_BYTES_MAX)
		return false;
	table_deinit_free(&p->before);
	p->before = p->now;
	p->now = (struct table){ 0 };
	p->bytes = 0;
	return true;
}

void python_names_forget_written(struct python_names *p)
{
	p->chunk++;
}

/* ---- places ---- */

/* A line of a function. */
struct python_line {
	const struct python_code *code; /* NULL = the function is unknown */
	uint64_t id;                    /* of CODE, or the word of an unknown function */
	uint32_t line;                  /* 0 = unknown */
};

static bool python_names_is_known(const struct python_line *at)
{
	return at->code && *at->code->name;
}

static const char *python_names_function(const struct python_line *at)
{
	if (python_names_is_known(at))
		return at->code->name;
	return at->id & PYTHON_IS_CUT ? PYTHON_NAME_CUT : PYTHON_NAME_UNKNOWN;
}

/* Returns the name of AT, whose address is ADDRESS, as an event. */
static struct event python_names_event(const struct python_stack *s, const struct python_line *at,
				       uint64_t address)
{
	return (struct event){
		.kind = EVENT_FRAME,
		.ts_ns = s->ts_ns,
		.frame = { .process = s->koid,
			   .address = address,
			   .function = python_names_function(at),
			   .source = at->code ? at->code->file : "",
			   .module = FRAMES_PYTHON_MODULE,
			   .line = at->line },
	};
}

/* Finds the function and the line of WORD, a frame of Python. */
static struct python_line python_names_line(const struct python_names *p, uint64_t word)
{
	uint32_t unit = (uint32_t)(word >> PYTHON_UNIT_SHIFT) & PYTHON_UNIT_MAX;
	struct python_line at = { .id = word & PYTHON_ID_MASK };

	if (at.id && !(word & PYTHON_IS_CUT))
		at.code = table_get(&p->now, at.id) ?: table_get(&p->before, at.id);
	if (!at.code)
		at.id = word & PYTHON_IS_CUT;
	else if (unit < PYTHON_UNIT_MAX)
		at.line = python_code_line(at.code->lines, at.code->n_lines, at.code->first_line,
					   unit);
	return at;
}

/* Returns the place of AT in the process of S, or NULL if there is no memory. */
static struct python_place *python_names_place(struct python_names *p, const struct python_stack *s,
					       const struct python_line *at)
{
	/* (a function whose name was unreadable can get one later) */
	const uint64_t key[] = { s->koid, at->id, at->line, python_names_is_known(at) };
	struct python_place *place;

	if (p->places.n_used >= PYTHON_PLACES_MAX)
		table_deinit_free(&p->places);
	place = table_make(&p->places, table_hash(key, sizeof(key)), sizeof(*place));
	if (place && !place->address) {
		if (!p->next_address)
			p->next_address = PYTHON_FIRST_ADDRESS;
		place->address = p->next_address;
		place->chunk = p->chunk - 1;
		p->next_address += ADDRESSES;
	}
	return place;
}

/* Gets the address of WORD, a frame of Python, and writes its name. */
static int python_names_address(struct python_names *p, const struct python_stack *s, uint64_t word,
				uint64_t *ret)
{
	const struct python_line at = python_names_line(p, word);
	struct python_place *place = python_names_place(p, s, &at);
	struct event ev;
	int r = 0;

	if (!place)
		return -ENOMEM;
	p->n_unknown += !python_names_is_known(&at) && !(word & PYTHON_IS_CUT);
	ev = python_names_event(s, &at, place->address);
	if (place->chunk != p->chunk)
		r = s->write(s->userdata, &ev);
	if (r == 0 && s->hold)
		r = s->hold(s->userdata, &ev);
	place->chunk = p->chunk;
	*ret = place->address;
	return r;
}

/* ---- stacks ---- */

/* A stack that is being put together. */
struct python_mix {
	const struct python_stack *stack;
	uint64_t *to;
	unsigned n;
	unsigned at, end; /* the frames of Python that are not there yet */
};

/* Adds the frames of Python that the next native frame executes. */
static int python_names_add_group(struct python_names *p, struct python_mix *m)
{
	const struct python_stack *s = m->stack;
	uint64_t word, address = 0;
	int r = 0;

	while (r == 0 && m->at < m->end) {
		word = s->frames[m->at++];
		r = python_names_address(p, s, word, &address);
		/* (readers look up the byte before a return address) */
		m->to[m->n] = address + (s->returns || m->n > 0);
		m->n++;
		if (word & PYTHON_IS_ENTRY)
			break;
	}
	return r;
}

/* The properties of a stack before it is put together. */
struct python_shape {
	unsigned n_native; /* number of native frames; the frames of Python follow them */
	unsigned n_eval;   /* number of native frames that execute Python */
	bool skips_bare;   /* the native frame with PYTHON_IS_BARE has no frame of Python */
	bool is_short;     /* the outermost native frames are missing */
};

static struct python_shape python_names_shape(const struct python_stack *s)
{
	struct python_shape shape = { .n_native = s->n };
	unsigned n_groups = 0;
	bool is_bare = false, is_cut;

	while (shape.n_native > 0 &&
	       (s->frames[shape.n_native - 1] & PYTHON_WORD_MASK) == PYTHON_WORD)
		shape.n_native--;
	for (unsigned i = 0; i < shape.n_native; i++) {
		if (!python_names_is_eval(s->frames[i]))
			continue;
		shape.n_eval++;
		is_bare |= (s->frames[i] & PYTHON_IS_BARE) != 0;
		shape.is_short |= (s->frames[i] & PYTHON_IS_SHORT) != 0;
	}
	for (unsigned i = shape.n_native; i < s->n; i++)
		n_groups += (s->frames[i] & PYTHON_IS_ENTRY) != 0;
	/*
	 * (PYTHON_IS_BARE is a guess of the eBPF program; a missing group proves that it is right)
	 */
	is_cut = shape.n_native < s->n && s->frames[s->n - 1] & PYTHON_IS_CUT;
	shape.skips_bare = is_bare && !is_cut && shape.n_eval > n_groups;
	return shape;
}

int python_names_expand(struct python_names *p, const struct python_stack *s, uint64_t *to)
{
	const struct python_shape shape = python_names_shape(s);
	struct python_mix m = { .stack = s, .to = to, .at = shape.n_native, .end = s->n };
	unsigned n_left = shape.n_eval - shape.skips_bare;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < shape.n_native; i++) {
		uint64_t frame = s->frames[i];
		bool is_eval = python_names_is_eval(frame);

		if (is_eval && !(shape.skips_bare && frame & PYTHON_IS_BARE)) {
			r = python_names_add_group(p, &m);
			/*
			 * This is the outermost native frame that executes Python, so all frames of
			 * Python that are left belong to it.
			 */
			for (n_left--; r == 0 && n_left == 0 && !shape.is_short && m.at < m.end;)
				r = python_names_add_group(p, &m);
		}
		to[m.n++] = is_eval ? frame & ~PYTHON_EVAL_FLAGS : frame;
	}
	/*
	 * The native stack is short, so the frames of Python that are left are the outermost ones.
	 */
	while (r == 0 && m.at < m.end)
		r = python_names_add_group(p, &m);
	return r < 0 ? r : (int)m.n;
}
