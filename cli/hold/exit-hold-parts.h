/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of exit-hold's files. Internal to exit-hold*.c. The functions run in the thread
 * that traces, with the lock.
 *
 *   exit-hold.c          the thread, and the interface of its owner
 *   exit-hold-adopt.c    begins to trace processes, with the options that their programs allow
 *   exit-hold-exits.c    threads at their exit: which of them are held, and until when
 *   exit-hold-stops.c    all other stops of traced threads
 *   exit-hold-tasks.c    what /proc shows of a thread
 *   exit-hold-walk.c     the search for processes that no stop has reported
 */
#pragma once

#include <sys/ptrace.h>

#include "cli/hold/exit-hold.h"

/* The options for a traced thread: if its program may trace other programs, and if not. */
#define EXIT_HOLD_OPTIONS_OF_TRACER (PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)
#define EXIT_HOLD_OPTIONS           (EXIT_HOLD_OPTIONS_OF_TRACER | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)

/* ---- exit-hold-tasks.c ---- */

/*
 * Returns the process of TID. *RET_INNER is the id of the process in its own pid namespace, which
 * is the sender in signals from the process.
 */
pid_t exit_hold_ids_of(pid_t tid, pid_t *ret_inner);
pid_t exit_hold_process_of(pid_t tid);

/* Returns true if TID called exit() and not exit_group(). */
bool exit_hold_ends_alone(pid_t tid);

/* Calls EACH for the threads of PID. Returns the number of calls that returned true. */
unsigned exit_hold_each_task(struct exit_hold *h, pid_t pid,
			     bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid));

/* Returns true if TID is in a call of exec. A function for exit_hold_each_task(). */
bool exit_hold_is_in_exec(struct exit_hold *h, pid_t pid, pid_t tid);

/* Returns the thread that traces PID; 0 = PID is not traced. */
pid_t exit_hold_tracer_of(pid_t pid);

/* Writes the name of the program of PID to TO; "" if PID has no program. Does not access the file.
 * Returns false if the name is hidden, because this process may not trace PID. */
bool exit_hold_program_of(pid_t pid, char to[static 256]);

/* Writes the name of PID to TO, unless TO already has a name. */
void exit_hold_note_name(pid_t pid, char to[static 64]);

/* ---- exit-hold-adopt.c ---- */

/* Makes a timer that interrupts only this thread. The timer has a signal of its own, whose handler
 * jumps out of the request to trace: if the handler returned, the kernel would restart the request.
 */
int exit_hold_make_timer(timer_t *ret);

/*
 * Traces TID. During an exec, no thread of the process can be seized until all others have exited.
 * But the exec waits for threads that are held here. So the request is abandoned after some
 * milliseconds, and no other request is made in this round. Returns false with an errno.
 */
bool exit_hold_seize(struct exit_hold *h, pid_t tid, unsigned options);

/*
 * Returns true if PID is in the list of tracers. The next two functions remove PID, or all
 * processes that have ended, from this list.
 */
bool exit_hold_has_tracer(const struct exit_hold *h, pid_t pid);
void exit_hold_forget_tracer(struct exit_hold *h, pid_t pid);
void exit_hold_forget_ended_tracers(struct exit_hold *h);

/*
 * Handles TID, which has stopped in an exec: reads its new program, and gives TID the options for
 * this program.
 */
void exit_hold_set_options_of_new(struct exit_hold *h, pid_t tid);

/*
 * Handles TID, which has stopped because it was interrupted, or for another reason. The program of
 * TID is known: gives TID the options for this program.
 */
void exit_hold_set_options_of_known(struct exit_hold *h, pid_t tid);

/*
 * Returns true if TID was asked to stop, and has not stopped since then. A further call returns
 * false.
 */
bool exit_hold_end_interrupt(struct exit_hold *h, pid_t tid);

/*
 * Traces PID. The program of PID is read first, which can take a second. If a debugger were traced
 * during this time, its new children would be traced, too, and the debugger could not trace them.
 * Returns false with an errno: for example, PID is already traced. A process that has ended
 * meanwhile is counted.
 */
bool exit_hold_adopt(struct exit_hold *h, pid_t pid);

/* Traces PID, which has just begun its program and can end soon. So PID is traced first, and gets
 * the options for its program later. Children that PID makes before that are found by the search.
 */
bool exit_hold_adopt_new(struct exit_hold *h, pid_t pid);

/* ---- exit-hold-exits.c ---- */

struct held *exit_hold_find(struct exit_hold *h, pid_t tid);

/* Handles TID, which has stopped at its exit: holds it, or lets it continue. */
void exit_hold_on_exit_of(struct exit_hold *h, pid_t tid);

/*
 * Returns true if a process waits for its search, or is being searched. Processes that wait for the
 * exits of their own threads do not count: they would also wait without kymo.
 */
bool exit_hold_any_ready(const struct exit_hold *h);

/* Lets the threads of PID continue in the next round. */
void exit_hold_release_one(struct exit_hold *h, pid_t pid);

/*
 * Reports and releases held threads. Returns the time, in milliseconds, after which this function
 * must be called again.
 */
int exit_hold_settle(struct exit_hold *h);

/* ---- exit-hold-stops.c ---- */

/*
 * Handles threads that have stopped or ended. Returns true if more such threads can be left:
 * programs can stop as fast as their stops are handled, and the caller must serve held processes in
 * between.
 */
bool exit_hold_collect_stops(struct exit_hold *h);

/* Reports a process that has stopped itself and stays stopped. */
void exit_hold_check_stopped(struct exit_hold *h);

/* ---- exit-hold-walk.c ---- */

/* The pause after a search. The pause is longer if the search needed much CPU time. */
enum { EXIT_HOLD_WALK_MS = 100 };

/*
 * Searches for processes that threads other than the first have forked. Tracing all threads would
 * report these forks, but it would also stop each thread for each signal.
 */
void exit_hold_walk_if_due(struct exit_hold *h);
