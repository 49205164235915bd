/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All events of an archive. The including code defines EVENT and the other macros below (see
 * fxt-event-fields.h). docs/FXT-MAPPING.md describes the same for users, and
 * tests/style/check-mapping compares it with this list.
 *
 *   EVENT(kind, category, name, type, whose, fields)  the row of an event kind
 *   ALSO(row, kind, category, name, type, whose, fields)  another name for a kind
 *   OTHER(row, kind, category, fields)  without a name: objects, scheduling, intervals of CPUs
 *   FIELD(argument, form, member of struct event, flags)  in the order of writing
 */
/* clang-format off */

/* ---- objects and scheduling records ---- */

OTHER(PROCESS, EVENT_TASK, NONE,
	FIELD(PARENT, KOID, task.parent_pid, IF_SET)
	FIELD(UID, U32, task.uid, IF_KNOWN)
	FIELD(START_TIME, TIME, task.start_ns, IF_SET)
	FIELD(COMMAND_LINE, TEXT, task.command_line, IF_SET)
	FIELD(CGROUP, U64, task.cgroup_id, IF_SET)
	FIELD(CGROUP_PATH, TEXT, task.cgroup_path, IF_THERE)
	FIELD(REAL_ID, U32, task.real_tid, IF_SET))
OTHER(THREAD, EVENT_TASK, NONE,
	FIELD(PROCESS, KOID, pid, STRICT)
	FIELD(START_TIME, TIME, task.start_ns, IF_SET)
	FIELD(REAL_ID, U32, task.real_tid, IF_SET))
OTHER(SWITCH, EVENT_SWITCH, NONE,
	FIELD(OUTGOING_WEIGHT, I32, sw.prev_prio, STRICT)
	FIELD(INCOMING_WEIGHT, I32, sw.next_prio, STRICT)
	FIELD(PREV_STATE, LETTER, sw.state, UNWRITTEN | PLAIN)
	FIELD(SYNTHETIC, BOOL, sw.synthetic, IF_SET))
OTHER(WAKEUP, EVENT_WAKE, NONE,
	FIELD(WEIGHT, I32, wake.prio, STRICT)
	FIELD(WAKER, KOID, wake.waker_tid, STRICT)
	FOREIGN(CONTEXT, STRING, PLAIN)
	FOREIGN(INTERRUPTED, KOID, 0))

/* ---- events of threads ---- */

EVENT(MIGRATE, SCHED, MIGRATE, INSTANT, BPF,
	FIELD(FROM_CPU, CPU, migrate.from_cpu, 0)
	FIELD(TO_CPU, CPU, migrate.to_cpu, NEEDED))
EVENT(FORK, PROCESS, FORK, INSTANT, OWN,
	FIELD(CHILD_PROCESS, KOID, fork.child_pid, 0)
	FIELD(CHILD_THREAD, KOID, fork.child_tid, NEEDED))
EVENT(EXEC, PROCESS, EXEC, INSTANT, OWN,
	FIELD(FILE, TEXT, exec.file, NEEDED)
	FIELD(COMMAND_LINE, TEXT, exec.command_line, NEEDED)
	FIELD(OLD_THREAD, KOID, exec.old_tid, IF_SET))
EVENT(EXIT, PROCESS, EXIT, INSTANT, OWN,
	FIELD(EXIT_CODE, I32, exit.code, 0)
	FIELD(SIGNAL, I32, exit.signal, 0)
	FIELD(PROCESS_ENDS, BOOL, exit.process_ends, NEEDED))
EVENT(RENAME, PROCESS, RENAME, INSTANT, OWN,
	FIELD(FROM, TEXT, rename.from, 0)
	FIELD(TO, TEXT, rename.to, NEEDED))

/* ---- the recording itself ---- */

EVENT(START, KYMO, SESSION_START, INSTANT, KYMO,
	FIELD(SESSION, TEXT, start.session, 0)
	FIELD(COMMAND, TEXT, start.command, 0)
	FIELD(OPTIONS, TEXT, start.options, 0)
	FIELD(KERNEL, TEXT, start.kernel, PLAIN)
	FIELD(MACHINE, TEXT, start.machine, PLAIN)
	FIELD(HOST, TEXT, start.host, 0)
	FIELD(VERSION, TEXT, start.version, PLAIN)
	FIELD(CPUS, U32, start.n_cpus, 0)
	FIELD(FILTERED, BOOL, start.filtered, 0)
	FIELD(CHUNK, U32, start.chunk, IF_SET)
	FIELD(FIRST, TIME, start.first_ns, IF_SET))
