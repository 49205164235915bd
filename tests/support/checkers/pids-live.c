/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pids-live NAME...: checks which processes a filter by pid counts as living. Each NAME is a case
 * in the table at the end. Without one, all cases are checked. Prints "good NAME" or "wrong NAME
 * WHY", and exits 1 if a case is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "capture/options/options-complete.h"
#include "capture/programs/collector-parts.h"

enum { LINKS = 1000, ZOMBIES = 4000, READS = 1000000 };

static struct collector *collector;
static const char *wrong;

/*
 * Each process of a case holds the write end of `held`. Processes wait until this program closes
 * the write end of `go`, or of `late`.
 */
static int held[2], go[2], late[2];

static void expect(bool good, const char *why)
{
	if (!good && !wrong)
		wrong = why;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

/* ---- the processes ---- */

static void await(const int gate[2])
{
	struct pollfd end = { .fd = gate[0] };

	while (poll(&end, 1, -1) != 1)
		;
}

static void close_gates(void)
{
	close(go[1]);
	close(late[1]);
}

static void be_idle(void)
{
	await(go);
}

static pid_t begin(void (*body)(void))
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0) {
		close_gates();
		body();
		_exit(0);
	}
	return pid;
}

/* Begins a process with the id PID, which must be free. */
static pid_t begin_with_pid(pid_t pid, void (*body)(void))
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	must(child >= 0, "clone3 with a chosen id");
	if (child == 0) {
		close_gates();
		body();
		_exit(0);
	}
	return child;
}

static void reap(pid_t pid)
{
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	reap(pid);
}

/* Lets all idle processes end, and waits until none is left. (Orphans become children of this
 * process, too.) */
static void end_all(void)
{
	close_gates();
	while (wait(NULL) > 0)
		;
}

/* ---- the collector ---- */

static void select_process(pid_t pid)
{
	uint32_t id = (uint32_t)pid;
	struct session_options options = {
		.name = "pids",
		.categories = CATEGORY_SCHED,
		.ring_bytes = RING_BYTES_MIN,
		.filter = { .pids = &id, .n_pids = 1 },
	};
	_cleanup_free_ char *why = NULL;

	if (session_options_complete(&options) == 0 &&
	    collector_new(&options, &collector, &why) == 0)
		return;
	fprintf(stderr, "%s\n", why ? why : "the options are not valid");
	exit(2);
}

static void attach(void)
{
	_cleanup_free_ char *why = NULL;

	must(collector_attach(collector, &why) == 0, "attach");
}

static void resume(void)
{
	_cleanup_free_ char *why = NULL;

	must(collector_resume(collector, &why) == 0, "resume");
}

static bool lives(void)
{
	return collector_pids_live(collector);
}

/* Returns true if exactly N processes are counted. */
static bool counts(uint32_t n)
{
	return lives() == (n > 0) && collector->skel->bss->filter_n_live == n;
}

static bool is_selected(pid_t pid)
{
	uint32_t id = (uint32_t)pid;
	uint64_t value;

	return bpf_map_lookup_elem(bpf_map__fd(collector->skel->maps.filter_pids), &id, &value) ==
	       0;
}

/* ---- the cases ---- */

static void case_living(void)
{
	pid_t pid = begin(be_idle);

	select_process(pid);
	attach();
	expect(lives(), "it lives");
	end(pid);
	expect(counts(0), "it has ended");
}

static void case_ended_before(void)
{
	pid_t pid = begin(be_idle);

	select_process(pid);
	end(pid);
	attach();
	expect(counts(0), "it has ended");
	begin_with_pid(pid, be_idle);
	expect(counts(0) && !is_selected(pid), "another process has its id");
}

static void case_id_reused(void)
{
	pid_t pid = begin(be_idle);

	select_process(pid);
	attach();
	expect(counts(1), "it lives");
	end(pid);
	begin_with_pid(pid, be_idle);
	expect(counts(0) && !is_selected(pid), "another process has its id");
}

static void case_zombie(void)
{
	pid_t pid = begin(be_idle);
	siginfo_t info;

	select_process(pid);
	kill(pid, SIGKILL);
	must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
	attach();
	expect(counts(0), "it has ended");
	reap(pid);
	expect(counts(0), "it is gone");
}

static void *thread_waits(void *unused)
{
	(void)unused;
	await(go);
	_exit(0);
}

static void *thread_executes(void *unused)
{
	(void)unused;
	dup2(go[0], STDIN_FILENO);
	execl("/bin/cat", "cat", (char *)NULL);
	_exit(1);
}

static void be_without_leader(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_waits, NULL);
	pthread_exit(NULL);
}

