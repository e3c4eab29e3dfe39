package wire_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
)

var update = flag.Bool("update", false, "write the layouts in testdata anew, for a raised Version")

const layoutsFile = "testdata/layouts.txt"

// layouts is what the messages of a version look like: the version, and a line for each message with its
// id, its name, who sends it to whom, and its sample as it travels.
func layouts() string {
	encoded := map[wire.ID][]byte{}
	for _, m := range samples() {
		encoded[wire.IDOf(m)] = m.Append(nil)
	}
	kinds := wire.Kinds()
	slices.SortFunc(kinds, func(a, b wire.Kind) int { return int(a.ID) - int(b.ID) })
	var text strings.Builder
	fmt.Fprintf(&text, "version %d\n", wire.Version)
	for _, k := range kinds {
		fmt.Fprintf(&text, "%d %s %s %x\n", k.ID, k.Name, ways(k.ID), encoded[k.ID])
	}
	return text.String()
}

// ways is who sends a message to whom, by the numbers of the roles: 1>23,2>1 is from the first to the second
// and third, and from the second to the first.
func ways(id wire.ID) string {
	var all []string
	for from := wire.CellAppMgr; from <= wire.Observer; from++ {
		to := ""
		for r := wire.CellAppMgr; r <= wire.Observer; r++ {
			if wire.May(from, id, r) {
				to += fmt.Sprint(uint8(r))
			}
		}
		if to != "" {
			all = append(all, fmt.Sprintf("%d>%s", uint8(from), to))
		}
	}
	return strings.Join(all, ",")
}

// layoutFaults says what is wrong with layouts in place of others: whatever has changed, under the same
// version. At an update of what is kept that is all that there can be.
func layoutFaults(kept, is string, updates bool) (faults []string) {
	was, now := strings.Split(kept, "\n"), strings.Split(is, "\n")
	name := func(line string) string {
		if f := strings.Fields(line); len(f) > 1 {
			return f[1]
		}
		return line
	}
	switch {
	case kept == is, updates && (kept == "" || was[0] != now[0]):
		return nil
	case was[0] != now[0]:
		return []string{fmt.Sprintf("%s is of %s, and Version says %s: go test ./internal/wire -run TestLayouts -update", layoutsFile, was[0], now[0])}
	}
	for _, line := range was {
		if !slices.Contains(now, line) {
			faults = append(faults, fmt.Sprintf("%s is not what it was in %s", name(line), was[0]))
		}
	}
	for _, line := range now {
		if !slices.ContainsFunc(was, func(l string) bool { return name(l) == name(line) }) {
			faults = append(faults, fmt.Sprintf("%s was not there in %s", name(line), was[0]))
		}
	}
	return append(faults, "raise Version in internal/wire/version.go, and go test ./internal/wire -run TestLayouts -update")
}

