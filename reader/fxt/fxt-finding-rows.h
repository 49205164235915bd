/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All kinds of findings, in the order of `kymo check --list`. The including code defines FINDING:
 *
 *   FINDING(name, identifier, severity, text, detail, explanation)
 *
 * The text and the detail are one line each, without a newline. Each '#' of the detail is replaced
 * by the next number of value[]. The detail may be NULL. The explanation is a paragraph: meaning,
 * source, remedy.
 */

/* findings about the file */
FINDING(DAMAGE, "damage", ERROR, "data that is not a valid record", "# bytes skipped",
	"The data does not have the form that the specification's \"Records\" describes. kymo "
	"skips it and continues at the next record that it recognizes. Perfetto rejects the whole "
	"file if it meets a record of size 0, such as a hole of zeros in a file that was mapped or "
	"allocated in advance: truncate such a file at the end of its records, and change its "
	"writer so that it does this itself.")
FINDING(TRUNCATED, "truncated", ERROR, "the archive ends inside a record", "# bytes are present",
	"The last record is incomplete: the writer was killed, or the disk was full. Readers skip "
	"this record and keep all records before it.")
FINDING(MAGIC_WRONG, "magic-wrong", ERROR, "a magic number record with a wrong number", NULL,
	"\"Magic number record\": the record is the eight-byte number 0x0016547846040010.")
FINDING(MAGIC_AGAIN, "magic-again", NOTE, "another magic number inside the archive", NULL,
	"The magic number \"should appear at the start\". Archives that were joined with cat have "
	"more than one. Readers skip them. If two of these archives use the same provider id, its "
	"tables are cleared where the second archive begins.")
FINDING(PROVIDER_UNKNOWN, "provider-unknown", ERROR, "a provider without a provider info record",
	"provider #",
	"Before a section or an event of a provider, there must be a provider info record "
	"(\"Provider info metadata\"). Perfetto drops all records of such a section, up to the "
	"next provider (fuchsia_invalid_event in its stats).")
FINDING(PROVIDER_AGAIN, "provider-again", WARNING, "a second provider info record for one provider",
	"provider #",
	"At a second provider info record for an id, Perfetto and kymo clear the tables of the "
	"provider, but some other readers do not. Use one id for each source. To return to a "
	"provider, write a provider section record. Not reported: kymo gives the id of a program "
	"that has ended to another program, and defines everything anew.")
FINDING(STRING_BEFORE_PROVIDER, "string-before-provider", WARNING,
	"a string record before any provider info record", "string index #",
	"Fuchsia's Rust reader drops such strings. Write the provider info record first, then the "
	"initialization record, then strings.")
FINDING(INIT_MISSING, "init-missing", WARNING,
	"timestamps without an initialization record before them", "provider #",
	"\"In absence of this record, the reader may assume that 1 tick is 1 nanosecond\", but "
	"Fuchsia's Rust reader assumes one tick per second. Write an initialization record before "
	"the other records of each provider.")
FINDING(INIT_LATE, "init-late", WARNING, "the tick rate changes after timestamps",
	"# ticks per second, before: #",
	"An initialization record applies to the records after it. Readers used another rate for "
	"the timestamps before it. Write it before the first timestamp of the provider.")
FINDING(TICKS_INEXACT, "ticks-inexact", WARNING, "a tick rate that readers round",
	"# ticks per second; Perfetto is # ns short after 1000 s",
	"Perfetto truncates the factor for its ticks to 32 binary places, so its timestamps fall "
	"behind more and more. Write nanoseconds, with 1000000000 ticks per second.")
FINDING(TICKS_ODD, "ticks-odd", WARNING, "a tick rate that no clock has", "# ticks per second",
	"No clock is that slow or fast: the rate is below 1000, or above 1000000000000. So all "
	"times and durations are probably wrong. The record may be damaged, or the writer may have "
	"confused the unit.")
FINDING(TIME_HUGE, "time-over-63-bits", WARNING, "a timestamp of 2^63 nanoseconds or more", NULL,
	"Timestamps in Perfetto are signed, so it drops the record. The usual cause is an error in "
	"the writer, such as a negative difference.")
FINDING(LOSS_INVISIBLE, "loss-invisible", WARNING, "a buffer was full, and no event shows it",
	"# times",
	"A provider event (\"Provider event metadata\") says that records were probably dropped. "
	"Perfetto ignores it, so users do not see the loss. Also write an event that has lost, "
	"dropped, overflow or damage in its name.")

