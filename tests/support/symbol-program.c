/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/symbol-program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/own-directory.h"
#include "tests/support/unit.h"

int try_command(const char *format, ...)
{
	char command[4096], whole[4400];
	va_list args;

	va_start(args, format);
	assert_true(vsnprintf(command, sizeof(command), format, args) < (int)sizeof(command));
	va_end(args);
	snprintf(whole, sizeof(whole), "{ %s; } >>log 2>&1", command);
	return system(whole);
}

bool have_command(const char *name)
{
	return try_command("command -v %s", name) == 0;
}

const char *directory_path(const char *name)
{
	static char path[4][256];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", own_directory(), name);
	return p;
}

void read_command(char *to, int room, const char *format, ...)
{
	char command[1024], whole[1400];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "{ %s; } 2>>log", command);
	f = popen(whole, "r");
	assert_non_null(f);
	assert_non_null(fgets(to, room, f));
	pclose(f);
	to[strcspn(to, "\n")] = '\0';
}

void program_find_mapping(struct program *p, uint64_t address)
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

void program_start(struct program *p, const char *name)
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
		execl(directory_path(name), name, NULL);
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
	program_find_mapping(p, p->points[0].address);
}

void program_stop(struct program *p)
{
	fclose(p->input);
	assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

uint64_t program_address(const struct program *p, const char *name)
{
	for (size_t i = 0; i < p->n_points; i++)
		if (strcmp(p->points[i].name, name) == 0)
			return p->points[i].address;
	fail_msg("the program has no %s", name);
	return 0;
}

size_t read_build_id(const char *name, uint8_t *id)
{
	char line[256];
	size_t n;

	read_command(line, sizeof(line), "readelf -n %s | sed -n 's/.*Build ID: //p'", name);
	n = strlen(line) / 2;
	assert_true(n > 0 && n <= SYMBOL_BUILD_ID_MAX);
	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(line + 2 * i, "%2x", &byte), 1);
		id[i] = (uint8_t)byte;
	}
	return n;
}

struct symbols *open_symbols(const struct symbols_options *options)
{
	struct symbols *s = NULL;

	assert_int_equal(symbols_new(&s, options), 0);
	return s;
}

const struct symbol_frame *ask_symbols(struct symbols *s, const struct symbol_query *query,
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

const struct symbol_frame *ask_program(struct symbols *s, const struct program *p, uint64_t address)
{
	struct symbol_query query = { .address = address, .mapping = p->mapping };
	size_t n;
	const struct symbol_frame *frames = ask_symbols(s, &query, &n);

	return &frames[n - 1];
}

void assert_function(const struct symbol_frame *frame, const char *name, uint64_t offset)
{
	assert_non_null(frame->function);
	assert_string_equal(frame->function, name);
	assert_int_equal(frame->offset, offset);
}

void assert_all_points(struct symbols *s, const struct program *p)
{
	for (size_t i = 0; i < p->n_points; i++) {
		const struct point *point = &p->points[i];

		assert_function(ask_program(s, p, point->address), point->name, 0);
		assert_function(ask_program(s, p, point->address + 2), point->name, 2);
	}
}

bool has_problem(const struct symbols *s, const char *file, const char *what)
{
	const struct symbol_problem *problem;
	size_t pos = 0;

	while ((problem = symbols_next_problem(s, &pos)))
		if (strstr(problem->file, file) && strstr(problem->what, what))
			return true;
	return false;
}

size_t count_problems(const struct symbols *s)
{
	size_t pos = 0, n = 0;

	while (symbols_next_problem(s, &pos))
		n++;
	return n;
}

int programs_set_up(void **state)
{
	if (own_directory_set_up(state) < 0)
		return -1;
	if (!have_command("cc") || !have_command("objcopy") || !have_command("strip") ||
	    !have_command("readelf"))
		return 0;
	command("cc -O2 -g -fPIE -pie -Wl,--build-id=sha1 %s -o pie", SAMPLE);
	command("cc -O2 -g -no-pie -Wl,--build-id=sha1 %s -o fixed", SAMPLE);
	command("objcopy --only-keep-debug pie pie.debug");
	command("strip --strip-all pie -o stripped");
	return 0;
}

void need_program(void)
{
	if (access(directory_path("stripped"), X_OK) != 0) {
		print_message("skip: there is no C compiler here, or no binutils\n");
		skip();
	}
}
