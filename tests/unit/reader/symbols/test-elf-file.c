/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that others can write, so that they are read and not mapped. Most of their content is
 * sparse: it may not be read as a whole.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/dwarf-info.h"
#include "reader/symbols/elf-file.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

#define CLAIMED  (UINT64_C(256) << 20)
#define START    UINT64_C(0x400000)
#define CONTENT  UINT64_C(0x1000)
#define FILE_END (CONTENT + CLAIMED)

enum { MEMORY_MAX_KIB = 64 << 10, LIMIT = 8 << 20 };

static const char names[] = "\0.names\0.zdebug_info\0.debug_line\0.debug_info";

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[2]; /* the code, and another one */
	Elf64_Shdr sections[4];
	char names[sizeof(names)];
};

/* A program of code only, with room for more. */
static struct image image_of_code(void)
{
	struct image i = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, phdrs),
			.e_shoff = offsetof(struct image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 2,
			.e_shstrndx = 1,
		},
		.phdrs = { {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = CONTENT,
			.p_vaddr = START,
			.p_filesz = CLAIMED,
			.p_memsz = CLAIMED,
		} },
		.sections[1] = {
			.sh_name = 1,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct image, names),
			.sh_size = sizeof(names),
		},
	};

	memcpy(i.names, names, sizeof(names));
	return i;
}

static int write_image(const struct image *i, uint64_t size)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0620), 0);
	assert_int_equal(pwrite(fd, i, sizeof(*i), 0), sizeof(*i));
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static struct elf_file *open_image(const struct image *i)
{
	struct elf_file *f;
	const char *what;

	assert_int_equal(elf_file_open_fd(&f, write_image(i, FILE_END), &what), 0);
	assert_false(f->mapped);
	return f;
}

static void assert_unusable(const struct image *i, const char *expected)
{
	struct elf_file *f;
	const char *what = NULL;

	assert_int_equal(elf_file_open_fd(&f, write_image(i, FILE_END), &what), -EBADMSG);
	assert_string_equal(what, expected);
}

static long most_memory(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static long before;

static int set_up(void **state)
{
	before = most_memory();
	return own_directory_set_up(state);
}

/* (cmocka fails the test if this fails) */
static int tear_down(void **state)
{
	return own_directory_tear_down(state) ?: -(most_memory() - before > MEMORY_MAX_KIB);
}

TEST(test_calls)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 };
	static const uint8_t sigreturn[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0, 0 };
	struct image i = image_of_code();
	_cleanup_(elf_file_freep) struct elf_file *f = open_image(&i);
	/* at the beginning, over the end of any block, and at the end */
	const uint64_t places[] = { 0, (1 << 20) - 2, CLAIMED - sizeof(call) };

	for (size_t n = 0; n < ARRAY_SIZE(places); n++) {
		uint64_t after = START + places[n] + sizeof(call), target;

		assert_int_equal(pwrite(f->fd, call, sizeof(call), (off_t)(CONTENT + places[n])),
				 sizeof(call));
		assert_true(elf_file_call(f, after, &target));
		assert_int_equal(target, after + 0x10);
		assert_false(elf_file_call(f, after - 1, &target));
		assert_false(elf_file_is_sigreturn(f, START + places[n]));
	}
	assert_int_equal(pwrite(f->fd, sigreturn, sizeof(sigreturn), CONTENT + 4096),
			 sizeof(sigreturn));
	assert_true(elf_file_is_sigreturn(f, START + 4096));

	/* The file is cut off in the segment. */
	assert_int_equal(ftruncate(f->fd, CONTENT + 4096 + sizeof(call)), 0);
	assert_int_equal(pwrite(f->fd, call, sizeof(call), CONTENT + 4096), sizeof(call));
	for (size_t n = 0; n < ARRAY_SIZE(places); n++) {
		uint64_t target;

		assert_true(elf_file_call(f, START + 4096 + sizeof(call), &target));
		assert_int_equal(elf_file_call(f, START + places[n] + sizeof(call), &target),
				 n == 0);
	}
}