static void be_executed_by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_executes, NULL);
	pthread_join(thread, NULL);
}

/* Waits until FILE of process PID contains TEXT. */
static void await_text(pid_t pid, const char *file, const char *text)
{
	char path[64], line[4096] = "";

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	while (!strstr(line, text)) {
		FILE *f = fopen(path, "re");
		size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;

		must(f, path);
		line[n] = '\0';
		fclose(f);
		sched_yield();
	}
}

static void case_leader_ended(void)
{
	pid_t pid = begin(be_without_leader);

	await_text(pid, "stat", ") Z ");
	select_process(pid);
	attach();
	expect(lives(), "a thread lives");
	end_all();
	expect(counts(0), "all threads have ended");
}

static void case_leader_ends(void)
{
	pid_t pid = begin(be_idle), child;

	select_process(getpid());
	attach();
	expect(counts(2), "it has a child");
	child = begin(be_without_leader);
	await_text(child, "stat", ") Z ");
	expect(counts(3) && is_selected(child), "a thread lives");
	end(pid);
	expect(counts(2), "one has ended");
	end(child);
	expect(counts(1), "only this process lives");
	/* (the kernel frees a process a while later) */
	while (is_selected(pid) || is_selected(child))
		sched_yield();
}

static void case_executed_by_thread(void)
{
	pid_t pid = begin(be_executed_by_thread);

	select_process(pid);
	attach();
	await_text(pid, "comm", "cat");
	expect(lives(), "it has executed a program");
	end_all();
	expect(counts(0), "it has ended");
}

static void be_two(void)
{
	must(fork() >= 0, "fork");
	await(go);
}

static void be_orphans(void)
{
	/* (the process between them ends at once) */
	await(go);
	if (fork() == 0 && fork() == 0)
		await(late);
}

static void case_orphan(void)
{
	pid_t pid = begin(be_orphans);

	select_process(pid);
	attach();
	close(go[1]);
	reap(pid);
	expect(lives(), "a descendant lives");
	end_all();
	expect(counts(0), "all have ended");
}

static void be_sibling(void)
{
	struct clone_args args = { .flags = CLONE_PARENT };

	await(go);
	if (syscall(SYS_clone3, &args, sizeof(args)) == 0)
		await(late);
}

static void case_sibling(void)
{
	pid_t pid = begin(be_sibling);

	select_process(pid);
	attach();
	close(go[1]);
	reap(pid);
	expect(lives(), "the sibling that it made lives");
	end_all();
	expect(counts(0), "all have ended");
}

/* The number of processes of the chain that have begun. Each process of the chain adds itself. */
static volatile unsigned *n_links;

static void be_chain(void)
{
	await(go);
	for (unsigned i = 0; i < LINKS; i++) {
		if (fork() != 0)
			_exit(0);
		*n_links = i + 1;
	}
}

static void case_chain(void)
{
	struct pollfd end = { .fd = held[0] };
	pid_t pid;

	n_links = mmap(NULL, sizeof(*n_links), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	must(n_links != MAP_FAILED, "mmap");
	pid = begin(be_chain);
	select_process(pid);
	attach();
	close(held[1]);
	close(go[1]);
	/* (the last process counts as ended before its files are closed) */
	do
		expect(lives() || *n_links == LINKS, "a process of the chain lives");
	while (poll(&end, 1, 0) != 1);
	end_all();
	expect(*n_links == LINKS, "the chain is complete");
	expect(counts(0), "the chain has ended");
}

static void be_many(void)
{
	await(go);
	for (unsigned i = 0; i < ZOMBIES; i++) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (pid == 0)
			_exit(0);
	}
	close(held[1]);
	await(late);
}

static void case_zombies(void)
{
	pid_t pid = begin(be_many);
	char byte;

	select_process(pid);
	attach();
	close(go[1]);
	/* If no process holds the pipe, the parent has made all its children, and they have
	 * ended. */
	close(held[1]);
	must(read(held[0], &byte, 1) == 0, "wait for the zombies");
	for (unsigned i = 0; i < READS; i++)
		expect(counts(1), "their parent lives");
	end_all();
	expect(counts(0), "all have ended");
}

/* As if the kernel had skipped the program at exit from here on. */
static void skip_ends(void)
{
	bpf_link__destroy(collector->skel->links.on_sched_process_exit);
	collector->skel->links.on_sched_process_exit = NULL;
}

static bool have_ended(void)
{
	return collector_pids_have_ended(collector);
}

