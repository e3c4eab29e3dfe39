// Plants measures the simulator: it plants bugs in the library's source, one at a time, and demands
// that the default run of internal/sim fails for each.
//
//	go run ./internal/sim/plants              all of them; some minutes
//	go run ./internal/sim/plants -only saves  those whose names match
//	go run ./internal/sim/plants -list        their names
//
// A plant is a text that stands exactly once in a file, and the text to put there instead (see
// plants.go). The go command compiles it by an overlay, so the tree stays as it is. First TestSeeds
// runs until a seed fails; if none does, all tests of the package run. A plant that nothing
// catches, one that does not compile, and one whose text is gone or stands twice are errors. This
// package's own test checks the last kind, too, so that the list does not rot.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "plant those whose names match this regular expression")
	list := flag.Bool("list", false, "print the names and plant nothing")
	seeds := flag.Int("seeds", 0, "how many seeds TestSeeds runs; 0 for its default")
	whole := flag.Bool("whole", true, "run the other tests of the package, too, if no seed fails")
	flag.Parse()
	if err := run(*only, *list, *seeds, *whole); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(only string, list bool, seeds int, whole bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	survived, undecided := 0, 0
	for _, p := range plants() {
		if !match.MatchString(p.name) {
			continue
		}
		if list {
			fmt.Printf("%-40s %s\n", p.name, p.file)
			continue
		}
		begun := time.Now()
		by, err := p.try(root, seeds, whole)
		switch {
		case err != nil:
			undecided++
			by = fmt.Sprint("UNDECIDED: ", err)
		case by == "":
			survived++
			by = "SURVIVED"
		}
		fmt.Printf("%-40s %4.0f s  %s\n", p.name, time.Since(begun).Seconds(), by)
	}
	if survived+undecided > 0 {
		return fmt.Errorf("%d bugs were caught by nothing, %d are undecided", survived, undecided)
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// planted is the text of the plant's file with the bug in it.
func (p *plant) planted(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, p.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), p.old); n != 1 {
		return "", fmt.Errorf("the text to be replaced stands %d times in %s, not once:\n%s", n, p.file, p.old)
	}
	return strings.Replace(string(text), p.old, p.new, 1), nil
}

// try plants the bug, and returns what caught it, "" for nothing.
func (p *plant) try(root string, seeds int, whole bool) (by string, err error) {
	text, err := p.planted(root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "plant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, filepath.Join(root, p.file), text)
	if err != nil {
		return "", err
	}
	first := []string{"-first"}
	if seeds > 0 {
		first = append(first, fmt.Sprint("-seeds=", seeds))
	}
	by, err = test(root, overlay, "^TestSeeds$", first)
	if by == "" && err == nil && whole {
		by, err = test(root, overlay, "", nil)
	}
	return by, err
}

func writeOverlay(dir, file, text string) (string, error) {
	changed := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o600)
}

// test runs tests of the simulator with the bug in place, and returns the first fault that they
// name.
func test(root, overlay, only string, args []string) (by string, err error) {
	line := []string{"test", "-tags", "invariants", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout=15m",
		"-skip", "^TestPlanted", // these try the checkers: beside another bug, their own may go unnoticed
		"-run", only, "./internal/sim"}
	if len(args) > 0 {
		line = append(append(line, "-args"), args...)
	}
	cmd := exec.Command("go", line...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		return "", fmt.Errorf("it does not compile:\n%s", out)
	}
	if strings.Contains(string(out), "panic: test timed out after") {
		// The test may hang because of the bug, or because the machine is busy: that decides
		// nothing.
		return "", errLate
	}
	return verdict(string(out)), nil
}

var errLate = errors.New("the tests took longer than they may: try again on a quiet machine")

var seedFault = regexp.MustCompile(`(?m)^ +\S+_test\.go:\d+: (seed \d+: .*)$`)

// verdict is the line of a failed run that says what was wrong: a seed's fault if there is one.
func verdict(out string) string {
	name := ""
	for line := range strings.SplitSeq(out, "\n") {
		if m := seedFault.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], " simulated in ") {
			return name + cut(m[1])
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			name = strings.Fields(rest)[0] + ": "
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "panic:") || strings.Contains(t, "_test.go:") && !strings.Contains(t, " simulated in ") {
			return name + cut(t)
		}
	}
	return name + "failed"
}

func cut(s string) string { return s[:min(len(s), 200)] }
