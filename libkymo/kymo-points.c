/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libkymo/kymo-points.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)KYMO_LAYOUT_W64 == (int)TRACEDB_W64 && (int)KYMO_BLOB == (int)TRACEDB_BLOB,
	      "the numbers of the format");

struct kymo_cursor {
	struct tracedb_cursor at;
	struct kymo_point point;
};

/* ---- loading ---- */

static int kymo_points_find_trace(kymo_points *p)
{
	struct input *head = &p->stream.head;
	int r = input_need(head, sizeof(uint32_t));

	if (r < 0)
		return r;
	if (packed_stream_is_archive(input_peek(head), input_ready(head)))
		return -EBADMSG;
	r = tracedb_reader_is_trace(head);
	return r > 0 ? 0 : r ?: -EBADMSG;
}

/* Notes the damage that ended the reading: that of the points, unless the file was truncated by
 * damage of the compression. */
static void kymo_points_set_damage(kymo_points *p, bool damaged)
{
	const struct tracedb_damage *damage = damaged ? tracedb_reader_damage(p->reader) : NULL;
	const struct unpack_damage *packed =
		p->stream.damaged ? unpack_damage(p->stream.unpack) : NULL;

	if (damage && !(damage->truncated && packed)) {
		p->damage = damage->what;
		p->damage_offset = damage->offset;
	} else if (packed) {
		p->damage = packed->what;
		p->damage_offset = packed->unpacked_offset;
	}
}

static int kymo_points_load(kymo_points **ret, kymo_points *p, int error)
{
	int r = error ?: kymo_points_find_trace(p);

	if (r == 0)
		r = tracedb_reader_new_source(&p->reader, packed_stream_read_to_gap, &p->stream);
	if (r == 0)
		r = tracedb_store_load(&p->store, p->reader);
	else if (r > 0)
		r = -EBADMSG;
	if (r < 0) {
		kymo_points_free(p);
		return r;
	}
	kymo_points_set_damage(p, r == TRACEDB_DAMAGE);
	*ret = p;
	return 0;
}

int kymo_points_load_fd(kymo_points **ret, int fd)
{
	kymo_points *p = calloc(1, sizeof(*p));

	return p ? kymo_points_load(ret, p, packed_stream_init_fd(&p->stream, fd, NULL)) : -ENOMEM;
}

int kymo_points_load_memory(kymo_points **ret, const void *bytes, size_t n)
{
	kymo_points *p = calloc(1, sizeof(*p));

	return p ? kymo_points_load(ret, p, packed_stream_init_memory(&p->stream, bytes, n, NULL))
		 : -ENOMEM;
}

kymo_points *kymo_points_free(kymo_points *p)
{
	if (!p)
		return NULL;
	tracedb_store_free(p->store);
	tracedb_reader_free(p->reader);
	packed_stream_deinit(&p->stream);
	free(p);
	return NULL;
}

const char *kymo_points_damage(const kymo_points *p, uint64_t *ret_offset)
{
	if (ret_offset)
		*ret_offset = p->damage_offset;
	return p->damage;
}

enum kymo_layout kymo_points_layout(const kymo_points *p)
{
	return (enum kymo_layout)tracedb_reader_layout(p->reader);
}

uint64_t kymo_points_count(const kymo_points *p)
{
	return tracedb_store_points(p->store);
}

/* ---- walking ---- */

int kymo_cursor_new(kymo_cursor **ret, const kymo_points *p)
{
	kymo_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->point.points = p;
	*ret = c;
	return 0;
}

kymo_cursor *kymo_cursor_free(kymo_cursor *c)
{
	if (!c)
		return NULL;
	tracedb_cursor_deinit(&c->at);
	free(c);
	return NULL;
}

int kymo_cursor_next(kymo_cursor *c, const kymo_point **ret)
{
	size_t number = c->at.point;
	int r = tracedb_store_next(c->point.points->store, &c->at, &c->point.of);

	c->point.number = number;
	*ret = r > 0 ? &c->point : NULL;
	return r;
}

