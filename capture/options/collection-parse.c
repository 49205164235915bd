/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a collection with inih, which splits lines into keys and values. inih gets one line at a
 * time, so that the line of each key is known.
 *
 * inih reports only the first line that it cannot parse. inih cuts lines and names that are longer
 * than its buffers, continues the previous key with a line that begins with a space, and ignores
 * sections without keys. So each line is checked before inih gets it. A line that should contain a
 * key, but for which inih reports none, is an error.
 */
#include "capture/options/collection-parse.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/collection-rows.h"

enum {
	INI_NAME_MAX = 49, /* inih cuts longer names of sections and keys */
	SHOWN_MAX = 60,    /* how much of the file's text a message shows at most */
	COMPLAINTS_MAX = 100,
};

struct complaint {
	unsigned line;
	char text[COLLECTION_TEXT_MAX];
};

struct parser {
	struct collection c;
	FILE *file;
	char *text; /* the current line */
	size_t room, bytes;
	unsigned line;
	unsigned *lines; /* the first line that has the key of each row; 0 = no line yet */
	bool expected;   /* inih should find a key in the line that it got last */
	int error;       /* -EINVAL after a complaint, or another errno */
	struct complaint *complaints;
	size_t room_complaints;
	size_t n_complaints; /* number of all complaints; only COMPLAINTS_MAX are stored */
};