EVENT(STOP, KYMO, SESSION_STOP, INSTANT, KYMO,
	FIELD(REASON, TEXT, stop.reason, PLAIN)
	FIELD(EVENTS, U64, stop.events, 0)
	FIELD(LOST, U64, stop.lost, 0)
	FIELD(DISMISSED, U64, stop.dismissed, 0)
	FIELD(UNREPORTED, U64, stop.unreported, 0)
	FIELD(BYTES, U64, stop.bytes, 0)
	FIELD(DAEMON_CPU, U64, stop.daemon_cpu_ns, 0)
	FIELD(BPF_CPU, U64, stop.bpf_cpu_ns, 0)
	FIELD(FULL, U64, stop.dropped_bytes, IF_SET)
	FIELD(SESSION, TEXT, stop.session, IF_THERE))
EVENT(STACKS, KYMO, SESSION_STACKS, INSTANT, KYMO,
	FIELD(STACKS_WHOLE, U64, stacks.walks[WALK_WHOLE], IF_SET)
	FIELD(STACKS_FULL, U64, stacks.walks[WALK_FULL], IF_SET)
	FIELD(STACKS_FRAME_POINTERS, U64, stacks.walks[WALK_FRAME_POINTERS], IF_SET)
	FIELD(STACKS_NO_CODE, U64, stacks.walks[WALK_NO_CODE], IF_SET)
	FIELD(STACKS_NO_TABLE, U64, stacks.walks[WALK_NO_TABLE], IF_SET)
	FIELD(STACKS_UNSUPPORTED, U64, stacks.walks[WALK_UNSUPPORTED], IF_SET)
	FIELD(STACKS_UNREADABLE, U64, stacks.walks[WALK_UNREADABLE], IF_SET)
	FIELD(STACKS_BUSY, U64, stacks.walks[WALK_BUSY], IF_SET)
	FIELD(TABLES_MADE, U64, stacks.tables.made, IF_SET)
	FIELD(TABLES_FAILED, U64, stacks.tables.failed, IF_SET)
	FIELD(TABLES_EVICTED, U64, stacks.tables.evicted, IF_SET)
	FIELD(TABLES_BYTES, U64, stacks.tables.bytes, IF_SET)
	FIELD(STACKS_COPIED, U64, stacks.tables.copied, IF_SET))
EVENT(PYTHON, KYMO, SESSION_PYTHON, INSTANT, KYMO,
	FIELD(STACKS, U64, python.stacks[PYTHON_STACKS_ALL], IF_SET)
	FIELD(NO_THREAD, U64, python.stacks[PYTHON_STACKS_NO_THREAD], IF_SET)
	FIELD(UNREADABLE, U64, python.stacks[PYTHON_STACKS_UNREADABLE], IF_SET)
	FIELD(FULL, U64, python.stacks[PYTHON_STACKS_FULL], IF_SET)
	FIELD(UNNAMED, U64, python.stacks[PYTHON_STACKS_UNNAMED], IF_SET)
	FIELD(VERSION, TEXT, python.version, IF_THERE | PLAIN))
EVENT(CLOCK, KYMO, CLOCK, INSTANT, KYMO,
	FIELD(BOOTTIME, TIME, clock.boot_ns, 0)
	FIELD(MONOTONIC, TIME, clock.mono_ns, 0)
	FIELD(REALTIME, U64, clock.real_ns, 0))
EVENT(MARK, KYMO, MARK, INSTANT, KYMO,
	FIELD(TEXT, TEXT, mark.text, 0))
EVENT(SHED, KYMO, SHED, INSTANT, KYMO,
	FIELD(CLASS, TEXT, shed.what, PLAIN)
	FIELD(VALUE, U64, shed.cost_ppm, 0)
	FIELD(LIMIT, U64, shed.limit_ppm, 0)
	FIELD(CPUS, U32, shed.n_cpus, IF_SET)
	FIELD(SESSION, TEXT, shed.session, IF_THERE))
