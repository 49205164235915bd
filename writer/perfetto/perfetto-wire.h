/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Field numbers of Perfetto's messages, from its public protos: trace_packet.proto,
 * ftrace_event_bundle.proto, ftrace_event.proto, sched.proto, irq.proto, power.proto,
 * process_tree.proto, track_descriptor.proto, track_event.proto, debug_annotation.proto,
 * clock_snapshot.proto and system_info.proto. A name is MESSAGE_FIELD.
 */
#pragma once

enum {
	TRACE_PACKET = 1,

	/* TracePacket */
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,

	/* FtraceEventBundle */
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_COMPACT_SCHED = 4,

	/* FtraceEventBundle.CompactSched: packed columns, except INTERN_TABLE */
	COMPACT_SWITCH_TIMESTAMP = 1,
	COMPACT_SWITCH_PREV_STATE = 2,
	COMPACT_SWITCH_NEXT_PID = 3,
	COMPACT_SWITCH_NEXT_PRIO = 4,
	COMPACT_INTERN_TABLE = 5,
	COMPACT_SWITCH_NEXT_COMM = 6,
	COMPACT_WAKING_TIMESTAMP = 7,
	COMPACT_WAKING_PID = 8,
	COMPACT_WAKING_TARGET_CPU = 9,
	COMPACT_WAKING_PRIO = 10,
	COMPACT_WAKING_COMM = 11,
	COMPACT_WAKING_FLAGS = 12,
	COMPACT_MAX,

	/* FtraceEvent */
	FTRACE_TIMESTAMP = 1,
	FTRACE_PID = 2,
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_CPU_FREQUENCY = 11,
	FTRACE_CPU_IDLE = 13,
	FTRACE_SCHED_WAKING = 20,
	FTRACE_SOFTIRQ_ENTRY = 24,
	FTRACE_SOFTIRQ_EXIT = 25,
	FTRACE_IRQ_HANDLER_ENTRY = 36,
	FTRACE_IRQ_HANDLER_EXIT = 37,

	/* SchedSwitchFtraceEvent */
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_PRIO = 3,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7,

	/* SchedWakingFtraceEvent */
	WAKING_PID = 2,
	WAKING_PRIO = 3,
	WAKING_TARGET_CPU = 5,

	/* CpuIdleFtraceEvent, CpuFrequencyFtraceEvent */
	POWER_STATE = 1,
	POWER_CPU_ID = 2,

	/* SoftirqEntryFtraceEvent, SoftirqExitFtraceEvent */
	SOFTIRQ_VEC = 1,

	/* IrqHandlerEntryFtraceEvent, IrqHandlerExitFtraceEvent */
	IRQ_NUMBER = 1,
	IRQ_NAME = 2,
	IRQ_RET = 2,

	/* bits of common_flags */
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,

	/* ProcessTree */
	TREE_PROCESSES = 1,
	TREE_THREADS = 2,
	PROCESS_PID = 1,
	PROCESS_PPID = 2,
	PROCESS_CMDLINE = 3,
	PROCESS_UID = 5,
	PROCESS_START_FROM_BOOT = 7,
	PROCESS_CMDLINE_IS_COMM = 9,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_TGID = 3,

	/* TrackDescriptor, ThreadDescriptor, CounterDescriptor */
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_THREAD_DESCRIPTOR = 4,
	TRACK_COUNTER = 8,
	THREAD_DESCRIPTOR_PID = 1,
	THREAD_DESCRIPTOR_TID = 2,
	COUNTER_UNIT = 3,
	COUNTER_UNIT_NAME = 6,
	UNIT_SIZE_BYTES = 3,

	/* TrackEvent */
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	/* DebugAnnotation */
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,

	/* ClockSnapshot */
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	/* BuiltinClock */
	BUILTIN_REALTIME = 1,
	BUILTIN_MONOTONIC = 3,
	BUILTIN_BOOTTIME = 6,

	/* SystemInfo, Utsname */
	SYSTEM_INFO_UTSNAME = 1,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,
};

/* Sequences of packets. Samples have sequence 1 (writer/fxt/fxt-perfetto-samples.c). */
enum { SEQUENCE_STATE = 2, SEQUENCE_SCHED = 3, SEQUENCE_TRACKS = 4 };
