/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -H, --host and -M, --machine: the service of another machine, or of a container of this one.
 *
 * What only asks the service goes over a bus there. Descriptors cannot: to a container they pass,
 * but not through ssh. So there the other machine's kymo makes the archive, on its standard output,
 * and it is written to a file here. All names (units, users, processes) are then those of the other
 * machine.
 */
#pragma once

struct remote {
	const char *host;    /* [USER@]HOST, or NULL */
	const char *machine; /* or NULL */
};

#define REMOTE_HELP                                                                                \
	"  -H, --host [USER@]HOST  the service of another machine, by ssh\n"                       \
	"  -M, --machine NAME  the service of a container of this machine\n"

enum {
	/* The verb does the rest, also where nothing else was asked for; else an enum cli_exit */
	REMOTE_GO = -1,
};

/* ARGV[0] is the program. -H and -M may stand before the verb: they go behind it. */
void remote_put_behind(int argc, char **argv);

/*
 * ARGV[0] is the verb. Takes -H and -M with their values out of the words, up to "--". Returns
 * CLI_OK, or CLI_USAGE, which was said.
 */
int remote_take(int *argc, char **argv, struct remote *ret);

/*
 * ARGV[0] is the verb. Refuses what cannot be, does it there, or leaves it to the verb, whose bus
 * is the other one then.
 */
int remote_run(const struct remote *r, int argc, char **argv);
