#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Profiles of OpenTelemetry, read by protoc with the description of the format in
# tests/support/checkers/otlp.proto. Their stacks, names and values are those of the profile for
# pprof, and all numbers refer to entries that exist.

. "$(dirname "$0")/../lib.sh"
need_command protoc gzip python3

checkers=$ROOT/tests/support/checkers
cd "$TMP" || exit 1

# decode MESSAGE SCHEMA FILE: FILE as text
decode() {
	gzip -dc "$3" | protoc "--decode=$1" -I "$checkers" "$2" 2>/dev/null >"$3.txt" || fail "protoc cannot read $3"
	# Unknown fields are shown by their numbers.
	! grep -E '^ *[0-9]+[:{ ]' "$3.txt" || fail "$3: fields that the format does not have"
}

# A line for each stack of each profile: type, value, labels and frames.
cat >lines.py <<-'END'
	import sys

	def parse(lines):
	    message = {}
	    for line in lines:
	        line = line.strip()
	        if line == "}":
	            break
	        if line.endswith("{"):
	            message.setdefault(line[:-2], []).append(parse(lines))
	        else:
	            key, value = line.split(": ", 1)
	            value = value[1:-1] if value.startswith('"') else 1 if value == "true" else int(value)
	            message.setdefault(key, []).append(value)
	    return message

	def one(message, key, default=0):
	    return message.get(key, [default])[0]

	def otlp(data):
	    tables = data["dictionary"][0]
	    texts = tables["string_table"]
	    assert texts[0] == "" and len(set(texts)) == len(texts), "texts"
	    for name in "mapping", "location", "function", "link", "attribute", "stack":
	        assert tables[name + "_table"][0] == {}, name + ": the first entry is not empty"
	    assert all(k == 0 or v != {} for n in ("location", "function", "attribute")
	               for k, v in enumerate(tables[n + "_table"])), "empty entries"

	    def attributes(message):
	        ret = {}
	        for index in message.get("attribute_indices", []):
	            assert index > 0
	            a = tables["attribute_table"][index]
	            key = texts[one(a, "key_strindex")]
	            assert key not in ret
	            value = one(a, "value")
	            ret[key] = value.get("string_value", value.get("int_value"))[0]
	        return ret

	    def frame(index):
	        assert index > 0
	        location = tables["location_table"][index]
	        mapping = tables["mapping_table"][one(location, "mapping_index")]
	        functions = [tables["function_table"][line["function_index"][0]] for line in location.get("lines", [])]
	        names = "/".join(f"{texts[one(f, 'name_strindex')]}:{texts[one(f, 'filename_strindex')]}:{one(line, 'line')}"
	                         for f, line in zip(functions, location.get("lines", [])))
	        build_id = attributes(mapping).get("process.executable.build_id.gnu", "")
	        kinds.add(attributes(location).get("profile.frame.type"))
	        return f"{one(location, 'address'):x}|{texts[one(mapping, 'filename_strindex')]}|{build_id}|{names}"

	    kinds = set()
	    for resource in data["resource_profiles"]:
	        print("#", *sorted(a["key"][0] + "=" + a["value"][0]["string_value"][0]
	                           for a in resource["resource"][0]["attributes"]))
	        for profile in resource["scope_profiles"][0]["profiles"]:
	            kind = texts[profile["sample_type"][0]["type_strindex"][0]]
	            unit = texts[profile["sample_type"][0]["unit_strindex"][0]]
	            print("#", kind, unit, one(profile, "duration_nano"), one(profile, "period"))
	            for sample in profile.get("samples", []):
	                labels = attributes(sample)
	                stack = tables["stack_table"][sample["stack_index"][0]]
	                print(kind, sample["values"][0], labels["process.executable.name"], labels["process.pid"],
	                      labels["thread.name"], labels["thread.id"],
	                      *[frame(i) for i in stack.get("location_indices", [])], sep="\t")
	    print("# frames:", *sorted(str(k) for k in kinds))

	def pprof(data):
	    texts = data["string_table"]
	    types = [texts[t["type"][0]] for t in data["sample_type"]]
	    rename = {"offcpu": "off_cpu"}
	    tables = {name: {m["id"][0]: m for m in data.get(name, [])} for name in ("mapping", "location", "function")}

	    def frame(number):
	        location = tables["location"][number]
	        mapping = tables["mapping"].get(one(location, "mapping_id"), {})
	        names = "/".join(f"{texts[one(f, 'name')]}:{texts[one(f, 'filename')]}:{one(line, 'line')}"
	                         for line in location.get("line", []) for f in [tables["function"][line["function_id"][0]]])
	        return f"{one(location, 'address'):x}|{texts[one(mapping, 'filename')]}|{texts[one(mapping, 'build_id')]}|{names}"

	    for sample in data.get("sample", []):
	        labels = {texts[l["key"][0]]: texts[l["str"][0]] if "str" in l else one(l, "num") for l in sample["label"]}
	        for kind, value in zip(types, sample["value"]):
	            if value:
	                print(rename.get(kind, kind), value, labels["process"], labels["pid"], labels["thread"],
	                      labels["tid"], *[frame(n) for n in sample.get("location_id", [])], sep="\t")

	(otlp if sys.argv[1] == "otlp" else pprof)(parse(iter(sys.stdin.read().splitlines())))
