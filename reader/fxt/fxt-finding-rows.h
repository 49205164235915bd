/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each kind of finding once, in the order of `kymo check --list`, for code that defines FINDING:
 *
 *   FINDING(name, identifier, severity, text, detail, explanation)
 *
 * The text is one line without its end. So is the detail, which refers to value[] (each '#' stands
 * for the next of them), or NULL. The explanation is a paragraph: meaning, source, remedy.
 */

/* the file */
FINDING(DAMAGE, "damage", ERROR, "bytes that are no record, or a record that is not what it claims",
	"# bytes skipped",
	"The bytes could not be taken apart as the specification's \"Records\" describes; reading "
	"went on behind them. Perfetto rejects the whole file if it meets a record of size 0, "
	"such as a hole of zeros in a file that was mapped or allocated in advance: cut such a "
	"file where its records end, and let its writer do so, too.")
FINDING(TRUNCATED, "truncated", ERROR, "the archive ends inside a record", "# bytes are there",
	"The last record is not all there: its writer was killed, or the disk was full. Readers "
	"drop it and take what stands before it.")
FINDING(MAGIC_WRONG, "magic-wrong", ERROR, "a magic number record with a wrong number", NULL,
	"\"Magic number record\": as an eight-byte number the whole record is 0x0016547846040010.")
FINDING(MAGIC_AGAIN, "magic-again", NOTE, "another magic number inside the archive", NULL,
	"The magic number \"should appear at the start\". Archives that were joined by cat have "
	"more of them; readers skip them, but a provider id that both use starts anew.")
FINDING(PROVIDER_UNKNOWN, "provider-unknown", ERROR, "a provider that was not introduced",
	"provider #",
	"A section or event of a provider needs a provider info record before it (\"Provider "
	"info metadata\"). Perfetto drops all records of such a section, up to the next provider "
	"(fuchsia_invalid_event in its stats).")
FINDING(PROVIDER_AGAIN, "provider-again", WARNING, "a provider that was introduced before",
	"provider #",
	"A second provider info record for one id empties the provider's tables in Perfetto and "
	"in kymo, but not in every reader. Two sources must have two ids; to return to a "
	"provider, write a provider section record.")
FINDING(STRING_BEFORE_PROVIDER, "string-before-provider", WARNING,
	"a string record before any provider was introduced", "string index #",
	"Fuchsia's Rust reader drops such strings. Write provider info, then initialization, then "
	"strings.")
FINDING(INIT_MISSING, "init-missing", WARNING, "times without an initialization record before them",
	"provider #",
	"\"In absence of this record, the reader may assume that 1 tick is 1 nanosecond\"; "
	"Fuchsia's Rust reader assumes one tick a second. Write an initialization record at the "
	"head of each provider.")
FINDING(INIT_LATE, "init-late", WARNING,
	"the ticks per second change behind times that were given in them",
	"# ticks per second, before: #",
	"An initialization record holds for what follows it; times before it were read by another "
	"rate. Write it before the provider's first timestamp.")
FINDING(TICKS_INEXACT, "ticks-inexact", WARNING, "a tick rate that readers round",
	"# ticks per second; Perfetto is # ns short after 1000 s",
	"Perfetto multiplies ticks by a factor that is cut to 32 binary places, so that its times "
	"fall behind more and more. Write nanoseconds, with 1000000000 ticks per second.")
FINDING(TIME_HUGE, "time-over-63-bits", WARNING, "a time of 2^63 nanoseconds or more", NULL,
	"Perfetto's times are signed: it drops the record. Such a time is mostly an error in its "
	"writer, such as a difference below zero.")
FINDING(LOSS_INVISIBLE, "loss-invisible", WARNING, "a buffer filled up, and no event says so",
	"# times",
	"\"Provider event metadata\" says that records were likely dropped; Perfetto ignores it, "
	"so that nobody sees the loss. Write an event, too, with lost, dropped or overflow in "
	"its name.")

/* any record */
FINDING(RESERVED_BITS, "reserved-bits", ERROR, "reserved bits are not zero", NULL,
	"\"All unused bits are reserved for future use and must be set to 0\" (\"Atoms\").")