/* findings about any record */
FINDING(RESERVED_BITS, "reserved-bits", ERROR, "reserved bits are not zero", NULL,
	"\"All unused bits are reserved for future use and must be set to 0\" (\"Atoms\").")
FINDING(PADDING, "padding", ERROR, "padding is not zero", NULL,
	"A stream is \"padded with zeros to the next 8 byte boundary\" (\"Atoms\"). Other bytes "
	"there may be memory of the program that wrote the archive.")
FINDING(RECORD_UNKNOWN, "record-unknown", WARNING, "a record of unknown type", "type #",
	"The specification has the record types 0 to 10 and 15, the kinds 0 to 2 of scheduling and "
	"profiler records, and one kind of large record, the BLOB. Readers use the size of other "
	"records to skip them.")
FINDING(RECORD_TRAILING, "record-trailing", WARNING,
	"a scheduling or profiler record with additional words", "# words",
	"Later versions of the format may add words at the end of a record (\"Extend the "
	"format\"), but Fuchsia's Rust reader fails on scheduling and profiler records with "
	"additional words.")
FINDING(RECORD_LONGER, "record-longer", WARNING, "a record with additional words", "# words",
	"Later versions of the format may add words at the end of a record (\"Extend the "
	"format\"), and readers skip words that they do not know. But the words may also be an "
	"argument that the header does not count, and then readers do not show it. The scope that "
	"Fuchsia writes after instants is not reported.")
FINDING(METADATA_UNKNOWN, "metadata-unknown", WARNING,
	"a metadata, trace info or provider event record of unknown type", "type #",
	"The specification has the metadata types 1 to 4, the trace info type 0 and the provider "
	"event 0. Readers skip other types.")
FINDING(LARGE_LONG, "large-long", WARNING, "a large record of 4096 words or more", "# words",
	"Perfetto reads only 12 bits of the size of a large record. It then looks for the next "
	"record at a wrong place, and in most cases rejects the whole file. Split the data into "
	"records of at most 4095 words.")
FINDING(BLOB_TYPE, "blob-type", WARNING, "a BLOB of unknown type", "type #",
	"\"Blob types\" has 1 (data), 2 (last branch) and 3 (Perfetto). Readers skip other types.")

/* findings about strings and references */
FINDING(UTF8, "utf8", ERROR, "text that is not UTF-8", NULL,
	"Strings are UTF-8 (\"String references\"). On Linux, names of threads and files may have "
	"any bytes: replace invalid ones by U+FFFD.")
FINDING(TEXT_NUL, "text-nul", WARNING, "text with a NUL byte", "at byte #",
	"Strings have a length (\"String references\"), but readers that store them as C strings "
	"end them at the first NUL, so two different names can become equal. The usual cause is a "
	"writer that gives the size of its buffer as the length of the text.")
FINDING(STRING_LONG, "string-long", ERROR, "a string over 32000 bytes", "# bytes",
	"\"We set a conservative maximum string length limit of 32000 bytes\" (\"String "
	"references\").")
FINDING(NAME_LONG, "name-long", WARNING, "a name or category over 1024 bytes", "# bytes",
	"Viewers show names in labels and lists, and some writers and converters fail on very long "
	"ones. Truncate the name between two characters, and write the whole text as an argument.")
FINDING(STRING_UNDEFINED, "string-undefined", ERROR, "a reference to an undefined string",
	"index #",
	"Before a reference to an indexed string, there must be a string record of the same "
	"provider (\"String references\"; each provider has its own tables). Perfetto drops the "
	"record with the reference (fuchsia_invalid_string_ref).")
FINDING(STRING_INDEX_0, "string-index-0", ERROR, "a string record for index 0", NULL,
	"Index 0 is the empty string. Readers must ignore the record (\"String record\").")
FINDING(STRING_EMPTY, "string-empty", NOTE, "a string record with an empty string", "index #",
	"It is allowed, \"but pointless since the empty string can simply be encoded as zero in a "
	"string ref\" (\"String record\").")
FINDING(THREAD_UNDEFINED, "thread-undefined", ERROR, "a reference to an undefined thread",
	"index #",
	"Before a reference to an indexed thread, there must be a thread record of the same "
	"provider (\"Thread references\"). Readers drop the record with the reference, or "
	"attribute it to thread 0.")
FINDING(THREAD_INDEX_0, "thread-index-0", ERROR, "a thread record for index 0", NULL,
	"Index 0 means that the thread is given inline. Readers must ignore the record (\"Thread "
	"record\").")
