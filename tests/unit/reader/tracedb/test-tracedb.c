/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-db, written and read: bytes made by hand in both layouts, data that does not fit, and files
 * that are cut off or damaged anywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/tracedb/tracedb-reader.h"
#include "tests/support/unit.h"
#include "writer/tracedb/tracedb-writer.h"

static const char *const names[] = { "int", "p", "text" };
static const struct tracedb_type types[] = {
	{ 0, TRACEDB_SIGNED, 4 },   { 1, TRACEDB_POINTER, 8 }, { 2, TRACEDB_BLOB, 0 },
	{ 0, TRACEDB_UNSIGNED, 3 }, { 0, TRACEDB_FLOAT, 4 },
};
static const struct tracedb_dictionary dictionary = { names, 3, types, 5 };

static const struct tracedb_entry entries[] = {
	{ .tag = TRACEDB_STATEMENT, .statement = 0x01020304 },
	{ .tag = TRACEDB_BUFFER, .buffer = { 0x1122334455667788, 16 } },
	{ .tag = TRACEDB_VARIABLE, .variable = { .name = 0, .type = 0, .size = 4, .s = -2 } },
	{ .tag = TRACEDB_VARIABLE, .variable = { .name = 1, .type = 1, .size = 8, .u = 0xabc } },
	{ .tag = TRACEDB_VARIABLE,
	  .variable = { .name = 2, .type = 2, .size = 2, .bytes = (const uint8_t *)"hi" } },
	{ .tag = TRACEDB_VARIABLE, .variable = { .name = 0, .type = 3, .size = 3, .u = 0x030201 } },
	{ .tag = TRACEDB_VARIABLE, .variable = { .name = 0, .type = 4, .size = 4, .f = 1.5 } },
	{ .tag = TRACEDB_AUXILIARY, .auxiliary = 7 },
};
static const struct tracedb_point point = { entries, sizeof(entries) / sizeof(entries[0]) };

/* The dictionary and the point in both layouts. */
static const char w16[] = "\x0b\0"
			  "int\0"
			  "p\0"
			  "text\0"
			  "\x05\0"
			  "\0\0\0\0"
			  "\x01\0\0\0"
			  "\x04\0\0\0"
			  "\x01\0\0\0"
			  "\x03\0\0\0"
			  "\x08\0\0\0"
			  "\x02\0\0\0"
			  "\x04\0\0\0"
			  "\0\0\0\0"
			  "\0\0\0\0"
			  "\0\0\0\0"
			  "\x03\0\0\0"
			  "\0\0\0\0"
			  "\x02\0\0\0"
			  "\x04\0\0\0"
			  "\x01"
			  "\x04\x03\x02\x01"
			  "\x03"
			  "\x88\x77\x66\x55\x44\x33\x22\x11"
			  "\x10\0\0\0\0\0\0\0"
			  "\x02"
			  "\0\0"
			  "\0\0"
			  "\xfe\xff\xff\xff"
			  "\x02"
			  "\x01\0"
			  "\x01\0"
			  "\xbc\x0a\0\0\0\0\0\0"
			  "\x02"
			  "\x02\0"
			  "\x02\0"
			  "\x02\0"
			  "hi"
			  "\x02"
			  "\0\0"
			  "\x03\0"
			  "\x01\x02\x03"
			  "\x02"
			  "\0\0"
			  "\x04\0"
			  "\0\0\xc0\x3f"
			  "\x04"
			  "\x07\0\0\0\0\0\0\0"
			  "";
static const char w64[] = "\x0b\0\0\0\0\0\0\0"
			  "int\0"
			  "p\0"
			  "text\0"
			  "\x05\0\0\0"
			  "\0\0\0\0"
			  "\x01\0\0\0"
			  "\x04\0\0\0"
			  "\x01\0\0\0"
			  "\x03\0\0\0"
			  "\x08\0\0\0"
			  "\x02\0\0\0"
			  "\x04\0\0\0"
			  "\0\0\0\0"
			  "\0\0\0\0"
			  "\0\0\0\0"
			  "\x03\0\0\0"
			  "\0\0\0\0"
			  "\x02\0\0\0"
			  "\x04\0\0\0"
			  "\x01"
			  "\x04\x03\x02\x01\0\0\0\0"
			  "\x03"
			  "\x88\x77\x66\x55\x44\x33\x22\x11"
			  "\x10\0\0\0\0\0\0\0"
			  "\x02"
			  "\0\0\0\0"
			  "\0\0\0\0"
			  "\xfe\xff\xff\xff"
			  "\x02"
			  "\x01\0\0\0"
			  "\x01\0\0\0"
			  "\xbc\x0a\0\0\0\0\0\0"
			  "\x02"
			  "\x02\0\0\0"
			  "\x02\0\0\0"
			  "\x02\0\0\0"
			  "hi"
			  "\x02"
			  "\0\0\0\0"
			  "\x03\0\0\0"
			  "\x01\x02\x03"
			  "\x02"
			  "\0\0\0\0"
			  "\x04\0\0\0"
			  "\0\0\xc0\x3f"
			  "\x04"
			  "\x07\0\0\0\0\0\0\0"
			  "";

