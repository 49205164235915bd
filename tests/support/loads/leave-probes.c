/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kills an attacher of probes with all its processes while it detaches, when its first probe is
 * gone and others are still there.
 *
 *	leave-probes journal PID     it closes its probes itself, with a journal and without guards:
 *	                             until some breakpoints remain
 *	leave-probes guards PID [N]  it closes its probes itself, with guards, which must remove the
 *	                             breakpoints: N times, or HELPED_TRIES
 *	leave-probes free PID [N]    it closes its probes as kymo does, without guards: nothing may
 *	                             remain, not even data in the kernel
 *
 * Prints how many breakpoints remain, of all tries. The process maps the code of the program and
 * executes none of it.
 *
 * With `journal` and `guards`, data of probes stays in the kernel until the next boot, and the
 * kernel finds it by the address of the inode. So a probe event of the kernel, which stays too,
 * keeps the inode. Otherwise a later file could get the address, and programs would execute
 * instructions of this one.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/probes/probe-guards.h"
#include "capture/probes/probe-journal.h"
#include "capture/probes/probes.h"

enum way {
	WAY_JOURNAL,
	WAY_GUARDS,
	WAY_FREE,
	WAYS,
};
static const char *const way_names[WAYS] = { "journal", "guards", "free" };

enum { PLACES = 40, TRIES_MAX = 200, HELPED_TRIES = 20, STEP = 16, FDS_MAX = 1024 };

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

/* Makes a probe event that nobody enables. The event keeps a reference to the file. */
static void keep_inode(void)
{
	int fd;

	/* (not every machine has mounted it) */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0 && errno != EBUSY))
		die("tracefs");
	fd = open("/sys/kernel/tracing/uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		die("uprobe_events");
	if (dprintf(fd, "p:kymo_test/left_%d /proc/self/fd/%d:0x%" PRIx64 "\n", (int)getpid(),
		    file_fd, offsets[0]) < 0)
		die("no probe event");
	close(fd);
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

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Never returns. */
static void keep_probes(enum way way, int pipe_fd)
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
	bool before[FDS_MAX];

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		target.programs[i] = -1;
	target.programs[PROBES_ENTRY] = load_program(target.way);
	if (way == WAY_GUARDS) {
		probe_guards_init(&guards, NULL);
		if (!probe_guards_acquire(&guards, &target))
			die("no guard");
	} else if (way == WAY_JOURNAL) {
		note_in_journal();
	}
	for (int i = 0; i < FDS_MAX; i++)
		before[i] = is_open(i);
	if (probes_new(&target, &probes, &failed) < 0)
		die("no probes");
	if (write(pipe_fd, "x", 1) != 1)
		_exit(1);
	if (way == WAY_FREE)
		probes_free(probes);
	for (int i = FDS_MAX - 1; way != WAY_FREE && i >= 0; i--)
		if (!before[i] && is_open(i))
			close(i);
	pause();
	_exit(1);
}

static size_t try_once(enum way way)
{
	int pipe_fds[2];
	pid_t pid;
	char c;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0)
		keep_probes(way, pipe_fds[1]);
	close(pipe_fds[1]);
	if (pid < 0 || read(pipe_fds[0], &c, 1) != 1)
		die("no attacher");
	while (is_patched(offsets[0]))
		;
	close(pipe_fds[0]);
	kill(-pid, SIGKILL);
	/* (this process gets the children of the attacher, too) */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	return count_patched();
}

int main(int argc, char **argv)
{
	enum way way = WAY_JOURNAL;
	size_t left = 0;
	int tries;

	while (argc >= 3 && way < WAYS && strcmp(argv[1], way_names[way]) != 0)
		way++;
	if (argc < 3 || argc > 4 || way == WAYS)
		return 2;
	tries = argc == 4 ? atoi(argv[3]) : way == WAY_JOURNAL ? TRIES_MAX : HELPED_TRIES;
	target_pid = atoi(argv[2]);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	find_code();
	find_places();
	if (way != WAY_FREE)
		keep_inode();
	for (int i = 0; i < tries && left == 0; i++)
		left += try_once(way);
	printf("%zu\n", left);
	return 0;
}
