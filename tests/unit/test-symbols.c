/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of programs that are built here, from tests/support/sample-program.c: what they say of
 * themselves, and what other tools say of them, is the truth that answers are held to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/elf-file.h"
#include "reader/symbols/symbols.h"
#include "tests/support/commands.h"

static char dir[] = "/tmp/kymo-test-symbols.XXXXXX";

/* ---- commands ---- */

#define try_command(...) command_in(dir, __VA_ARGS__)
#define command(...)     assert_int_equal(try_command(__VA_ARGS__), 0)

static bool have(const char *name)
{
	return try_command("command -v %s", name) == 0;
}

static const char *path_of(const char *name)
{
	static char path[4][256];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

/* One line of what COMMAND, run in DIR, prints. */
__attribute__((format(printf, 3, 4))) static void read_line(char *to, int room, const char *format,
							    ...)
{
	char command[1024], whole[1400];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "cd %s && { %s; } 2>>log", dir, command);
	f = popen(whole, "r");
	assert_non_null(f);
	assert_non_null(fgets(to, room, f));
	pclose(f);
	to[strcspn(to, "\n")] = '\0';
}

/* ---- a program that runs ---- */

enum { POINTS_MAX = 16 };

struct program {
	pid_t pid;
	FILE *input;
	struct point {
		char name[64];
		uint64_t address;
	} points[POINTS_MAX];
	size_t n_points;
	char path[4096];
	struct symbol_mapping mapping; /* of its code */
};

static void find_mapping(struct program *p, uint64_t address)
{
	char name[64], line[4400];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", p->pid);
	f = fopen(name, "re");
	assert_non_null(f);
	p->mapping.size = 0;
	while (fgets(line, sizeof(line), f)) {
		unsigned long start, end, offset, inode;
		unsigned int dev_major, dev_minor;

		p->path[0] = '\0';
		assert_true(sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %4095[^\n]", &start, &end,
				   &offset, &dev_major, &dev_minor, &inode, p->path) >= 6);
		if (address < start || address >= end)
			continue;
		p->mapping = (struct symbol_mapping){
			.path = p->path,
			.start = start,
			.size = end - start,
			.file_offset = offset,
			.device = (uint64_t)dev_major << 20 | dev_minor,
			.inode = inode,
		};
		break;
	}
	fclose(f);
	assert_true(p->mapping.size > 0);
}

static void start(struct program *p, const char *name)
{
	int in[2], out[2];
	FILE *output;

	memset(p, 0, sizeof(*p));
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path_of(name), name, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p->input = fdopen(in[1], "w");
	output = fdopen(out[0], "r");
	assert_non_null(output);
	do {
		struct point *point = &p->points[p->n_points++];
		char line[128];
		unsigned long address;

		assert_true(p->n_points <= POINTS_MAX);
		assert_non_null(fgets(line, sizeof(line), output));
		assert_int_equal(sscanf(line, "%63s %lx", point->name, &address), 2);
		point->address = address;
	} while (strcmp(p->points[p->n_points - 1].name, "main") != 0);
	fclose(output);
	find_mapping(p, p->points[0].address);
}

static void stop(struct program *p)
{
	fclose(p->input);
	assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

static uint64_t address_of(const struct program *p, const char *name)
{
	for (size_t i = 0; i < p->n_points; i++)
		if (strcmp(p->points[i].name, name) == 0)
			return p->points[i].address;
	fail_msg("the program has no %s", name);
	return 0;
}

/* The build id that another tool finds in a file. */
static size_t read_build_id(const char *name, uint8_t *id)
{
	char line[256];
	size_t n;

	read_line(line, sizeof(line), "readelf -n %s | sed -n 's/.*Build ID: //p'", name);
	n = strlen(line) / 2;
	assert_true(n > 0 && n <= SYMBOL_BUILD_ID_MAX);
	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(line + 2 * i, "%2x", &byte), 1);
		id[i] = (uint8_t)byte;
	}
	return n;
}

