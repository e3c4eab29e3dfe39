//go:build !js

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
)

// patience is how long a step may take on a machine with too much to do.
const patience = 60 * time.Second

// node is the command line of a Node that has WebSockets; the test is passed over without one.
func node(t *testing.T) []string {
	t.Helper()
	for _, line := range [][]string{{"node"}, {"node", "--experimental-websocket"}} {
		if exec.Command(line[0], append(line[1:], "-e", "new WebSocket('ws://127.0.0.1:1').onerror = () => process.exit(0)")...).Run() == nil {
			return line
		}
	}
	t.Skip("takes Node with WebSockets (20.10 or later)")
	return nil
}

// shown is what a page shows.
type shown struct {
	State string
	Says  []string
	Dots  []struct {
		X, Y         float64
		Colour, Name string
	}
}

// browser runs a page in Node.
type browser struct {
	keys io.Writer

	mu   sync.Mutex
	last shown
	text string // the last line that is not JSON
}

func openPage(t *testing.T, dir, door, name string) *browser {
	t.Helper()
	line := append(node(t), "--stack-size=8192", "--require", "./testdata/dom.js", filepath.Join(dir, "wasm_exec_node.js"), filepath.Join(dir, "game.wasm"), "-door", door, "-name", name)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{keys: keys}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			b.take(lines.Bytes())
		}
	}()
	t.Cleanup(func() {
		_ = keys.Close() // that closes the page
		<-read
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the page: %v: %s", err, b.text)
		}
	})
	return b
}

func (b *browser) take(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s shown
	if err := json.Unmarshal(line, &s); err != nil {
		b.text = string(line)
		return
	}
	b.last = s
}

func (b *browser) shows() shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

func (b *browser) press(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := fmt.Fprintln(b.keys, key); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *browser) until(t *testing.T, what string, is func(shown) bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(b.shows()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s: the page shows %+v %s", what, b.shows(), b.text)
		}
	}
}

// sees reports whether the page draws somebody by name.
func (s shown) sees(name string) bool {
	for _, d := range s.Dots {
		if d.Name == name {
			return true
		}
	}
	return false
}

// TestPage: a page logs in by WebSocket, as WebAssembly in Node, sees the flock and another player, walks
// over the line between the cells, is heard and hears, outlives the CellApp that its avatar is on, and walks
// on.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for another system")
	}
	node(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	world, err := start(ctx, "127.0.0.1:8090")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = world.Stop() }()
	dir := t.TempDir()
	if err := build(ctx, dir); err != nil {
		t.Fatal(err)
	}
	ada := openPage(t, dir, door(world), "Ada")
	ada.until(t, "in the meadow", func(s shown) bool { return strings.Contains(s.State, "in view") && len(s.Dots) > 5 })

	heard := make(chan string, 100)
	bob, err := world.Connect("Bob", "", client.Events{Called: func(_ *client.Replica, _ *property.Method, args []property.Value) {
		heard <- args[0].Str()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bob.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	where := func() (x float32) {
		x = -1000
		_ = bob.Do(func(c *client.Client) error {
			for r := range c.Entities() {
				if r.Def.Name == "Avatar" && r.Props.Get(r.Def.Property("name").Index).Str() == "Ada" {
					x = r.Position.X
				}
			}
			return nil
		})
		return x
	}
	walk := func(key string, there func(x float32) bool) {
		t.Helper()
		ada.press(t, "down "+key)
		for end := time.Now().Add(patience); !there(where()); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: Bob sees Ada at %v; her page shows %+v %s", key, where(), ada.shows(), ada.text)
			}
		}
		ada.press(t, "up "+key)
	}
	ada.until(t, "shown Bob", func(s shown) bool { return s.sees("Bob") })
	walk("ArrowRight", func(x float32) bool { return x > 20 })
	walk("ArrowLeft", func(x float32) bool { return x > -1000 && x < -20 })
	ada.press(t, "down Enter", "up Enter")
	select {
	case text := <-heard:
		if text != "good day" {
			t.Errorf("Bob hears %q", text)
		}
	case <-time.After(patience):
		t.Fatal("Bob hears nothing")
	}
	ada.until(t, "shown what she says herself", func(s shown) bool { return len(s.Says) == 1 && s.Says[0] == "Ada: good day" })
	for range world.CellApps() {
		if err := world.AddCellApp(); err != nil {
			t.Fatal(err)
		}
		if err := world.KillCellApp(0); err != nil {
			t.Fatal(err)
		}
	}
	walk("ArrowRight", func(x float32) bool { return x > 20 })
}

// No sheep is ever in the pond, however long they wander.
func TestSheepGoRound(t *testing.T) {
	world, err := start(t.Context(), "127.0.0.1:8090")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = world.Stop() }()
	bob, err := world.Connect("Bob", "", client.Events{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bob.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	const inset = 1 // a place that was told is a hand's breadth off
	moved := make(map[entity.ID]property.Vector3)
	walked := 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err := bob.Do(func(c *client.Client) error {
			for r := range c.Entities() {
				at := r.Position
				if x, z := float64(at.X), float64(at.Z); x > pond().MinX+inset && x < pond().MaxX-inset && z > pond().MinZ+inset && z < pond().MaxZ-inset {
					return fmt.Errorf("a sheep is in the pond, at %v", at)
				}
				if was, ok := moved[r.ID]; ok && was != at {
					walked++
				}
				moved[r.ID] = at
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if walked < 50 {
		t.Errorf("%d sheep went %d times", len(moved), walked)
	}
}

// What the page loads is served, and nothing else.
func TestServed(t *testing.T) {
	h := page(t.TempDir(), "ws://127.0.0.1:7")
	for path, want := range map[string]int{"/": http.StatusOK, "/door": http.StatusOK, "/nothing": http.StatusNotFound} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