TEST(test_can_follow_call)
{
	/* The bytes before the address; see the manual of the processor. */
	static const struct {
		const char *code;
		size_t n;
		bool is;
	} rows[] = {
		{ "\xe8\1\2\3\4", 5, true },         /* call rel32 */
		{ "\xff\xd0", 2, true },             /* call *%rax */
		{ "\x41\xff\xd7", 3, true },         /* call *%r15 */
		{ "\xff\x12", 2, true },             /* call *(%rdx) */
		{ "\xff\x52\x08", 3, true },         /* call *8(%rdx) */
		{ "\xff\x14\xc8", 3, true },         /* call *(%rax,%rcx,8) */
		{ "\xff\x54\xc8\x08", 4, true },     /* call *8(%rax,%rcx,8) */
		{ "\xff\x92\0\1\0\0", 6, true },     /* call *0x100(%rdx) */
		{ "\xff\x15\0\1\0\0", 6, true },     /* call *0x100(%rip) */
		{ "\xff\x94\xc8\0\1\0\0", 7, true }, /* call *0x100(%rax,%rcx,8) */
		{ "\xff\x14\x25\0\1\0\0", 7, true }, /* call *0x100 */
		{ "\xc3\xcc\xcc\xcc\xcc\xcc\xcc", 7, false },
		{ "\xc3\x66\x90", 3, false },
		{ "\xe9\1\2\3\4", 5, false }, /* jmp rel32 */
		{ "\xff\xe0", 2, false },     /* jmp *%rax */
		{ "\x66\x0f\x1f\x44\0\0", 6, false },
		{ "\x0f\x1f\x80\0\0\0\0", 7, false },
	};
	struct image i = image_of_code();
	_cleanup_(elf_file_freep) struct elf_file *f = open_image(&i);

	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		/* at the beginning, where no bytes are before the code, and behind zeros */
		const uint64_t places[] = { 0, 4096 + 64 * k };

		for (size_t n = 0; n < ARRAY_SIZE(places); n++) {
			assert_int_equal(pwrite(f->fd, rows[k].code, rows[k].n,
						(off_t)(CONTENT + places[n])),
					 (ssize_t)rows[k].n);
			assert_int_equal(elf_file_can_follow_call(f, START + places[n] + rows[k].n),
					 rows[k].is);
		}
	}
	/* Bytes that are not there can be a call. */
	assert_true(elf_file_can_follow_call(f, START));
	assert_true(elf_file_can_follow_call(f, START + CLAIMED + 4096));
}

/* The start of a program is behind the entry point, that of a thread before its exit. */
TEST(test_begins)
{
	static const uint8_t exits[][10] = { { 0x48, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 },
					     { 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, 0xf4 },
					     { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 60, 0x0f, 0x05 } };
	struct image i = image_of_code();
	_cleanup_(elf_file_freep) struct elf_file *f = NULL;

	/* (libraries have none) */
	f = open_image(&i);
	assert_false(elf_file_begins(f, 1));
	assert_false(elf_file_begins(f, START + 1));
	elf_file_free(f);
	i.header.e_entry = START + 256;
	f = open_image(&i);
	assert_false(elf_file_begins(f, START + 255));
	assert_true(elf_file_begins(f, START + 256 + 33));
	assert_false(elf_file_begins(f, START + 256 + 64));
	for (size_t n = 0; n < ARRAY_SIZE(exits); n++) {
		uint64_t at = 4096 * (n + 1);

		assert_int_equal(pwrite(f->fd, exits[n], sizeof(*exits), (off_t)(CONTENT + at)),
				 sizeof(*exits));
		assert_true(elf_file_begins(f, START + at));
		assert_false(elf_file_begins(f, START + at - 1));
		assert_false(elf_file_begins(f, START + at + 1 + (n == 0)));
	}
	assert_false(elf_file_begins(f, START + CLAIMED));
	assert_false(elf_file_begins(f, UINT64_MAX));
}

TEST(test_names_of_sections)
{
	struct image i = image_of_code();

	i.sections[1].sh_offset = CONTENT;
	i.sections[1].sh_size = CLAIMED;
	assert_unusable(&i, "the names of its sections are too large");
}

TEST(test_notes)
{
	struct image i = image_of_code();

	i.header.e_phnum = 2;
	i.phdrs[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = CONTENT, .p_filesz = CLAIMED };
	assert_unusable(&i, "its notes are too large");
	i.header.e_phnum = 0;
	i.header.e_shnum = 3;
	i.sections[2] =
		(Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = CONTENT, .sh_size = CLAIMED };
	assert_unusable(&i, "its notes are too large");
}

/* libelf needs more memory for a section than the file has for its header. */
TEST(test_many_sections)
{
	struct image i = image_of_code();

	i.header.e_shnum = 0;
	i.sections[0].sh_size = 1000000;
	assert_unusable(&i, "its section headers are damaged");
}

TEST(test_debug_information)
{
	static const struct {
		uint32_t name; /* in NAMES */
		uint64_t flags;
	} cases[] = { { 8, 0 }, { 33, 0 }, { 33, SHF_COMPRESSED } };

	for (size_t n = 0; n < ARRAY_SIZE(cases); n++) {
		struct image i = image_of_code();
		_cleanup_(elf_file_freep) struct elf_file *f = NULL;
		struct dwarf_info *d = NULL;
		const char *what = NULL;

		i.header.e_shnum = 4;
		for (size_t s = 2; s < 4; s++)
			i.sections[s] = (Elf64_Shdr){
				.sh_name = s == 2 ? 21 : cases[n].name,
				.sh_type = SHT_PROGBITS,
				.sh_flags = s == 2 ? 0 : cases[n].flags,
				.sh_offset = CONTENT,
				.sh_size = s == 2 ? 100 : CLAIMED,
			};
		f = open_image(&i);
		assert_true(dwarf_info_is_in(f));
		assert_int_equal(dwarf_info_open(&d, f, NULL, &f->segments, LIMIT, &what),
				 -EBADMSG);
		assert_non_null(what);
	}
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_calls),
		IN_DIRECTORY(test_can_follow_call),
		IN_DIRECTORY(test_begins),
		IN_DIRECTORY(test_names_of_sections),
		IN_DIRECTORY(test_notes),
		IN_DIRECTORY(test_many_sections),
		IN_DIRECTORY(test_debug_information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