FINDING(PADDING, "padding", ERROR, "padding is not zero", NULL,
	"A stream is \"padded with zeros to the next 8 byte boundary\" (\"Atoms\"). What stands "
	"there instead may be memory of the program that wrote it.")
FINDING(RECORD_UNKNOWN, "record-unknown", WARNING, "a record of unknown type", "type #",
	"The specification has the types 0 to 10 and 15, of scheduling and profiler records the "
	"kinds 0 to 2, of large records BLOBs. Readers skip others by their size.")
FINDING(RECORD_TRAILING, "record-trailing", WARNING,
	"a scheduling or profiler record with words behind its contents", "# words",
	"Records may grow at their end (\"Extend the format\"), but Fuchsia's Rust reader fails "
	"on scheduling and profiler records with anything left over.")
FINDING(RECORD_LONGER, "record-longer", WARNING, "a record with words behind its contents",
	"# words",
	"Records may grow at their end (\"Extend the format\"), and readers pass over what they do "
	"not know. But it may as well be an argument that the header does not count, which nobody "
	"sees then. The scope that Fuchsia writes behind instants is not meant.")
FINDING(METADATA_UNKNOWN, "metadata-unknown", WARNING,
	"metadata, trace info or provider event of unknown kind", "kind #",
	"The specification has the metadata types 1 to 4, the trace info type 0 and the provider "
	"event 0. Readers skip others.")
FINDING(LARGE_LONG, "large-long", WARNING, "a large record of 4096 words or more", "# words",
	"Perfetto takes the size of a large record from 12 bits, loses its way behind this one "
	"and mostly rejects the whole file. Split the data into records of 4095 words at most.")
FINDING(BLOB_TYPE, "blob-type", WARNING, "a BLOB of unknown type", "type #",
	"\"Blob types\" has 1 (data), 2 (last branch) and 3 (Perfetto). Readers skip others.")

/* strings and references */
FINDING(UTF8, "utf8", ERROR, "text that is not UTF-8", NULL,
	"Strings are UTF-8 (\"String references\"). Linux names threads and files with any bytes: "
	"replace what is not valid by U+FFFD.")
FINDING(TEXT_NUL, "text-nul", WARNING, "text with a NUL in it", "at byte #",
	"Strings have a length (\"String references\"), but readers that keep them as C does end "
	"them at the first NUL: two names can become one. Mostly the writer gave the size of its "
	"buffer for the length of the text.")
FINDING(STRING_LONG, "string-long", ERROR, "a string over 32000 bytes", "# bytes",
	"\"We set a conservative maximum string length limit of 32000 bytes\" (\"String "
	"references\").")
FINDING(NAME_LONG, "name-long", WARNING, "a name or category over 1024 bytes", "# bytes",
	"Viewers show names in labels and lists, and some writers and converters give up on very "
	"long ones. Cut them at a character, and put the whole text into an argument.")
FINDING(STRING_UNDEFINED, "string-undefined", ERROR,
	"a reference to a string that was not registered", "index #",
	"An indexed string must have been registered by a string record of the same provider "
	"before (\"String references\"; each provider has tables of its own). Perfetto drops the "
	"record (fuchsia_invalid_string_ref).")
FINDING(STRING_INDEX_0, "string-index-0", WARNING, "a string record for index 0", NULL,
	"Index 0 is the empty string; the record must be ignored (\"String record\").")
FINDING(STRING_EMPTY, "string-empty", NOTE, "a string record with an empty string", "index #",
	"It is tolerated, \"but pointless since the empty string can simply be encoded as zero in "
	"a string ref\" (\"String record\").")
FINDING(THREAD_UNDEFINED, "thread-undefined", ERROR,
	"a reference to a thread that was not registered", "index #",
	"An indexed thread must have been registered by a thread record of the same provider "
	"before (\"Thread references\"). Readers drop the record or give it to thread 0.")
FINDING(THREAD_INDEX_0, "thread-index-0", WARNING, "a thread record for index 0", NULL,
	"Index 0 stands for threads that are given inline; the record must be ignored (\"Thread "
	"record\").")
FINDING(THREAD_INDEX_SHARED, "thread-index-shared", NOTE,
	"two providers use a thread index for different threads", "index #, also of provider #",
	"Each provider has a thread table of its own (\"Provider section metadata\"), but "
	"Fuchsia's Rust reader keeps one for all, in which the last thread holds.")

