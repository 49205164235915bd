/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of `kymo export --format parquet`, and their columns, as in docs/TABLES.md:
 * COLUMN(number, name, type, optional). The first column of each table is the one by which rows are
 * sorted. After a change of the columns, TABLES_VERSION must be increased.
 */
#pragma once

#define TABLES_VERSION "1"

/* The thread of an event, in tables of events. */
#define THREAD_COLUMNS(T, COLUMN)                                                                  \
	COLUMN(T##_THREAD, "thread", INT, true)                                                    \
	COLUMN(T##_PROCESS, "process", INT, true)                                                  \
	COLUMN(T##_TID, "tid", INT, true)                                                          \
	COLUMN(T##_PID, "pid", INT, true)                                                          \
	COLUMN(T##_THREAD_NAME, "thread_name", TEXT, true)                                         \
	COLUMN(T##_PROCESS_NAME, "process_name", TEXT, true)                                       \
	COLUMN(T##_UNIT, "unit", TEXT, true)                                                       \
	COLUMN(T##_CONTAINER, "container", TEXT, true)

#define MACHINE_COLUMNS(COLUMN)                                                                    \
	COLUMN(MACHINE_START, "start", TIME, false)                                                \
	COLUMN(MACHINE_END, "end", TIME, false)                                                    \
	COLUMN(MACHINE_BOOT, "boot", TIME, true)                                                   \
	COLUMN(MACHINE_RECORDED, "recorded_ns", INT, false)                                        \
	COLUMN(MACHINE_HOST, "host", TEXT, true)                                                   \
	COLUMN(MACHINE_ARCHITECTURE, "architecture", TEXT, true)                                   \
	COLUMN(MACHINE_KERNEL, "kernel", TEXT, true)                                               \
	COLUMN(MACHINE_VERSION, "kymo_version", TEXT, true)                                        \
	COLUMN(MACHINE_SESSION, "session", TEXT, true)                                             \
	COLUMN(MACHINE_COMMAND, "command", TEXT, true)                                             \
	COLUMN(MACHINE_OPTIONS, "options", TEXT, true)                                             \
	COLUMN(MACHINE_CPUS, "cpus", INT, true)                                                    \
	COLUMN(MACHINE_CHUNK, "chunk", INT, true)                                                  \
	COLUMN(MACHINE_FILTERED, "filtered", BOOL, false)                                          \
	COLUMN(MACHINE_COMPLETE, "complete", BOOL, false)                                          \
	COLUMN(MACHINE_DAMAGED, "damaged", BOOL, false)                                            \
	COLUMN(MACHINE_SWITCHES, "switches", INT, false)                                           \
	COLUMN(MACHINE_WAKEUPS, "wakeups", INT, false)                                             \
	COLUMN(MACHINE_MIGRATIONS, "migrations", INT, false)                                       \
	COLUMN(MACHINE_LOST, "lost", INT, false)                                                   \
	COLUMN(MACHINE_UNREPORTED, "unreported", INT, false)                                       \
	COLUMN(MACHINE_DAEMON_CPU, "daemon_cpu_ns", INT, false)                                    \
	COLUMN(MACHINE_BPF_CPU, "bpf_cpu_ns", INT, false)

#define PROCESSES_COLUMNS(COLUMN)                                                                  \
	COLUMN(PROCESS_PROCESS, "process", INT, false)                                             \
	COLUMN(PROCESS_PID, "pid", INT, true)                                                      \
	COLUMN(PROCESS_PARENT, "parent", INT, true)                                                \
	COLUMN(PROCESS_UID, "uid", INT, true)                                                      \
	COLUMN(PROCESS_NAME, "name", TEXT, true)                                                   \
	COLUMN(PROCESS_COMMAND_LINE, "command_line", TEXT, true)                                   \
	COLUMN(PROCESS_CGROUP, "cgroup", TEXT, true)                                               \
	COLUMN(PROCESS_UNIT, "unit", TEXT, true)                                                   \
	COLUMN(PROCESS_CONTAINER, "container", TEXT, true)                                         \
	COLUMN(PROCESS_START, "start", TIME, true)                                                 \
	COLUMN(PROCESS_EXIT, "exit", TIME, true)                                                   \
	COLUMN(PROCESS_EXIT_CODE, "exit_code", INT, true)                                          \
	COLUMN(PROCESS_SIGNAL, "signal", INT, true)

#define THREADS_COLUMNS(COLUMN)                                                                    \
	COLUMN(THREAD_THREAD, "thread", INT, false)                                                \
	COLUMN(THREAD_TID, "tid", INT, true)                                                       \
	COLUMN(THREAD_PROCESS, "process", INT, true)                                               \
	COLUMN(THREAD_NAME, "name", TEXT, true)                                                    \
	COLUMN(THREAD_CPU, "cpu_ns", INT, false)                                                   \
	COLUMN(THREAD_RUNNABLE_TIME, "runnable_ns", INT, false)                                    \
	COLUMN(THREAD_BLOCKED_TIME, "blocked_ns", INT, false)                                      \
	COLUMN(THREAD_SWITCHES, "switches", INT, false)                                            \
	COLUMN(THREAD_PREEMPTED, "preempted", INT, false)                                          \
	COLUMN(THREAD_WAKEUPS, "wakeups", INT, false)                                              \
	COLUMN(THREAD_SAMPLES, "samples", INT, false)                                              \
	COLUMN(THREAD_EXITED, "exited", BOOL, false)

#define SLICES_COLUMNS(COLUMN)                                                                     \
	COLUMN(SLICE_TIME, "time", TIME, false)                                                    \
	COLUMN(SLICE_DURATION, "duration_ns", INT, false)                                          \
	COLUMN(SLICE_CPU, "cpu", INT, false)                                                       \
	THREAD_COLUMNS(SLICE, COLUMN)                                                              \
	COLUMN(SLICE_END, "end", TEXT, false)                                                      \
	COLUMN(SLICE_STATE, "end_state", TEXT, true)                                               \
	COLUMN(SLICE_RUNNABLE, "runnable_ns", INT, true)                                           \
	COLUMN(SLICE_LATENCY, "wakeup_latency_ns", INT, true)                                      \
	COLUMN(SLICE_WAKER, "waker", INT, true)

#define COUNTERS_COLUMNS(COLUMN)                                                                   \
	COLUMN(COUNTER_TIME, "time", TIME, false)                                                  \
	COLUMN(COUNTER_CATEGORY, "category", TEXT, false)                                          \
	COLUMN(COUNTER_NAME, "name", TEXT, false)                                                  \
	COLUMN(COUNTER_ID, "id", UINT, false)                                                      \
	COLUMN(COUNTER_FIELD, "field", TEXT, false)                                                \
	COLUMN(COUNTER_VALUE, "value", DOUBLE, false)                                              \
	COLUMN(COUNTER_WHOLE, "whole", UINT, true)                                                 \
	THREAD_COLUMNS(COUNTER, COLUMN)

#define MARKS_COLUMNS(COLUMN)                                                                      \
	COLUMN(MARK_TIME, "time", TIME, false)                                                     \
	COLUMN(MARK_TEXT, "text", TEXT, false)

#define LOSSES_COLUMNS(COLUMN)                                                                     \
	COLUMN(LOSS_TIME, "time", TIME, false)                                                     \
	COLUMN(LOSS_CLASS, "class", TEXT, false)                                                   \
	COLUMN(LOSS_COUNT, "count", INT, false)                                                    \
	COLUMN(LOSS_FIRST, "first", TIME, true)                                                    \
	COLUMN(LOSS_LAST, "last", TIME, true)

#define SHEDS_COLUMNS(COLUMN)                                                                      \
	COLUMN(SHED_TIME, "time", TIME, false)                                                     \
	COLUMN(SHED_WHAT, "what", TEXT, false)                                                     \
	COLUMN(SHED_BACK, "back", BOOL, false)                                                     \
	COLUMN(SHED_COST, "cost", DOUBLE, false)                                                   \
	COLUMN(SHED_LIMIT, "limit", DOUBLE, false)

#define SAMPLES_COLUMNS(COLUMN)                                                                    \
	COLUMN(SAMPLE_TIME, "time", TIME, false)                                                   \
	THREAD_COLUMNS(SAMPLE, COLUMN)                                                             \
	COLUMN(SAMPLE_STACK, "stack", INT, false)

#define WAITS_COLUMNS(COLUMN)                                                                      \
	COLUMN(WAIT_TIME, "time", TIME, false)                                                     \
	COLUMN(WAIT_DURATION, "duration_ns", INT, false)                                           \
	THREAD_COLUMNS(WAIT, COLUMN)                                                               \
	COLUMN(WAIT_STATE, "state", TEXT, true)                                                    \
	COLUMN(WAIT_END, "end", TEXT, true)                                                        \
	COLUMN(WAIT_EARLIER, "earlier", BOOL, false)                                               \
	COLUMN(WAIT_WAKER, "waker", INT, true)                                                     \
	COLUMN(WAIT_STACK, "stack", INT, true)

#define STACKS_COLUMNS(COLUMN)                                                                     \
	COLUMN(STACK_STACK, "stack", INT, false)                                                   \
	COLUMN(STACK_POSITION, "position", INT, false)                                             \
	COLUMN(STACK_FRAME, "frame", INT, false)

#define FRAMES_COLUMNS(COLUMN)                                                                     \
	COLUMN(FRAME_FRAME, "frame", INT, false)                                                   \
	COLUMN(FRAME_DEPTH, "depth", INT, false)                                                   \
	COLUMN(FRAME_FUNCTION, "function", TEXT, true)                                             \
	COLUMN(FRAME_SOURCE, "source", TEXT, true)                                                 \
	COLUMN(FRAME_LINE, "line", INT, true)                                                      \
	COLUMN(FRAME_MODULE, "module", TEXT, true)                                                 \
	COLUMN(FRAME_BUILD_ID, "build_id", TEXT, true)                                             \
	COLUMN(FRAME_OFFSET, "offset", UINT, true)                                                 \
	COLUMN(FRAME_ADDRESS, "address", UINT, false)                                              \
	COLUMN(FRAME_KERNEL, "kernel", BOOL, false)                                                \
	COLUMN(FRAME_PROCESS, "process", INT, false)                                               \
	COLUMN(FRAME_MAPPING, "mapping_start", UINT, true)                                         \
	COLUMN(FRAME_MAPPING_SIZE, "mapping_size", UINT, true)                                     \
	COLUMN(FRAME_MAPPING_OFFSET, "mapping_offset", UINT, true)

#define CALLS_COLUMNS(COLUMN)                                                                      \
	COLUMN(CALL_TIME, "time", TIME, false)                                                     \
	COLUMN(CALL_DURATION, "duration_ns", INT, false)                                           \
	THREAD_COLUMNS(CALL, COLUMN)                                                               \
	COLUMN(CALL_FUNCTION, "function", TEXT, false)                                             \
	COLUMN(CALL_ARGUMENTS, "arguments", TEXT, true)                                            \
	COLUMN(CALL_RESULT, "result", TEXT, true)                                                  \
	COLUMN(CALL_NUMBER, "result_number", INT, true)                                            \
	COLUMN(CALL_END, "end", TEXT, true)                                                        \
	COLUMN(CALL_RETURN, "return_address", UINT, true)                                          \
	COLUMN(CALL_STACK, "stack", INT, true)

#define ALLOCATIONS_COLUMNS(COLUMN)                                                                \
	COLUMN(ALLOCATION_TIME, "time", TIME, false)                                               \
	COLUMN(ALLOCATION_WHAT, "what", TEXT, false)                                               \
	THREAD_COLUMNS(ALLOCATION, COLUMN)                                                         \
	COLUMN(ALLOCATION_RESOURCE, "resource", TEXT, false)                                       \
	COLUMN(ALLOCATION_ID, "id", UINT, false)                                                   \
	COLUMN(ALLOCATION_SIZE, "size", UINT, true)                                                \
	COLUMN(ALLOCATION_FUNCTION, "function", TEXT, true)                                        \
	COLUMN(ALLOCATION_STACK, "stack", INT, true)

#define BLOCKS_COLUMNS(COLUMN)                                                                     \
	COLUMN(BLOCK_TIME, "time", TIME, false)                                                    \
	COLUMN(BLOCK_SNAPSHOT, "snapshot", INT, true)                                              \
	COLUMN(BLOCK_FINAL, "final", BOOL, false)                                                  \
	THREAD_COLUMNS(BLOCK, COLUMN)                                                              \
	COLUMN(BLOCK_RESOURCE, "resource", TEXT, false)                                            \
	COLUMN(BLOCK_ID, "id", UINT, false)                                                        \
	COLUMN(BLOCK_SIZE, "size", UINT, false)                                                    \
	COLUMN(BLOCK_SINCE, "since", TIME, true)                                                   \
	COLUMN(BLOCK_REACH, "reach", TEXT, true)                                                   \
	COLUMN(BLOCK_FUNCTION, "function", TEXT, true)                                             \
	COLUMN(BLOCK_TEXT, "text", TEXT, true)                                                     \
	COLUMN(BLOCK_STACK, "stack", INT, true)

#define USAGE_COLUMNS(COLUMN)                                                                      \
	COLUMN(USAGE_TIME, "time", TIME, false)                                                    \
	COLUMN(USAGE_PROCESS, "process", INT, false)                                               \
	COLUMN(USAGE_RESOURCE, "resource", TEXT, false)                                            \
	COLUMN(USAGE_BLOCKS, "blocks", UINT, false)                                                \
	COLUMN(USAGE_BYTES, "bytes", UINT, false)                                                  \
	COLUMN(USAGE_ALLOCATIONS, "allocations", UINT, false)                                      \
	COLUMN(USAGE_ALLOCATED, "allocated_bytes", UINT, false)                                    \
	COLUMN(USAGE_STACK, "stack", INT, true)

/* TABLE(number, name, columns) */
#define TABLES(TABLE)                                                                              \
	TABLE(TABLE_MACHINE, machine, MACHINE_COLUMNS)                                             \
	TABLE(TABLE_PROCESSES, processes, PROCESSES_COLUMNS)                                       \
	TABLE(TABLE_THREADS, threads, THREADS_COLUMNS)                                             \
	TABLE(TABLE_SLICES, slices, SLICES_COLUMNS)                                                \
	TABLE(TABLE_SAMPLES, samples, SAMPLES_COLUMNS)                                             \
	TABLE(TABLE_WAITS, waits, WAITS_COLUMNS)                                                   \
	TABLE(TABLE_STACKS, stacks, STACKS_COLUMNS)                                                \
	TABLE(TABLE_FRAMES, frames, FRAMES_COLUMNS)                                                \
	TABLE(TABLE_CALLS, calls, CALLS_COLUMNS)                                                   \
	TABLE(TABLE_ALLOCATIONS, allocations, ALLOCATIONS_COLUMNS)                                 \
	TABLE(TABLE_BLOCKS, blocks, BLOCKS_COLUMNS)                                                \
	TABLE(TABLE_USAGE, usage, USAGE_COLUMNS)                                                   \
	TABLE(TABLE_COUNTERS, counters, COUNTERS_COLUMNS)                                          \
	TABLE(TABLE_MARKS, marks, MARKS_COLUMNS)                                                   \
	TABLE(TABLE_LOSSES, losses, LOSSES_COLUMNS)                                                \
	TABLE(TABLE_SHEDS, sheds, SHEDS_COLUMNS)

#define TABLE_NUMBER_(number, name, columns) number,
enum table_number { TABLES(TABLE_NUMBER_) TABLES_MAX };

#define COLUMN_NUMBER_(number, name, type, optional) number,
#define TABLE_COLUMNS_(number, name, columns)                                                      \
	enum table_columns_of_##name{ columns(COLUMN_NUMBER_) number##_COLUMNS };
TABLES(TABLE_COLUMNS_)
