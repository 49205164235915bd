/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tracedb/tracedb-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The maximum sizes of a printed name, and of a printed blob. Longer ones are cut. */
enum { NAME_ROOM = 512, BLOB_ROOM = 256 };

static const char *tracedb_text_clean(char to[static NAME_ROOM], const char *text)
{
	text_clean(to, NAME_ROOM, text, strlen(text));
	return to;
}

const char *tracedb_text_name(const struct tracedb_dictionary *d, uint32_t name)
{
	static char text[NAME_ROOM];

	return tracedb_text_clean(text, d->names[name]);
}

const char *tracedb_text_type(const struct tracedb_dictionary *d, uint32_t type)
{
	static char text[NAME_ROOM];

	return tracedb_text_clean(text, d->names[d->types[type].name]);
}

const char *tracedb_text_format(uint32_t format)
{
	static const char *const formats[TRACEDB_FORMATS] = {
		[TRACEDB_UNSIGNED] = "unsigned", [TRACEDB_SIGNED] = "signed",
		[TRACEDB_FLOAT] = "float",       [TRACEDB_POINTER] = "pointer",
		[TRACEDB_BLOB] = "blob",
	};

	return formats[format];
}

void tracedb_text_print_value(const struct tracedb_dictionary *d, const struct tracedb_value *v)
{
	char text[BLOB_ROOM];

	switch (d->types[v->type].format) {
	case TRACEDB_SIGNED:
		printf("%" PRId64, v->s);
		return;
	case TRACEDB_FLOAT:
		printf("%.17g", v->f);
		return;
	case TRACEDB_POINTER:
		printf("0x%" PRIx64, v->u);
		return;
	case TRACEDB_BLOB:
		text_clean(text, sizeof(text), (const char *)v->bytes, v->size);
		printf("\"%s\"", text);
		return;
	default:
		printf("%" PRIu64, v->u);
	}
}

static struct json_object *tracedb_text_json_value(const struct tracedb_dictionary *d,
						   const struct tracedb_value *v)
{
	switch (d->types[v->type].format) {
	case TRACEDB_SIGNED:
		return json_i64(v->s);
	case TRACEDB_FLOAT:
		return json_real(v->f);
	case TRACEDB_BLOB:
		return json_from_bytes((const char *)v->bytes, v->size);
	default:
		return json_u64(v->u);
	}
}

struct json_object *tracedb_text_json(const struct tracedb_dictionary *d,
				      const struct tracedb_value *v)
{
	return JSON_OBJECT(JSON("name", json_from_text(d->names[v->name])),
			   JSON("type", json_from_text(d->names[d->types[v->type].name])),
			   JSON("value", tracedb_text_json_value(d, v)));
}