ALSO(RETURNED, EVENT_SHED, KYMO, RETURNED, INSTANT, KYMO,
	FIELD(CLASS, TEXT, shed.what, PLAIN)
	FIELD(VALUE, U64, shed.cost_ppm, 0)
	FIELD(LIMIT, U64, shed.limit_ppm, 0)
	FIELD(CPUS, U32, shed.n_cpus, IF_SET)
	FIELD(SESSION, TEXT, shed.session, IF_THERE))
EVENT(TRIGGER, KYMO, TRIGGER, INSTANT, KYMO,
	FIELD(REASON, TEXT, trigger.what, PLAIN)
	FIELD(VALUE, U64, trigger.value, 0)
	FIELD(LIMIT, U64, trigger.limit, 0)
	FIELD(COUNT, U64, trigger.count, 0)
	FIELD(THREAD, KOID, trigger.thread, IF_SET))
EVENT(DAMAGE, KYMO, DAMAGE, INSTANT, KYMO,
	FIELD(OFFSET, U64, damage.offset, 0)
	FIELD(BYTES, U64, damage.bytes, 0)
	FIELD(REASON, TEXT, damage.what, PLAIN))
EVENT(PART, KYMO, PART, INSTANT, KYMO,
	FIELD(CLASS, TEXT, part.what, PLAIN)
	FIELD(ID, U64, part.id, 0)
	FIELD(FIRST, TIME, part.first_ns, 0)
	FIELD(LAST, TIME, part.behind_ns, IF_SET))
EVENT(LOST, KYMO, LOST, INSTANT, CPU,
	FIELD(CLASS, TEXT, lost.class_name, PLAIN)
	FIELD(CPU, CPU, cpu, 0)
	FIELD(COUNT, U64, lost.count, 0)
	FIELD(FIRST, TIME, lost.first_ns, 0)
	FIELD(LAST, TIME, lost.last_ns, 0))
EVENT(OTHER_FILE, KYMO, OTHER_FILE, INSTANT, PROCESS,
	FIELD(FILE, WORD, other_file.file, NEEDED)
	FIELD(PATH, WORD, other_file.path, 0))

/* ---- events of CPUs ---- */

OTHER(IRQ, EVENT_INTERVAL, IRQ,
	FIELD(IRQ, I32, interval.number, 0)
	FIELD(HANDLED, BOOL, interval.handled, 0))
OTHER(SOFTIRQ, EVENT_INTERVAL, SOFTIRQ, )
OTHER(WORK, EVENT_INTERVAL, WORKQUEUE, )
OTHER(IDLE, EVENT_INTERVAL, POWER,
	FIELD(STATE, U32, interval.number, 0))

/* ---- calls of functions ---- */

/* In a call, its own arguments and its result come before these fields, under their own names. */
OTHER(CALL, EVENT_CALL, CALLS,
	FIELD(RETURN_ADDRESS, POINTER, call.return_address, IF_SET)
	FIELD(CALL_STACK, U64, call.stack, IF_SET)
	FIELD(LEFT_BY, TEXT, call.left_by, IF_SET | PLAIN))
EVENT(LEFT_OUT, CALLS, LEFT_OUT, INSTANT, KYMO,
	FIELD(FUNCTION, WORD, left_out.function, NEEDED)
	FIELD(COUNT, U64, left_out.count, 0))

/* ---- moments ---- */

EVENT(MOMENT_POINT, MOMENTS, POINT, INSTANT, KYMO,
	FIELD(POINT, U32, moment_point.number, 0)
	FIELD(PLAN, TEXT, moment_point.plan, NEEDED))
/* A large BLOB with the name `moment`. For Perfetto, an instant with the point's name is added. */
OTHER(MOMENT, EVENT_MOMENT, MOMENTS,
	FIELD(POINT, U32, moment.point, NEEDED)
	FIELD(HIT, U64, moment.hit, 0)
	FIELD(CPU, CPU, cpu, 0)
	FIELD(CALL_STACK, U64, moment.stack, IF_SET))

/* ---- tracepoints ---- */

/* An instant with the name of the tracepoint, whose own fields come before these, under their own
 * names. */
OTHER(TRACEPOINT, EVENT_TRACEPOINT, TRACEPOINTS,
	FIELD(CPU, CPU, cpu, NEEDED))

/* ---- block devices ---- */

/* The name is the operation. A complete event on a lane, or if all lanes are occupied, an instant
 * with `start_time`. */
