/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that end before their files were checked: their reports wait for the kind of their end.
 * Real maps, without programs.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/heap/heap-trace-parts.h"
#include "tests/support/unit.h"

#define SECOND_NS UINT64_C(1000000000)

enum { PID = 7, INSTANCE = 3, ROOM = 8 };

static int make_map(size_t key_size, size_t value_size)
{
	return bpf_map_create(BPF_MAP_TYPE_HASH, "heap_trace", (uint32_t)key_size,
			      (uint32_t)value_size, ROOM, NULL);
}

struct seen {
	unsigned n_begun, n_ended;
	bool complete;
	char unwatched[MEMORY_REASON_BYTES];
	uint32_t reason;
	bool searched;
	uint64_t first_ns, last_ns; /* of the records between begin and end */
	uint32_t order[8];          /* instances of the watches that have begun */
};

static int note(const struct rec_head *rec, void *userdata)
{
	struct seen *seen = userdata;

	if (rec->kind == REC_WATCH) {
		if (seen->n_begun < ARRAY_SIZE(seen->order))
			seen->order[seen->n_begun] = ((const struct rec_watch *)rec)->instance;
		seen->n_begun++;
		seen->complete = ((const struct rec_watch *)rec)->complete;
		memcpy(seen->unwatched, ((const struct rec_watch *)rec)->unwatched,
		       sizeof(seen->unwatched));
	} else if (rec->kind == REC_WATCHED) {
		seen->n_ended++;
		seen->reason = ((const struct rec_watched *)rec)->reason;
		seen->searched = ((const struct rec_watched *)rec)->searched;
	} else {
		seen->first_ns = seen->first_ns ?: rec->ts_ns;
		seen->last_ns = rec->ts_ns;
	}
	return 0;
}

/* The programs note the end of PROCESS. */
static void end(const struct heap_trace *m, struct memory_process process, uint32_t flags)
{
	process.flags |= flags;
	process.ended_ns = process.since_ns + 1;
	assert_int_equal(bpf_map_update_elem(m->own.ended_fd, &process.instance, &process, BPF_ANY),
			 0);
	assert_int_equal(bpf_map_delete_elem(m->own.processes_fd, &process.pid), 0);
}

/* The counters of programs that do not run. */
struct books {
	uint32_t instances;
	__u64 unreported;
	int32_t n_copied;
};

/* Opens *M, which is stopping, with maps and counters BOOKS. Returns false without permission. */
static bool open_trace(struct heap_trace *m, struct books *books)
{
	static const struct session_options options = { .categories = CATEGORY_MEMORY };

	*m = (struct heap_trace){
		.options = &options,
		.own = {
			.processes_fd = make_map(sizeof(uint32_t), sizeof(struct memory_process)),
			.ended_fd = make_map(sizeof(uint32_t), sizeof(struct memory_process)),
			.stacks_fd = make_map(sizeof(struct memory_stack_key),
					      sizeof(struct memory_stack)),
			.blocks_fd = make_map(sizeof(struct memory_key),
					      sizeof(struct memory_block)),
			.instances = &books->instances,
			.n_copied = &books->n_copied,
			.ends_unreported = &books->unreported,
		},
		.stopping = true, /* nothing else is waited for */
	};
	if (m->own.processes_fd == -EPERM)
		return false;
	assert_true(m->own.processes_fd >= 0 && m->own.ended_fd >= 0);
	assert_true(m->own.stacks_fd >= 0 && m->own.blocks_fd >= 0);
	heap_tables_init(&m->tables, &m->own);
	return true;
}

static void close_trace(struct heap_trace *m)
{
	heap_tables_deinit(&m->tables);
	heap_images_deinit(&m->images);
	close(m->own.processes_fd);
	close(m->own.ended_fd);
	close(m->own.stacks_fd);
	close(m->own.blocks_fd);
}

TEST(test_report_waits_for_end)
{
	static const struct {
		bool settled; /* the check found no allocator */
		uint32_t flags;
		const char *unwatched;
		uint32_t reason;
		bool held; /* it was searched at its end, or else before */
	} rows[] = {
		{ false, MEMORY_PROCESS_IMAGE | MEMORY_PROCESS_EXECED, "", WATCHED_EXEC },
		{ false, MEMORY_PROCESS_EXECED, "", WATCHED_EXEC },
		{ true, MEMORY_PROCESS_EXECED, "", WATCHED_EXEC },
		{ false, 0, "it ended before its files were examined", WATCHED_EXIT },
		{ false, 0, "it ended before its files were examined", WATCHED_EXIT, true },
		{ true, 0, HEAP_PROBES_NO_ALLOCATOR, WATCHED_EXIT },
	};
	struct books books = { .instances = INSTANCE };
	struct heap_trace m;

	(void)state;
	if (!open_trace(&m, &books))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct memory_process process = { .instance = INSTANCE,
							.pid = PID,
							.since_ns = 1000 };
		struct heap_image *image = heap_images_add(&m.images, &process);
		struct seen seen = { 0 };

		assert_non_null(image);
		assert_int_equal(bpf_map_update_elem(m.own.processes_fd, &process.pid, &process,
						     BPF_NOEXIST),
				 0);
		image->settled = rows[i].settled;
		/* (a check found no file without probes, because no library was mapped yet) */
		image->complete = true;
		image->searched = true;
		image->held = rows[i].held;
		if (rows[i].settled)
			strcpy(image->unwatched, HEAP_PROBES_NO_ALLOCATOR);
		m.sink = (struct memory_sink){ .emit = note, .userdata = &seen };
		end(&m, process, rows[i].flags);
		assert_int_equal(heap_trace_announce_ready(&m), 0);
		assert_int_equal(heap_trace_announce(&m, image), 0);
		assert_int_equal(seen.n_begun, 0);
		assert_int_equal(heap_trace_finish_ended(&m, 2000, SECOND_NS), 0);
		assert_int_equal(seen.n_begun, 1);
		assert_int_equal(seen.n_ended, 1);
		assert_string_equal(seen.unwatched, rows[i].unwatched);
		assert_false(seen.complete);
		assert_int_equal(seen.reason, rows[i].reason);
		assert_int_equal(seen.searched, rows[i].held);
	}
	close_trace(&m);
}

