package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden models anew")

const testdata = "../testdata"

// The model of a whole tree of each dialect, byte for byte.
func TestModels(t *testing.T) {
	for _, dialect := range []string{"bigworld", "kbengine"} {
		t.Run(dialect, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := run([]string{filepath.Join(testdata, dialect)}, &out, &errs); status != 0 || errs.Len() > 0 {
				t.Fatalf("status %d: %s", status, errs.String())
			}
			golden := filepath.Join(testdata, dialect+".json")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "entities.xml"), []byte("<root>\n<A/>\n<B/></root>"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no directory", nil, 2, "usage: defcheck DIR\n"},
		{"two", []string{"a", "b"}, 2, "usage: defcheck DIR\n"},
		{"flag", []string{"-help"}, 2, "usage: defcheck DIR\n"},
		{"broken", []string{broken}, 1, "entities.xml:2: A: there is no file entity_defs/A.def; create it, or correct the name\n" +
			"entities.xml:3: B: there is no file entity_defs/B.def; create it, or correct the name\n"},
		{"empty", []string{t.TempDir()}, 1, "entities.xml: there is no file entities.xml; list the entity types there\n"},
	} {
		var out, errs bytes.Buffer
		if status := run(c.args, &out, &errs); status != c.status || errs.String() != c.want || out.Len() > 0 {
			t.Errorf("%s: status %d, %q, want %d, %q", c.name, status, errs.String(), c.status, c.want)
		}
	}
}

// A USER_TYPE is told as what needs a codec in Go, and the rest of the tree is shown all the same.
func TestUserTypesAreTold(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"entities.xml": "<root> <A/> </root>",
		"entity_defs/A.def": `<root> <Properties>
			<bag> <Type> USER_TYPE <implementedBy> items.inst </implementedBy> </Type> <Flags> BASE </Flags> </bag>
			<home> <Type> VECTOR3 </Type> <Flags> CELL_PRIVATE </Flags> <Default> (0,0,0) </Default> </home>
			</Properties> </root>`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if status := run([]string{dir}, &out, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	if got := errs.String(); !strings.Contains(got, "USER_TYPE items.inst needs a Go codec: write a property.UserCodec") || !strings.Contains(got, "A.def:2") {
		t.Errorf("standard error %q", got)
	}
	for _, want := range []string{`"name": "home"`, `"default": "0 0 0"`, `"needCodec"`, `"items.inst"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}
