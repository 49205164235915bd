/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves breakpoints behind in a process, like an attacher of probes that is killed while it
 * detaches.
 *
 *	leave-probes journal PID   with a journal, and without guards: until some remain
 *	leave-probes guards PID [N]  with guards, which must remove them: N times, or
 *	                             HELPED_TRIES
 *
 * Prints how many breakpoints remain, of all tries. The attacher is killed when its first probe is
 * gone, while others are still there. The process maps the code of the program and executes none of
 * it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/probes/probe-guards.h"
#include "capture/probes/probe-journal.h"
#include "capture/probes/probes.h"

enum { PLACES = 40, TRIES_MAX = 200, HELPED_TRIES = 20, STEP = 16 };

static struct allocator_probe places[PLACES];
static uint64_t offsets[PLACES];
static size_t n_places;
static uint64_t code_start, code_end, code_offset; /* in the process */
static int file_fd, mem_fd;
static pid_t target_pid;

static void die(const char *what)
{
	fprintf(stderr, "leave-probes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void find_code(void)
{
	char path[64], program[4096], line[8192], mode[8];
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)target_pid);
	file_fd = open(path, O_RDONLY | O_CLOEXEC);
	n = readlink(path, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)target_pid);
	mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target_pid);
	f = fopen(path, "re");
	if (file_fd < 0 || mem_fd < 0 || n <= 0 || !f)
		die(path);
	while (!code_end && fgets(line, sizeof(line), f))
		if (strstr(line, program) &&
		    (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &code_start, &code_end,
			    mode, &code_offset) != 4 ||
		     mode[2] != 'x'))
			code_end = 0;
	fclose(f);
	if (!code_end)
		die("no code");
}

/* Finds places at which the kernel accepts a probe. */
static void find_places(void)
{
	uint64_t at = code_offset;

	for (; n_places < PLACES && at < code_offset + (code_end - code_start) - STEP; at += STEP) {
		struct probes *p;

		if (probes_new_for_nobody(probes_way(), file_fd, &at, NULL, 1, &p) < 0)
			continue;
		probes_free(p);
		offsets[n_places] = at;
		places[n_places++] = (struct allocator_probe){
			.offset = at,
			.function = 1,
			.kind = ALLOCATOR_PROBE_ENTRY,
		};
	}
	if (n_places < PLACES)
		die("too few places for probes");
}

static bool is_patched(uint64_t offset)
{
	uint8_t is = 0, was = 0;

	return pread(mem_fd, &is, 1, (off_t)(code_start + offset - code_offset)) == 1 &&
	       pread(file_fd, &was, 1, (off_t)offset) == 1 && is != was;
}

static size_t count_patched(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_places; i++)
		n += is_patched(offsets[i]);
	return n;
}

static int load_program(enum probes_way way)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type =
			    (enum bpf_attach_type)probes_attach_type(way, PROBES_ENTRY));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, 2, &opts);
}

static void note_in_journal(void)
{
	struct probe_journal *journal;
	struct stat st;

	if (probe_journal_new(&journal) < 0 || fstat(file_fd, &st) < 0 ||
	    probe_journal_add(journal,
			      &(struct probe_file){ st.st_dev, st.st_ino, offsets, n_places }) < 0)
		die("no journal");
}

/* Never returns. */
static void keep_probes(bool guarded, int pipe_fd)
{
	struct probes_target target = {
		.way = probes_way(),
		.pid = target_pid,
		.fd = file_fd,
		.probes = places,
		.n = n_places,
	};
	struct probe_guards guards;
	struct probes *probes;
	struct probes_failed failed;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		target.programs[i] = -1;
	target.programs[PROBES_ENTRY] = load_program(target.way);
	if (guarded) {
		probe_guards_init(&guards);
		if (!probe_guards_acquire(&guards, &target))
			die("no guard");
	} else {
		note_in_journal();
	}
	if (probes_new(&target, &probes, &failed) < 0)
		die("no probes");
	if (write(pipe_fd, "x", 1) != 1)
		_exit(1);
	probes_free(probes);
	pause();
	_exit(1);
}

static size_t try_once(bool guarded)
{
	int pipe_fds[2];
	pid_t pid;
	char c;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0)
		keep_probes(guarded, pipe_fds[1]);
	close(pipe_fds[1]);
	if (pid < 0 || read(pipe_fds[0], &c, 1) != 1)
		die("no attacher");
	close(pipe_fds[0]);
	while (is_patched(offsets[0]))
		;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return count_patched();
}

int main(int argc, char **argv)
{
	bool guarded = argc >= 3 && strcmp(argv[1], "guards") == 0;
	int tries = argc == 4 ? atoi(argv[3]) : guarded ? HELPED_TRIES : TRIES_MAX;
	size_t left = 0;

	if (argc < 3 || argc > 4)
		return 2;
	target_pid = atoi(argv[2]);
	find_code();
	find_places();
	for (int i = 0; i < tries; i++) {
		left += try_once(guarded);
		if (left)
			break;
	}
	printf("%zu\n", left);
	return 0;
}