/* arguments */
FINDING(ARG_DAMAGED, "arg-damaged", ERROR, "arguments that are not what they claim", NULL,
	"An argument has a size of at least one word, ends inside its record, and holds its name "
	"and value (\"Argument header\"). Arguments behind the bad one are lost.")
FINDING(ARG_UNKNOWN, "arg-unknown", WARNING, "an argument of unknown type", "type #",
	"The specification has the types 0 to 10 (\"Argument types\"). Readers skip others.")
FINDING(ARG_LONGER, "arg-longer", WARNING, "an argument with words behind its value", "# words",
	"The size of an argument is that of its header, its name and its value (\"Arguments\"); "
	"readers pass over what is behind them by the size. Mostly the size is wrong.")
FINDING(ARG_NAME_EMPTY, "arg-name-empty", WARNING, "an argument without a name", NULL,
	"Nobody can ask for it, and viewers show a value that means nothing.")
FINDING(ARG_NAME_TWICE, "arg-name-twice", WARNING, "two arguments of one name", "the #th argument",
	"Whoever asks for the argument by its name gets one of them, and it depends on the reader "
	"which. Give each a name of its own.")
FINDING(ARG_OPAQUE, "arg-opaque", NOTE, "an argument whose value Perfetto does not show", "type #",
	"Perfetto shows a blob as the text \"unknown\" and null as \"null\". Tracy's importer "
	"stops at blobs in debug builds.")
FINDING(ARG_NEGATIVE, "arg-negative", NOTE,
	"an unsigned argument that Perfetto shows as a negative number", NULL,
	"Perfetto keeps integers in 64 bits with a sign: uint64 from 2^63 on becomes negative. "
	"Pointers are shown well.")
FINDING(ARG_WIDE, "arg-wide", NOTE, "a 64-bit argument whose value fits into 32 bits", NULL,
	"\"If a value fits in 32-bits, use the 32-bit signed integer argument type instead\" (and "
	"so for unsigned ones): it saves a word. Nothing else is wrong with it.")

/* identities */
FINDING(KOID_WIDE, "koid-over-32-bits", WARNING, "a koid that does not fit into 32 bits", "koid #",
	"Perfetto cuts the ids of processes and threads to 32 bits: two threads that differ only "
	"above become one, under the last name. Number them anew.")
FINDING(PROCESS_TYPE, "process-type", ERROR, "a thread's process that is not given as a koid",
	"argument type #",
	"The argument `process` of a thread's kernel object \"specifies the koid of the process\" "
	"(\"Argument Conventions\"). Perfetto drops the object if it has another type "
	"(fuchsia_invalid_event_arg_type), and the thread has no name.")
FINDING(PROCESS_MISSING, "process-missing", WARNING, "a thread's kernel object without its process",
	"thread #",
	"Without the argument `process` no reader can tell which process the thread belongs to: "
	"Perfetto puts it into a process without a name.")
FINDING(PROCESS_NOT_FIRST, "process-not-first", WARNING,
	"`process` is not the first argument of a thread's object", "thread #",
	"Jane Street's reader looks at the first argument alone.")
FINDING(OBJECT_NAME_INLINE, "object-name-inline", WARNING,
	"the object of a process or thread with its name inline", "koid #",
	"Jane Street's reader takes the names in the objects of processes and threads from the "
	"string table only. Register them by string records.")
FINDING(THREAD_UNNAMED, "thread-unnamed", WARNING,
	"a thread is scheduled that no kernel object names", "thread #",
	"Scheduling records carry thread ids alone. Without a kernel object (anywhere in the "
	"archive) Perfetto puts the thread into a process \"0\" without a name, and an event of "
	"the same thread under its true process becomes another thread.")
FINDING(PROCESS_UNNAMED, "process-unnamed", WARNING,
	"threads of a process that no kernel object names", "process #",
	"The threads have kernel objects, and their process has none: it is shown by its number "
	"alone. Write a kernel object of type 1 for it.")
FINDING(TID_REUSED, "tid-reused", WARNING, "a thread id is given to a thread of another process",
	"thread #, now of process #",
	"Readers keep one owner of an id for the whole trace, the last one: all that the first "
	"owner did moves to it. Give the second owner a koid of its own. Where nothing was known "
	"of the first one (it is called \"?\") that is right, and not reported.")