FINDING(THREAD_INDEX_SHARED, "thread-index-shared", NOTE,
	"two providers use a thread index for different threads", "index #, also of provider #",
	"Each provider has its own thread table (\"Provider section metadata\"), but Fuchsia's "
	"Rust reader has one table for all providers, and uses the last thread with this index.")

/* findings about arguments */
FINDING(ARG_DAMAGED, "arg-damaged", ERROR, "an invalid argument", NULL,
	"An argument has a size of at least one word, ends inside its record, and contains its "
	"name and value (\"Argument header\"). Readers cannot read the arguments after the invalid "
	"one.")
FINDING(ARG_UNKNOWN, "arg-unknown", WARNING, "an argument of unknown type", "type #",
	"The specification has the types 0 to 10 (\"Argument types\"). Readers skip other types.")
FINDING(ARG_LONGER, "arg-longer", ERROR, "an argument with additional words", "# words",
	"The size of an argument includes its header, its name and its value (\"Arguments\"). "
	"Readers skip additional words. In most cases, the size is wrong.")
FINDING(ARG_NAME_EMPTY, "arg-name-empty", WARNING, "an argument without a name", NULL,
	"Queries cannot refer to the argument, and viewers show its value without a name.")
FINDING(ARG_NAME_TWICE, "arg-name-twice", WARNING, "two arguments with one name",
	"the #th argument",
	"A query for the name finds only one of the arguments. Which one depends on the reader. "
	"Give each argument its own name.")
FINDING(ARG_OPAQUE, "arg-opaque", NOTE, "an argument whose value Perfetto does not show", "type #",
	"Perfetto shows a blob as the text \"unknown\", and null as \"null\". Debug builds of "
	"Tracy's importer stop at blobs.")
FINDING(ARG_NEGATIVE, "arg-negative", NOTE,
	"an unsigned argument that Perfetto shows as a negative number", NULL,
	"Perfetto has only signed 64-bit integers, so a uint64 of 2^63 or more becomes negative. "
	"Pointers are shown correctly.")
FINDING(ARG_WIDE, "arg-wide", NOTE, "a 64-bit argument whose value fits into 32 bits", NULL,
	"\"If a value fits in 32-bits, use the 32-bit signed integer argument type instead\" "
	"(unsigned values likewise): this saves a word. The argument is correct otherwise.")

/* findings about identities */
FINDING(KOID_WIDE, "koid-over-32-bits", WARNING, "a koid that does not fit into 32 bits", "koid #",
	"Perfetto uses only the lower 32 bits of the ids of processes and threads. Two threads "
	"that differ only in the upper bits become one, with the last name. Use smaller ids.")
FINDING(PROCESS_TYPE, "process-type", ERROR, "the process of a thread is not a koid",
	"argument type #",
	"The argument `process` of a thread's kernel object \"specifies the koid of the process\" "
	"(\"Argument Conventions\"). If it has another type, Perfetto drops the object "
	"(fuchsia_invalid_event_arg_type), and the thread has no name.")
FINDING(PROCESS_MISSING, "process-missing", WARNING,
	"the kernel object of a thread does not name its process", "thread #",
	"Without the argument `process`, readers do not know the process of the thread. Perfetto "
	"puts the thread into a process without a name.")
FINDING(PROCESS_NOT_FIRST, "process-not-first", WARNING,
	"`process` is not the first argument of a thread's kernel object", "thread #",
	"Jane Street's reader looks only at the first argument.")
FINDING(OBJECT_NAME_INLINE, "object-name-inline", WARNING,
	"the kernel object of a process or thread has its name inline", "koid #",
	"For kernel objects of processes and threads, Jane Street's reader uses only names from "
	"the string table. Write string records for these names.")
FINDING(THREAD_UNNAMED, "thread-unnamed", WARNING,
	"scheduling records of a thread that has no kernel object", "thread #",
	"Scheduling records have only the id of the thread. If the archive has no kernel object "
	"for the thread, Perfetto puts it into a process \"0\" without a name. Events that give "
	"the thread its true process then belong to another thread.")
FINDING(PROCESS_UNNAMED, "process-unnamed", WARNING,
	"threads of a process that has no kernel object", "process #",
	"The threads have kernel objects, but their process has none, so viewers show only its "
	"number. Write a kernel object of type 1 for it.")
