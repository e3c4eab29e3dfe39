package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHouse checks this module.
func TestHouse(t *testing.T) {
	root := filepath.Join("..", "..")
	watch(t, root)
	faults, err := Check(root, House())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// watch reads every folder of the module, so that the go command does not take this test's result
// from its cache when a file or a package is new: the go command knows what the test reads, but not
// what the compiler reads for it.
func watch(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const plantedEdges = `
.:
low:
FLOOR = low third.example/lib
badimport:              # names neither
goodimport: FLOOR
goroutine:
clock:
outside:
chance:
maprange:
pointer:
state:
nodoc:
baddoc:
long:
internal/hidden:
shown: internal/hidden
broken:
adapter:
program/...: low
program: low low2       # low2 is not there
low:
mercury:
nonsense
`

const plantedVariables = `
low.kinds: a table that is never written
low.gone: the line outlived the variable
absent.table: its package is not there yet
state.list: a table, but it is written
state.nothing:
`

const plantedShown = `
shown.Excepted: somebody needs it
shown.Gone: the line outlived the function
`

const plantedSurfaces = `
state: 1
long.Path: 1
long.Gone: 1
nonsense
`

// TestPlanted sees every trap fail: testdata/planted is a module with one package for each.
func TestPlanted(t *testing.T) {
	dir := filepath.Join("testdata", "planted")
	watch(t, dir)
	faults, err := Check(dir, Rules{
		Edges:     plantedEdges,
		Impure:    "adapter: a lock and a goroutine\nclock/excepted.go: a single file of a pure package\n",
		Variables: plantedVariables,
		Surfaces:  plantedSurfaces,
		Shown:     plantedShown,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range faults {
		got.WriteString(f.String() + "\n")
	}
	golden := filepath.Join("testdata", "planted.txt")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("report differs from %s (-want +got):\n%s", golden, diff)
	}
}

func TestRowsOfTheTable(t *testing.T) {
	c := newChecker(".", Rules{Edges: "a:\na/...: a a/...\na/b/...: a\nc: a\n"})
	if len(c.faults) != 0 {
		t.Fatalf("faults %v", c.faults)
	}
	for name, want := range map[string]string{
		"a": "a", "a/x": "a/...", "a/b": "a/...", "a/b/c": "a/b/...", "ab": "", "c": "c", "c/d": "",
	} {
		got := ""
		if r := c.edges.row(name); r != nil {
			got = r.name
		}
		if got != want {
			t.Errorf("%s stands on the line of %q, want %q", name, got, want)
		}
	}
}

func TestCheckWithoutModule(t *testing.T) {
	faults, err := Check(filepath.Join("testdata", "absent"), Rules{})
	if err == nil {
		t.Errorf("a folder that is not there has %d faults and no error", len(faults))
	}
}