static void case_end_skipped(void)
{
	pid_t pid = begin(be_idle);
	siginfo_t info;

	select_process(pid);
	attach();
	expect(!have_ended(), "it lives");
	expect(collector_skipped(collector, CLASS_LIFECYCLE) == 0, "no end is missing");
	skip_ends();
	kill(pid, SIGKILL);
	must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
	expect(counts(1) && have_ended(), "it has ended, and is still counted");
	expect(collector_skipped(collector, CLASS_LIFECYCLE) == 1, "its end is missing");
	reap(pid);
	expect(counts(1) && have_ended(), "it is gone, and is still counted");
}

static void case_end_skipped_of_parent(void)
{
	pid_t pid = begin(be_two);

	select_process(pid);
	attach();
	while (!counts(2))
		sched_yield();
	expect(!have_ended(), "both live");
	skip_ends();
	end(pid);
	expect(counts(2) && !have_ended(), "the child lives");
	end_all();
	expect(counts(2) && have_ended(), "both have ended");
}

static void case_full(void)
{
	const uint64_t value = FILTER_PID_ENDED;
	pid_t pid = begin(be_two);
	int fd;

	select_process(pid);
	fd = bpf_map__fd(collector->skel->maps.filter_pids);
	for (uint32_t i = 0; i < FILTER_PIDS_MAX; i++) {
		uint32_t key = UINT32_C(0x70000000) + i;

		if (bpf_map_update_elem(fd, &key, &value, BPF_ANY) < 0)
			break;
	}
	attach();
	expect(lives(), "it lives");
	end(pid);
	expect(counts(0), "it has ended, and its child is not selected");
}

static void case_pause(void)
{
	pid_t pid = begin(be_idle);

	select_process(pid);
	attach();
	collector_pause(collector);
	resume();
	expect(counts(1), "it lives after a pause");
	collector_pause(collector);
	end(pid);
	resume();
	expect(counts(0) && !is_selected(pid), "it has ended in a pause");
}

static void case_id_reused_in_pause(void)
{
	pid_t pid = begin(be_idle);

	select_process(pid);
	attach();
	collector_pause(collector);
	end(pid);
	begin_with_pid(pid, be_idle);
	resume();
	expect(counts(0) && !is_selected(pid), "another process has its id");
}

static pid_t lower;

static void be_parent_of_lower(void)
{
	begin_with_pid(lower, be_idle);
	be_idle();
}

/* The list of tasks has the child before its parent, whose id has an entry. */
static void case_child_of_reused_in_pause(void)
{
	pid_t pid;

	lower = begin(be_idle);
	pid = begin(be_idle);
	end(lower);
	select_process(pid);
	attach();
	collector_pause(collector);
	end(pid);
	begin_with_pid(pid, be_parent_of_lower);
	while (kill(lower, 0) < 0)
		sched_yield();
	resume();
	expect(counts(0) && !is_selected(pid) && !is_selected(lower),
	       "others have its id, and that of the other one");
}

static void case_child_in_pause(void)
{
	pid_t pid = begin(be_orphans);

	select_process(pid);
	attach();
	collector_pause(collector);
	close(go[1]);
	resume();
	reap(pid);
	end_all();
	expect(counts(0), "all have ended");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "living", case_living },
	{ "ended-before", case_ended_before },
	{ "id-reused", case_id_reused },
	{ "zombie", case_zombie },
	{ "leader-ended", case_leader_ended },
	{ "leader-ends", case_leader_ends },
	{ "executed-by-thread", case_executed_by_thread },
	{ "orphan", case_orphan },
	{ "sibling", case_sibling },
	{ "chain", case_chain },
	{ "zombies", case_zombies },
	{ "end-skipped", case_end_skipped },
	{ "end-skipped-of-parent", case_end_skipped_of_parent },
	{ "full", case_full },
	{ "pause", case_pause },
	{ "id-reused-in-pause", case_id_reused_in_pause },
	{ "child-of-reused-in-pause", case_child_of_reused_in_pause },
	{ "child-in-pause", case_child_in_pause },
};

/* Runs a case in a process of its own, to which orphans return. */
static bool run(size_t i)
{
	pid_t pid = fork();
	int status;

	must(pid >= 0, "fork");
	if (pid == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		must(pipe2(held, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0 &&
			     pipe2(late, O_CLOEXEC) == 0,
		     "pipe");
		cases[i].run();
		close_gates();
		collector = collector_free(collector);
		printf("%s %s%s%s\n", wrong ? "wrong" : "good", cases[i].name, wrong ? " " : "",
		       wrong ? wrong : "");
		fflush(stdout);
		_exit(wrong ? 1 : 0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char *argv[])
{
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= strcmp(argv[k], cases[i].name) == 0;
		if (wanted)
			good &= run(i);
	}
	return good ? 0 : 1;
}