/*
 * Programs that were executed before the worker looked: it knows only the one that runs now, and
 * must not report it before the ended ones.
 */
TEST(test_unknown_programs_come_first)
{
	struct memory_process process = { .pid = PID,
					  .since_ns = 1000,
					  .flags = MEMORY_PROCESS_IMAGE };
	struct books books = { .instances = INSTANCE };
	struct seen seen = { 0 };
	struct heap_trace m;
	struct heap_image *image;

	(void)state;
	if (!open_trace(&m, &books))
		skip();
	m.sink = (struct memory_sink){ .emit = note, .userdata = &seen };
	for (process.instance = INSTANCE; process.instance < INSTANCE + 3; process.instance++) {
		process.since_ns += 10;
		assert_int_equal(bpf_map_update_elem(m.own.processes_fd, &process.pid, &process,
						     BPF_NOEXIST),
				 0);
		if (process.instance < INSTANCE + 2)
			end(&m, process, MEMORY_PROCESS_EXECED);
	}
	process.instance = INSTANCE + 2;
	image = heap_images_add(&m.images, &process);
	assert_non_null(image);
	assert_int_equal(heap_trace_announce(&m, image), 0);
	assert_int_equal(seen.n_begun, 0);
	assert_int_equal(heap_trace_finish_ended(&m, 2000, SECOND_NS), 0);
	assert_int_equal(heap_trace_announce(&m, image), 0);
	assert_int_equal(seen.n_begun, 3);
	assert_int_equal(seen.n_ended, 2);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(seen.order[i], INSTANCE + i);
	close_trace(&m);
}

/*
 * Programs that begin and end after the time of the report was read: their blocks have times of
 * their watches, since readers do not find other watches.
 */
TEST(test_later_than_report)
{
	struct memory_process process = { .pid = PID, .since_ns = 3000 };
	const struct memory_block block = { .size = 8, .weight = 1, .ts_ns = 3000 };
	struct books books = { .instances = INSTANCE };
	struct seen seen = { 0 };
	struct heap_trace m;

	(void)state;
	if (!open_trace(&m, &books))
		skip();
	m.sink = (struct memory_sink){ .emit = note, .userdata = &seen };
	/* (two programs of a process are reported in another way than one) */
	for (uint32_t n = 1; n <= 2; n++) {
		for (uint32_t i = 0; i < n; i++) {
			struct memory_key key = { .id = 0x1000 + i,
						  .resource = MEMORY_RESOURCE_MEMORY };

			key.instance = ++process.instance;
			assert_int_equal(bpf_map_update_elem(m.own.processes_fd, &process.pid,
							     &process, BPF_NOEXIST),
					 0);
			assert_int_equal(
				bpf_map_update_elem(m.own.blocks_fd, &key, &block, BPF_NOEXIST), 0);
			end(&m, process, i + 1 < n ? MEMORY_PROCESS_EXECED : 0);
		}
		seen = (struct seen){ 0 };
		assert_int_equal(heap_trace_finish_ended(&m, 2000, SECOND_NS), 0);
		assert_int_equal(seen.n_ended, n);
		assert_in_range(seen.first_ns, 3000, 3001);
		assert_in_range(seen.last_ns, 3000, 3001);
	}
	close_trace(&m);
}

/* Whether M has forgotten process PID + 1, which is not watched, of the two that it traces. */
static bool forgets(struct heap_trace *m, bool missed)
{
	heap_trace_forget_outdated(m, missed);
	assert_non_null(heap_trace_probes_of(m, PID));
	return !heap_trace_probes_of(m, PID + 1);
}

/* A process whose end nobody reports is forgotten, so that its probes do not stay. */
TEST(test_unreported_end)
{
	const struct session_options options = { .categories = CATEGORY_MEMORY };
	const struct memory_process process = { .instance = INSTANCE, .pid = PID };
	__u64 unreported = 0;
	struct heap_trace m = {
		.options = &options,
		.own = {
			.processes_fd = make_map(sizeof(uint32_t), sizeof(struct memory_process)),
			.ends_unreported = &unreported,
		},
	};
	struct heap_probes *traced;

	(void)state;
	if (m.own.processes_fd == -EPERM)
		skip();
	assert_int_equal(
		bpf_map_update_elem(m.own.processes_fd, &process.pid, &process, BPF_NOEXIST), 0);
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 2; i++) {
			if (heap_trace_probes_of(&m, PID + i))
				continue;
			traced = table_make(&m.processes, (uint64_t)PID + i + 1, sizeof(*traced));
			assert_non_null(traced);
			traced->pid = PID + i;
			traced->instance = INSTANCE + i;
		}
		assert_false(forgets(&m, false));
		unreported += round;
		assert_true(forgets(&m, round == 0));
	}
	heap_probes_free(table_remove(&m.processes, (uint64_t)PID + 1), &m.probing, &m.going);
	assert_int_equal(m.going.size, 0);
	table_deinit(&m.processes);
	close(m.own.processes_fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_waits_for_end),
		cmocka_unit_test(test_unknown_programs_come_first),
		cmocka_unit_test(test_later_than_report),
		cmocka_unit_test(test_unreported_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
