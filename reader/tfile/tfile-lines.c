/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tfile/tfile-lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/tfile/tfile-wire.h"

void tfile_lines_deinit(struct tfile_lines *l)
{
	for (size_t i = 0; i < l->n_kept; i++)
		free(l->kept[i]);
	for (size_t i = 0; i < l->head.n_tracepoints; i++)
		for (unsigned k = 0; k < TFILE_LINES_LISTS; k++)
			free(l->points[i].lists[k].texts);
	free(l->kept);
	free(l->keys.texts);
	free(l->description.texts);
	free(l->others.texts);
	free(l->variables);
	free(l->tracepoints);
	free(l->points);
	table_deinit(&l->places);
}

static void tfile_lines_found(struct tfile_lines *l, enum tfile_finding_id id, uint64_t offset)
{
	if (l->finding)
		l->finding(l->userdata, id, offset);
}

static int tfile_lines_fail(struct tfile_lines *l, const char *what)
{
	l->damage = what;
	return 1;
}

/* ---- storage ---- */

/* Keeps a copy of the N bytes at P as a text. Returns NULL if there is no memory. */
static char *tfile_lines_keep(struct tfile_lines *l, const char *p, size_t n)
{
	char *copy;

	if (GROW(l->kept, l->kept_room, l->n_kept + 1) < 0)
		return NULL;
	copy = malloc(n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, p, n);
	copy[n] = '\0';
	return l->kept[l->n_kept++] = copy;
}

/* Appends a text to LIST. Returns like tfile_lines_add(). */
static int tfile_lines_append(struct tfile_lines *l, struct tfile_lines_texts *list,
			      const char *text)
{
	if (list->n >= TFILE_LIST_MAX)
		return tfile_lines_fail(l, "too many lines of one kind");
	if (GROW(list->texts, list->room, list->n + 1) < 0)
		return -ENOMEM;
	list->texts[list->n] = tfile_lines_keep(l, text, strlen(text));
	if (!list->texts[list->n])
		return -ENOMEM;
	list->n++;
	return 0;
}

/* ---- parts of lines ---- */

static int tfile_lines_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Parses a number up to MAX at *P, followed by END, and advances *P past END. Returns false if *P
 * is not such a number.
 */
static bool tfile_lines_number(const char **p, char end, uint64_t max, uint64_t *ret)
{
	const char *begin = *p;
	uint64_t value = 0;
	int digit;

	while ((digit = tfile_lines_digit(**p)) >= 0) {
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)digit;
		++*p;
	}
	if (*p == begin || **p != end || value > max)
		return false;
	*p += end != '\0';
	*ret = value;
	return true;
}

/* Converts N hexadecimal digits at P to bytes at TO. Returns their number, or -1. */
static ssize_t tfile_lines_bytes(const char *p, size_t n, uint8_t *to)
{
	for (size_t i = 0; i < n; i += 2) {
		int high = tfile_lines_digit(p[i]);
		int low = i + 1 < n ? tfile_lines_digit(p[i + 1]) : -1;

		if (high < 0 || low < 0)
			return -1;
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (ssize_t)(n / 2);
}

/*
 * Converts N hexadecimal digits at P to text, and stores it. Returns 1, 0 if the text cannot be
 * stored (it contains a NUL or a line feed), or -ENOMEM.
 */
static int tfile_lines_text(struct tfile_lines *l, const char *p, size_t n, const char **ret)
{
	char *text = tfile_lines_keep(l, p, n);
	ssize_t bytes;

	if (!text)
		return -ENOMEM;
	bytes = tfile_lines_bytes(p, n, (uint8_t *)text);
	if (bytes < 0 || memchr(text, '\0', (size_t)bytes) || memchr(text, '\n', (size_t)bytes))
		return 0;
	text[bytes] = '\0';
	*ret = text;
	return 1;
}

/* ---- status ---- */

/* Returns true if the N bytes at P are WORD. */
static bool tfile_lines_is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

/* Parses "hextext:number" or "number" after a reason. Returns as tfile_lines_text(). */
static int tfile_lines_reason(struct tfile_lines *l, struct tfile_status *s, unsigned stop,
			      const char *value)
{
	const char *colon = strchr(value, ':');
	uint64_t number;
	int r = 1;

	s->stop = stop;
	s->stop_text = NULL;
	if (colon && !tfile_stops[stop].has_text)
		return 0;
	if (colon && colon > value)
		r = tfile_lines_text(l, value, (size_t)(colon - value), &s->stop_text);
	if (r <= 0)
		return r;
	if (colon)
		value = colon + 1;
	if (!tfile_lines_number(&value, '\0', UINT32_MAX, &number))
		return 0;
	s->stop_tracepoint = (uint32_t)number;
	return 1;
}

/* Parses one "key:value"; the key has N bytes. Returns like tfile_lines_text(), or 2 if the key is
 * unknown. */
static int tfile_lines_status_item(struct tfile_lines *l, struct tfile_status *s, const char *item,
				   size_t n)
{
	const char *value = item + n + 1;

	for (unsigned i = 0; i < TFILE_STOPS; i++)
		if (tfile_lines_is(item, n, tfile_stops[i].name))
			return tfile_lines_reason(l, s, i, value);
	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_numbers); i++) {
		if (!tfile_lines_is(item, n, tfile_status_numbers[i].name))
			continue;
		if (!tfile_lines_number(&value, '\0', UINT64_MAX,
					(void *)((char *)s + tfile_status_numbers[i].offset)))
			return 0;
		s->has |= tfile_status_numbers[i].has;
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_texts); i++)
		if (tfile_lines_is(item, n, tfile_status_texts[i].name))
			return tfile_lines_text(l, value, strlen(value),
						(void *)((char *)s + tfile_status_texts[i].offset));
	return 2;
}