/* ---- asking ---- */

static struct symbols *open_symbols(const struct symbols_options *options)
{
	struct symbols *s = NULL;

	assert_int_equal(symbols_new(&s, options), 0);
	return s;
}

static const struct symbol_frame *ask(struct symbols *s, const struct symbol_query *query,
				      size_t *ret_n)
{
	const struct symbol_frame *frames = NULL;
	size_t n = 0;

	assert_int_equal(symbols_resolve(s, query, &frames, &n), 0);
	assert_true(n >= 1 && n <= SYMBOL_FRAMES_MAX);
	if (ret_n)
		*ret_n = n;
	return frames;
}

/*
 * The function that was not inlined at ADDRESS of P, whose process has ended as far as anybody
 * knows.
 */
static const struct symbol_frame *ask_program(struct symbols *s, const struct program *p,
					      uint64_t address)
{
	struct symbol_query query = { .address = address, .mapping = p->mapping };
	size_t n;
	const struct symbol_frame *frames = ask(s, &query, &n);

	return &frames[n - 1];
}

static void assert_function(const struct symbol_frame *frame, const char *name, uint64_t offset)
{
	assert_non_null(frame->function);
	assert_string_equal(frame->function, name);
	assert_int_equal(frame->offset, offset);
}

/* All that the program says of itself is found, at its first byte and behind that. */
static void assert_all_points(struct symbols *s, const struct program *p)
{
	for (size_t i = 0; i < p->n_points; i++) {
		const struct point *point = &p->points[i];

		assert_function(ask_program(s, p, point->address), point->name, 0);
		assert_function(ask_program(s, p, point->address + 2), point->name, 2);
	}
}

static bool has_problem(const struct symbols *s, const char *file, const char *what)
{
	const struct symbol_problem *problem;
	size_t pos = 0;

	while ((problem = symbols_next_problem(s, &pos)))
		if (strstr(problem->file, file) && strstr(problem->what, what))
			return true;
	return false;
}

static size_t count_problems(const struct symbols *s)
{
	size_t pos = 0, n = 0;

	while (symbols_next_problem(s, &pos))
		n++;
	return n;
}

/* ---- tests ---- */

#define SAMPLE SOURCE_ROOT "/tests/support/sample-program.c"

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	if (!have("cc") || !have("objcopy") || !have("strip") || !have("readelf"))
		return 0;
	command("cc -O2 -g -fPIE -pie -Wl,--build-id=sha1 %s -o pie", SAMPLE);
	command("cc -O2 -g -no-pie -Wl,--build-id=sha1 %s -o fixed", SAMPLE);
	command("objcopy --only-keep-debug pie pie.debug");
	command("strip --strip-all pie -o stripped");
	return 0;
}

static int tear_down(void **state)
{
	char whole[300];

	(void)state;
	snprintf(whole, sizeof(whole), "rm -rf %s", dir);
	return getenv("KEEP_TMP") ? 0 : system(whole);
}

static void need_program(void)
{
	if (access(path_of("stripped"), X_OK) != 0) {
		print_message("skip: there is no C compiler here, or no binutils\n");
		skip();
	}
}

static void test_symtab(void **state)
{
	static const char *const names[] = { "pie", "fixed" };

	(void)state;
	need_program();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
		uint8_t id[SYMBOL_BUILD_ID_MAX];
		const struct symbol_frame *frame;
		struct program p;

		start(&p, names[i]);
		p.mapping.build_id = id;
		p.mapping.n_build_id = read_build_id(names[i], id);
		assert_all_points(s, &p);
		frame = ask_program(s, &p, address_of(&p, "sample_plain"));
		assert_string_equal(frame->module, names[i]);
		assert_false(frame->unsure);
		assert_null(frame->source);
		assert_false(frame->inlined);
		/* Before the first function there is nothing, and behind the mapping neither. */
		assert_null(ask_program(s, &p, p.mapping.start - 1)->function);
		assert_null(ask_program(s, &p, p.mapping.start + p.mapping.size)->function);
		assert_int_equal(count_problems(s), 0);
		stop(&p);
		symbols_free(s);
	}
}

