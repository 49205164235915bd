/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tfile/tfile-finding.h"

const struct finding_kind tfile_finding_kinds[TFILE_FINDING_MAX] = {
	[TFILE_FINDING_DAMAGED] = { FINDING_ERROR, "tfile-damaged",
				    "the file cannot be read further",
				    "Frames follow each other without a marker, and each contains its size. So "
				    "nothing shows where the next frame begins after damage. All frames before it "
				    "were read." },
	[TFILE_FINDING_CONTAINER] = { FINDING_ERROR, "tfile-container",
				      "the container of the file is damaged",
				      "The file cannot be decompressed further, or it is truncated. The frames before "
				      "that were read." },
	[TFILE_FINDING_LONG_LINE] = { FINDING_ERROR, "tfile-long-line",
				      "a line has 1000 bytes or more",
				      "GDB refuses such a file ('Excessively long lines'). kymo reads it." },
	[TFILE_FINDING_BAD_LINE] = { FINDING_WARNING, "tfile-bad-line", "a line is malformed",
				     "The line begins with a known word, but its contents do not have the form of such "
				     "lines. kymo ignores it and keeps it in copies. GDB may use a part of it." },
	[TFILE_FINDING_REPEATED_LINE] = { FINDING_WARNING, "tfile-repeated-line",
					  "a line is repeated",
					  "A file has one line with the size of the registers and one with the status. The "
					  "last one counts." },
	[TFILE_FINDING_UNKNOWN_LINE] = { FINDING_NOTE, "tfile-unknown-line",
					 "a line of an unknown kind",
					 "Readers ignore such lines. GDB warns about each. kymo keeps them in copies." },
	[TFILE_FINDING_UNKNOWN_BLOCK] = { FINDING_WARNING, "tfile-unknown-block",
					  "a frame has a block that cannot be read",
					  "The block has an unknown kind, or it is longer than its frame. The kind of a "
					  "block determines its size, so the rest of the frame is lost. The blocks before "
					  "it were read, and other frames are not affected. GDB reports an error when it "
					  "searches such a frame." },
	[TFILE_FINDING_NO_END] = { FINDING_WARNING, "tfile-no-end",
				   "no end marker after the last frame",
				   "Two bytes of 0 must follow the last frame. Without them, frames may be missing. "
				   "GDB says 'Premature end of file' when it searches beyond the last frame." },
	[TFILE_FINDING_TRAILING] = { FINDING_NOTE, "tfile-trailing", "data after the end marker",
				     "Readers ignore it. (Two more bytes of 0 are usual.)" },
	[TFILE_FINDING_NO_STATUS] = { FINDING_WARNING, "tfile-no-status",
				      "the status has no number of frames",
				      "GDB says 'No traceframes present in this file', but finds the frames." },
	[TFILE_FINDING_FRAME_COUNT] = { FINDING_WARNING, "tfile-frame-count",
					"the status has another number of frames",
					"The file was truncated, or made from another file without a new count." },
	[TFILE_FINDING_ORDER] = { FINDING_NOTE, "tfile-order",
				  "tracepoints are not sorted from the highest number to the lowest",
				  "GDB numbers tracepoints from the last one to the first one in the file. So its "
				  "numbers differ from those in the file, and `tfind tracepoint` takes GDB's "
				  "numbers." },
	[TFILE_FINDING_UNDEFINED_TRACEPOINT] = { FINDING_WARNING, "tfile-tracepoint",
						 "a frame of an undefined tracepoint",
						 "`tfind tracepoint` cannot find such a frame, and `tdump` does not know what was "
						 "collected." },
	[TFILE_FINDING_UNDEFINED_VARIABLE] = { FINDING_NOTE, "tfile-variable",
					       "a value of an undefined trace state variable",
					       "The variable has no name, so GDB does not show it." },
	[TFILE_FINDING_NO_REGISTERS] = { FINDING_NOTE, "tfile-no-registers",
					 "a frame without registers",
					 "GDB uses the address of the tracepoint as program counter, and has no backtrace." },
	[TFILE_FINDING_NO_DESCRIPTION] = { FINDING_NOTE, "tfile-no-description",
					   "no description of the target",
					   "GDB needs the program (`file PROGRAM`) before it opens the trace file. Otherwise "
					   "it reads the registers as those of another machine." },
};
