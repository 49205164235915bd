/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of mappings, from files that are written here, below a directory that replaces the root,
 * and from this process's own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/mappings.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

struct fixture {
	char said[4096];
	size_t used;
	uint64_t here; /* an address to find */
	bool found;
};

static int say(const struct rec_mapping *rec, void *userdata)
{
	struct fixture *f = userdata;

	assert_int_equal(rec->head.kind, REC_MAPPING);
	assert_int_equal(rec->head.size % 8, 0);
	assert_int_equal(strlen(rec->path), rec->path_bytes);
	f->found |= f->here >= rec->start && f->here - rec->start < rec->bytes;
	if (f->used < sizeof(f->said) - 256)
		f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
					    "%u %llx+%llx @%llx %llx:%llu id%u %s;", rec->head.pid,
					    rec->start, rec->bytes, rec->file_offset, rec->device,
					    rec->inode, rec->build_id_bytes, rec->path);
	return 0;
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	return own_directory_set_up(NULL);
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	free(f);
	return own_directory_tear_down(NULL);
}

TEST(test_process)
{
	struct fixture *f = *state;

	put_text(".", "/proc/42/maps",
		 "00400000-00401000 r--p 00000000 fe:01 77                /bin/a b\n"
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a b\n"
		 "7f0000000000-7f0000002000 rwxp 00000000 00:00 0 \n"
		 "7fff00000000-7fff00001000 r-xp 00000000 00:00 0         [vdso]\n"
		 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"
		 "nonsense\n"
		 "2000-1000 r-xp 00000000 fe:01 77 /backwards\n");
	assert_int_equal(mappings_of_process(".", 42, say, f), 0);
	assert_string_equal(f->said, "42 401000+1000 @1000 fe00001:77 id0 /bin/a b;"
				     "42 7f0000000000+2000 @0 0:0 id0 //anon;"
				     "42 7fff00000000+1000 @0 0:0 id0 [vdso];");
	assert_int_equal(mappings_of_process(".", 43, say, f), 0); /* has ended */
}

TEST(test_kernel)
{
	/* Two notes; the second one is a build id of 8 bytes. */
	static const uint8_t notes[] = { 4, 0, 0,   0,   2,   0, 0, 0, 9, 0, 0, 0, 'X', 0, 0,
					 0, 1, 1,   0,   0,   4, 0, 0, 0, 8, 0, 0, 0,   3, 0,
					 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 6, 7,   8 };
	struct fixture *f = *state;

	put_text(".", "/proc/kallsyms",
		 "0000000000000000 A first\nffffffff81000000 T _stext\n"
		 "ffffffff81000010 T f\nffffffff82000000 T _etext\n");
	put_bytes(".", "/sys/kernel/notes", notes, sizeof(notes));
	put_text(".", "/proc/modules",
		 "loop 4096 0 - Live 0xffffffffa0000000\n"
		 "ext4 8192 1 loop, Live 0xffffffffa0010000 (E)\n"
		 "hidden 8192 1 - Live 0x0000000000000000\n");
	put_bytes(".", "/sys/module/ext4/notes/.note.gnu.build-id", notes, sizeof(notes) - 3);
	put_bytes(".", "/sys/module/loop/notes/.note.gnu.build-id", notes + 20, sizeof(notes) - 20);
	assert_int_equal(mappings_of_kernel(".", NULL, say, f), 0);
	assert_string_equal(f->said, "2 ffffffff81000000+1000000 @0 0:0 id8 [kernel.kallsyms];"
				     "2 ffffffffa0000000+1000 @0 0:0 id8 [loop];"
				     "2 ffffffffa0010000+2000 @0 0:0 id0 [ext4];");
}

/* If the caller knows where the text is, the kernel need not list its symbols. */
TEST(test_known_text)
{
	const struct kernel_text text = { 0xffffffff81000000, 0xffffffff81800000 }, none = { 0 };
	struct fixture *f = *state;

	put_text(".", "/proc/kallsyms", "ffffffff82000000 T _stext\nffffffff83000000 T _etext\n");
	assert_int_equal(mappings_of_kernel(".", &none, say, f), 0);
	assert_int_equal(f->used, 0);
	assert_int_equal(mappings_of_kernel(".", &text, say, f), 0);
	assert_string_equal(f->said, "2 ffffffff81000000+800000 @0 0:0 id0 [kernel.kallsyms];");
}

TEST(test_hidden)
{
	struct fixture *f = *state;

	put_text(".", "/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	assert_int_equal(mappings_of_kernel(".", NULL, say, f), 0);
	assert_int_equal(f->used, 0);
}

TEST(test_own)
{
	struct fixture *f = *state;

	f->here = (uint64_t)(uintptr_t)test_own;
	assert_int_equal(mappings_of_process("", (uint32_t)getpid(), say, f), 0);
	assert_true(f->found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_known_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
