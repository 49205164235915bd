/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make-tfile PROGRAM OUT.tf OUT.gdb: runs PROGRAM, and writes a GDB trace file of the places where
 * PROGRAM stops itself (int3), and the script that opens the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/tfile/tfile-link-map.h"
#include "writer/tfile/tfile-script.h"
#include "writer/tfile/tfile-writer.h"
#include "writer/tfile/tfile-x86-64.h"

enum { FRAMES = 64, BLOCKS = 256, MAPS = 64, STACK = 16384, CODE = 128 };
enum { VARIABLE_TIMESTAMP = 1, VARIABLE_TIME, VARIABLE_TID };

struct make {
	const char *program;
	pid_t pid;
	struct tfile_writer writer;
	struct outbuf frames;
	struct tfile_block blocks[BLOCKS];
	void *bytes[BLOCKS]; /* owned */
	size_t n_blocks;
	struct tfile_tracepoint points[FRAMES];
	size_t n_points;
	struct tfile_map maps[MAPS]; /* with owned paths */
	char flags[MAPS];            /* w = can be written */
	size_t n_maps;
	struct tfile_script_frame index[FRAMES];
	uint64_t bias;
};

_Noreturn static void make_tfile_fail(const char *what)
{
	fprintf(stderr, "make-tfile: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int make_tfile_read(void *userdata, uint64_t address, void *to, size_t n)
{
	struct make *m = userdata;
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)address, n };

	return process_vm_readv(m->pid, &local, 1, &remote, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

/* ---- collected data ---- */

static void make_tfile_memory(struct make *m, uint64_t address, size_t n)
{
	void *bytes = malloc(n);

	if (!bytes || m->n_blocks >= BLOCKS)
		make_tfile_fail("too much memory");
	if (make_tfile_read(m, address, bytes, n) < 0) {
		free(bytes);
		return;
	}
	m->bytes[m->n_blocks] = bytes;
	m->blocks[m->n_blocks++] = (struct tfile_block){
		.kind = TFILE_MEMORY,
		.memory = { .address = address, .bytes = bytes, .n = n },
	};
}

static void make_tfile_variable(struct make *m, uint32_t number, int64_t value)
{
	m->blocks[m->n_blocks++] = (struct tfile_block){
		.kind = TFILE_VARIABLE,
		.variable = { .number = number, .value = value },
	};
}

static void make_tfile_read_maps(struct make *m)
{
	char line[512], path[256];
	_cleanup_free_ char *name = NULL;
	FILE *f;

	if (asprintf(&name, "/proc/%d/maps", m->pid) < 0)
		make_tfile_fail("asprintf");
	f = fopen(name, "r");
	if (!f)
		make_tfile_fail(name);
	for (size_t i = 0; i < m->n_maps; i++)
		free((char *)m->maps[i].path);
	m->n_maps = 0;
	while (fgets(line, sizeof(line), f) && m->n_maps < MAPS) {
		struct tfile_map *map = &m->maps[m->n_maps];
		char flags[8];

		*path = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255[^\n]",
			   &map->start, &map->end, flags, &map->file_offset, path) < 4)
			continue;
		map->path = strdup(path);
		map->build_id = "";
		m->flags[m->n_maps++] = flags[1];
	}
	fclose(f);
}

/* The stack from SP on, and writable data of the program. */
static void make_tfile_data(struct make *m, uint64_t sp)
{
	for (size_t i = 0; i < m->n_maps; i++) {
		const struct tfile_map *map = &m->maps[i];
		uint64_t from = map->start, to = map->end;

		if (map->start <= sp && sp < map->end) {
			from = sp - 128;
			to = to - from > STACK ? from + STACK : to;
		} else if (m->flags[i] != 'w' || (strcmp(map->path, m->program) != 0 &&
						  strcmp(map->path, "[heap]") != 0)) {
			continue;
		}
		make_tfile_memory(m, from, to - from);
	}
}

/* The data by which GDB finds the libraries. */
static void make_tfile_link_map(struct make *m)
{
	struct tfile_link_map map = { 0 };

	for (size_t i = 0; i < m->n_maps; i++)
		if (strcmp(m->maps[i].path, m->program) == 0 && m->maps[i].file_offset == 0 &&
		    tfile_link_map_find(&map, make_tfile_read, m, m->maps[i].start) == 0)
			break;
	for (size_t i = 0; i < map.n_blocks; i++)
		make_tfile_memory(m, map.blocks[i].address, map.blocks[i].bytes);
	fprintf(stderr, "libraries %zu, blocks %zu, %s\n", map.n_libraries, map.n_blocks,
		map.missing ?: "complete");
	m->bias = map.bias;
	tfile_link_map_deinit(&map);
}

static void make_tfile_registers(const struct user_regs_struct *u, uint8_t *to)
{
	const struct tfile_x86_64 r = {
		u->rax,          u->rbx,          u->rcx,
		u->rdx,          u->rsi,          u->rdi,
		u->rbp,          u->rsp,          u->r8,
		u->r9,           u->r10,          u->r11,
		u->r12,          u->r13,          u->r14,
		u->r15,          u->rip,          (uint32_t)u->eflags,
		(uint32_t)u->cs, (uint32_t)u->ss, (uint32_t)u->ds,
		(uint32_t)u->es, (uint32_t)u->fs, (uint32_t)u->gs,
	};

	tfile_x86_64_put(to, &r);
}

/* The number of the tracepoint at ADDRESS. */
static uint32_t make_tfile_point(struct make *m, uint64_t address)
{
	static const char *const commands[] = { "collect $regs", "collect $ts_ns, $tid" };

	for (size_t i = 0; i < m->n_points; i++)
		if (m->points[i].address == address)
			return m->points[i].number;
	m->points[m->n_points] = (struct tfile_tracepoint){
		.number = (uint32_t)m->n_points + 1,
		.address = address,
		.commands = commands,
		.n_commands = ARRAY_SIZE(commands),
	};
	return m->points[m->n_points++].number;
}

