package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/property/defgen/internal/kinds"
)

var update = flag.Bool("update", false, "write the generated files of the test packages")

// The checked-in file is what go generate writes: its package is compiled and used by tests of its
// own.
func TestSampleIsUpToDate(t *testing.T) {
	source, err := os.ReadFile("internal/sample/sample.go")
	if err != nil {
		t.Fatal(err)
	}
	_, directive, _ := strings.Cut(string(source), "//go:generate go run "+module+"/property/defgen ")
	directive, _, _ = strings.Cut(directive, "\n")
	args := strings.Fields(strings.Replace(directive, "-out gen_sample.go", "", 1))
	t.Chdir("internal/sample")
	var out, errs bytes.Buffer
	if status := run(args, "sample", &out, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	compare(t, "gen_sample.go", out.Bytes())
}

// What a tree cannot say without Go code of a game is described in Go.
func TestKindsIsUpToDate(t *testing.T) {
	schema, err := kinds.Schema()
	if err != nil {
		t.Fatal(err)
	}
	source, err := generate(schema, &options{pkg: "kinds", users: []user{{name: "Coins", goType: "Coins"}, {name: "Address", path: "net/netip", goType: "Addr"}}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "internal/kinds/gen_kinds.go", source)
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what is generated now; run go test -update (-checked in +generated):\n%s", file, diff)
	}
}