/* (the end of a point is the NUL that ends the literal) */
static const struct layout {
	enum tracedb_layout layout;
	const char *bytes;
	size_t size;
	size_t header; /* bytes of the dictionary */
} layouts[] = {
	{ TRACEDB_W16, w16, sizeof(w16), 2 + 11 + 2 + 5 * 12 },
	{ TRACEDB_W64, w64, sizeof(w64), 8 + 11 + 4 + 5 * 12 },
};

static void assert_same_value(const struct tracedb_value *a, const struct tracedb_value *b)
{
	assert_int_equal(a->name, b->name);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->size, b->size);
	if (types[a->type].format == TRACEDB_BLOB)
		assert_memory_equal(a->bytes, b->bytes, a->size);
	else
		assert_memory_equal(&a->u, &b->u, sizeof(a->u));
}

static void assert_same_point(const struct tracedb_point *a, const struct tracedb_point *b)
{
	assert_int_equal(a->n_entries, b->n_entries);
	for (size_t i = 0; i < a->n_entries; i++) {
		const struct tracedb_entry *x = &a->entries[i], *y = &b->entries[i];

		assert_int_equal(x->tag, y->tag);
		if (x->tag == TRACEDB_VARIABLE) {
			assert_same_value(&x->variable, &y->variable);
		} else if (x->tag == TRACEDB_BUFFER) {
			assert_int_equal(x->buffer.address, y->buffer.address);
			assert_int_equal(x->buffer.size, y->buffer.size);
		} else {
			assert_int_equal(x->statement, y->statement);
		}
	}
}

TEST(test_written)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		struct tracedb_writer w;

		assert_int_equal(tracedb_writer_begin(&w, &b, layouts[i].layout, &dictionary), 0);
		assert_int_equal(b.size, layouts[i].header);
		assert_int_equal(tracedb_writer_point(&w, &point), 0);
		assert_int_equal(b.size, layouts[i].size);
		assert_memory_equal(b.data, layouts[i].bytes, b.size);
	}
}

TEST(test_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
		const struct tracedb_dictionary *d;
		const struct tracedb_point *p;

		assert_int_equal(tracedb_reader_new_memory(&r, layouts[i].bytes, layouts[i].size),
				 0);
		assert_int_equal(tracedb_reader_layout(r), layouts[i].layout);
		d = tracedb_reader_dictionary(r);
		assert_int_equal(d->n_names, 3);
		assert_string_equal(d->names[2], "text");
		assert_int_equal(d->n_types, 5);
		assert_memory_equal(d->types, types, sizeof(types));
		assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_POINT);
		assert_same_point(p, &point);
		assert_int_equal(tracedb_reader_offset(r), layouts[i].size);
		assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_TRACE_END);
		assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_TRACE_END);
	}
}

/*
 * Two points, cut off at each byte: the complete ones are read, and the missing part is reported.
 */
TEST(test_cut_off)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		size_t one = l->size - l->header;
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

		outbuf_append(&b, l->bytes, l->size);
		outbuf_append(&b, l->bytes + l->header, one);
		for (size_t n = l->header; n <= b.size; n++) {
			_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
			const struct tracedb_point *p;
			size_t whole = (n - l->header) / one;
			bool cut = (n - l->header) % one != 0;

			assert_int_equal(tracedb_reader_new_memory(&r, b.data, n), 0);
			for (size_t k = 0; k < whole; k++) {
				assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_POINT);
				assert_same_point(p, &point);
			}
			assert_int_equal(tracedb_reader_next(r, &p),
					 cut ? TRACEDB_DAMAGE : TRACEDB_TRACE_END);
			if (cut) {
				assert_true(tracedb_reader_damage(r)->truncated);
				assert_in_range(tracedb_reader_damage(r)->offset,
						l->header + whole * one, n);
			}
			assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_TRACE_END);
		}
	}
}

/* Without its dictionary, a file is not recognised. */
TEST(test_alien)
{
	static const char fxt[] = "\x10\0\x04"
				  "FxT\x16\0";
	char damaged[sizeof(w64)];

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		for (size_t n = 0; n < layouts[i].header; n++) {
			_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;

			assert_int_equal(tracedb_reader_new_memory(&r, layouts[i].bytes, n),
					 TRACEDB_ALIEN);
		}
	for (int which = 0; which < 4; which++) {
		_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;

		memcpy(damaged, w64, sizeof(w64));
		switch (which) {
		case 0:
			damaged[18] = 'x'; /* names without an end */
			break;
		case 1:
			damaged[23] = 3; /* a missing name */
			break;
		case 2:
			damaged[27] = 5; /* an unknown format */
			break;
		case 3:
			damaged[31] = 3; /* signed numbers of three bytes */
			break;
		}
		assert_int_equal(tracedb_reader_new_memory(&r, damaged, sizeof(damaged)),
				 TRACEDB_ALIEN);
	}
	{
		_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;

		assert_int_equal(tracedb_reader_new_memory(&r, fxt, sizeof(fxt) - 1),
				 TRACEDB_ALIEN);
	}
}

