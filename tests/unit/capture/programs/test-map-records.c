/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as the kernel writes them into a perf ring, and others that it would never write.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/programs/map-records.h"
#include "tests/support/unit.h"

enum { MISC_BUILD_ID = 1 << 14, MISC_EXEC = 1 << 13 };

/* The ids of the events that report build ids, and inodes. */
enum { BUILD_ID_EVENT = 90, INODE_EVENT = 91 };

struct fixture {
	struct map_records m;
	char said[4096];
	size_t used;
	uint64_t lost;
};

static int say(const struct rec_head *head, void *userdata)
{
	const struct rec_mapping *rec = (const struct rec_mapping *)head;
	struct fixture *f = userdata;

	if (head->kind == REC_NEW_IMAGE) {
		f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
					    "image %u %llu;", head->pid, head->ts_ns);
		return 0;
	}
	assert_int_equal(head->kind, REC_MAPPING);
	assert_int_equal(head->size % 8, 0);
	assert_true(head->size > sizeof(*rec) + rec->path_bytes);
	assert_int_equal(strlen(rec->path), rec->path_bytes);
	f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
				    "%u %llu %llx+%llx %llx:%llu id%u %s%s;", head->pid,
				    head->ts_ns, rec->start, rec->bytes, rec->device, rec->inode,
				    rec->build_id_bytes, rec->path,
				    map_records_lacks_inode(rec) ? " incomplete" : "");
	return 0;
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f)
		f->m.inode_event = INODE_EVENT;
	return f ? 0 : -1;
}

FIXTURE(tear_down)
{
	free(*state);
	return 0;
}

/* A mapping: 72 bytes, the path, the time, the id of the event. */
static size_t make_mmap(uint8_t *to, bool build_id, uint64_t start, const char *path,
			uint64_t ts_ns)
{
	size_t room = (strlen(path) + 8) & ~(size_t)7, size = 72 + room + 16;
	struct perf_event_header header = { PERF_RECORD_MMAP2, build_id ? MISC_BUILD_ID : 0,
					    (uint16_t)size };
	uint32_t ids[2] = { 7, 8 }, device[2] = { 254, 1 };
	uint64_t where[3] = { start, 0x2000, 0x1000 }, inode[2] = { 55, 0 };
	uint64_t event = build_id ? BUILD_ID_EVENT : INODE_EVENT;

	memset(to, 0, size);
	memcpy(to, &header, sizeof(header));
	memcpy(to + 8, ids, sizeof(ids));
	memcpy(to + 16, where, sizeof(where));
	if (build_id) {
		to[40] = 20;
		memset(to + 44, 0xab, 20);
	} else {
		memcpy(to + 40, device, sizeof(device));
		memcpy(to + 48, inode, sizeof(inode));
	}
	memcpy(to + 72, path, strlen(path));
	memcpy(to + size - 16, &ts_ns, sizeof(ts_ns));
	memcpy(to + size - 8, &event, sizeof(event));
	return size;
}

static void take(struct fixture *f, const uint8_t *bytes, size_t size)
{
	uint8_t *exact = malloc(size); /* so that a sanitizer detects reads past the end */

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	assert_int_equal(map_records_decode(&f->m, exact, size, say, f, &f->lost), 0);
	free(exact);
}

static void decode_mmap(struct fixture *f, bool build_id, uint64_t start, const char *path,
			uint64_t ts_ns)
{
	uint8_t bytes[512];

	take(f, bytes, make_mmap(bytes, build_id, start, path, ts_ns));
}

TEST(test_halves)
{
	struct fixture *f = *state;

	decode_mmap(f, true, 0x1000, "/bin/a", 10);
	decode_mmap(f, false, 0x1000, "/bin/a", 11);
	assert_string_equal(f->said, "7 10 1000+2000 fe00001:55 id20 /bin/a;");
	f->used = 0;
	/* In the other order; without a build id; with one half lost. */
	decode_mmap(f, false, 0x1000, "/bin/a", 20);
	decode_mmap(f, true, 0x1000, "/bin/a", 21);
	decode_mmap(f, false, 0x3000, "//anon", 30);
	decode_mmap(f, false, 0x3000, "//anon", 31);
	decode_mmap(f, true, 0x5000, "/bin/b", 40);
	decode_mmap(f, true, 0x7000, "/bin/c", 50);
	assert_string_equal(f->said, "7 20 1000+2000 fe00001:55 id20 /bin/a;"
				     "7 30 3000+2000 fe00001:55 id0 //anon;"
				     "7 40 5000+2000 0:0 id20 /bin/b incomplete;");
	f->used = 0;
	assert_int_equal(map_records_flush(&f->m, 50, say, f), 0);
	assert_int_equal(f->used, 0); /* its other half may still come */
	assert_int_equal(map_records_flush(&f->m, 51, say, f), 0);
	assert_string_equal(f->said, "7 50 7000+2000 0:0 id20 /bin/c incomplete;");
}