/* What a function returns to can be behind its end. */
static void test_return_address(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;
	uint64_t end;

	(void)state;
	need_program();
	start(&p, "pie");
	end = address_of(&p, "sample_plain");
	query = (struct symbol_query){ .address = end, .is_return = true, .mapping = p.mapping };
	assert_function(ask(s, &query, NULL), "sample_unsized", 16);
	stop(&p);
	symbols_free(s);
}

static void test_plt(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	char line[64];
	struct program p;
	unsigned long vaddr;

	(void)state;
	need_program();
	if (!have("objdump"))
		skip();
	command("cc -O2 -no-pie -fcf-protection=none %s -o plt", SAMPLE);
	read_line(line, sizeof(line),
		  "objdump -d plt | sed -n 's/^0*\\([0-9a-f]*\\) <printf@plt>:/\\1/p'");
	vaddr = strtoul(line, NULL, 16);
	assert_true(vaddr > 0);
	start(&p, "plt");
	find_mapping(&p, vaddr);
	assert_function(ask_program(s, &p, vaddr + 6), "printf@plt", 6);
	stop(&p);
	symbols_free(s);
}

/* A file is only used if it is the one that was mapped. */
static void test_build_id(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct program p;
	uint64_t address;

	(void)state;
	need_program();
	start(&p, "pie");
	stop(&p);
	address = address_of(&p, "sample_plain");
	p.mapping.build_id = id;
	p.mapping.n_build_id = read_build_id("fixed", id);
	assert_null(ask_program(s, &p, address)->function);
	assert_string_equal(ask_program(s, &p, address)->module, "pie");
	assert_true(has_problem(s, "/pie", "build id"));
	assert_int_equal(count_problems(s), 1);
	/* Without a build id it is the inode that tells. */
	p.mapping.n_build_id = 0;
	assert_function(ask_program(s, &p, address), "sample_plain", 0);
	assert_false(ask_program(s, &p, address)->unsure);
	p.mapping.inode++;
	assert_function(ask_program(s, &p, address), "sample_plain", 0);
	assert_true(ask_program(s, &p, address)->unsure);
	p.mapping.inode = 0;
	assert_true(ask_program(s, &p, address)->unsure);
	symbols_free(s);
}

static void test_minidebug(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct program p;

	(void)state;
	need_program();
	if (!have("xz"))
		skip();
	/* As distributions make it: the symbols that are not in the dynamic table, packed. */
	command("nm pie --defined-only --format=posix | awk '$2 ~ /[TtWi]/ { print $1 }' >keep && "
		"objcopy -S --keep-symbols=keep pie.debug mini && xz -k mini && "
		"objcopy --add-section .gnu_debugdata=mini.xz stripped packed");
	start(&p, "stripped");
	assert_null(ask_program(s, &p, address_of(&p, "sample_local"))->function);
	stop(&p);
	start(&p, "packed");
	assert_all_points(s, &p);
	stop(&p);
	assert_int_equal(count_problems(s), 0);
	/* Damaged: known by what the dynamic linker needs, and said. */
	command("head -c 300 mini.xz >cut.xz && objcopy --add-section .gnu_debugdata=cut.xz stripped cut");
	start(&p, "cut");
	assert_null(ask_program(s, &p, address_of(&p, "sample_local"))->function);
	assert_true(has_problem(s, "/cut", "gnu_debugdata"));
	stop(&p);
	symbols_free(s);
}