/* Parses the status line. Returns like tfile_lines_add(). */
static int tfile_lines_status(struct tfile_lines *l, const char *line, uint64_t offset)
{
	struct tfile_status status = { .running = *line == '1' };
	_cleanup_free_ char *copy = strdup(line);
	char *at = copy, *item;
	bool bad = *line != '0' && *line != '1';
	int r = 0;

	if (!copy)
		return -ENOMEM;
	l->keys.n = 0;
	strsep(&at, ";");
	while (r >= 0 && (item = strsep(&at, ";"))) {
		const char *colon = strchr(item, ':');

		r = !colon ? 0 : tfile_lines_status_item(l, &status, item, (size_t)(colon - item));
		bad |= r == 0 && *item;
		if (r == 2 && tfile_lines_append(l, &l->keys, item) != 0)
			return l->damage ? 1 : -ENOMEM;
	}
	if (r < 0)
		return r;
	if (bad)
		tfile_lines_found(l, TFILE_FINDING_BAD_LINE, offset);
	l->head.status = status;
	return 0;
}

/* ---- trace state variables ---- */

/*
 * Parses a trace state variable. Returns 1, 0 if the line is invalid, or -ENOMEM. The next
 * functions return the same, or 2 to stop reading.
 */
static int tfile_lines_variable(struct tfile_lines *l, const char *p)
{
	struct tfile_variable v = { 0 };
	uint64_t number, initial, builtin;
	int r;

	if (!tfile_lines_number(&p, ':', INT32_MAX, &number) ||
	    !tfile_lines_number(&p, ':', UINT64_MAX, &initial) ||
	    !tfile_lines_number(&p, ':', UINT64_MAX, &builtin))
		return 0;
	v.number = (uint32_t)number;
	v.initial = (int64_t)initial;
	v.builtin = builtin != 0;
	r = tfile_lines_text(l, p, strlen(p), &v.name);
	if (r <= 0)
		return r;
	if (l->head.n_variables >= TFILE_LIST_MAX)
		return 1 + tfile_lines_fail(l, "too many trace state variables");
	if (GROW(l->variables, l->variables_room, l->head.n_variables + 1) < 0)
		return -ENOMEM;
	l->variables[l->head.n_variables++] = v;
	return 1;
}

/* ---- tracepoints ---- */

/* Finds or adds the place of tracepoint NUMBER at ADDRESS. *RET is its index. */
static int tfile_lines_place(struct tfile_lines *l, uint32_t number, uint64_t address, size_t *ret)
{
	const uint64_t what[] = { number, address };
	uint64_t key = table_hash(what, sizeof(what));
	size_t n = l->head.n_tracepoints;
	void *found = table_get(&l->places, key);

	if (found) {
		*ret = (size_t)(uintptr_t)found - 1;
		return 1;
	}
	if (n >= TFILE_LIST_MAX)
		return 1 + tfile_lines_fail(l, "too many tracepoints");
	if (GROW(l->tracepoints, l->tracepoints_room, n + 1) < 0 ||
	    GROW(l->points, l->points_room, n + 1) < 0 ||
	    table_set(&l->places, key, (void *)(uintptr_t)(n + 1)) < 0)
		return -ENOMEM;
	l->tracepoints[n] = (struct tfile_tracepoint){ .number = number, .address = address };
	l->points[n] = (struct tfile_lines_point){ 0 };
	l->head.n_tracepoints++;
	*ret = n;
	return 1;
}

