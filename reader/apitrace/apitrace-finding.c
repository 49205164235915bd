/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/apitrace/apitrace-finding.h"

const struct finding_kind apitrace_finding_kinds[APITRACE_FINDING_MAX] = {
	[APITRACE_DAMAGED] = { FINDING_ERROR, "call-damaged", "the trace cannot be read further",
			       "Each byte of a call trace says what the next ones mean, so nothing behind damage can "
			       "be understood. All calls before it were read; those that were open are shown as "
			       "incomplete. apitrace ends at such a place, too, and often without a word." },
	[APITRACE_CONTAINER] = { FINDING_ERROR, "call-container",
				 "what the trace is packed in is damaged",
				 "A chunk, frame or member cannot be unpacked, or the file ends in it. The calls before "
				 "it were read." },
	[APITRACE_SEMANTICS] = { FINDING_ERROR, "call-semantics",
				 "the semantic version is above the format's version",
				 "apitrace aborts when it opens such a file." },
	[APITRACE_ARG_UNDECLARED] = { FINDING_ERROR, "call-argument",
				      "an argument that the function does not declare",
				      "A function declares the names of its arguments where it first occurs. apitrace reads "
				      "behind the end of that list when it prints such an argument. kymo skips it." },
	[APITRACE_LEAVE_WITHOUT_ENTER] = { FINDING_WARNING, "call-leave",
					   "the end of a call that is not open",
					   "A leave event names a call that was never entered, or left before. Readers skip it." },
	[APITRACE_ZERO_FLAG] = { FINDING_WARNING, "call-zero-flag",
				 "a flag of value 0 that is not the first one",
				 "Readers look for the name of an empty bitmask in its first entry." },
	[APITRACE_SPARSE_ID] = { FINDING_WARNING, "call-sparse-id",
				 "ids of signatures with large gaps",
				 "apitrace keeps signatures in a vector by their id, so that a large id makes it "
				 "allocate a lot of memory. Writers count ids from 0." },
	[APITRACE_FORGOTTEN] = { FINDING_WARNING, "call-forgotten", "too many open calls",
				 "Calls that were entered and not left take memory until the file ends. Beyond 256 MiB "
				 "the oldest ones are shown as incomplete, and their end is not found any more." },
	[APITRACE_NEVER_LEFT] = { FINDING_NOTE, "call-incomplete", "a call without an end",
				  "The trace ended, or the thread did, in the call; or it does not return." },
};