/* The byte at AT of the point in W64 is WITH: the entry at OFFSET of the point is damaged. */
static void assert_damage(size_t at, char with, size_t offset, const char *what)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
	const struct tracedb_point *p;
	char damaged[sizeof(w64)];

	memcpy(damaged, w64, sizeof(w64));
	damaged[layouts[1].header + at] = with;
	assert_int_equal(tracedb_reader_new_memory(&r, damaged, sizeof(damaged)), 0);
	assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_DAMAGE);
	assert_int_equal(tracedb_reader_damage(r)->offset, layouts[1].header + offset);
	assert_non_null(strstr(tracedb_reader_damage(r)->what, what));
	assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_TRACE_END);
}

TEST(test_damaged)
{
	assert_damage(0, 5, 0, "no known kind");
	assert_damage(0, -1, 0, "no known kind");
	assert_damage(27, 3, 26, "name");
	assert_damage(31, 5, 26, "type");
	/* A text of some 4 GiB. */
	assert_damage(26 + 13 + 17 + 12, -1, 26 + 13 + 17, "64 MiB");
}

/* Values that exceed the widths of a layout are refused, and write nothing. */
TEST(test_overflow)
{
	struct tracedb_entry e = { .tag = TRACEDB_STATEMENT, .statement = 1ull << 32 };
	struct tracedb_point p = { &e, 1 };
	struct tracedb_type wide = { 0, TRACEDB_BLOB, 256 };
	struct tracedb_dictionary d = { names, 3, &wide, 1 };
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_free_ char *name = malloc(65536);
	const char *const long_names[] = { name };
	struct tracedb_writer w;
	size_t size;

	assert_int_equal(tracedb_writer_begin(&w, &b, TRACEDB_W16, &d), -EOVERFLOW);
	memset(name, 'a', 65535);
	name[65535] = '\0';
	d = (struct tracedb_dictionary){ long_names, 1, NULL, 0 };
	assert_int_equal(tracedb_writer_begin(&w, &b, TRACEDB_W16, &d), -EOVERFLOW);
	assert_int_equal(b.size, 0);
	assert_int_equal(tracedb_writer_begin(&w, &b, TRACEDB_W64, &d), 0);
	outbuf_reset(&b);
	assert_int_equal(tracedb_writer_begin(&w, &b, TRACEDB_W16, &dictionary), 0);
	size = b.size;
	assert_int_equal(tracedb_writer_point(&w, &p), -EOVERFLOW);
	e = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
				    .variable = { .type = 2, .size = 65536, .bytes = b.data } };
	assert_int_equal(tracedb_writer_point(&w, &p), -EOVERFLOW);
	e.variable = (struct tracedb_value){ .type = 0, .size = 4, .s = 1ll << 31 };
	assert_int_equal(tracedb_writer_point(&w, &p), -EOVERFLOW);
	e.variable = (struct tracedb_value){ .type = 3, .size = 3, .u = 1 << 24 };
	assert_int_equal(tracedb_writer_point(&w, &p), -EOVERFLOW);
	e.variable = (struct tracedb_value){ .type = 3, .size = 4 };
	assert_int_equal(tracedb_writer_point(&w, &p), -EINVAL);
	e.variable = (struct tracedb_value){ .type = 5, .size = 4 };
	assert_int_equal(tracedb_writer_point(&w, &p), -EINVAL);
	e = (struct tracedb_entry){ .tag = TRACEDB_STATEMENT, .statement = 0 };
	assert_int_equal(tracedb_writer_point(&w, &p), -EINVAL);
	assert_int_equal(b.size, size);
}

/* A file without names and types is valid, and so is a point without entries. */
TEST(test_empty)
{
	static const struct tracedb_dictionary none = { 0 };
	static const struct tracedb_point nothing = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		const struct tracedb_point *p;
		struct tracedb_writer w;

		assert_int_equal(tracedb_writer_begin(&w, &b, layouts[i].layout, &none), 0);
		assert_int_equal(tracedb_writer_point(&w, &nothing), 0);
		assert_int_equal(tracedb_reader_new_memory(&r, b.data, b.size), 0);
		assert_int_equal(tracedb_reader_next(r, &p), TRACEDB_POINT);
		assert_int_equal(p->n_entries, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written), cmocka_unit_test(test_read),
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_alien),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
