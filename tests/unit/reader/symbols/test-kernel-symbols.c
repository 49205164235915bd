/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/symbols.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/kymo-test-kernel.XXXXXX";
static const uint8_t kernel_id[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
static const uint8_t module_id[] = { 9, 8, 7, 6 };

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T first_function\n"
			       "ffffffff81000100 t second_function\n"
			       "ffffffff81000200 W __third_function\n"
			       "ffffffff81000200 T third_function\n"
			       "ffffffff81000300 T _etext\n"
			       "ffffffff82000000 d some_data\n"
			       "ffffffffc0a00000 t module_function\t[some_module]\n"
			       "ffffffffc0a00080 r module_data\t[some_module]\n"
			       "ffffffffc0b00000 t other_function\t[other]\n"
			       "ffffffffc0c00000 t bpf_prog_6deef7357e7b4530_sd_devices\t[bpf]\n"
			       "not a line of it\n"
			       "ffffffff83000000 T";

static const char modules[] = "some_module 16384 1 - Live 0xffffffffc0a00000\n"
			      "other 16384 1 some_module, Live 0xffffffffc0b00000 (O)\n";

static struct symbol_mapping text_mapping(void)
{
	return (struct symbol_mapping){
		.path = "[kernel.kallsyms]",
		.start = UINT64_C(0xffffffff81000000),
		.size = 0x300,
		.build_id = kernel_id,
		.n_build_id = sizeof(kernel_id),
	};
}

static struct symbol_mapping module_mapping(void)
{
	return (struct symbol_mapping){
		.path = "[some_module]",
		.start = UINT64_C(0xffffffffc0a00000),
		.size = 0x4000,
		.build_id = module_id,
		.n_build_id = sizeof(module_id),
	};
}

static const char *path_of(const char *name)
{
	static char path[4][128];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void write_file(const char *name, const void *p, size_t n)
{
	FILE *f = fopen(path_of(name), "we");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* ELF notes: one of another kind, then the build id. */
static void write_notes(const char *name, const uint8_t *id, size_t n)
{
	uint32_t headers[2][3] = { { 4, 4, 1 }, { 4, (uint32_t)n, 3 } };
	uint8_t notes[128] = { 0 };

	memcpy(notes, headers[0], 12);
	memcpy(notes + 12, "Lin", 4);
	memcpy(notes + 20, headers[1], 12);
	memcpy(notes + 32, "GNU", 4);
	memcpy(notes + 36, id, n);
	write_file(name, notes, 36 + ((n + 3) & ~(size_t)3));
}

FIXTURE(set_up)
{
	if (!mkdtemp(dir))
		return -1;
	mkdir(path_of("module"), 0755);
	mkdir(path_of("module/some_module"), 0755);
	mkdir(path_of("module/some_module/notes"), 0755);
	write_file("kallsyms", kallsyms, strlen(kallsyms));
	write_file("modules", modules, strlen(modules));
	write_notes("notes", kernel_id, sizeof(kernel_id));
	write_notes("module/some_module/notes/.note.gnu.build-id", module_id, sizeof(module_id));
	return 0;
}

FIXTURE(tear_down)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct symbols *open_fake(void)
{
	struct symbols *s = NULL;

	assert_int_equal(symbols_new(&s,
				     &(struct symbols_options){
					     .kallsyms = path_of("kallsyms"),
					     .kernel_notes = path_of("notes"),
					     .kernel_modules = path_of("modules"),
					     .kernel_module_dir = path_of("module"),
				     }),
			 0);
	return s;
}

static const struct symbol_frame *ask(struct symbols *s, struct symbol_mapping mapping,
				      uint64_t address)
{
	struct symbol_query query = { .kernel = true, .address = address, .mapping = mapping };
	const struct symbol_frame *frames = NULL;
	size_t n = 0;

	assert_int_equal(symbols_resolve(s, &query, &frames, &n), 0);
	assert_int_equal(n, 1);
	return frames;
}

static void assert_function(const struct symbol_frame *frame, const char *function, uint64_t offset,
			    const char *module)
{
	assert_non_null(frame->function);
	assert_string_equal(frame->function, function);
	assert_int_equal(frame->offset, offset);
	assert_string_equal(frame->module, module);
}

static void assert_problem(const struct symbols *s, const char *what)
{
	size_t pos = 0;
	const struct symbol_problem *problem = symbols_next_problem(s, &pos);

	if (!what) {
		assert_null(problem);
		return;
	}
	assert_non_null(problem);
	assert_non_null(strstr(problem->what, what));
}

TEST(test_same_boot)
{
	struct symbols *s = open_fake();
	struct symbol_mapping text = text_mapping();

	assert_function(ask(s, text, text.start), "first_function", 0, "[kernel]");
	assert_function(ask(s, text, text.start + 0xff), "first_function", 0xff, "[kernel]");
	assert_function(ask(s, text, text.start + 0x104), "second_function", 4, "[kernel]");
	assert_function(ask(s, text, text.start + 0x2ff), "third_function", 0xff, "[kernel]");
	assert_false(ask(s, text, text.start)->unsure);
	assert_null(ask(s, text, text.start + 0x300)->function);
	assert_null(ask(s, text, UINT64_C(0xffffffff82000004))->function);
	assert_null(ask(s, text, UINT64_C(0xffffffffffffffff))->function);
	/* At another address: now, and perhaps not at the time of the trace. */
	assert_function(ask(s, text, UINT64_C(0xffffffffc0c00010)),
			"bpf_prog_6deef7357e7b4530_sd_devices", 16, "[bpf]");
	assert_true(ask(s, text, UINT64_C(0xffffffffc0c00010))->unsure);
	assert_function(ask(s, text, UINT64_C(0xffffffffc0b00010)), "other_function", 16,
			"[other]");
	assert_true(ask(s, text, UINT64_C(0xffffffffc0b00010))->unsure);
	assert_problem(s, NULL);
	symbols_free(s);
}

TEST(test_other_boot)
{
	struct symbols *s = open_fake();
	struct symbol_mapping text = text_mapping();

	/* The same kernel, loaded at another address. */
	text.start = UINT64_C(0xffffffff9a000000);
	assert_function(ask(s, text, text.start + 0x104), "second_function", 4, "[kernel]");
	assert_problem(s, NULL);
	assert_null(ask(s, text, UINT64_C(0xffffffffc0c00010))->function);
	assert_problem(s, "was booted again");
	symbols_free(s);
}

TEST(test_other_kernel)
{
	struct symbols *s = open_fake();
	struct symbol_mapping text = text_mapping();

	text.build_id = module_id;
	text.n_build_id = sizeof(module_id);
	assert_null(ask(s, text, text.start + 0x104)->function);
	assert_string_equal(ask(s, text, text.start)->module, "[kernel]");
	assert_problem(s, "another kernel");
	symbols_free(s);
	/* Without a build id, it is identified by its address. */
	s = open_fake();
	text.n_build_id = 0;
	assert_function(ask(s, text, text.start + 0x104), "second_function", 4, "[kernel]");
	text.start += 0x1000;
	assert_null(ask(s, text, text.start + 0x104)->function);
	text.start = 0;
	assert_null(ask(s, text, UINT64_C(0xffffffff81000104))->function);
	symbols_free(s);
}

TEST(test_modules)
{
	struct symbols *s = open_fake();
	struct symbol_mapping module = module_mapping();

	assert_function(ask(s, module, module.start + 4), "module_function", 4, "[some_module]");
	assert_false(ask(s, module, module.start + 4)->unsure);
	assert_null(ask(s, module, module.start + 0x84)->function);
	assert_null(ask(s, module, module.start + 0x100000)->function);
	/* At another address now, but the same build. */
	module.start -= 0x5000;
	assert_function(ask(s, module, module.start + 4), "module_function", 4, "[some_module]");
	assert_problem(s, NULL);
	/* Another build. */
	module.build_id = kernel_id;
	assert_null(ask(s, module, module.start + 4)->function);
	assert_string_equal(ask(s, module, module.start + 4)->module, "[some_module]");
	assert_problem(s, "another build");
	module.path = "[never_loaded]";
	assert_null(ask(s, module, module.start + 4)->function);
	symbols_free(s);
}

TEST(test_hidden)
{
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 T f\n";
	struct symbol_mapping text = text_mapping();
	struct symbols *s = NULL;

	write_file("hidden", hidden, strlen(hidden));
	assert_int_equal(
		symbols_new(&s, &(struct symbols_options){ .kallsyms = path_of("hidden") }), 0);
	assert_null(ask(s, text, text.start)->function);
	assert_problem(s, "only root");
	symbols_free(s);
	assert_int_equal(symbols_new(&s, &(struct symbols_options){ .kallsyms = path_of("none") }),
			 0);
	assert_null(ask(s, text, text.start)->function);
	assert_problem(s, "cannot be read");
	symbols_free(s);
}

/* The running kernel: its own text, found in the list that is read. */
TEST(test_this_kernel)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	struct symbol_mapping text = { .path = "[kernel.kallsyms]" };
	uint64_t etext = 0, printk = 0;
	struct symbols *s = NULL;
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		char name[512], type;
		uint64_t address;

		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) != 3)
			continue;
		if (strcmp(name, "_stext") == 0)
			text.start = address;
		if (strcmp(name, "_etext") == 0)
			etext = address;
		if (strcmp(name, "vprintk_emit") == 0)
			printk = address;
	}
	if (f)
		fclose(f);
	if (text.start == 0 || etext == 0 || printk == 0) {
		print_message("skip: the addresses of this kernel are hidden\n");
		skip();
	}
	text.size = etext - text.start;
	assert_int_equal(symbols_new(&s, &(struct symbols_options){ 0 }), 0);
	assert_function(ask(s, text, printk), "vprintk_emit", 0, "[kernel]");
	assert_function(ask(s, text, printk + 1), "vprintk_emit", 1, "[kernel]");
	assert_problem(s, NULL);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_boot),    cmocka_unit_test(test_other_boot),
		cmocka_unit_test(test_other_kernel), cmocka_unit_test(test_modules),
		cmocka_unit_test(test_hidden),       cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