END

# compare FILE ARGUMENT ...: both profiles of FILE have the same lines
compare() {
	"$KYMO" flame "$@" -o a.pb.gz --force 2>said || fail "$(cat said)"
	"$KYMO" flame "$@" -o a.otlp.gz --force 2>said || fail "$(cat said)"
	decode Profile profile.proto a.pb.gz
	decode ProfilesData otlp.proto a.otlp.gz
	python3 lines.py pprof <a.pb.gz.txt | sort >wanted || fail "the profile for pprof is not understood"
	python3 lines.py otlp <a.otlp.gz.txt >found || fail "the profile is wrong"
	grep -v '^#' found | sort | diff -u wanted - || fail "other stacks: $*"
	assert_ge "$(wc -l <wanted)" 2 "stacks of $1"
}

golden=$ROOT/tests/golden/fxt
compare "$golden/profile.fxt"
assert_contains found '^# .*os\.type=linux' "the resource"
assert_contains found '^# frames: .*kernel.*native' "kinds of frames"
compare "$golden/profile-bare.fxt" --both --pid 300,100
assert_contains found '^# off_cpu nanoseconds [0-9]+ 0$' "times off CPU"
assert_contains found '^# waits count [0-9]+ 0$' "waits"
compare "$golden/profile.fxt" --both
assert_contains found '^# cpu nanoseconds [0-9]+ [1-9][0-9]*$' "the first profile"

note "by export, like the chunks of a collection"
"$KYMO" flame "$golden/profile.fxt" --both -o a.otlp.gz --force 2>said || fail "$(cat said)"
expect_exit 0 "$KYMO" export "$golden/profile.fxt" -o b.otlp.gz
gzip -dc a.otlp.gz | cmp - <(gzip -dc b.otlp.gz) || fail "export writes another profile"
expect_exit 0 "$KYMO" export --format pprof "$golden/profile.fxt" -o b.pb.gz
expect_exit 1 "$KYMO" export "$golden/profile.fxt" -o b.otlp.gz
expect_exit 0 "$KYMO" export --force "$golden/profile.fxt" -o b.otlp.gz
expect_exit 2 "$KYMO" export --compress=zstd --format otlp "$golden/profile.fxt" -o c
assert_says stderr "otlp is always compressed with gzip" "another compression"
"$MAKE_PROFILE" idle.fxt <<<"start idle"
expect_exit 0 "$KYMO" export idle.fxt -o idle.otlp.gz
decode ProfilesData otlp.proto idle.otlp.gz
python3 lines.py otlp <idle.otlp.gz.txt >found || fail "the empty profile is wrong"
assert_line found "# host.name=idle os.type=linux" "an idle machine"
expect_exit 2 "$KYMO" flame --allow-empty idle.fxt -o idle.svg
assert_says stderr "--allow-empty is only for pprof and otlp" "an empty picture"
