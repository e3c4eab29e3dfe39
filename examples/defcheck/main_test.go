package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden models anew")

const testdata = "../../property/testdata"

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
