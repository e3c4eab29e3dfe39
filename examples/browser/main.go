//go:build !js

// Browser is a world that is played in web pages: a meadow, a flock of sheep, and whoever opens the page.
//
//	go run ./examples/browser      and open the address that it prints, in two windows
//
// The page is this program again, built for GOOS=js, with the client library that any Go program uses:
// WebAssembly, which comes in by the world's WebSocket door. The arrow keys walk, the mouse points where
// to, and Enter greets whoever is near.
//
//	schema.go    what both agree on
//	main.go      the world, and the server of the page
//	world.go     its scripts
//	page_js.go   the page: logs in, draws, and does what the player wants
//	index.html   what the browser loads first
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed index.html
var indexHTML []byte

func main() {
	at := flag.String("http", "127.0.0.1:8090", "where the page is served")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *at); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

// run serves the world and its page until ctx ends.
func run(ctx context.Context, at string) (err error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // the server has closed it in most cases
	world, err := start(ctx, l.Addr().String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Println("building the page ...")
	if err := build(ctx, dir); err != nil {
		return err
	}
	server := &http.Server{Handler: page(dir, door(world)), ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Printf("play: http://%v/\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// door is the URL by which pages come in.
func door(world *cluster.Cluster) string {
	for _, url := range world.LoginURLs() {
		if strings.HasPrefix(url, "ws") {
			return url
		}
	}
	return ""
}

// build makes the page's program, and takes what starts it from the Go installation.
func build(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "game.wasm"), "github.com/cellscape/cellscape/examples/browser")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the page: %w\n%s", err, out)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	for _, name := range []string{"wasm_exec.js", "wasm_exec_node.js"} { // the second for the test
		glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), glue, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page serves what a browser loads.
func page(dir, door string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(indexHTML)
	})
	mux.HandleFunc("GET /door", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, door) })
	mux.Handle("GET /", http.FileServer(http.Dir(dir)))
	return mux
}