FINDING(THREAD_PROCESSES, "thread-processes", WARNING,
	"events name a thread under another process than its object", "thread #, process #",
	"Perfetto makes two threads of it: one has the events, the other is scheduled.")
FINDING(RENAMED, "renamed", NOTE, "a thread gets another name", "thread #",
	"The last name holds for the whole trace in Perfetto, also for what came before. An event "
	"can say when it changed.")
FINDING(EVENT_THREAD_UNNAMED, "event-thread-unnamed", NOTE,
	"events of a thread that no kernel object names", "thread #",
	"The thread is shown by its number alone.")

/* scheduling */
FINDING(THREAD_STATE, "thread-state", ERROR, "a thread state over 5", "state #",
	"\"Thread States\" has 0 (new) to 5 (dead). Perfetto shows no state for others.")
FINDING(LEGACY_RUNNING, "legacy-running", ERROR, "a legacy switch whose outgoing thread is running",
	NULL,
	"The outgoing state is \"any of the values below except running\" (\"Legacy Context "
	"Switch Record\"). Use a context switch record (type 1), or state 0.")
FINDING(WEIGHT_TYPE, "weight-type", ERROR, "a weight that is not an int32", "argument type #",
	"\"incoming_weight\", \"outgoing_weight\" and \"weight\" are int32 (\"Argument "
	"Conventions\" of scheduling records). Perfetto drops the record.")
FINDING(WAKER_TYPE, "waker-type", ERROR, "a waker that is not a koid", "argument type #",
	"Perfetto drops the wakeup. Give `waker` as a koid, or leave it out.")
FINDING(WEIGHT_MISSING, "weight-missing", WARNING,
	"a context switch without the weight of a thread", "thread #",
	"Perfetto takes a missing incoming_weight for priority 0 and marks the slice as real-time. "
	"Write both weights, the kernel's prio on Linux (100 to 139 = normal).")
FINDING(IDLE_WEIGHT, "idle-weight", WARNING, "the idle thread without the idle weight", "CPU #",
	"Perfetto knows an idle side of a switch by its weight -2147483648 alone (in the legacy "
	"record by process 0 and priority 0). Without it the CPU looks busy all the time, with a "
	"thread \"0\".")
FINDING(CPU_HUGE, "cpu-over-4095", WARNING, "a CPU number of 4096 or more", "CPU #",
	"Perfetto v55 ends with a failed assertion.")
FINDING(SCHED_UNSORTED, "sched-unsorted", WARNING,
	"a switch over 10 ms older than a scheduling record before it", "# ns older",
	"The format allows any order, and readers sort; but Perfetto before v49 took scheduling "
	"records as they came. Merge what comes from several CPUs by time.")
FINDING(WAKE_LATE, "wake-late", NOTE,
	"a wakeup over 10 ms older than a scheduling record before it", "# ns older",
	"That a wakeup was one may show only when its thread runs; but Perfetto before v49 took "
	"scheduling records as they came.")
FINDING(SWITCH_OUT_LOST, "switch-out-lost", WARNING,
	"a switch takes off another thread than runs on the CPU", "thread # runs on CPU #",
	"The thread that ran there was never switched out, by the records. Its slice stays open "
	"in Perfetto, up to the end, over all that follows on the CPU. Where records were lost, "
	"close what ran with a switch to idle and open what runs then with another.")
FINDING(SWITCH_IN_LOST, "switch-in-lost", WARNING,
	"a switch takes a thread off a CPU that was idle", "thread #, CPU #",
	"The thread was never switched in, by the records: that it ran is shown nowhere.")
FINDING(TWO_CPUS, "two-cpus", WARNING, "a thread starts to run while it runs on another CPU",
	"thread # runs on CPU #",
	"A switch-out was lost, or two threads have one id. What the thread does is wrong from "
	"here on.")
FINDING(TIE_SWITCH, "tie-switch", WARNING,
	"at one time, a switch-in before the switch-out on the old CPU", "thread #, from CPU #",
	"Readers sort by time and keep the order of the file at equal times: here the thread runs "
	"on two CPUs, and a slice or a state of it is wrong. Write the switch-out first.")