OTHER(REQUEST, EVENT_REQUEST, BLOCK,
	FIELD(NAME, WORD, request.disk, IF_SET | PLAIN)
	FIELD(DEVICE, U64, request.device, NEEDED)
	FIELD(SECTOR, U64, request.sector, 0)
	FIELD(BYTES, U64, request.bytes, 0)
	FIELD(THREAD, KOID, request.thread, IF_SET)
	FIELD(QUEUED, TIME, request.queued_ns, IF_SET)
	FIELD(START_TIME, TIME, request.issued_ns, IF_SET)
	FIELD(ERROR, I32, request.error, IF_SET))

/* ---- the profiler ---- */

EVENT(SAMPLING, PROFILE, SAMPLING, INSTANT, KYMO,
	FIELD(FREQUENCY, U32, sampling.frequency, 0)
	FIELD(CLOCK, TEXT, sampling.clock, PLAIN)
	FIELD(THRESHOLD, U64, sampling.threshold_ns, 0))
/* In archives of kymo 0.1, the event's thread shows the process, and there is no argument for
 * it. */
EVENT(MAPPING, PROFILE, MAPPING, INSTANT, CODE,
	FIELD(PROCESS, KOID, pid, 0)
	FIELD(PATH, TEXT, mapping.path, 0)
	FIELD(FILE_OFFSET, U64, mapping.file_offset, 0)
	FIELD(START, POINTER, mapping.start, 0)
	FIELD(SIZE, U64, mapping.size, NEEDED)
	FIELD(MODULE_ID, U32, mapping.module_id, 0)
	FIELD(DEVICE, U64, mapping.device, IF_NEXT | SECRET)
	FIELD(INODE, U64, mapping.inode, IF_SET | SECRET)
	FIELD(BUILD_ID, BUILD_ID, mapping.build_id, IF_SET))
EVENT(OFFCPU, PROFILE, OFFCPU, DURATION_COMPLETE, OWN,
	FIELD(WAKER, KOID, offcpu.waker_tid, IF_SET)
	FIELD(STATE, LETTER, offcpu.state, IF_SET | PLAIN)
	FIELD(LEFT_BY, TEXT, offcpu.left_by, IF_THERE | PLAIN)
	FIELD(BEGUN, TEXT, offcpu.begun, IF_THERE | PLAIN)
	FIELD(WOKEN, TIME, offcpu.woken_ns, IF_SET)
	FIELD(SYSCALL, WORD, offcpu.syscall, IF_THERE | PLAIN)
	FIELD(FD, I32, offcpu.fd, IF_KNOWN)
	FIELD(ADDRESS, POINTER, offcpu.address, IF_SET)
	FIELD(OWNER, KOID, offcpu.owner_tid, IF_SET)
	FIELD(REASON, TEXT, offcpu.reason, IF_THERE | PLAIN)
	FIELD(CONTEXT, TEXT, offcpu.context, IF_THERE | PLAIN)
	FIELD(WAKER_STACK, U64, offcpu.waker_stack, IF_SET)
	FIELD(QUOTA, U64, offcpu.quota_ns, IF_SET)
	FIELD(PERIOD, U64, offcpu.period_ns, IF_SET)
	FIELD(CGROUP_PATH, WORD, offcpu.cgroup_path, IF_THERE))
EVENT(FRAME, PROFILE, FRAME, INSTANT, CODE,
	FIELD(PROCESS, KOID, frame.process, 0)
	FIELD(ADDRESS, POINTER, frame.address, NEEDED)
	FIELD(DEPTH, U32, frame.depth, 0)
	FIELD(FUNCTION, TEXT, frame.function, IF_SET)
	FIELD(SOURCE, WORD, frame.source, IF_SET)
	FIELD(LINE, U32, frame.line, IF_SET)
	FIELD(MODULE, WORD, frame.module, IF_SET))

/* ---- allocations ---- */

EVENT(WATCH_BEGIN, MEMORY, WATCH, INSTANT, PROCESS,
	FIELD(RESOURCES, TEXT, watch.resources, NEEDED | PLAIN)
	FIELD(ALLOCATORS, TEXT, watch.allocators, IF_SET)
	FIELD(COMPLETE, BOOL, watch.complete, 0)
	FIELD(INTERVAL, U64, watch.interval, 0)
	FIELD(MIN_BYTES, U64, watch.min_bytes, 0)
	FIELD(REASON, TEXT, watch.unwatched, IF_SET))