/* ---- getters ---- */

uint64_t kymo_point_number(const kymo_point *p)
{
	return p->number;
}

uint64_t kymo_point_statement(const kymo_point *p)
{
	return p->of.statement;
}

size_t kymo_point_auxiliaries(const kymo_point *p)
{
	return p->of.n_auxiliary;
}

uint64_t kymo_point_auxiliary(const kymo_point *p, size_t i)
{
	return i < p->of.n_auxiliary ? p->of.auxiliary[i] : 0;
}

size_t kymo_point_variables(const kymo_point *p)
{
	return p->of.n_variables;
}

static const struct tracedb_dictionary *kymo_point_dictionary(const kymo_point *p)
{
	return tracedb_reader_dictionary(p->points->reader);
}

/* Returns the value of variable I, and in *RET_FORMAT the format of its type; NULL = no such
 * variable. */
static const struct tracedb_value *kymo_point_value(const kymo_point *p, size_t i,
						    uint32_t *ret_format)
{
	const struct tracedb_value *v;

	*ret_format = TRACEDB_UNSIGNED;
	if (i >= p->of.n_variables)
		return NULL;
	v = &p->of.variables[i].value;
	*ret_format = kymo_point_dictionary(p)->types[v->type].format;
	return v;
}

const char *kymo_point_name(const kymo_point *p, size_t i)
{
	return i < p->of.n_variables
		       ? kymo_point_dictionary(p)->names[p->of.variables[i].value.name]
		       : "";
}

const char *kymo_point_type(const kymo_point *p, size_t i)
{
	const struct tracedb_dictionary *d = kymo_point_dictionary(p);

	return i < p->of.n_variables ? d->names[d->types[p->of.variables[i].value.type].name] : "";
}

enum kymo_format kymo_point_format(const kymo_point *p, size_t i)
{
	uint32_t format;

	kymo_point_value(p, i, &format);
	return (enum kymo_format)format;
}

int kymo_point_find(const kymo_point *p, const char *name)
{
	for (size_t i = 0; i < p->of.n_variables; i++)
		if (strcmp(kymo_point_name(p, i), name) == 0)
			return (int)i;
	return -1;
}

uint64_t kymo_point_unsigned(const kymo_point *p, size_t i)
{
	uint32_t format;
	const struct tracedb_value *v = kymo_point_value(p, i, &format);

	if (!v || format == TRACEDB_FLOAT || format == TRACEDB_BLOB)
		return 0;
	return format == TRACEDB_SIGNED ? (uint64_t)v->s : v->u;
}

int64_t kymo_point_signed(const kymo_point *p, size_t i)
{
	return (int64_t)kymo_point_unsigned(p, i);
}

double kymo_point_float(const kymo_point *p, size_t i)
{
	uint32_t format;
	const struct tracedb_value *v = kymo_point_value(p, i, &format);

	if (!v || format == TRACEDB_BLOB)
		return 0;
	if (format == TRACEDB_SIGNED)
		return (double)v->s;
	return format == TRACEDB_FLOAT ? v->f : (double)v->u;
}

const void *kymo_point_blob(const kymo_point *p, size_t i, size_t *ret_size)
{
	uint32_t format;
	const struct tracedb_value *v = kymo_point_value(p, i, &format);
	bool has = v && format == TRACEDB_BLOB;

	if (ret_size)
		*ret_size = has ? v->size : 0;
	return has ? v->bytes : NULL;
}

bool kymo_point_buffer_size(const kymo_point *p, size_t i, uint64_t *ret_size)
{
	uint64_t size = i < p->of.n_variables ? p->of.variables[i].buffer_size : TRACEDB_NO_SIZE;

	if (size == TRACEDB_NO_SIZE)
		return false;
	*ret_size = size;
	return true;
}
