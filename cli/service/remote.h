/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service of another machine (-H, --host), or of a container on this one (-M, --machine); or
 * the private socket of this machine's service (--socket).
 *
 * Verbs that only call the service use the bus of the other machine or container. Buses pass
 * descriptors to a container, but not through ssh. So for ssh, the other machine's kymo writes the
 * archive to its standard output, and the archive is stored in a file here. All names (units,
 * users, processes) are then names of the other machine.
 */
#pragma once

#include <stdbool.h>

struct remote {
	const char *host;    /* [USER@]HOST, or NULL */
	const char *machine; /* or NULL */
	const char *socket;  /* path of the private socket of this machine's service, or NULL */
};

#define REMOTE_HELP                                                                                \
	"  -H, --host=[USER@]HOST\n"                                                               \
	"                     the service of another machine, by ssh\n"                            \
	"  -M, --machine=NAME\n"                                                                   \
	"                     the service of a container of this machine\n"                        \
	"      --socket[=PATH]\n"                                                                  \
	"                     as root, the private socket of the service, without the bus\n"

/* For verbs with longer names of options. */
#define REMOTE_HELP_WIDE                                                                           \
	"  -H, --host=[USER@]HOST     the service of another machine, by ssh\n"                    \
	"  -M, --machine=NAME         the service of a container of this machine\n"                \
	"      --socket[=PATH]        as root, the private socket of the service, without the\n"   \
	"                             bus\n"

enum {
	/* The verb must run here. Other results are an enum cli_exit */
	REMOTE_GO = -1,
};

/* Moves -H, -M and --socket from before the verb to after it. ARGV[0] is the program. */
void remote_append(int argc, char **argv);

/* Removes -H, -M and --socket, and their values, from the words up to "--". ARGV[0] is the verb.
 * Returns CLI_OK, or CLI_USAGE after an error message. */
int remote_parse_options(int *argc, char **argv, struct remote *ret);

/* Returns true if the service is not reached through the system bus of this machine. */
bool remote_is_set(const struct remote *r);

/*
 * Refuses unsupported verbs, and runs the verb on the other machine, or returns REMOTE_GO so that
 * this process runs the verb and uses the other bus or the socket. ARGV[0] is the verb.
 */
int remote_run(const struct remote *r, int argc, char **argv);