EVENT(WATCH_END, MEMORY, WATCHED, INSTANT, PROCESS,
	FIELD(REASON, TEXT, watched.reason, MAIN | PLAIN)
	FIELD(UNMATCHED, U64, watched.unmatched, 0)
	FIELD(FAILED, U64, watched.failed, 0)
	FIELD(LOST, U64, watched.lost, 0)
	FIELD(FULL, U64, watched.full, 0)
	FIELD(NO_STACK, U64, watched.no_stack, 0)
	FIELD(TEXT, TEXT, watched.gap, IF_SET | PLAIN)
	FIELD(REACH, TEXT, watched.unsearched, IF_SET | PLAIN)
	FIELD(VFORKED, BOOL, watched.vforked, IF_SET)
	FIELD(REACHABLE, BOOL, watched.searched, IF_SET))
ALSO(STACK, EVENT_SAMPLE, MEMORY, STACK, INSTANT, PROCESS,
	FIELD(ID, U64, sample.id, MAIN))
EVENT(ALLOC, MEMORY, ALLOC, INSTANT, OWN,
	FIELD(RESOURCE, RESOURCE, block.resource, NEEDED | PLAIN)
	FIELD(ADDRESS, POINTER, block.id, 0)
	FIELD(SIZE, U64, block.size, 0)
	FIELD(STACK, U64, block.stack, IF_SET)
	FIELD(FUNCTION, WORD, block.function, IF_SET)
	FIELD(CONTEXT, U32, block.context, IF_SET)
	FIELD(TEXT, WORD, block.text, UNWRITTEN))
EVENT(FREE, MEMORY, FREE, INSTANT, OWN,
	FIELD(RESOURCE, RESOURCE, block.resource, NEEDED | PLAIN)
	FIELD(ADDRESS, POINTER, block.id, 0)
	FIELD(FUNCTION, WORD, block.function, IF_SET)
	FIELD(TEXT, WORD, block.text, UNWRITTEN))
EVENT(USAGE, MEMORY, USAGE, INSTANT, PROCESS,
	FIELD(RESOURCE, RESOURCE, usage.resource, NEEDED | PLAIN)
	FIELD(STACK, U64, usage.stack, IF_SET)
	FIELD(BLOCKS, U64, usage.blocks, 0)
	FIELD(BYTES, U64, usage.bytes, 0)
	FIELD(ALLOCATIONS, U64, usage.allocations, 0)
	FIELD(ALLOCATED_BYTES, U64, usage.allocated_bytes, 0))
EVENT(SNAPSHOT, MEMORY, SNAPSHOT, INSTANT, PROCESS,
	FIELD(BLOCKS, U64, snapshot.blocks, 0)
	FIELD(SEQUENCE, U32, snapshot.sequence, MAIN)
	FIELD(FINAL, BOOL, snapshot.final, 0)
	FIELD(LOST, U64, snapshot.lost, IF_SET))
EVENT(BLOCK, MEMORY, BLOCK, INSTANT, PROCESS,
	FIELD(RESOURCE, RESOURCE, block.resource, NEEDED | PLAIN)
	FIELD(ADDRESS, POINTER, block.id, 0)
	FIELD(SIZE, U64, block.size, 0)
	FIELD(STACK, U64, block.stack, IF_SET)
	FIELD(FUNCTION, WORD, block.function, IF_SET)
	FIELD(CONTEXT, U32, block.context, IF_SET)
	FIELD(TIME, TIME, block.since_ns, IF_SET)
	FIELD(THREAD, KOID, block.thread, IF_SET)
	FIELD(TEXT, WORD, block.text, IF_SET)
	FIELD(REACH, REACH, block.reach, IF_SET | PLAIN))
EVENT(CONTEXT, MEMORY, CONTEXT, INSTANT, KYMO,
	FIELD(NAME, TEXT, context.name, 0)
	FIELD(ID, U32, context.id, 0)
	FIELD(BEGIN, BOOL, context.begin, 0))

/* (a test adds its own event) */
#ifdef FXT_EVENT_ROWS_MORE
FXT_EVENT_ROWS_MORE
#endif

#undef EVENT
#undef ALSO
#undef OTHER
#undef FIELD
#undef FOREIGN
/* clang-format on */