/* Parses "10,2201..." after X. Returns as tfile_lines_text(). */
static int tfile_lines_condition(struct tfile_lines *l, struct tfile_tracepoint *t, const char *p)
{
	uint64_t bytes;
	char *to;

	if (!tfile_lines_number(&p, ',', UINT32_MAX, &bytes) || strlen(p) != 2 * bytes || !bytes)
		return 0;
	to = tfile_lines_keep(l, p, bytes);
	if (!to)
		return -ENOMEM;
	if (tfile_lines_bytes(p, 2 * bytes, (uint8_t *)to) < 0)
		return 0;
	t->condition = (const uint8_t *)to;
	t->condition_bytes = bytes;
	return 1;
}

/*
 * Parses the part of a definition after its numbers: ":F5:S:X...". Returns as tfile_lines_text().
 */
static int tfile_lines_extras(struct tfile_lines *l, struct tfile_tracepoint *t, const char *p)
{
	_cleanup_free_ char *copy = strdup(p);
	char *at = copy, *item;
	uint64_t number;
	int r = 1;

	if (!copy)
		return -ENOMEM;
	while (r > 0 && (item = strsep(&at, ":"))) {
		const char *value = item + (*item != '\0');

		switch (*item) {
		case 'F':
			r = tfile_lines_number(&value, '\0', UINT32_MAX, &number);
			t->is_fast = r > 0;
			t->fast_bytes = r ? (uint32_t)number : 0;
			break;
		case 'S':
			t->is_static = true;
			break;
		case 'X':
			r = tfile_lines_condition(l, t, value);
			break;
		default:
			r = 0;
		}
	}
	return r;
}

/* Parses "E:0:0" and the part of a definition after it. */
static int tfile_lines_definition(struct tfile_lines *l, size_t at, const char *p)
{
	struct tfile_tracepoint t = l->tracepoints[at];
	const char *passes;
	char ends = ':';
	int r = 1;

	if ((*p != 'E' && *p != 'D') || p[1] != ':')
		return 0;
	t.disabled = *p == 'D';
	p += 2;
	if (!tfile_lines_number(&p, ':', UINT64_MAX, &t.steps))
		return 0;
	passes = p;
	if (!tfile_lines_number(&p, ends, UINT64_MAX, &t.passes)) {
		p = passes;
		if (!tfile_lines_number(&p, '\0', UINT64_MAX, &t.passes))
			return 0;
	} else {
		r = tfile_lines_extras(l, &t, p);
	}
	l->tracepoints[at] = t;
	l->points[at].defined = true;
	return r;
}

/* Parses the source of a tracepoint, "at:0:9:2a3078...". */
static int tfile_lines_source(struct tfile_lines *l, size_t at, const char *p)
{
	struct tfile_tracepoint *t = &l->tracepoints[at];
	const char *colon = strchr(p, ':'), *kind = p, *text;
	uint64_t start, length;
	size_t n;
	int r;

	if (!colon)
		return 0;
	n = (size_t)(colon - kind);
	p = colon + 1;
	/* Only texts in one piece are accepted: no program splits them, and GDB would use only the
	 * last piece. */
	if (!tfile_lines_number(&p, ':', 0, &start) ||
	    !tfile_lines_number(&p, ':', UINT32_MAX, &length) || strlen(p) != 2 * length)
		return 0;
	r = tfile_lines_text(l, p, 2 * length, &text);
	if (r <= 0)
		return r;
	if (tfile_lines_is(kind, n, TFILE_SOURCE_AT))
		t->at = text;
	else if (tfile_lines_is(kind, n, TFILE_SOURCE_CONDITION))
		t->condition_text = text;
	else if (tfile_lines_is(kind, n, TFILE_SOURCE_COMMAND))
		r = tfile_lines_append(l, &l->points[at].lists[TFILE_LINES_COMMANDS], text);
	else
		return 0;
	return r < 0 ? r : l->damage ? 2 : 1;
}

