package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// transcript is what the program prints.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) has(s string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Contains(t.text.String(), s)
}

// The character stands where it stood, with its bag, after the world has ended and begun again.
func TestItStandsWhereItStood(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.db")
	said := &transcript{}
	out = said
	for i, want := range [][]string{
		{"Ada stands at x=0 with 0 things in the bag", "1 things in the bag are kept", "the store keeps Ada", "Bob has baked 0 loaves"},
		{"Ada stands at x=5 with 1 things in the bag", "2 things in the bag are kept", "Bob has baked", "1 of type Baker are written"},
		{"Ada stands at x=10 with 2 things in the bag", "3 things in the bag are kept"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- run(ctx, file, i > 0, false, false) }()
		for _, w := range want {
			for until := time.Now().Add(20 * time.Second); !said.has(w); time.Sleep(20 * time.Millisecond) {
				if len(done) > 0 || time.Now().After(until) {
					cancel()
					t.Fatalf("%q is missing in\n%s\n%v", w, said.text.String(), <-done)
				}
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(said.text.String(), "Bob has baked 0 loaves"); n != 1 {
			t.Errorf("the baker began anew %d times in\n%s", n, said.text.String())
		}
	}
}

// A dry run lists what a start would do with the file, and does not do it.
func TestDryRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.db")
	for range 2 {
		said := &transcript{}
		out = said
		if err := run(context.Background(), file, false, true, false); err != nil {
			t.Fatal(err)
		}
		if !said.has("Avatar") || !said.has("Baker") || said.has("change 0 things") {
			t.Errorf("it says\n%s", said.text.String())
		}
	}
}