/* In another pid namespace, records of processes whose ids are unknown are left out. */
TEST(test_other_ids)
{
	struct fixture *f = *state;

	f->m.translates = true;
	f->m.ids_fd = -1;
	decode_mmap(f, false, 0x1000, "/lib", 5);
	assert_int_equal(map_records_flush(&f->m, UINT64_MAX, say, f), 0);
	assert_string_equal(f->said, "");
	f->m.translates = false;
	decode_mmap(f, false, 0x1000, "/lib", 5);
	assert_int_equal(map_records_flush(&f->m, UINT64_MAX, say, f), 0);
	assert_non_null(strstr(f->said, "7 5 1000+2000 "));
}

/* A file without its inode is no code without a file. */
TEST(test_lacks_inode)
{
	static const struct {
		const char *path;
		uint64_t inode;
		bool lacks;
	} rows[] = {
		{ "/bin/a", 5, false },    { "/bin/a", 0, true },  { "//toolong", 0, true },
		{ "//toolong", 5, false }, { "//anon", 0, false }, { "[vdso]", 0, false },
	};
	union {
		struct rec_mapping rec;
		char room[sizeof(struct rec_mapping) + 16];
	} all = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		all.rec.inode = rows[i].inode;
		strcpy(all.rec.path, rows[i].path);
		assert_int_equal(map_records_lacks_inode(&all.rec), rows[i].lacks);
	}
}

/*
 * With another recorder of build ids, the kernel sets the flag of a build id also in records with
 * an inode. The id of the event tells them apart.
 */
TEST(test_false_flag)
{
	struct fixture *f = *state;
	uint8_t bytes[512];

	for (int i = 0; i < 2; i++) {
		size_t size = make_mmap(bytes, false, 0x1000, "/bin/a", 10);

		((struct perf_event_header *)bytes)->misc |= MISC_BUILD_ID;
		if (i == 1)
			decode_mmap(f, true, 0x1000, "/bin/a", 9);
		take(f, bytes, size);
		if (i == 0)
			decode_mmap(f, true, 0x1000, "/bin/a", 11);
	}
	assert_string_equal(f->said, "7 10 1000+2000 fe00001:55 id20 /bin/a;"
				     "7 9 1000+2000 fe00001:55 id20 /bin/a;");
	/* A file without a build id has an inode from both. */
	f->used = 0;
	decode_mmap(f, false, 0x3000, "//anon", 30);
	assert_int_equal(map_records_flush(&f->m, 50, say, f), 0);
	assert_string_equal(f->said, "7 30 3000+2000 fe00001:55 id0 //anon;");
}

TEST(test_exec)
{
	struct fixture *f = *state;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		uint64_t ts_ns, event;
	} comm = { { PERF_RECORD_COMM, MISC_EXEC, sizeof(comm) }, 7, 7, "a", 15, BUILD_ID_EVENT };

	decode_mmap(f, true, 0x1000, "/bin/a", 10);
	take(f, (const uint8_t *)&comm, sizeof(comm));
	comm.header.misc = 0; /* only a rename */
	take(f, (const uint8_t *)&comm, sizeof(comm));
	assert_string_equal(f->said, "7 10 1000+2000 0:0 id20 /bin/a incomplete;image 7 15;");
}

TEST(test_lost)
{
	struct fixture *f = *state;
	struct {
		struct perf_event_header header;
		uint64_t id, lost, ts_ns, event;
	} lost = { { PERF_RECORD_LOST, 0, sizeof(lost) }, 1, 5, 10, BUILD_ID_EVENT };

	take(f, (const uint8_t *)&lost, sizeof(lost));
	take(f, (const uint8_t *)&lost, sizeof(lost));
	assert_int_equal(f->lost, 10);
	assert_int_equal(f->used, 0);
}

/* With any bytes, no missing data is read, and no wrong data is returned. */
TEST(test_nonsense)
{
	struct fixture *f = *state;
	uint8_t bytes[512];
	size_t size = make_mmap(bytes, true, 0x1000, "/bin/a", 10);
	struct perf_event_header header;

	for (size_t n = 8; n < size; n += 8) {
		memcpy(&header, bytes, sizeof(header));
		header.size = (uint16_t)n;
		memcpy(bytes, &header, sizeof(header));
		take(f, bytes, n);
	}
	assert_int_equal(f->used, 0);
	assert_false(f->m.waiting);
	size = make_mmap(bytes, true, UINT64_MAX - 0x1000, "/bin/a", 10);
	take(f, bytes, size); /* extends over the end of the address space */
	size = make_mmap(bytes, true, 0x1000, "/bin/a", 10);
	memset(bytes + 72, 'x', 8); /* a path without an end */
	take(f, bytes, size);
	assert_false(f->m.waiting);
	size = make_mmap(bytes, true, 0x1000, "/bin/a", 10);
	bytes[40] = 255; /* a build id of this size */
	take(f, bytes, size);
	assert_int_equal(map_records_flush(&f->m, 100, say, f), 0);
	assert_string_equal(f->said, "7 10 1000+2000 0:0 id20 /bin/a incomplete;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_halves, set_up, tear_down),
		cmocka_unit_test(test_lacks_inode),
		cmocka_unit_test_setup_teardown(test_other_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_false_flag, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