static int tfile_lines_counts(struct tfile_lines *l, size_t at, const char *p)
{
	struct tfile_tracepoint *t = &l->tracepoints[at];
	uint64_t hits, usage;

	if (!tfile_lines_number(&p, ':', UINT64_MAX, &hits) ||
	    !tfile_lines_number(&p, '\0', UINT64_MAX, &usage))
		return 0;
	t->hits = hits;
	t->usage_bytes = usage;
	t->has_counts = true;
	return 1;
}

static int tfile_lines_action(struct tfile_lines *l, size_t at, enum tfile_lines_list list,
			      const char *p)
{
	int r = tfile_lines_append(l, &l->points[at].lists[list], p);

	return r < 0 ? r : l->damage ? 2 : 1;
}

static int tfile_lines_tracepoint(struct tfile_lines *l, const char *p)
{
	char kind = *p;
	uint64_t number, address;
	size_t at;
	int r;

	if (!kind || !strchr("TASZV", kind))
		return 0;
	p++;
	if (!tfile_lines_number(&p, ':', TFILE_TRACEPOINT_MAX, &number) || number == 0 ||
	    !tfile_lines_number(&p, ':', UINT64_MAX, &address))
		return 0;
	r = tfile_lines_place(l, (uint32_t)number, address, &at);
	if (r != 1)
		return r;
	switch (kind) {
	case TFILE_TP_DEFINITION:
		return tfile_lines_definition(l, at, p);
	case TFILE_TP_ACTION:
		return tfile_lines_action(l, at, TFILE_LINES_ACTIONS, p);
	case TFILE_TP_STEP_ACTION:
		return tfile_lines_action(l, at, TFILE_LINES_STEP_ACTIONS, p);
	case TFILE_TP_SOURCE:
		return tfile_lines_source(l, at, p);
	default:
		return tfile_lines_counts(l, at, p);
	}
}

/* ---- lines ---- */

static int tfile_lines_registers(struct tfile_lines *l, const char *p)
{
	uint64_t bytes;

	if (!tfile_lines_number(&p, '\0', UINT64_MAX, &bytes))
		return 0;
	if (bytes < 1 || bytes > TFILE_REGISTERS_MAX)
		return 1 + tfile_lines_fail(l, "invalid size of the registers");
	l->head.register_bytes = (uint32_t)bytes;
	return 1;
}

static int tfile_lines_description(struct tfile_lines *l, const char *p)
{
	int r;

	/* A description that includes other files is refused: they would be searched on this
	 * machine, and not on the machine of the trace. */
	if (tfile_includes(p))
		return 1 +
		       tfile_lines_fail(l, "the description of the target includes other files");
	r = tfile_lines_append(l, &l->description, p);
	return r < 0 ? r : l->damage ? 2 : 1;
}

/* Returns true if LINE begins with WORD. *RET is the text after WORD. */
static bool tfile_lines_begins(const char *line, const char *word, const char **ret)
{
	*ret = line + strlen(word);
	return strncmp(line, word, strlen(word)) == 0;
}

/* Keeps an unknown line unchanged. */
static int tfile_lines_other(struct tfile_lines *l, const char *line, enum tfile_finding_id id,
			     uint64_t offset)
{
	tfile_lines_found(l, id, offset);
	return tfile_lines_append(l, &l->others, line);
}

static int tfile_lines_once(struct tfile_lines *l, bool *has, uint64_t offset)
{
	if (*has)
		tfile_lines_found(l, TFILE_FINDING_REPEATED_LINE, offset);
	*has = true;
	return 0;
}

/* Parses LINE, which ends with a NUL. Returns like tfile_lines_add(). */
static int tfile_lines_line(struct tfile_lines *l, const char *line, uint64_t offset)
{
	const char *p;
	int r;

	if (tfile_lines_begins(line, TFILE_LINE_REGISTERS, &p)) {
		tfile_lines_once(l, &l->has_registers, offset);
		r = tfile_lines_registers(l, p);
	} else if (tfile_lines_begins(line, TFILE_LINE_STATUS, &p)) {
		tfile_lines_once(l, &l->has_status, offset);
		return tfile_lines_status(l, p, offset);
	} else if (tfile_lines_begins(line, TFILE_LINE_VARIABLE, &p)) {
		r = tfile_lines_variable(l, p);
	} else if (tfile_lines_begins(line, TFILE_LINE_TRACEPOINT, &p)) {
		r = tfile_lines_tracepoint(l, p);
	} else if (tfile_lines_begins(line, TFILE_LINE_DESCRIPTION, &p)) {
		r = tfile_lines_description(l, p);
	} else {
		return tfile_lines_other(l, line, TFILE_FINDING_UNKNOWN_LINE, offset);
	}
	if (r == 0)
		return tfile_lines_other(l, line, TFILE_FINDING_BAD_LINE, offset);
	return r < 0 ? r : r == 2;
}

