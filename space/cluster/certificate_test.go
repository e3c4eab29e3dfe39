package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/space/cluster"
)

// A certificate is replaced while the world runs, by a Config.TLS that gives it by GetCertificate. Who is in
// stays; who comes is shown the new one, Connect too. (Connect trusted Config.TLS.Certificates alone, and
// so nobody where there are none.)
func TestCertificateIsReplaced(t *testing.T) {
	for _, door := range everyDoor[1:] {
		t.Run(door.Network, func(t *testing.T) {
			t.Parallel()
			cfg, oldRoots := withDoors(t, door)
			first, roots := streamtest.Certificate(t)
			next := &tls.Config{RootCAs: roots}
			var shown atomic.Pointer[tls.Certificate]
			shown.Store(&cfg.TLS.Certificates[0])
			cfg.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return shown.Load(), nil }}
			w := started(t, cfg)
			connect := func(name string) {
				s, err := w.Connect(name, "secret", client.Events{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				if err := s.Ready(ctx); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			connect("ada")
			url := w.LoginURLs()[0]
			early := comeInAs(t, cfg, oldRoots, url, "bob")
			shown.Store(&first)
			connect("cat")
			comeInAs(t, cfg, next, url, "dan").cheer(t)
			early.cheer(t)
			distrusts(t, cfg, oldRoots, url)
		})
	}
}

// distrusts checks that a player with these roots is not let on.
func distrusts(t *testing.T, cfg cluster.Config, roots *tls.Config, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := session.Dial(ctx, session.Config{LoginApp: url, TLS: roots, Schema: cfg.CellScripts.Schema(), User: "eve", Password: "secret"})
	if !errors.Is(err, mercury.ErrKey) {
		t.Errorf("with the old roots: %v", err)
	}
}