FINDING(TID_REUSED, "tid-reused", WARNING, "two processes have threads with one id",
	"thread #, now of process #",
	"Readers know one process for each thread id in the whole trace, the last one: they "
	"attribute all activity of the first thread to it. Give the second thread a koid of its "
	"own. If the archive has no name for the first process (its name is \"?\"), the last one "
	"is correct, and this is not reported.")
FINDING(THREAD_PROCESSES, "thread-processes", WARNING,
	"events and kernel object of a thread name different processes", "thread #, process #",
	"Perfetto shows two threads: one has the events, and the other has the scheduling records.")
FINDING(RENAMED, "renamed", NOTE, "the name of a thread changes", "thread #",
	"Perfetto uses the last name for the whole trace, also before the change. Write an event "
	"at the time of the change.")
FINDING(EVENT_THREAD_UNNAMED, "event-thread-unnamed", NOTE,
	"events of a thread that has no kernel object", "thread #",
	"Viewers show only the number of the thread.")

/* findings about scheduling */
FINDING(THREAD_STATE, "thread-state", ERROR, "a thread state above 5", "state #",
	"\"Thread States\" has 0 (new) to 5 (dead). Perfetto shows no state for other values.")
FINDING(LEGACY_RUNNING, "legacy-running", ERROR,
	"a legacy context switch with outgoing state running", NULL,
	"The outgoing state is \"any of the values below except running\" (\"Legacy Context Switch "
	"Record\"). Use a context switch record (type 1), or state 0.")
FINDING(WEIGHT_TYPE, "weight-type", ERROR, "a weight that is not an int32", "argument type #",
	"\"incoming_weight\", \"outgoing_weight\" and \"weight\" are int32 (\"Argument "
	"Conventions\" of scheduling records). Perfetto drops the record.")
FINDING(WAKER_TYPE, "waker-type", ERROR, "a waker that is not a koid", "argument type #",
	"Perfetto drops the wakeup. Write `waker` as a koid, or omit it.")
FINDING(WEIGHT_MISSING, "weight-missing", WARNING,
	"a context switch without the weight of a thread", "thread #",
	"If incoming_weight is missing, Perfetto assumes priority 0 and marks the slice as "
	"real-time. Write both weights. On Linux, use the kernel's prio (100 to 139 are normal).")
FINDING(IDLE_WEIGHT, "idle-weight", WARNING, "the idle thread without the idle weight", "CPU #",
	"Perfetto recognizes the idle thread in a context switch only by the weight -2147483648 "
	"(in the legacy record, by process 0 and priority 0). Without it, the CPU seems to be "
	"always busy with a thread \"0\".")
FINDING(CPU_HUGE, "cpu-over-4095", WARNING, "a CPU number of 4096 or more", "CPU #",
	"An assertion fails in Perfetto v55, and it exits.")
FINDING(SCHED_UNSORTED, "sched-unsorted", WARNING,
	"a context switch is over 10 ms older than an earlier scheduling record", "# ns older",
	"The format allows any order, and readers sort records. But Perfetto before v49 did not "
	"sort scheduling records. Merge the records of all CPUs by time.")
FINDING(WAKE_LATE, "wake-late", NOTE,
	"a wakeup is over 10 ms older than an earlier scheduling record", "# ns older",
	"A writer may recognize a wakeup only when the thread runs. But Perfetto before v49 did "
	"not sort scheduling records.")
FINDING(SWITCH_OUT_LOST, "switch-out-lost", WARNING,
	"the outgoing thread is not the thread that runs on the CPU", "thread # runs on CPU #",
	"The archive has no switch-out of the thread that runs on the CPU. Its slice stays open in "
	"Perfetto until the end of the trace, and covers all later slices of the CPU. Where "
	"records were lost, write a switch to idle, and then a switch to the thread that runs.")
FINDING(SWITCH_IN_LOST, "switch-in-lost", WARNING,
	"the outgoing thread was not running, and the CPU was idle", "thread #, CPU #",
	"The archive has no switch-in of the outgoing thread, so viewers do not show that it ran.")
FINDING(TWO_CPUS, "two-cpus", WARNING, "a thread runs on two CPUs", "thread # runs on CPU #",
	"A switch-out was lost, or two threads have one id. From here on, the slices and states of "
	"the thread are wrong.")
FINDING(TIE_SWITCH, "tie-switch", WARNING,
	"a switch-in is before the switch-out on the old CPU, at the same time",
	"thread #, from CPU #",
	"Readers sort by time, and keep the order of records with equal times. With this order, "
	"the thread runs on two CPUs, and one of its slices or states is wrong. Write the "
	"switch-out first.")
