/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record/exit-search.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/common/loaded-files.h"
#include "cli/common/verb.h"

/*
 * The maximum time from an interruption to the end of the search of a process that exits after the
 * interruption.
 */
#define ANSWER_NS UINT64_C(3000000000)

/*
 * Returns true if NAME runs with more rights than its user. The kernel drops these rights if the
 * program is traced without privileges.
 */
static bool exit_search_has_rights(const char *name)
{
	_cleanup_free_ char *path = loaded_files_command(name);
	struct stat st;

	if (geteuid() == 0 || !path || stat(path, &st) < 0)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	       (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

void exit_search_begin(struct exit_search *s, const char *name, pid_t pid)
{
	int r;

	if (exit_search_has_rights(name)) {
		cli_error("%s would run without the privileges of its file (set-user-ID, "
			  "set-group-ID or capabilities) if it were traced, so it is not held at "
			  "its exit: lost blocks are found only while it runs (stop with -d or "
			  "Ctrl-C)",
			  name);
		return;
	}
	r = exit_hold_begin(&s->hold, pid);
	if (r == 0)
		s->name = name;
	else
		cli_error("cannot hold %s at its exit by ptrace: %s; lost blocks are found only "
			  "while it runs (stop with -d or Ctrl-C)",
			  name, strerror(-r));
}

static void exit_search_poll_requested(struct exit_search *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_asked; i++) {
		pid_t pid = s->asked[i];
		int r = recording_search_state(s->recording, (uint32_t)pid);

		if (r == 0) {
			s->asked[n++] = pid;
			continue;
		}
		/* -ESHUTDOWN: the recording is about to end. It then searches the process, which is
		 * held until then. */
		if (r == -ESHUTDOWN)
			continue;
		if (r < 0)
			cli_error("process %d: %s", (int)pid, recording_search_error(s->recording));
		exit_hold_release(&s->hold, pid);
	}
	s->n_asked = n;
}

static void exit_search_request(struct exit_search *s, pid_t pid)
{
	int r = recording_search(s->recording, (uint32_t)pid);

	if (r == 0) {
		s->asked[s->n_asked++] = pid;
	} else if (r != -ESHUTDOWN) {
		cli_error("process %d: %s", (int)pid, recording_search_error(s->recording));
		exit_hold_release(&s->hold, pid);
	}
}

/*
 * Releases the processes that wait for their searches: at the interruption, because the command
 * waits for these processes; and again ANSWER_NS later. Then, processes are released that have
 * exited after the interruption (Ctrl-C reaches them, too) and whose searches are not done.
 */
static void exit_search_give_up(struct exit_search *s, bool interrupted)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	bool begins = interrupted && !s->gave_up_ns;

	if (begins)
		s->gave_up_ns = now_ns;
	else if (!s->gave_up_ns || now_ns - s->gave_up_ns < ANSWER_NS)
		return;
	while (s->n_asked > 0) {
		pid_t pid = s->asked[--s->n_asked];

		if (!begins)
			cli_error("process %d: not searched within %d s after the signal, so its "
				  "lost blocks are unknown",
				  (int)pid, (int)(ANSWER_NS / 1000000000));
		exit_hold_release(&s->hold, pid);
	}
}

void exit_search_poll(struct exit_search *s, bool interrupted)
{
	pid_t pid;

	if (!s->name)
		return;
	pid = exit_hold_waiting(&s->hold);
	if (pid)
		cli_error("process %d has stopped itself (SIGSTOP), and does not continue: if it "
			  "waits for a tracer of its own, record it without --reach",
			  (int)pid);
	exit_search_poll_requested(s);
	exit_search_give_up(s, interrupted);
	while (s->n_asked < EXIT_HOLD_MAX && (pid = exit_hold_pop(&s->hold)) > 0)
		exit_search_request(s, pid);
}

bool exit_search_end(struct exit_search *s)
{
	bool any;

	if (!s->name)
		return false;
	any = exit_hold_any(&s->hold);
	exit_hold_end(&s->hold);
	if (*s->hold.tracer)
		cli_error("%s uses ptrace, so its children are not held at their exit: their lost "
			  "blocks are unknown (run them without it)",
			  s->hold.tracer);
	if (*s->hold.unread)
		cli_error("the file of %s %s, so it is not known whether it uses ptrace, and its "
			  "children are not held at their exit: their lost blocks are unknown",
			  s->hold.unread,
			  s->hold.unread_error == -ETIME
				  ? "could not be read in time"
				  : "was not read (other files could not be read in time, or no "
				    "thread could be made)");
	if (s->hold.n_more_tracers)
		cli_error("more than %d programs may have used ptrace at the same time (%u more): "
			  "after that, processes forked by threads other than the main thread were "
			  "not held at their exit, so their lost blocks are unknown",
			  EXIT_HOLD_TRACERS_MAX, s->hold.n_more_tracers);
	if (s->hold.n_missed)
		cli_error("%u process%s ended while kymo read the file%s of %s program%s, before "
			  "%s held: %s unreachable blocks are unknown",
			  s->hold.n_missed, s->hold.n_missed == 1 ? "" : "es",
			  s->hold.n_missed == 1 ? "" : "s", s->hold.n_missed == 1 ? "its" : "their",
			  s->hold.n_missed == 1 ? "" : "s",
			  s->hold.n_missed == 1 ? "it could be" : "they could be",
			  s->hold.n_missed == 1 ? "its" : "their");
	if (s->hold.n_full)
		cli_error("the memory of %u process%s was not searched, because %d threads "
			  "were held at the same time: %s unreachable blocks are unknown",
			  s->hold.n_full, s->hold.n_full == 1 ? "" : "es", EXIT_HOLD_MAX,
			  s->hold.n_full == 1 ? "its" : "their");
	if (s->hold.n_passed)
		cli_error("the memory of %u process%s was not searched, because the searches of "
			  "other processes took 30 s: %s unreachable blocks are unknown",
			  s->hold.n_passed, s->hold.n_passed == 1 ? "" : "es",
			  s->hold.n_passed == 1 ? "its" : "their");
	if (s->hold.n_late)
		cli_error("the memory of %u process%s was not searched within 30 s: %s "
			  "unreachable blocks are unknown",
			  s->hold.n_late, s->hold.n_late == 1 ? "" : "es",
			  s->hold.n_late == 1 ? "its" : "their");
	return any;
}
