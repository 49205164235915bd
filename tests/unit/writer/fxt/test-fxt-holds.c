/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Held events: the last one of each thing, by its key, until it ends. (test-edit-state.c tests
 * records, and data that a child inherits; test-recorder-chunk.c tests heads of chunks.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-holds.h"

enum { WATCHED = 10, OTHER = 11 };

/* Adds EV, and then destroys it, with the data that it points to. */
static void take(struct fxt_holds *h, struct event ev, char *text, size_t n)
{
	assert_int_equal(fxt_holds_event(h, &ev), 0);
	if (n > 0)
		memset(text, '#', n);
}

static void counter(struct fxt_holds *h, const char *category, const char *name, uint64_t id,
		    uint64_t value)
{
	char texts[3][16] = { "", "", "bytes" };
	struct event_value values[] = { { texts[2], true, { value } } };
	struct event ev = { .kind = EVENT_COUNTER, .ts_ns = 1 };

	strcpy(texts[0], category);
	strcpy(texts[1], name);
	ev.counter.category = texts[0];
	ev.counter.name = texts[1];
	ev.counter.id = id;
	ev.counter.values = values;
	ev.counter.n_values = 1;
	take(h, ev, texts[0], sizeof(texts));
	values[0].u64 = 4711;
}

static void shed(struct fxt_holds *h, const char *class_name, uint64_t cost, bool back)
{
	char text[16];
	struct event ev = { .kind = EVENT_SHED, .shed = { text, "s", cost, 1, .back = back } };

	strcpy(text, class_name);
	take(h, ev, text, sizeof(text));
}

static void context(struct fxt_holds *h, const char *name, uint32_t id, bool begin)
{
	char text[16];

	strcpy(text, name);
	take(h, (struct event){ .kind = EVENT_CONTEXT, .context = { text, id, begin } }, text,
	     sizeof(text));
}

static void of_process(struct fxt_holds *h, enum event_kind kind, uint32_t pid)
{
	char texts[2][8] = { "memory", "libc" };
	struct event ev = { .kind = kind, .pid = pid, .tid = pid };

	if (kind == EVENT_WATCH_BEGIN) {
		ev.watch.resources = texts[0];
		ev.watch.allocators = texts[1];
		ev.watch.unwatched = "";
	}
	if (kind == EVENT_WATCH_END) {
		ev.watched.reason = texts[0];
		ev.watched.gap = "";
		ev.watched.unsearched = "";
	}
	if (kind == EVENT_EXIT)
		ev.exit.process_ends = true;
	take(h, ev, texts[0], sizeof(texts));
}

static void stack(struct fxt_holds *h, uint32_t pid, enum sample_kind kind, uint64_t id)
{
	uint64_t frames[] = { id, id + 1 };
	struct event ev = { .kind = EVENT_SAMPLE, .pid = pid, .sample = { frames, 2, kind, id } };

	take(h, ev, (char *)frames, sizeof(frames));
}

static void usage(struct fxt_holds *h, uint32_t pid, enum resource resource, uint64_t id,
		  uint64_t blocks)
{
	struct event ev = { .kind = EVENT_USAGE,
			    .pid = pid,
			    .usage = { .resource = resource, .stack = id, .blocks = blocks } };

	take(h, ev, NULL, 0);
}

/* All held events, one per line, in order. */
static void say(char *to, size_t n, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_COUNTER:
		snprintf(to, n, "%s/%s %lu: %s=%lu\n", ev->counter.category, ev->counter.name,
			 (unsigned long)ev->counter.id, ev->counter.values[0].name,
			 (unsigned long)ev->counter.values[0].u64);
		return;
	case EVENT_SHED:
		snprintf(to, n, "shed %s %lu\n", ev->shed.what, (unsigned long)ev->shed.cost_ppm);
		return;
	case EVENT_CONTEXT:
		snprintf(to, n, "context %s %u %s\n", ev->context.name, ev->context.id,
			 ev->context.begin ? "open" : "closed");
		return;
	case EVENT_WATCH_BEGIN:
		snprintf(to, n, "watch %u %s by %s\n", ev->pid, ev->watch.resources,
			 ev->watch.allocators);
		return;
	case EVENT_SAMPLE:
		snprintf(to, n, "stack %u %lu of %lu %lu\n", ev->pid, (unsigned long)ev->sample.id,
			 (unsigned long)ev->sample.frames[0], (unsigned long)ev->sample.frames[1]);
		return;
	case EVENT_FRAME:
		snprintf(to, n, "name %u %lx %s\n", ev->frame.process,
			 (unsigned long)ev->frame.address, ev->frame.function);
		return;
	case EVENT_USAGE:
		snprintf(to, n, "usage %u %s %lu: %lu\n", ev->pid,
			 resource_names[ev->usage.resource], (unsigned long)ev->usage.stack,
			 (unsigned long)ev->usage.blocks);
		return;
	default:
		snprintf(to, n, "%d\n", ev->kind);
	}
}