static void test_debug_by_build_id(void **state)
{
	const char *dirs[] = { path_of("debug") };
	struct symbols_options options = { .debug_dirs = dirs, .n_debug_dirs = 1 };
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct program p;
	char line[256];

	(void)state;
	need_program();
	symbols_free(s);
	/* A directory that is not there was meant to be. */
	assert_int_equal(symbols_new(&s, &options), -ENOENT);
	read_line(line, sizeof(line), "readelf -n stripped | sed -n 's/.*Build ID: //p'");
	command("mkdir -p debug/.build-id/%.2s && cp pie.debug debug/.build-id/%.2s/%s.debug", line,
		line, line + 2);
	s = open_symbols(&options);
	start(&p, "stripped");
	stop(&p);
	assert_all_points(s, &p);
	symbols_free(s);

	/* Only the debug information is here: the mapping must be all of the code. */
	p.mapping.build_id = id;
	p.mapping.n_build_id = read_build_id("stripped", id);
	p.mapping.path = "/nowhere/stripped";
	s = open_symbols(&options);
	assert_all_points(s, &p);
	p.mapping.size += 4096;
	assert_null(ask_program(s, &p, address_of(&p, "sample_plain"))->function);
	symbols_free(s);

	/* That of another program under this name: refused. */
	command("cp fixed debug/.build-id/%.2s/%s.debug", line, line + 2);
	p.mapping.size -= 4096;
	p.mapping.path = p.path;
	s = open_symbols(&options);
	assert_null(ask_program(s, &p, address_of(&p, "sample_local"))->function);
	assert_true(has_problem(s, ".debug", "build id"));
	symbols_free(s);
	command("rm -r debug");
}

static void test_debug_link(void **state)
{
	static const char *const folders[] = { ".", ".debug" };
	struct program p;

	(void)state;
	need_program();
	/* Without a build id it is the checksum that tells. */
	command("cc -O2 -g -Wl,--build-id=none %s -o whole && objcopy --only-keep-debug whole link.debug && "
		"strip --strip-all whole -o linked && objcopy --add-gnu-debuglink=link.debug linked",
		SAMPLE);
	start(&p, "linked");
	stop(&p);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

		command("mkdir -p %s; [ %s = . ] || mv link.debug %s/", folders[i], folders[i],
			folders[i]);
		assert_all_points(s, &p);
		assert_int_equal(count_problems(s), 0);
		symbols_free(s);
	}
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

	command("cp pie.debug link.debug; rm -r .debug");
	assert_null(ask_program(s, &p, address_of(&p, "sample_local"))->function);
	assert_true(has_problem(s, "link.debug", "checksum"));
	symbols_free(s);
}

/* ---- lines ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What addr2line says of an address: a line for the function and one for the place, and so on. */
static void assert_as_addr2line(FILE *f, const struct symbol_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char function[4096], place[4096];
		char *colon;

		assert_non_null(fgets(function, sizeof(function), f));
		assert_non_null(fgets(place, sizeof(place), f));
		function[strcspn(function, "\n")] = '\0';
		colon = strrchr(place, ':');
		assert_non_null(colon);
		*colon = '\0';
		/* (aliases are chosen otherwise) */
		if (i + 1 < n)
			assert_string_equal(frames[i].function, function);
		if (strtoul(colon + 1, NULL, 10) == 0)
			continue;
		assert_int_equal(frames[i].line, strtoul(colon + 1, NULL, 10));
		assert_non_null(frames[i].source);
		assert_string_equal(base_name(frames[i].source), base_name(place));
	}
}

