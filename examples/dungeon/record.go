package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
	"github.com/cellscape/cellscape/space/replay"
)

// recordTo has the world record its spaces into files in a directory. end waits until all is written.
func recordTo(dir string, cfg *cluster.Config) (end func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil
	}
	sink, err := keep.NewFiles(keep.FilesConfig{Dir: dir})
	if err != nil {
		return nil, err
	}
	cfg.Recorder = sink
	return func() error { return sink.Close(context.Background()) }, nil
}

// record begins the recording of a space that has just got its first cell.
func (g *game) record(c *space.Cell) {
	label := "town"
	if c.Space() != town {
		label = "dungeon"
	}
	g.check(c.SetSpaceData(recording.Key, []byte(label)))
}

// show plays all recordings in a directory, as fast as they can be read, and prints what happens.
func show(dir string) error {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		return err
	}
	found, err := keep.Find(dir)
	for _, r := range found {
		err = errors.Join(err, showOne(schema, r), r.Close())
	}
	return err
}

func showOne(schema *property.Schema, r *keep.Recording) error {
	var p *replay.Player
	say := func(r *client.Replica, format string, args ...any) {
		fmt.Printf("  %8.1f s  %s %v %s\n", p.Now().Seconds(), r.Def.Name, r.ID, fmt.Sprintf(format, args...))
	}
	p, err := replay.New(replay.Config{Schema: schema, Events: client.Events{
		Entered:     func(r *client.Replica) { say(r, "is there, at %.0f", r.Position) },
		Left:        func(r *client.Replica) { say(r, "leaves") },
		RideChanged: func(r *client.Replica) { say(r, "rides on %v", r.Vehicle()) },
		PropertyChanged: func(r *client.Replica, c *property.Change) {
			say(r, "%s %v becomes %v", r.Def.Properties[c.Index].Name, c.Old, c.New)
		},
		Called: func(r *client.Replica, m *property.Method, args []property.Value) { say(r, "%s %v", m.Name, args) },
	}}, r.Logs...)
	if errors.Is(err, replay.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	first, last := p.Span()
	fmt.Printf("space %d, %s: %v, %d logs\n", r.Space, r.Label, (last - first).Round(time.Second), len(r.Logs))
	for _, gap := range p.Gaps() {
		fmt.Printf("  %8.1f s  nothing was recorded at %s until %.1f s\n", gap.From.Seconds(), gap.App, gap.To.Seconds())
	}
	for more := true; more && err == nil; {
		more, err = p.Step()
	}
	return err
}
