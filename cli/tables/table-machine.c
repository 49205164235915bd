/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-machine.h"

#include "model/koids.h"

static int table_machine_put_machine(struct table_set *s, bool damaged)
{
	const struct summary *m = s->summary;
	const enum table_number t = TABLE_MACHINE;

	table_put_time(s, t, MACHINE_START, m->start_ns);
	table_put_time(s, t, MACHINE_END, m->end_ns);
	if (s->has_clock)
		table_put_time(s, t, MACHINE_BOOT, 0);
	table_put(s, t, MACHINE_RECORDED, m->recorded_ns);
	table_put_text(s, t, MACHINE_HOST, m->recording.host);
	table_put_text(s, t, MACHINE_ARCHITECTURE, m->recording.machine);
	table_put_text(s, t, MACHINE_KERNEL, m->recording.kernel);
	table_put_text(s, t, MACHINE_VERSION, m->recording.version);
	table_put_text(s, t, MACHINE_SESSION, m->recording.session);
	table_put_text(s, t, MACHINE_COMMAND, m->recording.command);
	table_put_text(s, t, MACHINE_OPTIONS, m->recording.options);
	if (m->recording.n_cpus)
		table_put(s, t, MACHINE_CPUS, m->recording.n_cpus);
	if (m->recording.chunk)
		table_put(s, t, MACHINE_CHUNK, m->recording.chunk);
	table_put(s, t, MACHINE_FILTERED, m->filtered);
	table_put(s, t, MACHINE_COMPLETE, summary_is_complete(m));
	table_put(s, t, MACHINE_DAMAGED, damaged || m->n_damages != 0);
	table_put(s, t, MACHINE_SWITCHES, m->switches);
	table_put(s, t, MACHINE_WAKEUPS, m->wakeups);
	table_put(s, t, MACHINE_MIGRATIONS, m->migrations);
	table_put(s, t, MACHINE_LOST, summary_lost(m));
	table_put(s, t, MACHINE_UNREPORTED, m->unreported);
	table_put(s, t, MACHINE_DAEMON_CPU, m->daemon_cpu_ns);
	table_put(s, t, MACHINE_BPF_CPU, m->bpf_cpu_ns);
	return table_end_row(s, t);
}

static int table_machine_put_process(struct table_set *s, const struct summary_process *p)
{
	const enum table_number t = TABLE_PROCESSES;
	int r;

	table_put(s, t, PROCESS_PROCESS, p->pid);
	if (fxt_koid_is_task(p->pid))
		table_put(s, t, PROCESS_PID, fxt_koid_tid(p->pid));
	if (p->described)
		table_put(s, t, PROCESS_PARENT, p->parent_pid);
	if (p->described && p->uid != EVENT_UID_UNKNOWN)
		table_put(s, t, PROCESS_UID, p->uid);
	table_put_text(s, t, PROCESS_NAME, p->name);
	table_put_text(s, t, PROCESS_COMMAND_LINE, p->command_line);
	table_put_text(s, t, PROCESS_CGROUP, p->cgroup_path);
	r = table_put_cgroup(s, t, PROCESS_UNIT, PROCESS_CONTAINER, p->cgroup_path);
	if (p->start_ns)
		table_put_time(s, t, PROCESS_START, p->start_ns);
	if (p->exited) {
		table_put_time(s, t, PROCESS_EXIT, p->exit_ns);
		table_put(s, t, PROCESS_EXIT_CODE, (uint64_t)(int64_t)p->exit_code);
		table_put(s, t, PROCESS_SIGNAL, (uint64_t)(int64_t)p->signal);
	}
	return r ?: table_end_row(s, t);
}

static int table_machine_put_thread(struct table_set *s, const struct summary_thread *p)
{
	const enum table_number t = TABLE_THREADS;

	table_put(s, t, THREAD_THREAD, p->tid);
	if (fxt_koid_is_task(p->tid))
		table_put(s, t, THREAD_TID, fxt_koid_tid(p->tid));
	if (p->pid)
		table_put(s, t, THREAD_PROCESS, p->pid);
	table_put_text(s, t, THREAD_NAME, p->name);
	table_put(s, t, THREAD_CPU, p->cpu_ns);
	table_put(s, t, THREAD_RUNNABLE_TIME, p->runnable_ns);
	table_put(s, t, THREAD_BLOCKED_TIME, p->blocked_ns);
	table_put(s, t, THREAD_SWITCHES, p->switches);
	table_put(s, t, THREAD_PREEMPTED, p->preempted);
	table_put(s, t, THREAD_WAKEUPS, p->wakeups);
	table_put(s, t, THREAD_SAMPLES, p->samples);
	table_put(s, t, THREAD_EXITED, p->exited);
	return table_end_row(s, t);
}

int table_machine_put(struct table_set *s, bool damaged)
{
	_cleanup_free_ struct summary_process **processes = NULL;
	_cleanup_free_ struct summary_thread **threads = NULL;
	size_t n_processes = 0, n_threads = 0;
	int r = table_machine_put_machine(s, damaged)
			?: summary_processes_by_pid(s->summary, &processes, &n_processes)
			?: summary_threads_by_cpu(s->summary, &threads, &n_threads);

	for (size_t i = 0; r == 0 && i < n_processes; i++)
		r = table_machine_put_process(s, processes[i]);
	for (size_t i = 0; r == 0 && i < n_threads; i++)
		r = table_machine_put_thread(s, threads[i]);
	return r;
}
