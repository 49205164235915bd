/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/tfile/tfile-finding.h"

#include <string.h>

const struct tfile_finding_kind tfile_finding_kinds[TFILE_FINDING_MAX] = {
	[TFILE_FINDING_DAMAGED] = { TFILE_ERROR, "tfile-damaged", "the file cannot be read further",
				    "Frames stand behind each other, and each says how long it is; nothing tells where the next one begins behind damage. All frames before it were read." },
	[TFILE_FINDING_CONTAINER] = { TFILE_ERROR, "tfile-container",
				      "what the file is packed in is damaged",
				      "It cannot be unpacked further, or it ends too early. The frames before that were read." },
	[TFILE_FINDING_LONG_LINE] = { TFILE_ERROR, "tfile-long-line",
				      "a line has 1000 bytes or more",
				      "GDB refuses such a file ('Excessively long lines'). kymo reads it." },
	[TFILE_FINDING_BAD_LINE] = { TFILE_WARNING, "tfile-bad-line", "a line cannot be understood",
				     "It begins as one of the format's, but what follows is not in the form of such lines. kymo keeps it as it is, and does not use it. GDB may take a part of it." },
	[TFILE_FINDING_REPEATED_LINE] = { TFILE_WARNING, "tfile-repeated-line",
					  "a line that there may be once comes again",
					  "There is one line with the size of registers and one with the status. The last one counts." },
	[TFILE_FINDING_UNKNOWN_LINE] = { TFILE_NOTE, "tfile-unknown-line",
					 "a line of a kind that is not known",
					 "Readers pass over such lines. GDB warns of each. kymo keeps them in copies." },
	[TFILE_FINDING_UNKNOWN_BLOCK] = { TFILE_WARNING, "tfile-unknown-block",
					  "a frame has a block of a kind that is not known",
					  "A block's kind says how long it is, so the rest of that frame cannot be read; what stands before it can. Following frames are not affected. GDB reports an error when it looks for something in such a frame." },
	[TFILE_FINDING_NO_END] = { TFILE_WARNING, "tfile-no-end",
				   "there is no end behind the last frame",
				   "Two bytes of 0 must stand there. Without them the file may have lost frames; GDB says 'Premature end of file' where it looks for a frame behind the last one." },
	[TFILE_FINDING_TRAILING] = { TFILE_NOTE, "tfile-trailing", "there is more behind the end",
				     "Readers do not look at it. (Two more bytes of 0 are usual.)" },
	[TFILE_FINDING_NO_STATUS] = { TFILE_WARNING, "tfile-no-status",
				      "the status does not say how many frames there are",
				      "GDB says 'No traceframes present in this file', though it finds them." },
	[TFILE_FINDING_FRAME_COUNT] = { TFILE_WARNING, "tfile-frame-count",
					"the status says another number of frames",
					"The file was cut off, or made of another one without counting anew." },
	[TFILE_FINDING_ORDER] = { TFILE_NOTE, "tfile-order",
				  "tracepoints do not stand from the highest number to the lowest",
				  "GDB numbers tracepoints as it reads them, the last one first, so it shows other numbers than those in the file. `tfind tracepoint` goes by GDB's." },
	[TFILE_FINDING_UNDEFINED_TRACEPOINT] = { TFILE_WARNING, "tfile-tracepoint",
						 "a frame of a tracepoint that no line defines",
						 "`tfind tracepoint` cannot find such a frame, and `tdump` does not know what was collected." },
	[TFILE_FINDING_UNDEFINED_VARIABLE] = { TFILE_NOTE, "tfile-variable",
					       "a value of a trace state variable that no line defines",
					       "It has no name, so that no reader shows it." },
	[TFILE_FINDING_NO_REGISTERS] = { TFILE_NOTE, "tfile-no-registers",
					 "a frame without registers",
					 "GDB takes the address of the tracepoint for the program counter, and has no backtrace." },
	[TFILE_FINDING_NO_DESCRIPTION] = { TFILE_NOTE, "tfile-no-description",
					   "there is no description of the target",
					   "Then GDB has to be told the program (`file PROGRAM`) before it opens the trace file, or it takes the registers for those of another machine." },
};

const char *tfile_finding_severity(enum tfile_severity severity)
{
	static const char *const texts[] = {
		[TFILE_ERROR] = "error",
		[TFILE_WARNING] = "warning",
		[TFILE_NOTE] = "note",
	};

	return texts[severity];
}

int tfile_finding_by_id(const char *id)
{
	for (int i = 0; i < TFILE_FINDING_MAX; i++)
		if (strcmp(tfile_finding_kinds[i].id, id) == 0)
			return i;
	return -1;
}
