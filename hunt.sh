#!/bin/bash
# hunts for each rule: first config with violations
R=/tmp/roots_bin
runs=${RUNS:-1500}
for rule in $RULES; do
 for cfg in "ring=6 fault=0" "ring=6 fault=3" "ring=6 fault=1" "ring=7 fault=4" "ring=7 fault=5" "ring=6 fault=2" "ring=6 parts=2 pages=12 fault=0" "ring=6 parts=2 pages=12 fault=3" "ring=7 mark=1 pages=14 parts=2 fault=0" "ring=7 mark=1 pages=10 fault=3"; do
  nice -n 5 $R runs=$runs without=$rule $cfg | sed "s/told.*//; s/^/[$cfg] /" | grep -v "wrong {}"
 done
 echo "-- $rule done"
done
