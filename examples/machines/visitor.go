package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
)

// waveEach is the number of steps between two waves: one each half second.
const waveEach = 5

// visit plays: it logs in, walks in a circle, which crosses the lines between cells, and waves,
// until ctx ends.
func visit(ctx context.Context, f *flags, cfg cluster.Config) error {
	c := session.Config{LoginApp: f.url, Schema: cfg.CellScripts.Schema(), User: f.name, Retry: true, Events: client.Events{
		Interrupted: func(err error) { fmt.Println("the line is lost, and comes back:", err) },
		Resumed:     func() { fmt.Println("plays on") },
		Called: func(_ *client.Replica, m *property.Method, args []property.Value) {
			fmt.Printf("%v waves, by base %v and cell %v\n", args[0], args[1], args[2])
		},
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
	for n := 0; ; n++ {
		sin, cos := math.Sincos(float64(n) / 20)
		at := property.Vector3{X: float32(50 * cos), Z: float32(50 * sin)}
		_ = s.Do(func(c *client.Client) error { // while it has no control, it stands
			if own := c.Player(); own != nil && n%waveEach == 0 {
				if err := own.Base().Call("wave"); err != nil {
					fmt.Println("cannot wave:", err)
				}
			}
			return c.SetPosition(at, property.Vector3{})
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