static void make_tfile_frame(struct make *m)
{
	uint8_t registers[TFILE_X86_64_BYTES];
	struct user_regs_struct u;
	struct tfile_frame frame = { .blocks = m->blocks };
	uint64_t n = m->writer.frames;

	if (n >= FRAMES || ptrace(PTRACE_GETREGS, m->pid, NULL, &u) < 0)
		make_tfile_fail("cannot read registers");
	u.rip--; /* as if int3 had not run */
	m->n_blocks = 0;
	make_tfile_registers(&u, registers);
	m->blocks[m->n_blocks++] = (struct tfile_block){
		.kind = TFILE_REGISTERS,
		.registers = { registers, sizeof(registers) },
	};
	make_tfile_read_maps(m);
	make_tfile_data(m, u.rsp);
	make_tfile_memory(m, u.rip - CODE / 2, CODE);
	make_tfile_variable(m, VARIABLE_TIMESTAMP, (int64_t)n * 1000);
	make_tfile_variable(m, VARIABLE_TIME, (int64_t)n * 1000000);
	make_tfile_variable(m, VARIABLE_TID, m->pid);
	if (n == 0)
		make_tfile_link_map(m);
	frame.tracepoint = make_tfile_point(m, u.rip);
	frame.n_blocks = m->n_blocks;
	m->index[n] = (struct tfile_script_frame){ (uint32_t)n, frame.tracepoint, (uint32_t)m->pid,
						   n * 1000000, "int3" };
	if (tfile_writer_frame(&m->writer, &frame) < 0)
		make_tfile_fail("cannot write a frame");
	for (size_t i = 0; i < m->n_blocks; i++) {
		free(m->bytes[i]);
		m->bytes[i] = NULL;
	}
}

static void make_tfile_run(struct make *m)
{
	int status;

	m->pid = fork();
	if (m->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(m->program, m->program, NULL);
		_exit(127);
	}
	if (m->pid < 0 || waitpid(m->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		make_tfile_fail("cannot start it");
	while (ptrace(PTRACE_CONT, m->pid, NULL, NULL) == 0 && waitpid(m->pid, &status, 0) >= 0 &&
	       WIFSTOPPED(status))
		make_tfile_frame(m);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		make_tfile_fail("the program failed");
}

/* ---- files ---- */

static void make_tfile_put(const char *path, const struct outbuf *first,
			   const struct outbuf *second)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(first->data, 1, first->size, f) != first->size ||
	    (second && fwrite(second->data, 1, second->size, f) != second->size) || fclose(f))
		make_tfile_fail(path);
}

static void make_tfile_write(struct make *m, const char *path)
{
	static const struct tfile_variable variables[] = {
		{ VARIABLE_TIMESTAMP, 0, true, TFILE_VARIABLE_TIMESTAMP },
		{ VARIABLE_TIME, 0, false, TFILE_VARIABLE_TIME },
		{ VARIABLE_TID, -1, false, TFILE_VARIABLE_TID },
	};
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	struct tfile_head head = {
		.register_bytes = TFILE_X86_64_BYTES,
		.status = { .stop = TFILE_STOP_COMMAND,
			    .stop_text = "it ended",
			    .has = TFILE_HAS_FRAMES | TFILE_HAS_CREATED | TFILE_HAS_CIRCULAR |
				   TFILE_HAS_START | TFILE_HAS_STOP,
			    .frames = m->writer.frames,
			    .created = m->writer.frames + 2,
			    .start_us = 1700000000000000,
			    .stop_us = 1700000001500000,
			    .user = "somebody",
			    .notes = m->program },
		.variables = variables,
		.n_variables = ARRAY_SIZE(variables),
		.tracepoints = m->points,
		.n_tracepoints = m->n_points,
		.maps = m->maps,
		.n_maps = m->n_maps,
	};

	head.description = tfile_x86_64_description(&head.n_description);
	if (tfile_writer_end(&m->writer) < 0 || tfile_writer_head(&bytes, &head) < 0)
		make_tfile_fail("cannot write the head");
	make_tfile_put(path, &bytes, &m->frames);
}

static void make_tfile_script(struct make *m, const char *trace, const char *path)
{
	static const char *const comments[] = { "made by make-tfile" };
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	const struct tfile_script script = {
		.trace = trace,
		.program = { m->program, "", m->bias },
		.comments = comments,
		.n_comments = 1,
		.frames = m->index,
		.n_frames = m->writer.frames,
		.has_link_map = true,
	};

	if (tfile_script_write(&bytes, &script) < 0)
		make_tfile_fail("cannot write the script");
	make_tfile_put(path, &bytes, NULL);
}

int main(int argc, char **argv)
{
	static struct make m;

	if (argc != 4) {
		fputs("Usage: make-tfile PROGRAM OUT.tf OUT.gdb\n", stderr);
		return 2;
	}
	m.program = realpath(argv[1], NULL);
	if (!m.program)
		make_tfile_fail(argv[1]);
	tfile_writer_init(&m.writer, &m.frames, TFILE_X86_64_BYTES, TFILE_LITTLE);
	make_tfile_run(&m);
	make_tfile_write(&m, argv[2]);
	make_tfile_script(&m, argv[2], argv[3]);
	for (size_t i = 0; i < m.n_maps; i++)
		free((char *)m.maps[i].path);
	free((char *)m.program);
	outbuf_deinit(&m.frames);
	return 0;
}
