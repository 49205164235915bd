/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The strings that every kymo archive uses, and their fixed places in its string table.
 *
 * eBPF programs write finished FXT records, so the indexes of their names must be known before the
 * first record. The archive registers all these names directly after its initialization record.
 * Indexes above FXT_STRING_FIXED_MAX are assigned as strings occur (fxt-table.h).
 * docs/FXT-MAPPING.md describes the use of each name, and a test compares that page with this list.
 * Numbers never change: new names get new numbers, at the end of a block, since
 * reader/fxt/fxt-kymo.c restores damaged strings by their numbers. This header works without libc,
 * for the bpf target.
 */
#pragma once

#include "model/koids.h"

#define FXT_NAMES(X)                                                                               \
	/* names in scheduling records */                                                          \
	X(INCOMING_WEIGHT, 1, "incoming_weight")                                                   \
	X(OUTGOING_WEIGHT, 2, "outgoing_weight")                                                   \
	X(WEIGHT, 3, "weight")                                                                     \
	X(WAKER, 4, "waker")                                                                       \
	X(PREV_STATE, 5, "prev_state")                                                             \
	X(SYNTHETIC, 6, "synthetic")                                                               \
	X(STATE_D, 7, "D")                                                                         \
	X(STATE_T, 8, "T")                                                                         \
	X(STATE_t, 9, "t")                                                                         \
	X(STATE_X, 10, "X")                                                                        \
	X(STATE_Z, 11, "Z")                                                                        \
	X(STATE_P, 12, "P")                                                                        \
	X(STATE_I, 13, "I")                                                                        \
	/* true times of clipped complete events; no parameter can have such a name */             \
	X(BEGAN_AT, 14, "began at")                                                                \
	X(ENDS_AT, 15, "ends at")                                                                  \
	/* a category */                                                                           \
	X(TRACEPOINTS, 16, "tracepoints")                                                          \
	/* names in requests of block devices */                                                   \
	X(SECTOR, 17, "sector")                                                                    \
	X(QUEUED, 18, "queued")                                                                    \
	X(ERROR, 19, "error")                                                                      \
	/* categories */                                                                           \
	X(SCHED, 20, "sched")                                                                      \
	X(PROCESS, 21, "process")                                                                  \
	X(KYMO, 22, "kymo")                                                                        \
	X(IRQ, 23, "irq")                                                                          \
	X(SOFTIRQ, 24, "softirq")                                                                  \
	X(WORKQUEUE, 25, "workqueue")                                                              \
	X(POWER, 26, "power")                                                                      \
	X(COUNTERS, 27, "counters")                                                                \
	X(PROFILE, 28, "profile")                                                                  \
	X(CALLS, 29, "calls")                                                                      \
	/* a file without probes */                                                                \
	X(OTHER_FILE, 30, "other file")                                                            \
	X(VFORKED, 31, "vforked")                                                                  \
	/* event names */                                                                          \
	X(MIGRATE, 32, "migrate")                                                                  \
	X(FORK, 33, "fork")                                                                        \
	X(EXEC, 34, "exec")                                                                        \
	X(EXIT, 35, "exit")                                                                        \
	X(RENAME, 36, "rename")                                                                    \
	X(SESSION_START, 37, "session_start")                                                      \
	X(SESSION_STOP, 38, "session_stop")                                                        \
	X(CLOCK, 39, "clock")                                                                      \
	X(LOST, 40, "lost")                                                                        \
	X(MARK, 41, "mark")                                                                        \
	X(PERFETTO, 42, "perfetto")                                                                \
	X(SOFTIRQ_HI, 43, "HI")                                                                    \
	X(SOFTIRQ_TIMER, 44, "TIMER")                                                              \
	X(SOFTIRQ_NET_TX, 45, "NET_TX")                                                            \
	X(SOFTIRQ_NET_RX, 46, "NET_RX")                                                            \
	X(SOFTIRQ_BLOCK, 47, "BLOCK")                                                              \
	X(SOFTIRQ_IRQ_POLL, 48, "IRQ_POLL")                                                        \
	X(SOFTIRQ_TASKLET, 49, "TASKLET")                                                          \
	X(SOFTIRQ_SCHED, 50, "SCHED")                                                              \
	X(SOFTIRQ_HRTIMER, 51, "HRTIMER")                                                          \
	X(SOFTIRQ_RCU, 52, "RCU")                                                                  \
	X(CPU_FREQUENCY, 53, "CPU frequency")                                                      \
	X(MEMORY, 54, "memory")                                                                    \
	X(LOAD, 55, "load")                                                                        \
	X(PRESSURE, 56, "pressure")                                                                \
	X(DAMAGE, 57, "damage")                                                                    \
	X(MAPPING, 58, "mapping")                                                                  \
	X(OFFCPU, 59, "offcpu")                                                                    \
	X(FRAME, 60, "frame")                                                                      \
	X(SAMPLING, 61, "sampling")                                                                \
	X(PERFETTO_SAMPLES, 62, "perfetto_samples")                                                \
	X(PART, 63, "part")                                                                        \
	/* arguments */                                                                            \
	X(FROM_CPU, 64, "from_cpu")                                                                \
	X(TO_CPU, 65, "to_cpu")                                                                    \
	X(PARENT, 66, "parent")                                                                    \
	X(UID, 67, "uid")                                                                          \
	X(START_TIME, 68, "start_time")                                                            \
	X(COMMAND_LINE, 69, "command_line")                                                        \
	X(CGROUP, 70, "cgroup")                                                                    \
	X(REAL_ID, 71, "real_id")                                                                  \
	X(CHILD_PROCESS, 72, "child_process")                                                      \
	X(CHILD_THREAD, 73, "child_thread")                                                        \
	X(FILE, 74, "file")                                                                        \
	X(OLD_THREAD, 75, "old_thread")                                                            \
	X(EXIT_CODE, 76, "exit_code")                                                              \
	X(SIGNAL, 77, "signal")                                                                    \
	X(PROCESS_ENDS, 78, "process_ends")                                                        \
	X(FROM, 79, "from")                                                                        \
	X(TO, 80, "to")                                                                            \
	X(CLASS, 81, "class")                                                                      \
	X(CPU, 82, "cpu")                                                                          \
	X(COUNT, 83, "count")                                                                      \
	X(FIRST, 84, "first")                                                                      \
	X(LAST, 85, "last")                                                                        \
	X(TEXT, 86, "text")                                                                        \
	X(BOOTTIME, 87, "boottime")                                                                \
	X(MONOTONIC, 88, "monotonic")                                                              \
	X(REALTIME, 89, "realtime")                                                                \
	X(SESSION, 90, "session")                                                                  \
	X(COMMAND, 91, "command")                                                                  \
	X(OPTIONS, 92, "options")                                                                  \
	X(KERNEL, 93, "kernel")                                                                    \
	X(MACHINE, 94, "machine")                                                                  \
	X(HOST, 95, "host")                                                                        \
	X(VERSION, 96, "version")                                                                  \
	X(CPUS, 97, "cpus")                                                                        \
	X(EVENTS, 98, "events")                                                                    \
	X(BYTES, 99, "bytes")                                                                      \
	X(REASON, 100, "reason")                                                                   \
	X(DAEMON_CPU, 101, "daemon_cpu")                                                           \
	X(FILTERED, 102, "filtered")                                                               \
	X(LIFECYCLE, 103, "lifecycle")                                                             \
	X(UNREPORTED, 104, "unreported")                                                           \
	X(DISMISSED, 105, "dismissed")                                                             \
	X(IDLE, 106, "idle")                                                                       \
	X(FREQUENCY, 107, "frequency")                                                             \
	X(HANDLED, 108, "handled")                                                                 \
	X(STATE, 109, "state")                                                                     \
	X(KHZ, 110, "kHz")                                                                         \
	X(TOTAL_BYTES, 111, "total (bytes)")                                                       \
	X(FREE_BYTES, 112, "free (bytes)")                                                         \
	X(AVAILABLE_BYTES, 113, "available (bytes)")                                               \
	X(BUFFERS_BYTES, 114, "buffers (bytes)")                                                   \
	X(CACHED_BYTES, 115, "cached (bytes)")                                                     \
	X(ANONYMOUS_BYTES, 116, "anonymous (bytes)")                                               \
	X(SHARED_BYTES, 117, "shared (bytes)")                                                     \
	X(SLAB_BYTES, 118, "slab (bytes)")                                                         \
	X(DIRTY_BYTES, 119, "dirty (bytes)")                                                       \
	X(WRITEBACK_BYTES, 120, "writeback (bytes)")                                               \
	X(SWAP_TOTAL_BYTES, 121, "swap total (bytes)")                                             \
	X(SWAP_FREE_BYTES, 122, "swap free (bytes)")                                               \
	X(ONE_MINUTE, 123, "1 minute")                                                             \
	X(FIVE_MINUTES, 124, "5 minutes")                                                          \
	X(FIFTEEN_MINUTES, 125, "15 minutes")                                                      \
	X(RUNNABLE, 126, "runnable")                                                               \
	X(THREADS, 127, "threads")                                                                 \
	X(CPU_SOME_PERCENT, 128, "CPU some (%)")                                                   \
	X(CPU_FULL_PERCENT, 129, "CPU full (%)")                                                   \
	X(MEMORY_SOME_PERCENT, 130, "memory some (%)")                                             \
	X(MEMORY_FULL_PERCENT, 131, "memory full (%)")                                             \
	X(IO_SOME_PERCENT, 132, "I/O some (%)")                                                    \
	X(IO_FULL_PERCENT, 133, "I/O full (%)")                                                    \
	X(IRQ_FULL_PERCENT, 134, "IRQ full (%)")                                                   \
	X(OFFSET, 135, "offset")                                                                   \
	/* how walks of stacks have ended */                                                       \
	X(STACKS_WHOLE, 136, "stacks_whole")                                                       \
	X(STACKS_FULL, 137, "stacks_full")                                                         \
	X(STACKS_FRAME_POINTERS, 138, "stacks_frame_pointers")                                     \
	X(STACKS_NO_CODE, 139, "stacks_no_code")                                                   \
	X(STACKS_NO_TABLE, 140, "stacks_no_table")                                                 \
	X(STACKS_UNSUPPORTED, 141, "stacks_unsupported")                                           \
	X(STACKS_UNREADABLE, 142, "stacks_unreadable")                                             \
	X(STACKS_BUSY, 143, "stacks_busy")                                                         \
	X(STACKS_COPIED, 144, "stacks_copied")                                                     \
	X(SESSION_STACKS, 145, "session_stacks")                                                   \
	X(TABLES_MADE, 146, "unwind_tables")                                                       \
	X(TABLES_FAILED, 147, "unwind_tables_failed")                                              \
	X(TABLES_EVICTED, 148, "unwind_tables_evicted")                                            \
	X(TABLES_BYTES, 149, "unwind_tables_bytes")                                                \
	X(PATH, 150, "path")                                                                       \
	X(FILE_OFFSET, 151, "file_offset")                                                         \
	X(START, 152, "start")                                                                     \
	X(SIZE, 153, "size")                                                                       \
	X(MODULE_ID, 154, "module_id")                                                             \
	X(DEVICE, 155, "device")                                                                   \
	X(INODE, 156, "inode")                                                                     \
	X(BUILD_ID, 157, "build_id")                                                               \
	X(BEGUN, 158, "begun")                                                                     \
	X(ADDRESS, 159, "address")                                                                 \
	X(DEPTH, 160, "depth")                                                                     \
	X(FUNCTION, 161, "function")                                                               \
	X(SOURCE, 162, "source")                                                                   \
	X(LINE, 163, "line")                                                                       \
	X(MODULE, 164, "module")                                                                   \
	X(LEFT_OUT, 165, "calls left out")                                                         \
	X(THRESHOLD, 166, "threshold")                                                             \
	X(STACKS, 167, "stacks")                                                                   \
	X(MAPPINGS, 168, "mappings")                                                               \
	X(WATCH, 169, "watch")                                                                     \
	X(WATCHED, 170, "watched")                                                                 \
	X(STACK, 171, "stack")                                                                     \
	X(ALLOC, 172, "alloc")                                                                     \
	X(FREE, 173, "free")                                                                       \
	X(USAGE, 174, "usage")                                                                     \
	X(SNAPSHOT, 175, "snapshot")                                                               \
	X(BLOCK, 176, "block")                                                                     \
	X(CONTEXT, 177, "context")                                                                 \
	X(RESOURCES, 178, "resources")                                                             \
	X(ALLOCATORS, 179, "allocators")                                                           \
	X(COMPLETE, 180, "complete")                                                               \
	X(INTERVAL, 181, "interval")                                                               \
	X(MIN_BYTES, 182, "min_bytes")                                                             \
	X(UNMATCHED, 183, "unmatched")                                                             \
	X(FAILED, 184, "failed")                                                                   \
	X(FULL, 185, "full")                                                                       \
	X(NO_STACK, 186, "no_stack")                                                               \
	X(RESOURCE, 187, "resource")                                                               \
	X(ID, 188, "id")                                                                           \
	X(TIME, 189, "time")                                                                       \
	X(THREAD, 190, "thread")                                                                   \
	X(REACH, 191, "reach")                                                                     \
	X(BLOCKS, 192, "blocks")                                                                   \
	X(ALLOCATIONS, 193, "allocations")                                                         \
	X(ALLOCATED_BYTES, 194, "allocated_bytes")                                                 \
	X(SEQUENCE, 195, "sequence")                                                               \
	X(FINAL, 196, "final")                                                                     \
	X(NAME, 197, "name")                                                                       \
	X(BEGIN, 198, "begin")                                                                     \
	X(FD, 199, "fd")                                                                           \
	X(SEGMENT, 200, "segment")                                                                 \
	X(ATTACHMENT, 201, "attachment")                                                           \
	X(SHM, 202, "shm")                                                                         \
	X(POSSIBLE, 203, "possible")                                                               \
	X(REACHABLE, 204, "reachable")                                                             \
	X(CHUNK, 205, "chunk")                                                                     \
	/* names in moments */                                                                     \
	X(MOMENTS, 206, "moments")                                                                 \
	X(MOMENT, 207, "moment")                                                                   \
	X(POINT, 208, "point")                                                                     \
	X(PLAN, 209, "plan")                                                                       \
	/* names of budgets and triggers */                                                        \
	X(SHED, 210, "shed")                                                                       \
	X(TRIGGER, 211, "trigger")                                                                 \
	X(VALUE, 212, "value")                                                                     \
	X(LIMIT, 213, "limit")                                                                     \
	X(BPF_CPU, 214, "bpf_cpu")                                                                 \
	X(CGROUP_PATH, 215, "cgroup_path")                                                         \
	X(MALFORMED, 216, "malformed")                                                             \
	X(INTERRUPTED, 217, "interrupted")                                                         \
	X(RETURNED, 218, "returned")                                                               \
	/* names in calls of functions; no parameter can have such a name */                       \
	X(RETURN, 219, "return")                                                                   \
	X(RETURN_ADDRESS, 220, "return address")                                                   \
	X(LEFT_BY, 221, "left by")                                                                 \
	X(CALL_STACK, 222, "call stack")                                                           \
	X(HIT, 223, "hit")                                                                         \
	/* names in times off CPU */                                                               \
	X(WOKEN, 224, "woken")                                                                     \
	X(SYSCALL, 225, "syscall")                                                                 \
	X(OWNER, 226, "owner")                                                                     \
	/* a class of losses */                                                                    \
	X(APP, 227, "app")                                                                         \
	/* names in times off CPU */                                                               \
	X(WAKER_STACK, 232, "waker_stack")                                                         \
	X(QUOTA, 233, "quota")                                                                     \
	X(PERIOD, 234, "period")                                                                   \
	/* functions of Python */                                                                  \
	X(SESSION_PYTHON, 236, "session_python")                                                   \
	X(NO_THREAD, 237, "no_thread")                                                             \
	X(UNREADABLE, 238, "unreadable")                                                           \
	X(UNNAMED, 239, "unnamed")

#define X(id, index, text) FXT_NAME_##id = index,
enum fxt_name { FXT_NAMES(X) FXT_NAME_RESERVED = 255 };
#undef X

/*
 * The highest index that is never assigned when strings occur. Edits use the indexes between the
 * last name and this one for strings of records that they keep (edit/edit-kept.h); kymo's
 * recordings do not use these indexes.
 */
enum { FXT_STRING_FIXED_MAX = 287 };
