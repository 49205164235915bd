/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why programs could not be loaded or attached, in a sentence with what libbpf has said about it, in this thread.
 */
#pragma once

/* What libbpf has said so far does not matter. It says nothing to anybody else from now on. */
void load_error_begin(void);

/* It was not possible to DEED: *RETERR_TEXT is the sentence, with advice (owned by the caller; NULL without memory). Returns ERROR, a negative errno. */
int load_error(int error, const char *deed, char **reterr_text);

/* Likewise, where it takes perf events, which some kernels give to fewer. */
int load_error_perf(int error, const char *deed, char **reterr_text);
