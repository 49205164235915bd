/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Malformed files: cut off anywhere, with any byte wrong, or with huge claims. They are made from
 * the fuzzer's initial files.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/symbols/module-file.h"
#include "tests/support/unit.h"

enum { FILE_MAX = 16384 };

struct bytes {
	uint8_t data[FILE_MAX];
	size_t n;
};

static void read_corpus(struct bytes *b, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/symbols/%s", SOURCE_ROOT, name);
	f = fopen(path, "re");
	assert_non_null(f);
	b->n = fread(b->data, 1, sizeof(b->data), f);
	assert_true(b->n > 0 && b->n < sizeof(b->data));
	fclose(f);
}

struct told {
	unsigned int n;
	const char *last;
};

static void note(void *userdata, const char *path, const char *what)
{
	struct told *told = userdata;

	assert_string_equal(path, "file");
	told->n++;
	told->last = what;
}

/* Opens a copy of N bytes, and looks up many names. Returns the number of found ones. */
static unsigned int use(const void *data, size_t n, uint64_t limit, struct told *told)
{
	struct module_file_options options = {
		.lines = true,
		.memory_limit = limit,
		.problem = note,
		.userdata = told,
	};
	_cleanup_(module_file_freep) struct module_file *m = NULL;
	struct elf_segments segments;
	unsigned int names = 0;
	struct elf_file *elf;
	char *copy = malloc(n + 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, data, n);
	/* Exactly as long, so that a sanitizer detects reads past the end. */
	copy = realloc(copy, n ? n : 1);
	r = elf_file_open_memory(&elf, copy, n, &told->last);
	if (r < 0) {
		assert_int_equal(r, -EBADMSG);
		assert_non_null(told->last);
		told->n++;
		return 0;
	}
	segments = elf->segments;
	assert_int_equal(module_file_open_elf(&m, elf, "file", &options), 1);
	for (size_t i = 0; i < segments.n; i++)
		for (uint64_t k = 0; k < segments.items[i].memory_size && k < 4096; k += 7) {
			struct dwarf_frame frames[8];
			struct symbol_found symbol;

			names += module_file_symbol(m, segments.items[i].vaddr + k, &symbol);
			names += (unsigned int)module_file_frames(m, segments.items[i].vaddr + k,
								  frames, 8, &told->last);
		}
	return names;
}

/* The distance of faults, of which each file gets one at a time. */
static size_t step(size_t bytes)
{
	return unit_is_in_valgrind() ? 10 * bytes + 1 : bytes;
}

static const char *const files[] = { "dwarf5",     "dwarf4",    "packed",
				     "packed-gnu", "minidebug", "split" };

enum { LIMIT = 8 << 20 };

TEST(test_whole)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct told told = { 0 };
		struct bytes b;

		read_corpus(&b, files[i]);
		assert_true(use(b.data, b.n, LIMIT, &told) > 10);
		/* (it has debug information in a file that is not read) */
		assert_int_equal(told.n, strcmp(files[i], "split") == 0);
	}
}

TEST(test_cut_off)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		unsigned int unusable = 0;
		struct bytes b;

		read_corpus(&b, files[i]);
		for (size_t n = 0; n < b.n; n += step(13)) {
			struct told told = { 0 };

			use(b.data, n, LIMIT, &told);
			unusable += told.n > 0;
		}
		assert_true(unusable > 0);
	}
}

TEST(test_wrong_bytes)
{
	static const uint8_t wrong[] = { 0x00, 0xff, 0x80, 0x7f };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes b;

		read_corpus(&b, files[i]);
		for (size_t at = i; at < b.n; at += step(5)) {
			struct told told = { 0 };
			uint8_t right = b.data[at];

			b.data[at] = wrong[at % ARRAY_SIZE(wrong)];
			use(b.data, b.n, LIMIT, &told);
			b.data[at] = right;
		}
	}
}

/* Data above the limit is left out, and reported. */
TEST(test_memory_limit)
{
	static const char *const rows[] = { "dwarf5", "packed", "minidebug" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct told told = { 0 };
		struct bytes b;

		read_corpus(&b, rows[i]);
		assert_true(use(b.data, b.n, 512, &told) < 10);
		assert_true(told.n > 0);
		assert_non_null(strstr(told.last, "memory"));
	}
}

/* The header of a section. */
static Elf64_Shdr *find_section(struct bytes *b, const char *name)
{
	Elf64_Ehdr *header = (void *)b->data;
	Elf64_Shdr *sections = (void *)(b->data + header->e_shoff);
	const char *names = (const char *)b->data + sections[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, name) == 0)
			return &sections[i];
	fail_msg("the file has no section %s", name);
	return NULL;
}

/* A few bytes that claim to be very many after unpacking. */
TEST(test_claims)
{
	struct told told = { 0 };
	Elf64_Shdr *section;
	Elf64_Chdr *packed;
	struct bytes b;

	read_corpus(&b, "packed");
	section = find_section(&b, ".debug_info");
	packed = (void *)(b.data + section->sh_offset);
	packed->ch_size = UINT64_C(1) << 40;
	assert_true(use(b.data, b.n, LIMIT, &told) > 10);
	assert_int_equal(told.n, 1);
	assert_non_null(strstr(told.last, "memory"));

	told = (struct told){ 0 };
	read_corpus(&b, "dwarf5");
	section = find_section(&b, ".symtab");
	section->sh_size = UINT64_C(1) << 40;
	use(b.data, b.n, LIMIT, &told);
	assert_true(told.n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),       cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_wrong_bytes), cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
