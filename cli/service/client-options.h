/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of the verbs that only call the daemon, and the connection to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/bus/bus-client.h"
#include "cli/service/remote.h"
#include "writer/pack/pack.h"

/* Bits for the options of a verb, besides --bus and --help. */
enum {
	CLIENT_JSON = 1 << 0,
	CLIENT_DIRECT = 1 << 1,
	CLIENT_COUNT = 1 << 2,
	CLIENT_OUTPUT = 1 << 3, /* -o, --force, --compress */
	CLIENT_ALL = 1 << 4,    /* --all, --reason */
};

struct client_options {
	const char *bus; /* NULL = the system bus */
	bool json;
	bool direct;
	uint64_t count;     /* 0 = not given */
	const char *output; /* NULL = not given */
	bool force;
	enum pack_method compress; /* PACK_NONE = not given */
	bool all;
	const char *reason; /* NULL = not given */
	char **rest;        /* the words that are not options; ends with NULL */
	int n_rest;
};

enum {
	CLIENT_OPTIONS_GO = -1, /* the options are valid; other results are an enum cli_exit */
};

/* Parses the argument of -n, a count that is not 0, into an uint64_t. */
int client_options_parse_count(void *to, char *value);

int client_options_parse(int argc, char **argv, unsigned known, struct client_options *ret);

#define CLIENT_OPTIONS_HELP                                                                        \
	REMOTE_HELP                                                                                \
	"      --bus=ADDRESS  the bus of the service (the system bus)\n"                           \
	"  -h, --help         show this\n"

/* Warns, once, if the service has another version. */
void client_check_version(const struct bus_client *c);

/* Connects to the daemon. Returns CLI_OK, or CLI_FAILED after an error message. */
int client_connect(const struct client_options *o, struct bus_client **ret);

/*
 * For a verb with no arguments but options: parses the options, and connects. Returns
 * CLIENT_OPTIONS_GO, or the exit status.
 */
int client_begin(int argc, char **argv, unsigned known, struct client_options *ret,
		 struct bus_client **ret_client);

/* Connects like client_connect(), and finds the session NAME. *RET_PATH is owned by the caller. */
int client_find(const struct client_options *o, const char *name, struct bus_client **ret,
		char **ret_path);

/* Prints the message of bus_client_error(). Returns CLI_FAILED. */
int client_failed(const struct bus_client *c);