FINDING(WAKE_RUNNING, "wake-running", WARNING, "a wakeup of a running thread", "thread # on CPU #",
	"Perfetto ends the running state, and begins the slice at the wakeup. Linux reports such "
	"wakeups: omit them. If the wakeup of a sleeping thread was recorded before its "
	"switch-out, write it after the switch-out.")
FINDING(TIE_WAKEUP, "tie-wakeup", WARNING,
	"a switch is before the wakeup that caused it, at the same time", "thread # on CPU #",
	"Readers keep the order of records with equal times. With this order, the wakeup is of a "
	"running thread, and Perfetto breaks its slice. Write the wakeup first.")
FINDING(WAKE_TWICE, "wake-twice", WARNING, "a second wakeup before the thread runs", "thread #",
	"Viewers show the time between the two wakeups as a separate scheduling latency, and show "
	"the wrong waker. Omit wakeups of a thread that is already woken.")
FINDING(CPU_LEFT_OPEN, "cpu-left-open", WARNING, "a thread still runs at the end of the archive",
	"thread # on CPU #",
	"Its last slice has no end: Perfetto gives it the length -1. At the end, write a switch to "
	"idle for each CPU.")
FINDING(WAKER_MISSING, "waker-missing", NOTE, "a wakeup without a waker", "thread #",
	"Perfetto then shows that the thread woke itself. It is correct to omit the waker if an "
	"interrupt woke the thread.")
FINDING(WAKERS_MANY, "wakers-many", NOTE, "over 100000 wakeups with a waker", "# of them",
	"The time that Perfetto v55 needs is quadratic in their number. v56 does not have this "
	"problem.")

/* findings about events */
FINDING(EVENT_UNKNOWN, "event-unknown", WARNING, "an event of unknown type", "type #",
	"The specification has the types 0 to 10 (\"Event record\"). Readers skip other types.")
FINDING(COMPLETE_BACKWARDS, "complete-backwards", ERROR, "a duration that ends before it begins",
	NULL,
	"\"Duration complete event\": the second timestamp is the end of the operation, not its "
	"length.")
FINDING(COMPLETE_OVERLAP, "complete-overlap", WARNING,
	"durations of a thread overlap and are not nested", "process #, thread #",
	"The durations of a thread are a stack. Perfetto drops a complete event that begins inside "
	"another one and ends after it (slice_drop_overlapping_complete_event). It truncates a "
	"duration that begins inside a complete event and ends after it. Use async events, or "
	"separate threads.")
FINDING(DURATION_END_ALONE, "duration-end-alone", ERROR, "a duration end without a begin",
	"process #, thread #",
	"Each duration end needs a duration begin (\"Duration begin event\"). Recordings whose "
	"first part was discarded have such ends. Readers ignore them.")
FINDING(DURATION_OPEN, "duration-open", ERROR, "a duration begin without an end",
	"process #, thread #",
	"\"Must be matched by a duration end event\" (\"Duration begin event\"). Perfetto gives "
	"the slice the length -1. At the end of the recording, end all open durations. Not "
	"reported: a program that kymo has recorded has open durations when its thread ends or the "
	"recording ends.")
FINDING(DURATION_NAMES, "duration-names", WARNING, "duration begin and end have different names",
	"process #, thread #",
	"A duration end closes the innermost open duration of its thread, also if the names "
	"differ. If two durations overlap, both get wrong lengths.")
FINDING(ASYNC_UNMATCHED, "async-unmatched", ERROR,
	"an async begin without an end, or an end without a begin", "id #",
	"\"Must be matched by an async end event using the same async correlation id\" (\"Async "
	"begin event\").")
FINDING(ASYNC_DIFFERS, "async-differs", WARNING,
	"async begin and end with one id differ in process or name", "id #",
	"In the specification, only the id matters. Perfetto uses process, name and id together, "
	"and leaves the operation open.")
FINDING(ASYNC_OUTSIDE, "async-outside", ERROR, "an async instant outside its operation", "id #",
	"It \"must appear between async begin event and async end event using the same async "
	"correlation id\" (\"Async instant event\").")
FINDING(FLOW_UNMATCHED, "flow-unmatched", ERROR,
	"a flow begin, step or end without its counterpart", "id #",
	"A flow begin \"must be matched by a flow end event using the same flow correlation id\" "
	"(\"Flow begin event\"). Each flow step and flow end needs a flow begin. Viewers show no "
	"arrow.")