/* Every address of some functions of NAME, held against another reader of the DWARF of TWIN. */
static void compare_lines(const char *name, const char *twin, const struct symbols_options *options)
{
	struct symbols *s = open_symbols(options);
	uint64_t first, last, inlined = 0, bias;
	struct program p;
	char line[4096];
	FILE *f;

	start(&p, name);
	stop(&p);
	first = address_of(&p, "sample_plain");
	last = address_of(&p, "sample::method(int)");
	read_line(line, sizeof(line), "nm %s | grep ' sample_plain$'", twin);
	bias = first - strtoull(line, NULL, 16);
	/* (each address is said again, which shows where its lines end) */
	snprintf(line, sizeof(line),
		 "cd %s && for i in $(seq %llu %llu); do printf '0x%%x\\n' $i; done | "
		 "addr2line -a -i -f -C -e %s",
		 dir, (unsigned long long)(first - bias), (unsigned long long)(last - bias - 1),
		 twin);
	f = popen(line, "r");
	assert_non_null(f);
	for (uint64_t address = first; address < last; address++) {
		struct symbol_query query = { .address = address, .mapping = p.mapping };
		size_t n;
		const struct symbol_frame *frames = ask(s, &query, &n);

		assert_non_null(fgets(line, sizeof(line), f));
		assert_int_equal(strtoull(line, NULL, 16), address - bias);
		assert_as_addr2line(f, frames, n);
		inlined += n > 1;
	}
	assert_null(fgets(line, sizeof(line), f));
	pclose(f);
	assert_true(inlined > 20);
	assert_int_equal(count_problems(s), 0);
	symbols_free(s);
}

static void test_lines(void **state)
{
	struct symbols_options options = { .lines = true };

	(void)state;
	need_program();
	if (!have("addr2line"))
		skip();
	compare_lines("pie", "pie", &options);
	compare_lines("fixed", "fixed", &options);
}

/* In files of their own, packed, and with what they share with others taken out. */
static void test_lines_elsewhere(void **state)
{
	const char *dirs[] = { path_of("debug") };
	struct symbols_options options = { .lines = true, .debug_dirs = dirs, .n_debug_dirs = 1 };
	char line[256];

	(void)state;
	need_program();
	if (!have("addr2line"))
		skip();
	read_line(line, sizeof(line), "readelf -n stripped | sed -n 's/.*Build ID: //p'");
	command("mkdir -p debug/.build-id/%.2s && "
		"objcopy --compress-debug-sections=zlib pie.debug debug/.build-id/%.2s/%s.debug",
		line, line, line + 2);
	compare_lines("stripped", "pie", &options);
	command("objcopy --compress-debug-sections=zlib-gnu pie.debug debug/.build-id/%.2s/%s.debug",
		line, line + 2);
	compare_lines("stripped", "pie", &options);
	if (have("dwz")) {
		command("objcopy --decompress-debug-sections pie.debug a.debug && cp a.debug b.debug && "
			"dwz -m shared.debug a.debug b.debug && "
			"mv a.debug debug/.build-id/%.2s/%s.debug",
			line, line + 2);
		/* What is taken out is not here: the lines are unknown, and that is said. */
		struct symbols *s = open_symbols(&options);
		struct program p;

		start(&p, "stripped");
		stop(&p);
		assert_null(ask_program(s, &p, address_of(&p, "sample_plain"))->source);
		assert_true(has_problem(s, ".debug", "dwz"));
		symbols_free(s);
		command("mv shared.debug debug/.build-id/%.2s/", line);
		compare_lines("stripped", "pie", &options);
	}
	command("rm -r debug");
}

static void test_inlined(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ .lines = true });
	struct program p;
	size_t n = 0;
	const struct symbol_frame *frames = NULL;

	(void)state;
	need_program();
	start(&p, "pie");
	stop(&p);
	/* Somewhere in it there is the innermost of three. */
	for (uint64_t at = 0; at < 200 && n < 3; at++) {
		struct symbol_query query = {
			.address = address_of(&p, "sample_inlining") + at,
			.mapping = p.mapping,
		};

		frames = ask(s, &query, &n);
	}
	assert_int_equal(n, 3);
	assert_string_equal(frames[0].function, "innermost");
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "middle");
	assert_true(frames[1].inlined);
	assert_string_equal(frames[2].function, "sample_inlining");
	assert_false(frames[2].inlined);
	assert_string_equal(base_name(frames[0].source), "sample-program.c");
	assert_true(frames[0].line > 0 && frames[0].line < frames[1].line &&
		    frames[1].line < frames[2].line);
	symbols_free(s);
}

