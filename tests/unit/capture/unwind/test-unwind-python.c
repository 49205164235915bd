/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds interpreters of Python in files: in one that is written by hand, in damaged ones, and in
 * the interpreter of this machine.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "capture/unwind/python-layouts.h"
#include "capture/unwind/unwind-python.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/unit.h"

#define INTERPRETER "/usr/bin/python3.11"

/* The file: a segment at LOADED with the code, and the version behind it. */
enum {
	LOADED = 0x10000,
	FILE_BYTES = 0x400,
	EVAL_AT = 0x200,
	EVAL_BYTES = 0x20,
	COLD_AT = 0x300, /* two parts of functions, 0x20 bytes each */
	VERSION_AT = 0x3f8,
	RUNTIME_BYTES = 166688,
};

struct file {
	uint8_t bytes[FILE_BYTES];
	Elf64_Sym symbols[4];
	struct unwind_elf elf;
};

static const char names[] = "\0_PyRuntime\0_PyEval_EvalFrameDefault\0PyCode_Type\0Py_Version";

/* Adds the symbol NAME. */
static void add_symbol(struct file *f, const char *name, uint64_t address, uint64_t size)
{
	for (size_t at = 1; at < sizeof(names); at += strlen(names + at) + 1)
		if (strcmp(names + at, name) == 0)
			f->symbols[f->elf.n_symbols++] = (Elf64_Sym){
				.st_name = (Elf64_Word)at,
				.st_shndx = 1,
				.st_value = address,
				.st_size = size,
			};
}

/* Writes a jump from byte FROM of the function to TO. */
static void put_jump(struct file *f, unsigned from, unsigned to)
{
	int32_t distance = (int32_t)(to - (EVAL_AT + from + 5));

	f->bytes[EVAL_AT + from] = 0xe9;
	memcpy(f->bytes + EVAL_AT + from + 1, &distance, sizeof(distance));
}

static void make_file(struct file *f)
{
	const Elf64_Ehdr header = { .e_phoff = sizeof(header),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 1 };
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_vaddr = LOADED, .p_filesz = FILE_BYTES };
	const uint64_t version = 0x030b02f0;

	*f = (struct file){ 0 };
	memcpy(f->bytes, &header, sizeof(header));
	memcpy(f->bytes + sizeof(header), &segment, sizeof(segment));
	memset(f->bytes + EVAL_AT, 0x90, EVAL_BYTES);
	memcpy(f->bytes + VERSION_AT, &version, sizeof(version));
	f->elf = (struct unwind_elf){ .data = f->bytes,
				      .n_data = sizeof(f->bytes),
				      .symbols = (const uint8_t *)f->symbols,
				      .names = (const uint8_t *)names,
				      .n_names = sizeof(names) };
	add_symbol(f, "_PyRuntime", 0x50000, RUNTIME_BYTES);
	add_symbol(f, "_PyEval_EvalFrameDefault", LOADED + EVAL_AT, EVAL_BYTES);
	add_symbol(f, "PyCode_Type", 0x60000, 408);
	add_symbol(f, "Py_Version", LOADED + VERSION_AT, 8);
}

/* Two parts of functions, one after the other. */
static bool function_at(void *userdata, uint64_t address, uint64_t *ret_begin, uint64_t *ret_end)
{
	uint64_t offset = address - (LOADED + COLD_AT);

	(void)userdata;
	*ret_begin = LOADED + COLD_AT + offset / 0x20 * 0x20;
	*ret_end = *ret_begin + 0x20;
	return offset < 0x40;
}

static struct unwind_python find(const struct file *f)
{
	struct unwind_python python;

	unwind_python_find(&f->elf, function_at, NULL, &python);
	return python;
}

TEST(test_interpreter)
{
	struct unwind_python python;
	struct file f;

	make_file(&f);
	python = find(&f);
	assert_int_equal(python.runtime, 0x50000);
	assert_int_equal(python.runtime_bytes, RUNTIME_BYTES);
	assert_int_equal(python.code_type, 0x60000);
	assert_int_equal(python.version, 0x030b02f0);
	assert_int_equal(python.parts[0].begin, LOADED + EVAL_AT);
	assert_int_equal(python.parts[0].end, LOADED + EVAL_AT + EVAL_BYTES);
	assert_int_equal(python.parts[1].begin, python.parts[1].end);
}

