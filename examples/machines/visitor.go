package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
)

// visit plays: it logs in, and walks to and fro until ctx ends.
func visit(ctx context.Context, f *flags, cfg cluster.Config) error {
	c := session.Config{LoginApp: f.url, Schema: cfg.CellScripts.Schema(), User: f.name, Retry: true, Events: client.Events{
		Interrupted: func(err error) { fmt.Println("the line is lost, and comes back:", err) },
		Resumed:     func() { fmt.Println("plays on") },
	}}
	if f.trust != "" {
		var err error
		if c.ServerKey, err = secure.ParsePublicKey(f.trust); err != nil {
			return fmt.Errorf("-trust: %w", err)
		}
	}
	s, err := session.Dial(ctx, c)
	if err != nil {
		return err
	}
	fmt.Println("plays")
	if f.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.duration)
		defer cancel()
	}
	for x, step := float32(0), float32(0.5); ; x += step {
		if x > 100 || x < 0 {
			step = -step
		}
		_ = s.Do(func(c *client.Client) error { // while it has no control, it stands
			return c.SetPosition(property.Vector3{X: x}, property.Vector3{})
		})
		select {
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return s.Close()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