int tfile_lines_add(struct tfile_lines *l, const char *line, size_t n, uint64_t offset)
{
	_cleanup_free_ char *copy = malloc(n + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, line, n);
	copy[n] = '\0';
	if (n > TFILE_LINE_MAX)
		tfile_lines_found(l, TFILE_FINDING_LONG_LINE, offset);
	/* Readers ignore everything after a NUL. */
	if (memchr(line, '\0', n))
		tfile_lines_found(l, TFILE_FINDING_BAD_LINE, offset);
	return *copy ? tfile_lines_line(l, copy, offset) : 0;
}

static void tfile_lines_link(struct tfile_lines *l, uint64_t offset)
{
	bool ordered = true;

	for (size_t i = 0; i < l->head.n_tracepoints; i++) {
		const struct tfile_lines_texts *lists = l->points[i].lists;
		struct tfile_tracepoint *t = &l->tracepoints[i];

		t->actions = lists[TFILE_LINES_ACTIONS].texts;
		t->n_actions = lists[TFILE_LINES_ACTIONS].n;
		t->step_actions = lists[TFILE_LINES_STEP_ACTIONS].texts;
		t->n_step_actions = lists[TFILE_LINES_STEP_ACTIONS].n;
		t->commands = lists[TFILE_LINES_COMMANDS].texts;
		t->n_commands = lists[TFILE_LINES_COMMANDS].n;
		ordered &= i == 0 || t->number <= t[-1].number;
		if (!l->points[i].defined)
			tfile_lines_found(l, TFILE_FINDING_UNDEFINED_TRACEPOINT, offset);
	}
	if (!ordered)
		tfile_lines_found(l, TFILE_FINDING_ORDER, offset);
}

int tfile_lines_finish(struct tfile_lines *l, uint64_t offset)
{
	tfile_lines_link(l, offset);
	l->head.status.keys = l->keys.texts;
	l->head.status.n_keys = l->keys.n;
	l->head.variables = l->variables;
	l->head.tracepoints = l->tracepoints;
	l->head.description = l->description.texts;
	l->head.n_description = l->description.n;
	l->head.others = l->others.texts;
	l->head.n_others = l->others.n;
	if (!l->damage && !l->has_registers)
		return tfile_lines_fail(l, "no line with the size of the registers");
	if (!(l->head.status.has & TFILE_HAS_FRAMES))
		tfile_lines_found(l, TFILE_FINDING_NO_STATUS, offset);
	if (l->head.n_description == 0)
		tfile_lines_found(l, TFILE_FINDING_NO_DESCRIPTION, offset);
	return l->damage ? 1 : 0;
}

/* ---- maps ---- */

/* Unescapes the text at *P up to END to *TO, and adds a NUL. Advances *P and *TO. Returns the
 * unescaped text. */
static const char *tfile_lines_unescape(const char **p, const char *end, char **to)
{
	const char *ret = *to;

	while (*p < end) {
		uint8_t byte;

		if (**p == '%' && end - *p >= 3 && tfile_lines_bytes(*p + 1, 2, &byte) == 1) {
			*(*to)++ = (char)byte;
			*p += 3;
		} else {
			*(*to)++ = *(*p)++;
		}
	}
	*(*to)++ = '\0';
	return ret;
}

bool tfile_lines_map(const char *line, struct tfile_map *ret, char *text)
{
	const char *p, *space, *end = strstr(line, TFILE_MAP_END);

	if (strlen(line) > TFILE_LINE_MAX || !tfile_lines_begins(line, TFILE_MAP_BEGIN, &p) ||
	    !end || end < p || !tfile_lines_number(&p, ' ', UINT64_MAX, &ret->start) ||
	    !tfile_lines_number(&p, ' ', UINT64_MAX, &ret->end) ||
	    !tfile_lines_number(&p, ' ', UINT64_MAX, &ret->file_offset))
		return false;
	space = strchr(p, ' ');
	if (!space || space >= end)
		return false;
	ret->build_id = tfile_lines_unescape(&p, space, &text);
	if (strcmp(ret->build_id, TFILE_MAP_NO_BUILD_ID) == 0)
		ret->build_id = "";
	p++;
	ret->path = tfile_lines_unescape(&p, end, &text);
	return true;
}