/* A jump to the middle of a function leads to the other part. Other jumps do not. */
TEST(test_parts)
{
	struct unwind_python python;
	struct file f;

	make_file(&f);
	put_jump(&f, 0, COLD_AT); /* calls the function there, and does not return */
	put_jump(&f, 5, EVAL_AT); /* a loop */
	put_jump(&f, 10, FILE_BYTES - 1);
	python = find(&f);
	assert_int_equal(python.parts[1].end, 0);
	put_jump(&f, 15, COLD_AT + 0x21);
	python = find(&f);
	assert_int_equal(python.parts[1].begin, LOADED + COLD_AT + 0x20);
	assert_int_equal(python.parts[1].end, LOADED + COLD_AT + 0x40);
}

/* Without a necessary symbol, it is no interpreter. Others have unknown values. */
TEST(test_symbols)
{
	struct unwind_python python;
	struct file f;

	for (unsigned missing = 0; missing < 4; missing++) {
		make_file(&f);
		f.symbols[missing].st_shndx = SHN_UNDEF;
		python = find(&f);
		assert_int_equal(python.runtime != 0, missing >= 2);
		assert_int_equal(python.code_type != 0, missing == 3);
		assert_int_equal(python.version != 0, missing == 2);
	}
	make_file(&f);
	f.symbols[1].st_size = UINT64_MAX;
	assert_int_equal(find(&f).runtime, 0);
	make_file(&f);
	f.symbols[1].st_value = UINT64_MAX - 1;
	f.symbols[3].st_value = LOADED + FILE_BYTES - 7;
	python = find(&f);
	assert_int_equal(python.version, 0);
	assert_int_equal(python.parts[1].end, 0);
}

TEST(test_damage)
{
	struct file f, damaged;

	make_file(&f);
	put_jump(&f, 0, COLD_AT + 1);
	srandom(1);
	for (unsigned round = 0; round < unit_rounds(20000); round++) {
		damaged = f;
		damaged.elf.data = damaged.bytes;
		damaged.elf.symbols = (const uint8_t *)damaged.symbols;
		for (unsigned i = 0; i < 4; i++) {
			((uint8_t *)damaged.symbols)[(size_t)random() % sizeof(f.symbols)] =
				(uint8_t)random();
			damaged.bytes[(size_t)random() % 0x80] = (uint8_t)random();
			damaged.bytes[EVAL_AT + (size_t)random() % EVAL_BYTES] = (uint8_t)random();
		}
		damaged.elf.n_data = (size_t)random() % (FILE_BYTES + 1);
		find(&damaged);
	}
}

TEST(test_layouts)
{
	struct unwind_python python = {
		.runtime = 1, .runtime_bytes = RUNTIME_BYTES, .code_type = 1, .version = 0x030b02f0
	};

	assert_int_equal(python_layout_number(&python), 1);
	python.version = 0x030b09f0;
	assert_int_equal(python_layout_number(&python), 1);
	python.version = 0x030c00f0;
	assert_int_equal(python_layout_number(&python), PYTHON_LAYOUT_UNKNOWN);
	python.version = 0;
	assert_int_equal(python_layout_number(&python), PYTHON_LAYOUT_UNKNOWN);
	python.version = 0x030b02f0;
	python.runtime_bytes++;
	assert_int_equal(python_layout_number(&python), PYTHON_LAYOUT_UNKNOWN);
	python.runtime_bytes--;
	python.code_type = 0;
	assert_int_equal(python_layout_number(&python), PYTHON_LAYOUT_UNKNOWN);
	python.runtime = 0;
	assert_int_equal(python_layout_number(&python), 0);
}

/* The interpreter of the machine has a layout, and its function has two parts or one. */
TEST(test_installed)
{
	_cleanup_close_ int fd = open(INTERPRETER, O_RDONLY | O_CLOEXEC);
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	const struct unwind_python *p = &table.python;
	struct stat st;
	void *data;

	if (fd < 0) {
		print_message("skip: there is no " INTERPRETER "\n");
		return;
	}
	assert_int_equal(fstat(fd, &st), 0);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	assert_int_equal(unwind_table_read(data, (size_t)st.st_size, &table), 0);
	munmap(data, (size_t)st.st_size);
	assert_int_equal(p->version >> 16, 0x030b);
	assert_int_equal(python_layout_number(p), 1);
	assert_true(p->parts[0].end > p->parts[0].begin);
	print_message("the function has %u and %u bytes\n",
		      (unsigned)(p->parts[0].end - p->parts[0].begin),
		      (unsigned)(p->parts[1].end - p->parts[1].begin));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreter), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_symbols),     cmocka_unit_test(test_damage),
		cmocka_unit_test(test_layouts),     cmocka_unit_test(test_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
