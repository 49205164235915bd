/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks by name: how often each one is written.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/proc/proc-records.h"
#include "capture/stages/named-stacks.h"
#include "tests/support/fixtures/stage-parts.h"
#include "tests/support/unit.h"

enum { PID = 500, OTHER = 501, FROM = 100, MANY = 70000 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct pipeline pipe;
	struct named_stacks n;
};

static int need_mappings(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	(void)pid;
	(void)ts_ns;
	(void)userdata;
	return 0;
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stage_parts_init(STAGE_PARTS(f), 2, FROM);
	f->pipe.links.need_mappings = need_mappings;
	f->n = (struct named_stacks){ .pipe = &f->pipe };
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	named_stacks_stage.deinit(&f->n);
	stage_parts_deinit(STAGE_PARTS(f));
	free(f);
	return 0;
}

/* Writes the stack of one FRAME. Returns how many events this has added. */
static uint64_t write_stack(struct fixture *f, uint64_t frame)
{
	const struct rec_head rec = { .ts_ns = FROM + 1, .pid = PID, .tid = PID };
	uint64_t before = f->n.n_events, name;

	assert_int_equal(named_stacks_write(&f->n, &rec, &frame, 1, &name), 0);
	assert_int_not_equal(name, 0);
	return f->n.n_events - before;
}

static void map_in(struct fixture *f, uint32_t pid, const char *path)
{
	union {
		struct rec_mapping rec;
		char room[sizeof(struct rec_mapping) + 16];
	} all = { .rec = { .head = { .ts_ns = FROM + 1, .kind = REC_MAPPING, .pid = pid } } };

	all.rec.path_bytes = (uint32_t)strlen(path);
	strcpy(all.rec.path, path);
	assert_int_equal(named_stacks_stage.record(&f->n, &all.rec.head), 0);
}

static void map(struct fixture *f, const char *path)
{
	map_in(f, PID, path);
}

/* A stack is written again after its process has mapped a file: its addresses can have changed. */
TEST(test_once)
{
	struct fixture *f = *state;

	assert_int_equal(write_stack(f, 1), 1);
	assert_int_equal(write_stack(f, 1), 0);
	map_in(f, OTHER, "/lib/a.so");
	map(f, "//anon");
	map(f, "");
	assert_int_equal(write_stack(f, 1), 0);
	map(f, "/lib/a.so");
	assert_int_equal(write_stack(f, 1), 1);
	assert_int_equal(write_stack(f, 1), 0);
	map(f, "/lib/b.so");
	assert_int_equal(write_stack(f, 1), 1);
}

/* A process of that pid has called exec. */
TEST(test_exec)
{
	const struct rec_head exec = { .ts_ns = FROM + 1, .kind = REC_EXEC, .pid = OTHER };
	struct fixture *f = *state;

	assert_int_equal(write_stack(f, 1), 1);
	assert_int_equal(named_stacks_stage.record(&f->n, &exec), 0);
	assert_int_equal(write_stack(f, 1), 1);
	assert_int_equal(write_stack(f, 1), 0);
}

/* If there are too many, all are written again, also those of processes that have mapped files. */
TEST(test_many)
{
	struct fixture *f = *state;
	unsigned again = 0;

	assert_int_equal(write_stack(f, 1), 1);
	map(f, "/lib/a.so");
	for (uint64_t frame = 1; frame <= MANY; frame++) {
		assert_int_equal(write_stack(f, frame), 1);
		again += write_stack(f, frame);
	}
	assert_int_equal(again, 0);
	assert_int_equal(write_stack(f, 1), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