FINDING(WAKE_RUNNING, "wake-running", WARNING, "a wakeup of a thread that runs",
	"thread # on CPU #",
	"Perfetto ends the running state and counts the slice from the wakeup. Linux reports such "
	"wakeups; leave them out, or write those that overtook the switch-out behind it.")
FINDING(TIE_WAKEUP, "tie-wakeup", WARNING, "at one time, a switch before the wakeup that caused it",
	"thread # on CPU #",
	"Readers keep the order of the file at equal times: here a running thread is woken, which "
	"breaks its slice in Perfetto. Write the wakeup first.")
FINDING(WAKE_TWICE, "wake-twice", WARNING, "a second wakeup before the thread ran", "thread #",
	"The time from the first wakeup to the second is taken for a latency of its own, and the "
	"thread is shown to be woken by the wrong one. Leave wakeups of a woken thread out.")
FINDING(CPU_LEFT_OPEN, "cpu-left-open", WARNING, "a thread still runs where the archive ends",
	"thread # on CPU #",
	"Its last slice has no end: Perfetto gives it the length -1. Close each CPU with a switch "
	"to idle at the end.")
FINDING(WAKER_MISSING, "waker-missing", NOTE, "a wakeup without its waker", "thread #",
	"Perfetto then says that the thread woke itself. It is right to leave the waker out where "
	"no thread woke it, but an interrupt.")
FINDING(WAKERS_MANY, "wakers-many", NOTE, "over 100000 wakeups with a waker", "# of them",
	"Perfetto v55 takes a time that is quadratic in their number; v56 does not.")

/* events */
FINDING(EVENT_UNKNOWN, "event-unknown", WARNING, "an event of unknown type", "type #",
	"The specification has the types 0 to 10 (\"Event record\"). Readers skip others.")
FINDING(COMPLETE_BACKWARDS, "complete-backwards", ERROR, "a duration that ends before it begins",
	NULL,
	"\"Duration complete event\": the end time is the end of the operation, not its length.")
FINDING(COMPLETE_OVERLAP, "complete-overlap", WARNING,
	"durations of a thread overlap without nesting", "process #, thread #",
	"Durations of a thread are a stack. Perfetto drops a complete event that begins inside "
	"another and ends behind it (slice_drop_overlapping_complete_event), and cuts a duration "
	"that begins in one and outlives it. Use async events, or threads of their own.")
FINDING(DURATION_END_ALONE, "duration-end-alone", ERROR, "a duration end without its begin",
	"process #, thread #",
	"Begin and end of durations match (\"Duration begin event\"). Recordings of which the "
	"first part was thrown away have such ends; readers ignore them.")
FINDING(DURATION_OPEN, "duration-open", ERROR, "a duration begin without its end",
	"process #, thread #",
	"\"Must be matched by a duration end event\" (\"Duration begin event\"). Perfetto gives "
	"the "
	"slice the length -1. End what is open when the recording ends.")
FINDING(DURATION_NAMES, "duration-names", WARNING,
	"a duration end of another name than the duration that it ends", "process #, thread #",
	"An end closes the innermost open duration of its thread, whatever its name: if they "
	"cross, the lengths of both are wrong.")
FINDING(ASYNC_UNMATCHED, "async-unmatched", ERROR,
	"an async begin without its end, or an end without its begin", "id #",
	"\"Must be matched by an async end event using the same async correlation id\" (\"Async "
	"begin event\").")
FINDING(ASYNC_DIFFERS, "async-differs", WARNING,
	"async begin and end of one id differ in process or name", "id #",
	"By the specification the id alone matters; Perfetto takes process, name and id together, "
	"and leaves the operation open.")
FINDING(ASYNC_OUTSIDE, "async-outside", ERROR, "an async instant outside of its operation", "id #",
	"It \"must appear between async begin event and async end event using the same async "
	"correlation id\" (\"Async instant event\").")
FINDING(FLOW_UNMATCHED, "flow-unmatched", ERROR,
	"a flow begin, step or end without its counterpart", "id #",
	"A flow begin \"must be matched by a flow end event using the same flow correlation id\" "
	"(\"Flow begin event\"); steps and ends need a begin. No arrow is shown.")
