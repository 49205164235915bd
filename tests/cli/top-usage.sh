# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo top something
echo "exit $?"
kymo top --
kymo top -i
kymo top -i 1ms
kymo top --interval=2h
kymo top -i soon
kymo top -n 0
kymo top -n many
kymo top -o file
kymo top -e sched
kymo top -F 0
kymo top -d -1
kymo top -p 0
echo "exit $?"
kymo top -p 4194304999
kymo top --comm ''
kymo top --json=1
kymo top --bus unix:path=nowhere
echo "exit $?"
