package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// overlaid builds the program with a file of the module changed.
func overlaid(t *testing.T, file, from, to string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), from) != 1 {
		t.Fatalf("%q is not once in %s: %v", from, file, err)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program(t, "-overlay", overlay)
}

// TestForeignBuilds: processes of a build whose messages are others, and of one with other definitions, come
// to a world that runs. Each is refused, ends, and says why, and so does the world's log; the player notices
// nothing.
func TestForeignBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library twice")
	}
	t.Parallel()
	foreign := []struct {
		what, program string
		says          []string
	}{
		{"other messages", overlaid(t, "../../internal/wire/version.go", "const Version = ", "const Version = 7000 + "), []string{"speaks version 7", "cluster speaks version", "stop the whole world"}},
		{"other definitions", overlaid(t, "defs/entity_defs/Walker.def", "<name> <Type>", "<hat> <Type> UINT8 </Type> <Flags> ALL_CLIENTS </Flags> </hat> <name> <Type>"), []string{"other entity definitions: digest ", "the cluster has ", "stop the whole world"}},
	}
	w, managers := world(t)
	login := port(t)
	w.role("login", "-ports", login+"-"+login)
	w.role("baseapp")
	w.role("cellapp")
	w.role("cellapp")
	player := w.visitor(login)
	w.await("a player waves", func() bool { return len(player.waves()) > 0 })
	// The place of a manager that may go, so that one of another build can come.
	w.leave(managers[2])
	managers = managers[:2]
	logged := func(words ...string) bool { return managers[0].line(words...) || managers[1].line(words...) }

	ours := w.program
	for _, f := range foreign {
		w.program = f.program
		time.Sleep(1100 * time.Millisecond) // the managers' log has a line of each role a second
		for _, args := range [][]string{{"cellapp"}, {"baseapp"}, {"login"}, {"managers", "-listen", hosts[2]}, {"stop"}} {
			who := map[string]string{"cellapp": "role=CellApp", "baseapp": "role=BaseApp", "login": "role=LoginApp", "managers": "refused another manager", "stop": "role=observer"}[args[0]]
			if args[0] == "stop" && f.what == "other definitions" {
				continue // an observer needs none, and would stop the world
			}
			begun := time.Now()
			p := w.role(args[0], args[1:]...)
			select {
			case err := <-p.ended:
				if err == nil {
					t.Errorf("%s: the %s ends without an error", f.what, args[0])
				}
			case <-time.After(30 * time.Second):
				t.Errorf("%s: the %s does not end", f.what, args[0])
			}
			for _, want := range f.says {
				if !p.said(want) {
					t.Errorf("%s: the %s does not say %q", f.what, args[0], want)
				}
				if !logged("refused", who, want) {
					t.Errorf("%s: the managers do not say %q of the %s", f.what, want, args[0])
				}
			}
			t.Logf("%s: the %s ended after %v", f.what, args[0], time.Since(begun).Round(time.Millisecond))
		}
	}
	p := w.visitor(login, "-name", "Bob") // of other definitions
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		t.Error("a visitor of other definitions does not end")
	}
	w.program = ours
	if !p.said("entity definitions: its client digest is ") || !p.said("that of the world ") {
		t.Error("it does not say why")
	}
	since := len(player.waves())
	w.await("the player waves on", func() bool { return len(player.waves()) > since+5 })
	if player.said("the line is lost") {
		t.Error("the player has noticed")
	}
	if err := <-w.role("stop").ended; err != nil {
		t.Errorf("the world was not stopped: %v", err)
	}
}
