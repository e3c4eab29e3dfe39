package invariant

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOn says so when the tests run without the checks. In .ci/run, which must have them, it fails.
func TestOn(t *testing.T) {
	switch {
	case On:
	case os.Getenv("CELLSCAPE_CI") != "":
		t.Error("invariants are not checked: .ci/run must set the tag invariants in GOFLAGS")
	default:
		t.Skip("invariants are not checked: run go test -tags invariants ./...")
	}
}

// TestCommands demands the tag in every command of the pages that a reader runs the tests by.
func TestCommands(t *testing.T) {
	command := regexp.MustCompile(`^go test( .*)? \./\.\.\.`)
	for _, page := range []string{"README.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, line := range strings.Split(string(text), "\n") {
			if command.MatchString(line) {
				found = true
				if !strings.Contains(line, "-tags invariants") {
					t.Errorf("%s: %q does not check invariants", page, line)
				}
			}
		}
		if !found {
			t.Errorf("%s does not say how all tests are run", page)
		}
	}
}

// TestCostsNothing builds a program with the tag and without: without it, nothing of the checks is in
// it, and nothing calls them.
func TestCostsNothing(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "invariants": true} {
		program := filepath.Join(t.TempDir(), "balancelab")
		build := exec.Command("go", "build", "-o", program, "-tags", tags, "../../balance/balancelab")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		symbols, err := exec.Command("go", "tool", "nm", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(symbols), "bsp.(*Tree).MoveLine") {
			t.Fatal("the program does not move lines, and shows nothing")
		}
		for _, of := range []string{"invariant.Fault", "bsp.(*Tree).assert"} {
			if has := strings.Contains(string(symbols), of); has != want {
				t.Errorf("with the tags %q the program has %s: %v", tags, of, has)
			}
		}
	}
}

func TestPass(t *testing.T) {
	fault := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	p := fault(func() { Broken("%d is not %d", 1, 2) })
	if f, ok := p.(Fault); !ok || f.Error() != "invariant broken: 1 is not 2" {
		t.Fatalf("Broken panics with %v", p)
	}
	if got := fault(func() { Pass(p) }); (got == p) != On {
		t.Errorf("a fault passed on is %v", got)
	}
	if got := fault(func() { Pass(errors.New("of a script")) }); got != nil {
		t.Errorf("what a script panics with is passed on: %v", got)
	}
}