FINDING(FLOW_TWICE, "flow-twice", WARNING, "a flow begin with an id that is in use", "id #",
	"Perfetto connects one of the flows, or none (flow_duplicate_id). Use each id only once in "
	"a trace.")
FINDING(FLOW_NO_SLICE, "flow-no-slice", WARNING,
	"a flow event outside of any duration on its thread", "process #, thread #",
	"A flow is \"associated with the enclosing duration event for this thread\". If there is "
	"no such duration at one of the ends, Perfetto draws no arrow (flow_no_enclosing_slice), "
	"or draws it to a duration that has ended.")
FINDING(COUNTER_TYPE, "counter-type", WARNING, "an argument of a counter that is not a number",
	"argument type #",
	"Each argument of a counter is a series of numbers (\"Counter event\"). Perfetto counts "
	"other arguments in fuchsia_non_numeric_counters, and does not show them.")
FINDING(COUNTER_EMPTY, "counter-empty", WARNING, "a counter without arguments", NULL,
	"The values of a counter are its arguments (\"Counter event\"). This counter has none.")

/* findings about profiles */
FINDING(PROFILER_INLINE, "profiler-inline-thread", WARNING,
	"a module or mmap record with its thread inline", NULL,
	"In the specification and in Fuchsia's C++ reader, an inline thread has two words, process "
	"and thread. Fuchsia's Rust reader reads one word, and fails. Refer to a thread of the "
	"thread table.")
FINDING(MMAP_BEFORE_MODULE, "mmap-before-module", WARNING,
	"a mapping of a module that is not yet defined", "process #, module #",
	"Readers resolve module ids in the order of the records. Write the module record first.")
FINDING(BACKTRACE_BEFORE_MMAP, "backtrace-before-mmap", NOTE,
	"a backtrace of a process without mappings before it", "process #",
	"This is correct for a process that was forked: it has the mappings of its parent. For "
	"other processes, readers cannot find the modules of the addresses. Write module and mmap "
	"records first.")

/* findings about allocations */
FINDING(MEMORY_UNWATCHED, "memory-unwatched", WARNING,
	"allocation events while their process is not traced", "process #",
	"The allocations of a process are recorded from kymo's event `watch` to its event "
	"`watched`. Events about blocks at other times have no meaning, and `kymo leaks` ignores "
	"them.")
FINDING(STACK_UNNAMED, "stack-unnamed", WARNING, "an allocation with an undefined stack", "stack #",
	"Before an event that refers to a stack, there must be the event `stack` with its id, "
	"followed by its backtrace. Both apply to one `watch` of their process. `kymo leaks` shows "
	"the allocation without a stack.")
FINDING(STACK_EMPTY, "stack-empty", WARNING, "a stack without frames", "stack #",
	"After the event `stack`, there must be a backtrace of the same process and time. Readers "
	"regard any other backtrace as a CPU sample.")
FINDING(SNAPSHOT_SHORT, "snapshot-short", WARNING, "a snapshot with fewer blocks than its count",
	"# are missing",
	"After the event `snapshot`, there must be as many events `block` of its process as it "
	"says. `kymo leaks` continues with the blocks that it already knows.")

/* findings about data that no reader shows */
FINDING(LOG_UNSEEN, "log-unseen", NOTE, "a log record (Perfetto ignores it)", NULL,
	"Also write an instant event if users are to see the message.")
FINDING(PROFILER_UNSEEN, "profiler-unseen", NOTE, "a profiler record (Perfetto ignores it)", NULL,
	"No general viewer shows profiler records. Perfetto shows samples that are stored as its "
	"own packets in BLOB records of type 3.")
FINDING(USERSPACE_UNSEEN, "userspace-unseen", NOTE, "a userspace object (Perfetto ignores it)",
	NULL, "Perfetto shows pointers as numbers.")
FINDING(OBJECT_UNSEEN, "object-unseen", NOTE, "a kernel object that Perfetto ignores", "type #",
	"Perfetto reads only the names of processes (type 1) and threads (type 2).")
FINDING(LOSS_UNSEEN, "loss-unseen", NOTE, "a provider event (Perfetto ignores it)", NULL,
	"Also write an event to make the loss visible.")
FINDING(BLOB_UNSEEN, "blob-unseen", NOTE, "a BLOB that Perfetto ignores", "type #",
	"Perfetto reads only BLOBs of type 3. Their data together is a Perfetto trace.")
FINDING(LARGE_UNSEEN, "large-unseen", NOTE, "a large BLOB (Perfetto ignores it)", NULL,
	"Perfetto uses the size of large records to skip them.")
