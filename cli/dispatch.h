/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: `kymo [--host ...] VERB ...`, `kymo help`, `kymo --version`.
 */
#pragma once

/* Runs the command line ARGV. Returns an enum cli_exit. */
int dispatch(int argc, char **argv);
