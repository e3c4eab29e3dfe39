package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/examples/internal/certificate"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

// patience is for a machine that has much else to do.
const patience = time.Minute

// arena starts one in this process, so full of guards that some are always within earshot. It
// returns the flags by which each of its doors is visited.
func arena(t *testing.T) (doors []flags) {
	t.Helper()
	schema, err := defs.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := game.World(schema, game.Size{Guards: 2000, CellApps: 1, BaseApps: 1})
	if cfg.Key, err = secure.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "arena.pem")
	cert, err := certificate.Make(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	cfg.Doors = []cluster.Door{{Network: cluster.UDP}, {Network: cluster.WebSocket}, {Network: cluster.QUIC}, {Network: cluster.TCP}}
	w, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	for i, url := range w.LoginURLs() {
		f := flags{url: url, ca: file, name: fmt.Sprint("Visitor ", i), stay: patience}
		if strings.HasPrefix(url, "udp://") {
			f.ca, f.key = "", cfg.Key.Public().String()
		}
		doors = append(doors, f)
	}
	return doors
}

// By each door the visitor sees somebody move and hears somebody, and is told in the end what
// that cost.
func TestVisitor(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, f := range arena(t) {
		t.Run(f.url[:strings.Index(f.url, ":")], func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			said, out := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				err := run(ctx, &f, out)
				_ = out.Close() // returns no error
				ended <- err
			}()
			var all strings.Builder
			saw := false
			for lines := bufio.NewScanner(said); lines.Scan(); {
				fmt.Fprintln(&all, lines.Text())
				var x, z, view, moves, heard int
				if n, _ := fmt.Sscanf(lines.Text(), "at %d, %d: %d in view, %d moves seen, %d things heard", &x, &z, &view, &moves, &heard); n == 5 && moves > 0 && heard > 0 {
					saw = true
					cancel()
				}
			}
			if err := <-ended; err != nil || !saw || !strings.Contains(all.String(), "received ") {
				t.Errorf("%v\n%s", err, &all)
			}
			t.Logf("%s", &all)
		})
	}
}

// What is wrong with the command line is told with the flag that it is about.
func TestFlagFaults(t *testing.T) {
	for want, f := range map[string]flags{
		"-key":         {url: "udp://127.0.0.1:1", key: "secret"},
		"-ca":          {url: "wss://127.0.0.1:1", ca: "main.go"},
		"smoke":        {url: "smoke://127.0.0.1:1"},
		"give host":    {},
		"no such file": {url: "wss://127.0.0.1:1", ca: "nowhere"},
	} {
		if err := run(t.Context(), &f, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