/* ---- processes, and what they hide ---- */

static void test_process(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;

	(void)state;
	need_program();
	command("cp pie gone");
	start(&p, "gone");
	command("cp fixed other && mv other gone");
	query = (struct symbol_query){
		.pid = (uint32_t)p.pid,
		.address = address_of(&p, "sample_plain"),
		.mapping = p.mapping,
	};
	/* What is there now has another inode. */
	assert_true(ask(s, &query, NULL)->unsure);
	symbols_free(s);
	s = open_symbols(&(struct symbols_options){ 0 });
	query.lives = true;
	if (geteuid() == 0) {
		assert_function(ask(s, &query, NULL), "sample_plain", 0);
		assert_false(ask(s, &query, NULL)->unsure);
	}
	stop(&p);
	symbols_free(s);
}

/* A file that only the process itself sees, as in a container. */
static void test_mount_namespace(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;

	(void)state;
	need_program();
	if (try_command("unshare -m true") != 0) {
		symbols_free(s);
		print_message("skip: this user may not make mount namespaces\n");
		skip();
	}
	command("mkdir hidden && { echo '#!/bin/sh'; echo exec unshare -m sh -c \\''"
		"mount -t tmpfs none %s && cp %s %s && exec %s/pie'\\'; } >script && chmod +x script",
		path_of("hidden"), path_of("pie"), path_of("hidden"), path_of("hidden"));
	start(&p, "script");
	assert_string_equal(p.mapping.path, path_of("hidden/pie"));
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	query = (struct symbol_query){
		.pid = (uint32_t)p.pid,
		.lives = true,
		.address = p.points[0].address,
		.mapping = p.mapping,
	};
	assert_function(ask(s, &query, NULL), p.points[0].name, 0);
	assert_false(ask(s, &query, NULL)->unsure);
	/* It was read, so the process need not be there any more. */
	stop(&p);
	assert_all_points(s, &p);
	symbols_free(s);
}

static void test_sysroot(void **state)
{
	struct symbols *s;
	struct program p;

	(void)state;
	need_program();
	command("mkdir -p root/usr/bin && cp pie root/usr/bin/there && ln -s /usr/bin/there root/link && "
		"ln -s ../../../../pie root/out && mkfifo root/fifo && : >root/empty");
	start(&p, "pie");
	stop(&p);
	s = open_symbols(&(struct symbols_options){ .sysroot = path_of("root") });
	/* Links lead to what is below the root, and never out of it. */
	p.mapping.path = "/link";
	assert_all_points(s, &p);
	p.mapping.path = "/out";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	p.mapping.path = "/../pie";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	/* Nobody waits for what is no file. */
	p.mapping.path = "/fifo";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	p.mapping.path = "/empty";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	assert_true(has_problem(s, "/empty", "ELF"));
	symbols_free(s);
	assert_int_equal(symbols_new(&s, &(struct symbols_options){ .sysroot = path_of("no") }),
			 -ENOENT);
}

static void test_no_mapping(void **state)
{
	static const char *const paths[] = { NULL,        "",        "[heap]",     "//anon",
					     "/memfd:x",  "[stack]", "/proc/kmsg", "relative",
					     "/dev/zero", "/" };
	struct symbols *s = open_symbols(&(struct symbols_options){ .lines = true });

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct symbol_query query = {
			.pid = 1,
			.lives = i % 2,
			.address = 0x7000,
			.mapping = { .path = paths[i], .start = 0x7000, .size = 0x1000 },
		};
		size_t n;
		const struct symbol_frame *frames = ask(s, &query, &n);

		assert_int_equal(n, 1);
		assert_null(frames[0].function);
		query.kernel = true;
		ask(s, &query, &n);
	}
	symbols_free(s);
}