// TestLayouts: no message changes while the version stays. Processes of two builds would take each other for
// one, and what they say would be refused message by message, with nobody told why.
func TestLayouts(t *testing.T) {
	kept, err := os.ReadFile(layoutsFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	is := layouts()
	for _, f := range layoutFaults(string(kept), is, *update) {
		t.Error(f)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(layoutsFile, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// An update takes changes only with another version, and says what they are without one.
func TestLayoutFaults(t *testing.T) {
	const v1, v2 = "version 1\n16 Join 2>1 0102\n2 Refused 1>2 03\n", "version 2\n16 Join 2>1 0102ff\n2 Refused 1>2 03\n"
	for _, tt := range []struct {
		name, kept, is string
		updates        bool
		want           []string
	}{
		{"the same", v1, v1, false, nil},
		{"a new version", v1, v2, true, nil},
		{"a new version that is not kept", v1, v2, false, []string{"-update"}},
		{"changed", v1, strings.Replace(v2, "version 2", "version 1", 1), false, []string{"Join is not what it was in version 1", "raise Version"}},
		{"changed and updated", v1, strings.Replace(v2, "version 2", "version 1", 1), true, []string{"Join is not", "raise Version"}},
		{"one more", v1, v1 + "3 AppDead 1>2 04\n", true, []string{"AppDead was not there", "raise Version"}},
		{"one less", v1, strings.Replace(v1, "2 Refused 1>2 03\n", "", 1), true, []string{"Refused is not", "raise Version"}},
		{"the first", "", v1, true, nil},
	} {
		got := layoutFaults(tt.kept, tt.is, tt.updates)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], tt.want[i]) {
				t.Errorf("%s: %q, want %q", tt.name, got[i], tt.want[i])
			}
		}
	}
}

// What is said before the versions agree never changes: Join to the end of Speaks, LeaseAsk to the end of
// Digest, and Refused. These bytes stay as they are, whatever Version says.
func TestFrozen(t *testing.T) {
	digest := [16]byte{1, 2, 3, 15: 9}
	join := []byte("\x03\x01\x02\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\xac\x02\x07\x00\x09\x00and what that version adds")
	var j wire.Join
	if err := j.Parse(join); err != nil || j.Role != wire.BaseAppMgr || j.Digest != digest || j.Term != 300 || j.Speaks != (wire.Versions{Oldest: 7, Newest: 9}) {
		t.Errorf("%+v, %v", j, err)
	}
	if err := j.Parse(append([]byte{99}, join[1:19]...)); err != nil || j.Speaks != (wire.Versions{}) || j.Role != 99 {
		t.Errorf("from before there were versions: %+v, %v", j, err)
	}
	ask := []byte("\x07\x00\x09\x00\x01\x02\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09and more")
	var a wire.LeaseAsk
	if err := a.Parse(ask); err != nil || a.Digest != digest || a.Speaks != (wire.Versions{Oldest: 7, Newest: 9}) || a.Term != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	var r wire.Refused
	if err := r.Parse([]byte("\x03why")); err != nil || r.Reason != "why" {
		t.Errorf("%+v, %v", r, err)
	}
	if wire.RefusedID != 2 || wire.JoinID != 16 || wire.LeaseAskID != 168 {
		t.Error("their ids have changed")
	}
}

// Processes agree if one speaks the other's version and has its definitions, which an observer need not.
func TestDisagreement(t *testing.T) {
	mine, other := [16]byte{1}, [16]byte{2}
	const v = wire.Version
	for _, tt := range []struct {
		name string
		join wire.Join
		want []string
	}{
		{"the same", wire.Join{Role: wire.CellApp, Speaks: wire.Spoken(), Digest: mine}, nil},
		{"one that speaks more", wire.Join{Role: wire.CellApp, Speaks: wire.Versions{Oldest: v, Newest: v + 2}, Digest: mine}, nil},
		{"a later one", wire.Join{Role: wire.CellApp, Speaks: wire.Versions{Oldest: v + 1, Newest: v + 1}, Digest: mine},
			[]string{fmt.Sprintf("speaks version %d,", v+1), fmt.Sprintf("cluster speaks version %d:", v), "stop the whole world"}},
		{"a later one of several", wire.Join{Role: wire.Observer, Speaks: wire.Versions{Oldest: v + 1, Newest: v + 3}}, []string{fmt.Sprintf("versions %d to %d", v+1, v+3)}},
		{"an early one", wire.Join{Role: wire.BaseApp, Digest: mine}, []string{"no version"}},
		{"other definitions", wire.Join{Role: wire.CellApp, Speaks: wire.Spoken(), Digest: other}, []string{fmt.Sprintf("%x", mine), fmt.Sprintf("%x", other), "stop the whole world"}},
		{"an observer", wire.Join{Role: wire.Observer, Speaks: wire.Spoken()}, nil},
	} {
		got := tt.join.Disagreement(mine)
		ask := wire.LeaseAsk{Speaks: tt.join.Speaks, Digest: tt.join.Digest}
		if tt.join.Role != wire.Observer && ask.Disagreement(mine) != got {
			t.Errorf("%s: of a manager %q", tt.name, ask.Disagreement(mine))
		}
		if (got == "") != (tt.want == nil) || len(got) > wire.MaxReason {
			t.Errorf("%s: %q", tt.name, got)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", tt.name, got, want)
			}
		}
	}
}
