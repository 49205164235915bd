# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
mkdir made
cat >good.conf <<END
[Collection]
Mode=flight
[Output]
Directory=$PWD/made
END
kymo verify-profile good.conf
echo "exit $?"
cat >bad.conf <<END
Mode=stream
[Colection]
[Collection]
nonsense
  Mode=flight
Mode=stream
Frequenzy=3
Unit=a
RingSize=1K
Compress=
OffCpuMin=2ms ; of what?
[Output]
RotateSize=1M
END
kymo verify-profile good.conf bad.conf
echo "exit $?"
printf '[Output]\nDirectory=/no/such/directory\n' >./elsewhere.conf
kymo verify-profile elsewhere.conf
kymo verify-profile good.conf elsewhere.conf --json
mkdir etc
cp good.conf etc/here.conf
kymo verify-profile --config-dir etc here missing
echo "exit $?"
cp good.conf not-a-name.conf
kymo verify-profile ./not-a-name.conf
kymo verify-profile made/
kymo verify-profile
echo "exit $?"
kymo verify-profile --list | sed -n 1,4p