static void assert_holds(const struct fxt_holds *h, const char *want)
{
	char text[2048] = "";

	for (const struct fxt_held *i = NULL; (i = fxt_holds_next(h, i));)
		say(text + strlen(text), sizeof(text) - strlen(text), i->what);
	assert_string_equal(text, want);
}

static struct fxt_holds *begin(uint32_t without)
{
	struct fxt_holds *h;

	assert_int_equal(fxt_holds_new(&h, &fxt_holds_events, without), 0);
	return h;
}

TEST(test_last_word)
{
	_cleanup_(fxt_holds_freep) struct fxt_holds *h = begin(0);

	counter(h, "power", "CPU", 0, 1);
	counter(h, "power", "CPU", 1, 2);
	counter(h, "counters", "CPU", 0, 3);
	counter(h, "power", "GPU", 0, 4);
	counter(h, "power", "CPU", 0, 5);
	assert_holds(h, "power/CPU 1: bytes=2\n"
			"counters/CPU 0: bytes=3\n"
			"power/GPU 0: bytes=4\n"
			"power/CPU 0: bytes=5\n");
}

TEST(test_sheds_and_contexts)
{
	_cleanup_(fxt_holds_freep) struct fxt_holds *h = begin(0);

	shed(h, "stacks", 1, false);
	shed(h, "wakeups", 2, false);
	shed(h, "wakeups", 3, false);
	context(h, "one", 1, true);
	context(h, "two", 2, true);
	context(h, "one", 1, false);
	shed(h, "stacks", 0, true);
	shed(h, "session", 0, true);
	assert_holds(h, "shed wakeups 3\ncontext two 2 open\ncontext one 1 closed\n");
}

/*
 * A process's allocations are held until it is not watched any more, or watched again; not until it
 * ends.
 */
TEST(test_watches)
{
	_cleanup_(fxt_holds_freep) struct fxt_holds *h = begin(0);

	for (uint32_t pid = WATCHED; pid <= OTHER; pid++) {
		of_process(h, EVENT_WATCH_BEGIN, pid);
		stack(h, pid, SAMPLE_NAMED, 7);
		stack(h, pid, SAMPLE_ON_CPU, 8);
		usage(h, pid, RESOURCE_MEMORY, 7, 1);
		usage(h, pid, RESOURCE_FD, 7, 2);
		usage(h, pid, RESOURCE_MEMORY, 7, 3);
		of_process(h, EVENT_EXIT, pid);
	}
	of_process(h, EVENT_WATCH_END, WATCHED);
	assert_holds(h, "watch 11 memory by libc\n"
			"stack 11 7 of 7 8\n"
			"usage 11 fd 7: 2\n"
			"usage 11 memory 7: 3\n");
	of_process(h, EVENT_WATCH_BEGIN, OTHER);
	assert_holds(h, "watch 11 memory by libc\n");
}