static void collection_complain(struct parser *p, unsigned line, const char *text)
{
	struct complaint *one;

	if (p->error == 0)
		p->error = -EINVAL;
	if (p->n_complaints == COMPLAINTS_MAX)
		return;
	if (GROW(p->complaints, p->room_complaints, p->n_complaints + 1) < 0) {
		p->error = -ENOMEM;
		return;
	}
	one = &p->complaints[p->n_complaints++];
	one->line = line;
	text_clean(one->text, sizeof(one->text), text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void collection_add_complaint(struct parser *p,
									   const char *format, ...)
{
	char text[COLLECTION_TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	collection_complain(p, p->line, text);
}

static void collection_on_check_complaint(unsigned line, const char *text, void *userdata)
{
	collection_complain(userdata, line, text);
}

/* ---- lines ---- */

static bool collection_section_is_known(const char *name)
{
	OPTION_FOR_EACH(row)
		if (row->key && strcmp(row->section, name) == 0)
			return true;
	return false;
}

static const char *collection_nearest_section(const char *name)
{
	struct value_nearest near = { .text = name, .distance = VALUE_NEAR };

	OPTION_FOR_EACH(row)
		if (row->key)
			value_nearest_try(&near, row->section);
	return near.nearest;
}

/* Checks "[NAME]", which a comment can follow. */
static bool collection_check_section(struct parser *p, const char *text)
{
	const char *end = strchr(text, ']'), *behind, *nearest;
	char name[INI_NAME_MAX + 1];

	if (!end || end - text - 1 > INI_NAME_MAX) {
		collection_add_complaint(p, "'%.*s' is not a section: expected [Name]", SHOWN_MAX,
					 text);
		return false;
	}
	memcpy(name, text + 1, (size_t)(end - text - 1));
	name[end - text - 1] = '\0';
	behind = end + 1 + strspn(end + 1, " \t");
	if (*behind && *behind != ';' && *behind != '#')
		collection_add_complaint(p, "unexpected text '%.*s' after [%s]", SHOWN_MAX, behind,
					 name);
	if (!collection_section_is_known(name)) {
		nearest = collection_nearest_section(name);
		collection_add_complaint(p, "there is no section [%s]%s%s%s", name,
					 nearest ? "; did you mean [" : "", nearest ?: "",
					 nearest ? "]?" : "");
	}
	return true;
}

/* Returns true if the line TEXT of N bytes can be passed to inih, whose buffer has ROOM bytes. */
static bool collection_check_line(struct parser *p, const char *text, size_t n, size_t room)
{
	size_t key = strcspn(text, "=:");

	if (strlen(text) != n || !text_is_utf8(text, n)) {
		collection_add_complaint(
			p, "the line is not text: it contains a NUL, or is not UTF-8");
		return false;
	}
	/* A line feed and a NUL are added to the line. */
	if (n + 2 >= room) {
		collection_add_complaint(p, "the line is longer than %zu bytes", room - 3);
		return false;
	}
	if (*text == '[')
		return collection_check_section(p, text);
	if (*text == '\0' || *text == '#' || *text == ';')
		return true;
	if (text[key] == ':' || key > INI_NAME_MAX) {
		collection_add_complaint(p, "'%.*s' is not of the form Key=value", SHOWN_MAX, text);
		return false;
	}
	p->expected = true;
	return true;
}

static void collection_check_expected(struct parser *p)
{
	if (p->expected)
		collection_add_complaint(p,
					 "this is neither [Section], Key=value nor a comment (#)");
	p->expected = false;
}

/* Gives the next line to inih, like fgets(). */
static char *collection_next_line(char *to, int room, void *userdata)
{
	struct parser *p = userdata;
	ssize_t n;
	char *text;

	collection_check_expected(p);
	n = p->error == 0 || p->error == -EINVAL ? getline(&p->text, &p->room, p->file) : -1;
	if (n < 0) {
		if (ferror(p->file) && !p->error)
			p->error = -EIO;
		return NULL;
	}
	p->line++;
	p->bytes += (size_t)n;
	if (p->bytes > COLLECTION_BYTES_MAX) {
		collection_add_complaint(p, "the file is longer than %d bytes",
					 COLLECTION_BYTES_MAX);
		return NULL;
	}
	while (n > 0 && strchr("\r\n", p->text[n - 1]) && p->text[n - 1])
		p->text[--n] = '\0';
	text = p->text;
	if (p->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3; /* the byte order mark of some editors */
	text += strspn(text, " \t");
	if (!collection_check_line(p, text, (size_t)(n - (text - p->text)), (size_t)room))
		text = p->text + n; /* inih gets an empty line instead */
	snprintf(to, (size_t)room, "%s\n", text);
	return to;
}

/* ---- keys ---- */

static void collection_unknown_key(struct parser *p, const char *section, const char *key)
{
	const struct option_row *nearest = NULL;
	unsigned best = VALUE_NEAR;

	OPTION_FOR_EACH(row) {
		unsigned d = row->key ? value_distance(key, row->key) : best + 1;

		/* Of two keys that are equally similar, the one of the same section is better. */
		if (d < best || (nearest && d == best && strcmp(row->section, section) == 0 &&
				 strcmp(nearest->section, section) != 0)) {
			best = d;
			nearest = row;
		}
	}
	if (!nearest)
		collection_add_complaint(p, "there is no key %s= in [%s]; kymo.conf(5) lists them",
					 key, section);
	else if (strcmp(nearest->section, section) == 0)
		collection_add_complaint(p, "there is no key %s= in [%s]; did you mean %s=?", key,
					 section, nearest->key);
	else
		collection_add_complaint(p,
					 "there is no key %s= in [%s]; did you mean %s= of [%s]?",
					 key, section, nearest->key, nearest->section);
}

static void collection_parse_key(struct parser *p, const struct option_row *row, const char *value)
{
	unsigned *line = &p->lines[row - option_rows];
	char why[VALUE_WHY_MAX];
	int r;

	if (*line && !(row->flags & OPTION_LIST))
		collection_add_complaint(
			p, "%s= is given twice, in line %u and here: remove one of them", row->key,
			*line);
	else if (*value == '\0')
		collection_add_complaint(p, "%s= has no value: add one, or remove the line",
					 row->key);
	else if ((r = collection_parse_value(row, &p->c, value, why)) == -EINVAL)
		collection_add_complaint(p, "%s=: %s", row->key, why);
	else if (r < 0)
		p->error = r;
	if (*line == 0)
		*line = p->line;
}

/* Called by inih with each key and its value. */
static int collection_on_key(void *userdata, const char *section, const char *key,
			     const char *value)
{
	struct parser *p = userdata;

	const struct option_row *row = collection_row_of(section, key);

	p->expected = false;
	if (*section == '\0') {
		collection_add_complaint(
			p,
			"%s= is outside of all sections: [Collection] or another section must "
			"come first",
			key);
		return 1;
	}
	/* The unknown section has already been reported. */
	if (!collection_section_is_known(section))
		return 1;
	if (row)
		collection_parse_key(p, row, value);
	else
		collection_unknown_key(p, section, key);
	return 1;
}

/* ---- the whole file ---- */

/* Sets the defaults. These limit disk usage even if the administrator has set no limit. */
static int collection_fill_in(struct parser *p, const char *name)
{
	struct collection *c = &p->c;
	struct session_options *o = &c->session;

	strcpy(o->name, name);
	c->directory_line = collection_line_of(p->lines, "Output", "Directory");
	if (o->mode == SESSION_STREAM && !collection_line_of(p->lines, "Output", "RotateSize") &&
	    !collection_line_of(p->lines, "Output", "RotateTime"))
		o->rotate_bytes = COLLECTION_ROTATE_BYTES_DEFAULT;
	if (!collection_line_of(p->lines, "Output", "KeepSize") &&
	    !collection_line_of(p->lines, "Output", "KeepTime"))
		c->keep_bytes = COLLECTION_KEEP_BYTES_DEFAULT > o->rotate_bytes
					? COLLECTION_KEEP_BYTES_DEFAULT
					: 2 * o->rotate_bytes;
	if ((o->mode == SESSION_FLIGHT || triggers_wanted(&o->triggers)) &&
	    !o->triggers.interval_ns)
		o->triggers.interval_ns = COLLECTION_TRIGGER_NS_DEFAULT;
	if (!c->directory && asprintf(&c->directory, COLLECTION_DIRECTORY_PREFIX "/%s", name) < 0) {
		c->directory = NULL;
		return -ENOMEM;
	}
	if (asprintf(&o->command, "profile %s%s%s", name, c->description ? ": " : "",
		     c->description ?: "") < 0) {
		o->command = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int collection_parse(struct parser *p, const char *name)
{
	int r = ini_parse_stream(collection_next_line, p, collection_on_key, p);

	collection_check_expected(p);
	if (r == -2)
		return -ENOMEM;
	if (p->error < 0 && p->error != -EINVAL)
		return p->error;
	collection_check(&p->c, p->lines, collection_on_check_complaint, p);
	return p->error ?: collection_fill_in(p, name);
}

/*
 * Reports complaints in the order of lines. An insertion sort suffices: there are few, and nearly
 * all are in order.
 */
static void collection_report(const struct parser *p, collection_complaint_fn fn, void *userdata)
{
	size_t order[COMPLAINTS_MAX];

	for (size_t i = 0; i < p->n_complaints; i++) {
		size_t k = i;

		for (; k > 0 && p->complaints[order[k - 1]].line > p->complaints[i].line; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (size_t i = 0; i < p->n_complaints; i++)
		fn(p->complaints[order[i]].line, p->complaints[order[i]].text, userdata);
}

int collection_read(FILE *file, const char *name, collection_complaint_fn fn, void *userdata,
		    struct collection *ret)
{
	struct parser p = { .file = file };
	int r;

	if (!session_name_valid(name)) {
		fn(0, "the name of a collection is 1 to 64 of A-Z a-z 0-9 _, followed by \".conf\"",
		   userdata);
		return -EINVAL;
	}
	p.lines = calloc(option_n_rows, sizeof(*p.lines));
	if (!p.lines)
		return -ENOMEM;
	r = collection_parse(&p, name);
	collection_report(&p, fn, userdata);
	free(p.complaints);
	free(p.lines);
	free(p.text);
	if (r < 0)
		collection_deinit(&p.c);
	else
		*ret = p.c;
	return r;
}