static void test_memory_limit(void **state)
{
	struct symbols *s;
	uint64_t limit = 64 * 1024;
	struct program p[8];
	char name[16];

	(void)state;
	need_program();
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		snprintf(name, sizeof(name), "copy%zu", i);
		command("cp pie %s", name);
		start(&p[i], name);
		stop(&p[i]);
	}
	s = open_symbols(&(struct symbols_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		assert_all_points(s, &p[i]);
	/* (or it would show nothing) */
	limit = symbols_memory(s) / 3;
	symbols_free(s);
	s = open_symbols(&(struct symbols_options){ .memory_limit = limit });
	for (size_t round = 0; round < 3; round++)
		for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
			assert_all_points(s, &p[i]);
			assert_true(symbols_memory(s) > 0 && symbols_memory(s) <= limit);
		}
	assert_int_equal(count_problems(s), 0);
	symbols_free(s);
}

/*
 * One file grows with what is asked of it: here this program, until it is too much and begins anew.
 */
static void test_memory_growth(void **state)
{
	struct symbols *all = open_symbols(&(struct symbols_options){ .lines = true }), *some;
	uint64_t at, limit, last = 0, lines = 0, most = 0;
	struct program self = { .pid = getpid() };
	unsigned int fell = 0;

	(void)state;
	find_mapping(&self, (uint64_t)(uintptr_t)test_memory_growth);
	for (at = 0; at < self.mapping.size; at += 16)
		lines += ask_program(all, &self, self.mapping.start + at)->line > 0;
	if (lines == 0) {
		symbols_free(all);
		print_message("this program was built without lines\n");
		skip();
	}
	lines = 0;
	limit = symbols_memory(all) * 2 / 3;
	some = open_symbols(&(struct symbols_options){ .lines = true, .memory_limit = limit });
	for (at = 0; at < self.mapping.size; at += 16) {
		const struct symbol_frame *frame =
			ask_program(some, &self, self.mapping.start + at);
		const struct symbol_frame *same = ask_program(all, &self, self.mapping.start + at);

		assert_true(!frame->function == !same->function);
		if (frame->function)
			assert_string_equal(frame->function, same->function);
		/* (tables of lines that do not fit at all are left out) */
		if (frame->line)
			assert_int_equal(frame->line, same->line);
		lines += frame->line > 0;
		fell += symbols_memory(some) < last;
		last = symbols_memory(some);
		most = last > most ? last : most;
	}
	assert_true(most <= limit);
	/* (without lines, if this was built without them, nothing grows) */
	if (lines > 0)
		assert_true(fell > 0);
	symbols_free(some);
	symbols_free(all);
}

/* ---- the vdso ---- */

static void test_vdso(void **state)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	void *library = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = library ? dlsym(library, "__vdso_clock_gettime") : NULL;
	struct program self = { .pid = getpid() };
	struct symbol_query query;

	(void)state;
	if (!function || getauxval(AT_SYSINFO_EHDR) == 0) {
		symbols_free(s);
		skip();
	}
	find_mapping(&self, (uint64_t)(uintptr_t)function);
	query = (struct symbol_query){
		.pid = (uint32_t)getpid(),
		.lives = true,
		.address = (uint64_t)(uintptr_t)function,
		.mapping = self.mapping,
	};
	assert_string_equal(query.mapping.path, "[vdso]");
	/* (it has an alias) */
	assert_string_equal(ask(s, &query, NULL)->function, "clock_gettime");
	assert_string_equal(ask(s, &query, NULL)->module, "[vdso]");
	assert_false(ask(s, &query, NULL)->unsure);
	query.mapping.build_id = (const uint8_t *)"wrong";
	query.mapping.n_build_id = 5;
	assert_null(ask(s, &query, NULL)->function);
	assert_true(has_problem(s, "[vdso]", "another kernel"));
	query.mapping.n_build_id = 0;
	query.lives = false;
	assert_true(ask(s, &query, NULL)->unsure);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab),
		cmocka_unit_test(test_return_address),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_debug_by_build_id),
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_elsewhere),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_mount_namespace),
		cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_no_mapping),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_memory_growth),
		cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