FINDING(FLOW_TWICE, "flow-twice", WARNING, "a flow begins whose id is in use", "id #",
	"Perfetto connects one of them, or none (flow_duplicate_id). Make ids unique in the whole "
	"trace.")
FINDING(FLOW_NO_SLICE, "flow-no-slice", WARNING,
	"a flow event outside of any duration on its thread", "process #, thread #",
	"A flow is \"associated with the enclosing duration event for this thread\". Perfetto "
	"draws no arrow without one at both ends (flow_no_enclosing_slice), or draws it to a "
	"duration that has ended.")
FINDING(COUNTER_TYPE, "counter-type", WARNING, "an argument of a counter that is no number",
	"argument type #",
	"Each argument of a counter is a series of numbers (\"Counter event\"). Perfetto counts "
	"others in fuchsia_non_numeric_counters and shows nothing of them.")
FINDING(COUNTER_EMPTY, "counter-empty", WARNING, "a counter without arguments", NULL,
	"The values of a counter are its arguments (\"Counter event\"): this one has none.")

/* profiles */
FINDING(PROFILER_INLINE, "profiler-inline-thread", WARNING,
	"a module or mmap record with its thread inline", NULL,
	"By the specification and Fuchsia's C++ reader two words follow, process and thread; its "
	"Rust reader takes one, and fails. Refer to a thread of the table.")
FINDING(MMAP_BEFORE_MODULE, "mmap-before-module", WARNING,
	"a mapping of a module that is not known yet", "process #, module #",
	"Readers resolve module ids as they come. Write the module record first.")
FINDING(BACKTRACE_BEFORE_MMAP, "backtrace-before-mmap", NOTE,
	"a backtrace of a process without any mapping before it", "process #",
	"Right in a process that was forked: it has the mappings of its parent. In others its "
	"addresses cannot be given to a module; write module and mmap records first.")

/* allocations */
FINDING(MEMORY_UNWATCHED, "memory-unwatched", WARNING,
	"what a process allocates is said, and not since when", "process #",
	"kymo's event `watch` begins what is known of a process, and `watched` ends it. Without it "
	"what is said of blocks means nothing: `kymo leaks` passes it over.")
FINDING(STACK_UNNAMED, "stack-unnamed", WARNING, "an allocation has a stack that was not named",
	"stack #",
	"The event `stack` that has this id, and its backtrace, stand before all that refers to "
	"them, and hold for one `watch` of their process. `kymo leaks` shows the allocation "
	"without a stack.")
FINDING(STACK_EMPTY, "stack-empty", WARNING, "a stack is named and has no frames", "stack #",
	"Behind the event `stack` comes a backtrace of its process and time. Another one would be "
	"taken for a sample of what ran.")
FINDING(SNAPSHOT_SHORT, "snapshot-short", WARNING, "a snapshot with fewer blocks than it says",
	"# are missing",
	"As many events `block` of its process as `snapshot` says come behind it. `kymo leaks` "
	"keeps what it knew before.")

/* data that no reader shows */
FINDING(LOG_UNSEEN, "log-unseen", NOTE, "a log record, which Perfetto ignores", NULL,
	"Write an instant event, too, if people are to see the message.")
FINDING(PROFILER_UNSEEN, "profiler-unseen", NOTE, "a profiler record, which Perfetto ignores", NULL,
	"No general viewer shows these. Perfetto shows samples that are embedded as its own "
	"packets in BLOB records of type 3.")
FINDING(USERSPACE_UNSEEN, "userspace-unseen", NOTE, "a userspace object, which Perfetto ignores",
	NULL, "Pointers are shown as numbers there.")
FINDING(OBJECT_UNSEEN, "object-unseen", NOTE, "a kernel object that Perfetto ignores", "type #",
	"It takes names from processes (type 1) and threads (type 2) only.")
FINDING(LOSS_UNSEEN, "loss-unseen", NOTE, "a provider event, which Perfetto ignores", NULL,
	"An event beside it can make the loss visible.")
FINDING(BLOB_UNSEEN, "blob-unseen", NOTE, "a BLOB that Perfetto ignores", "type #",
	"It takes those of type 3, whose bytes together are a Perfetto trace.")
FINDING(LARGE_UNSEEN, "large-unseen", NOTE, "a large BLOB, which Perfetto ignores", NULL,
	"It skips large records by their size.")
