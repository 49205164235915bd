/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of static probes, complete and damaged. */
#include <errno.h>
#include <string.h>

#include "base/usdt-note.h"
#include "tests/support/unit.h"

enum { NOTE_ROOM = 256 };

struct notes {
	char bytes[NOTE_ROOM];
	size_t n;
};

/* A note with BYTES of description: three addresses, followed by TEXT. */
static void add_note(struct notes *to, const char *owner, uint32_t type, uint64_t semaphore,
		     const char *text, size_t n_text)
{
	uint32_t head[3] = { (uint32_t)strlen(owner) + 1, (uint32_t)(24 + n_text), type };
	uint64_t at[3] = { 0x1000, 0x2000, semaphore };

	memcpy(to->bytes + to->n, head, sizeof(head));
	strcpy(to->bytes + to->n + 12, owner);
	memcpy(to->bytes + to->n + 12 + 8, at, sizeof(at));
	memcpy(to->bytes + to->n + 44, text, n_text);
	to->n += (44 + n_text + 3) & ~(size_t)3;
}

TEST(test_notes)
{
	struct notes notes = { .n = 0 };
	struct usdt_note note;
	size_t at = 0;

	add_note(&notes, "stapsdt", 3, 0, "db\0start\0-4@%edi", 17);
	add_note(&notes, "stapsdt", 4, 0, "a\0b\0", 5);
	add_note(&notes, "another", 3, 0, "", 0);
	add_note(&notes, "stapsdt", 3, 0x3000, "db\0end\0", 8);
	assert_int_equal(usdt_note_next(notes.bytes, notes.n, &at, &note), 1);
	assert_string_equal(note.provider, "db");
	assert_string_equal(note.name, "start");
	assert_string_equal(note.arguments, "-4@%edi");
	assert_int_equal(note.semaphore, 0);
	assert_int_equal(usdt_note_vaddr(&note, note.vaddr, 0), 0x1000);
	assert_int_equal(usdt_note_vaddr(&note, note.vaddr, 0x2800), 0x1800);
	assert_int_equal(usdt_note_next(notes.bytes, notes.n, &at, &note), 1);
	assert_string_equal(note.name, "end");
	assert_int_equal(note.semaphore, 0x3000);
	assert_int_equal(usdt_note_next(notes.bytes, notes.n, &at, &note), 0);
}

/* Texts without an end, addresses that are cut, sizes beyond the notes. */
TEST(test_damaged)
{
	struct usdt_note note;

	for (size_t n = 0; n < 61; n++) {
		struct notes notes = { .n = 0 };
		size_t at = 0;

		add_note(&notes, "stapsdt", 3, 0, "db\0start\0-4@%edi", 17);
		assert_int_equal(usdt_note_next(notes.bytes, n, &at, &note), n < 12 ? 0 : -EBADMSG);
	}
	for (size_t n_text = 0; n_text < 17; n_text++) {
		struct notes notes = { .n = 0 };
		size_t at = 0;

		add_note(&notes, "stapsdt", 3, 0, "db\0start\0-4@%edi", n_text);
		assert_int_equal(usdt_note_next(notes.bytes, notes.n, &at, &note), -EBADMSG);
	}
	for (int field = 0; field < 2; field++) {
		struct notes notes = { .n = 0 };
		size_t at = 0;

		add_note(&notes, "stapsdt", 3, 0, "db\0start\0", 10);
		memset(notes.bytes + 4 * field, 0xff, 4);
		assert_int_equal(usdt_note_next(notes.bytes, notes.n, &at, &note), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
