/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoded instructions, compared with those of Capstone. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/instruction.h"
#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-code-x86.h"
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/find-rule.h"
#include "tests/support/unit.h"

/* Data in the code is decoded differently: at most one instruction in this number. */
enum { DATA_SHARE = 1000 };

static bool is_same(const struct code_instruction *ours, const struct instruction *theirs)
{
	static const uint8_t kinds[] = {
		[CODE_PLAIN] = INSTRUCTION_PLAIN,   [CODE_BRANCH] = INSTRUCTION_BRANCH,
		[CODE_JUMP] = INSTRUCTION_JUMP,     [CODE_GO] = INSTRUCTION_JUMP,
		[CODE_CALL] = INSTRUCTION_CALL,     [CODE_CALL_BY] = INSTRUCTION_CALL,
		[CODE_RETURN] = INSTRUCTION_RETURN, [CODE_END] = INSTRUCTION_END,
	};
	bool writes_bp = ours->effect == CODE_POP_BP || ours->effect == CODE_LOAD_BP ||
			 ours->effect == CODE_LOAD_BP_AT_BP || ours->effect == CODE_BP_FROM_SP ||
			 ours->effect == CODE_LEAVE || ours->effect == CODE_LOSE_BP ||
			 ours->effect == CODE_LOSE_BOTH;
	bool moves_sp = ours->effect == CODE_MOVE_SP || ours->effect == CODE_PUSH_BP ||
			ours->effect == CODE_POP_BP || ours->effect == CODE_SP_FROM_BP ||
			ours->effect == CODE_LEAVE || ours->effect == CODE_LOSE_SP ||
			ours->effect == CODE_LOSE_BOTH;

	if (ours->length != theirs->length || kinds[ours->kind] != (uint8_t)theirs->kind)
		return false;
	if ((theirs->written & 1U << 5) && !writes_bp)
		return false;
	return theirs->kind != INSTRUCTION_PLAIN || !theirs->moves_stack || moves_sp;
}

static void check_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	unsigned n_all = 0, n_other = 0;
	struct unwind_table table;
	struct unwind_elf elf;
	void *data;
	size_t n;

	if (fd < 0) {
		print_message("skip: no %s\n", path);
		return;
	}
	assert_int_equal(disassembler_new(&d), 0);
	assert_int_equal(sandbox_map_file(fd, &data, &n), 0);
	assert_int_equal(unwind_elf_init(&elf, data, n), 0);
	assert_int_equal(unwind_table_read(data, n, &table), 0);
	for (uint32_t k = 0; k < elf.n_segments; k++) {
		const struct unwind_segment *s = &elf.segments[k];
		struct instruction theirs;

		for (uint64_t at = 0; at < s->size; at += theirs.length) {
			const uint8_t *p = elf.data + s->offset + at;
			struct code_instruction ours;

			if (!disassembler_read(d, p, s->size - at, s->address + at, &theirs)) {
				theirs.length = 1;
				continue;
			}
			/* (the rest may be data) */
			if (UNWIND_RULE_KIND(find_rule(&table, s->address + at)) < UNWIND_SP ||
			    UNWIND_IS_CODE(find_rule(&table, s->address + at)))
				continue;
			n_all++;
			if (code_x86_read(p, s->size - at, s->address + at, &ours) &&
			    is_same(&ours, &theirs))
				continue;
			if (n_other++ < 10)
				print_message("%s: at %#" PRIx64 "\n", path, s->address + at);
		}
	}
	print_message("%s: %u instructions, %u differ\n", path, n_all, n_other);
	assert_true(n_all > 1000);
	assert_true(n_other * DATA_SHARE <= n_all);
	unwind_table_deinit(&table);
	unwind_elf_deinit(&elf);
	munmap(data, n);
}

TEST(test_files)
{
	check_file("/proc/self/exe");
	check_file("/lib/x86_64-linux-gnu/libm.so.6");
	check_file("/usr/bin/bash");
	check_file("/usr/bin/sqlite3");
}

/* Other instructions than those of compilers: none is read behind the end. */
TEST(test_cut_off)
{
	static const uint8_t code[] = { 0x66, 0x48, 0x0f, 0x3a, 0x0f, 0x84,
					0x24, 0x10, 0x00, 0x00, 0x00, 0x05 };
	struct code_instruction i;

	for (size_t n = 0; n < sizeof(code); n++)
		assert_false(code_x86_read(code, n, 0, &i));
	assert_true(code_x86_read(code, sizeof(code), 0, &i));
	assert_int_equal(i.length, sizeof(code));
	assert_false(code_x86_read((const uint8_t[16]){ [0 ... 15] = 0x66 }, 16, 0, &i));
	assert_false(code_x86_read((const uint8_t[]){ 0x06 }, 1, 0, &i));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
