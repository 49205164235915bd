/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs, in the order of --help: verbs that record, verbs that call the daemon, and verbs that
 * read archives.
 */
#include "cli/common/verb.h"

#include <stddef.h>

const struct verb *const verbs[] = {
	&verb_record_row,
	&verb_start_row,
	&verb_stop_row,
	&verb_list_row,
	&verb_status_row,
	&verb_mark_row,
	&verb_context_row,
	&verb_snapshot_row,
	&verb_rotate_row,
	&verb_monitor_row,
	&verb_top_row,
	&verb_capabilities_row,
	&verb_providers_row,
	&verb_summary_row,
	&verb_flame_row,
	&verb_why_row,
	&verb_diff_row,
	&verb_latency_row,
	&verb_calls_row,
	&verb_moments_row,
	&verb_query_row,
	&verb_leaks_row,
	&verb_dump_row,
	&verb_check_row,
	&verb_export_row,
	&verb_open_row,
	&verb_report_row,
	&verb_symbolize_row,
	&verb_repair_row,
	&verb_cut_row,
	&verb_merge_row,
	&verb_redact_row,
	&verb_postprocess_row,
	&verb_collect_row,
	&verb_ship_row,
	&verb_verify_profile_row,
	NULL,
};