static void name(struct fxt_holds *h, uint32_t pid, uint64_t address)
{
	const struct event ev = {
		.kind = EVENT_FRAME,
		.frame = { .process = pid, .address = address, .function = "f", .source = "" },
	};

	assert_int_equal(fxt_holds_event(h, &ev), 0);
	assert_int_equal(fxt_holds_name(h, &ev), 0);
}

/*
 * Names are before the stacks that need them. They end with the watch, or with a process that is
 * not watched.
 */
TEST(test_names)
{
	_cleanup_(fxt_holds_freep) struct fxt_holds *h = begin(1u << FXT_HOLDS_FRAME);

	of_process(h, EVENT_WATCH_BEGIN, WATCHED);
	for (uint32_t pid = WATCHED; pid <= OTHER; pid++) {
		name(h, pid, 0x10);
		name(h, pid, 0x20);
		stack(h, pid, SAMPLE_NAMED, 7);
		name(h, pid, 0x10);
	}
	assert_holds(h, "watch 10 memory by libc\n"
			"name 10 10 f\n"
			"name 10 20 f\n"
			"stack 10 7 of 7 8\n"
			"name 11 10 f\n"
			"name 11 20 f\n"
			"stack 11 7 of 7 8\n");
	of_process(h, EVENT_EXIT, WATCHED);
	of_process(h, EVENT_EXIT, OTHER);
	assert_holds(h, "watch 10 memory by libc\n"
			"name 10 10 f\n"
			"name 10 20 f\n"
			"stack 10 7 of 7 8\n"
			"stack 11 7 of 7 8\n");
	of_process(h, EVENT_WATCH_END, WATCHED);
	assert_holds(h, "stack 11 7 of 7 8\n");
}

/* Events that are kept elsewhere are not held. */
TEST(test_without)
{
	_cleanup_(fxt_holds_freep) struct fxt_holds *h =
		begin(1u << FXT_HOLDS_COUNTER | 1u << FXT_HOLDS_CONTEXT);

	counter(h, "power", "CPU", 0, 1);
	context(h, "one", 1, true);
	shed(h, "stacks", 1, false);
	assert_holds(h, "shed stacks 1\n");
}

static void *keep_much(void *what, size_t *bytes)
{
	*bytes = (size_t)50 << 20;
	return what;
}

static void let_go_of_nothing(void *kept)
{
	(void)kept;
}

/* There is room for 128 MiB. Events without room are counted; freed room is used again. */
TEST(test_room)
{
	static const struct fxt_holds_ops ops = { keep_much, let_go_of_nothing };
	_cleanup_(fxt_holds_freep) struct fxt_holds *h = NULL;
	struct fxt_holds_key keys[4] = { { .kind = FXT_HOLDS_COUNTER } };
	char what[4];

	assert_int_equal(fxt_holds_new(&h, &ops, 0), 0);
	for (unsigned i = 0; i < 4; i++) {
		keys[i] = (struct fxt_holds_key){ .kind = FXT_HOLDS_COUNTER, .a = i };
		assert_int_equal(fxt_holds_keep(h, &keys[i], 0, &what[i]), 1);
	}
	assert_int_equal(fxt_holds_left_out(h), 2);
	assert_non_null(fxt_holds_find(h, &keys[1]));
	assert_null(fxt_holds_find(h, &keys[2]));
	fxt_holds_forget(h, fxt_holds_find(h, &keys[0]));
	assert_int_equal(fxt_holds_keep(h, &keys[3], 0, &what[3]), 1);
	assert_non_null(fxt_holds_find(h, &keys[3]));
	assert_int_equal(fxt_holds_left_out(h), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_word), cmocka_unit_test(test_sheds_and_contexts),
		cmocka_unit_test(test_watches),   cmocka_unit_test(test_without),
		cmocka_unit_test(test_room),      cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
