/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pipeline/address-spaces.h"
#include "tests/support/unit.h"

struct fixture {
	struct address_spaces *s;
	char said[4096];
};

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return address_spaces_new(&f->s);
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	address_spaces_free(f->s);
	free(f);
	return 0;
}

static int add(struct fixture *f, uint32_t pid, uint64_t start, uint64_t bytes, const char *path)
{
	union {
		struct rec_mapping rec;
		uint8_t bytes[sizeof(struct rec_mapping) + 64];
	} m = { .rec = { .head = { .size = sizeof(m), .kind = REC_MAPPING, .pid = pid },
			 .start = start,
			 .bytes = bytes,
			 .path_bytes = (uint32_t)strlen(path) } };

	memcpy(m.rec.path, path, strlen(path));
	return address_spaces_add(f->s, &m.rec, 7);
}

struct question {
	struct fixture *f;
	uint32_t pid;
	size_t n;
};

static int say(uint32_t pid, const struct rec_mapping *rec, uint32_t module_id, void *userdata)
{
	struct question *q = userdata;

	assert_int_equal(module_id, 7);
	if (pid == q->pid)
		q->n += (size_t)snprintf(q->f->said + q->n, sizeof(q->f->said) - q->n,
					 "%" PRIx64 "+%" PRIx64 " %s;", (uint64_t)rec->start,
					 (uint64_t)rec->bytes, rec->path);
	return 0;
}

static const char *of(struct fixture *f, uint32_t pid)
{
	struct question q = { f, pid, 0 };

	f->said[0] = '\0';
	assert_int_equal(address_spaces_each(f->s, say, &q), 0);
	return f->said;
}

static int add_bytes(uint32_t pid, const struct rec_mapping *rec, uint32_t module_id,
		     void *userdata)
{
	size_t *bytes = userdata;

	(void)pid;
	(void)module_id;
	*bytes += rec->head.size;
	return 0;
}

/* Of all mappings, without what it takes to keep them. */
static size_t kept_bytes(const struct fixture *f)
{
	size_t bytes = 0;

	assert_int_equal(address_spaces_each(f->s, add_bytes, &bytes), 0);
	return bytes;
}

TEST(test_covering)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, 1, 0x1000, 0x1000, "a"), 0);
	assert_int_equal(add(f, 1, 0x3000, 0x1000, "b"), 0);
	assert_int_equal(add(f, 2, 0x1000, 0x1000, "other"), 0);
	assert_string_equal(of(f, 1), "1000+1000 a;3000+1000 b;");
	/* All of a, and some of b: that is said before what covers it. */
	assert_int_equal(add(f, 1, 0x1000, 0x2800, "c"), 0);
	assert_string_equal(of(f, 1), "3000+1000 b;1000+2800 c;");
	assert_string_equal(of(f, 2), "1000+1000 other;");
	/* The same again, and what makes no sense. */
	assert_int_equal(add(f, 1, 0x3000, 0x1000, "b"), 0);
	assert_int_equal(add(f, 1, 0x9000, 0, "nothing"), 0);
	assert_int_equal(add(f, 1, UINT64_MAX - 5, 100, "beyond"), 0);
	assert_string_equal(of(f, 1), "1000+2800 c;3000+1000 b;");
}

TEST(test_life)
{
	struct fixture *f = *state;

	add(f, 1, 0x1000, 0x1000, "a");
	assert_int_equal(address_spaces_fork(f->s, 1, 2), 0);
	assert_int_equal(address_spaces_fork(f->s, 2, 3), 0);
	assert_int_equal(address_spaces_fork(f->s, 99, 4), 0);
	assert_string_equal(of(f, 3), "1000+1000 a;");
	assert_string_equal(of(f, 4), "");
	/* Who shares it does not see what one of them maps, or that it calls exec. */
	add(f, 2, 0x2000, 0x1000, "b");
	assert_string_equal(of(f, 1), "1000+1000 a;");
	assert_string_equal(of(f, 2), "1000+1000 a;2000+1000 b;");
	assert_string_equal(of(f, 3), "1000+1000 a;");
	address_spaces_forget(f->s, 1);
	assert_string_equal(of(f, 1), "");
	assert_string_equal(of(f, 3), "1000+1000 a;");
	/* The id of one whose end was not seen. */
	assert_int_equal(address_spaces_fork(f->s, 3, 2), 0);
	assert_string_equal(of(f, 2), "1000+1000 a;");
	address_spaces_forget(f->s, 2);
	address_spaces_forget(f->s, 3);
	address_spaces_forget(f->s, 3);
	assert_int_equal(kept_bytes(f), 0);
}

TEST(test_one_has_too_many)
{
	struct fixture *f = *state;
	uint64_t n_lost = 0;
	int r;

	for (uint64_t i = 0; i < ADDRESS_SPACE_MAX + 10; i++) {
		r = add(f, 1, (i + 1) << 12, 0x1000, "jit");
		assert_true(r >= 0);
		n_lost += (uint64_t)r;
	}
	/* The youngest are still there, and others have not lost any. */
	assert_true(n_lost > 0 && n_lost <= ADDRESS_SPACE_MAX / 4);
	assert_int_equal(add(f, 2, 0x1000, 0x1000, "a"), 0);
	assert_string_equal(of(f, 2), "1000+1000 a;");
}

/* 1000 mappings in each of 400 processes. Returns how many are not kept. */
static uint64_t fill(struct fixture *f)
{
	uint64_t n_lost = 0;

	for (uint32_t i = 0; i < 400000; i++)
		n_lost += (uint64_t)add(f, i / 1000 + 1, (uint64_t)(i % 1000 + 1) << 12, 0x1000,
					"a library");
	return n_lost;
}

TEST(test_all_have_too_many)
{
	struct fixture *f = *state;
	uint64_t n_lost = fill(f);

	assert_true(n_lost > 0);
	assert_true(kept_bytes(f) > 0 && kept_bytes(f) <= ADDRESS_SPACES_BYTES_MAX);
	/* Who goes makes room. */
	address_spaces_forget(f->s, 1);
	assert_int_equal(add(f, 5000, 0x1000, 0x1000, "new"), 0);
	assert_string_equal(of(f, 5000), "1000+1000 new;");
	/* When all have gone, there is as much room as at first. */
	for (uint32_t pid = 1; pid <= 5000; pid++)
		address_spaces_forget(f->s, pid);
	assert_int_equal(kept_bytes(f), 0);
	assert_int_equal(fill(f), n_lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_covering, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_life, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_has_too_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_have_too_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
