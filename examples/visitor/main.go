// Visitor is a client program: it plays in an arena that runs elsewhere, and has nothing of it
// but the definitions. Start an arena with all doors, and visit it as its first lines say:
//
//	go run ./examples/arena -doors udp,websocket,quic,tcp -cert arena.pem
//	go run ./examples/visitor -url wss://127.0.0.1:40404 -ca arena.pem -name Ada
//
// It goes to whoever is nearest, greets, and goes on to the next. It prints what it hears, once a
// second what is around, and in the end what that cost.
//
//	main.go     dials: a door, whom to trust there, a name
//	scripts.go  what the program makes of the entities that it sees
//	visitor.go  what it does tick by tick, and what it prints
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/mercury/secure"
)

// loginLimit is how long the world may take to let the visitor in.
const loginLimit = 30 * time.Second

// flags are the command line.
type flags struct {
	url, key, ca, name string
	stay               time.Duration
}

func main() {
	var f flags
	flag.StringVar(&f.url, "url", "", "door of the arena: udp://, wss://, quic:// or tls://host:port")
	flag.StringVar(&f.key, "key", "", "public key of the arena, for udp")
	flag.StringVar(&f.ca, "ca", "", "file with the certificate to trust, for wss, quic and tls; the system's roots if empty")
	flag.StringVar(&f.name, "name", "Visitor", "name of the player")
	flag.DurationVar(&f.stay, "for", 20*time.Second, "how long to stay; Ctrl-C ends it earlier")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &f, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "visitor:", err)
		os.Exit(1)
	}
}

// dialled says where to dial, and whom to trust there.
func (f *flags) dialled() (cfg session.Config, err error) {
	cfg = session.Config{LoginApp: f.url, User: f.name, Password: "open sesame", Retry: true}
	if f.key != "" {
		if cfg.ServerKey, err = secure.ParsePublicKey(f.key); err != nil {
			return cfg, fmt.Errorf("-key: %w", err)
		}
	}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return cfg, fmt.Errorf("-ca: %w", err)
		}
		cfg.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		if !cfg.TLS.RootCAs.AppendCertsFromPEM(text) {
			return cfg, fmt.Errorf("-ca: %s has no certificate in PEM", f.ca)
		}
	}
	cfg.Schema, err = defs.Load()
	return cfg, err
}

// run visits the arena, and prints to out what happens there.
func run(ctx context.Context, f *flags, out io.Writer) error {
	cfg, err := f.dialled()
	if err != nil {
		return err
	}
	v := &visitor{out: out, greeted: make(map[entity.ID]bool)}
	cfg.Scripts, cfg.Events = v.scripts(cfg.Schema), v.events()
	cfg.Filter = func(*client.Replica) client.Filter { return new(client.Hermite) }
	limit, cancel := context.WithTimeout(ctx, loginLimit)
	player, err := session.Dial(limit, cfg)
	cancel()
	if err != nil {
		return err
	}
	limit, cancel = context.WithTimeout(ctx, f.stay)
	defer cancel()
	return errors.Join(v.play(limit, player), player.Close())
}
