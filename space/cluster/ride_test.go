package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// ferry goes to and fro.
type ferry struct{ *space.Real }

func (f *ferry) OnCreated() { f.OnShore(entity.Callback{User: 60}) }

func (f *ferry) OnShore(c entity.Callback) {
	if _, err := f.MoveTo(property.Vector3{X: float32(c.User)}, 40, "OnShore", -c.User); err != nil {
		f.Log().Error("adrift", "error", err)
	}
}

// sailor goes aboard the ferry that it sees.
type sailor struct{ *space.Real }

func (s *sailor) Embark(entity.ID) {
	for v := range s.EntitiesInRange(200) {
		if v.Def().Name != "Ferry" {
			continue
		}
		if err := s.Board(v.ID(), property.Vector3{Z: 5}, property.Vector3{}); err != nil {
			s.Log().Error("left ashore", "error", err)
		}
	}
}

func (s *sailor) Land(entity.ID) { s.Alight() }

// sailorBase is the base part of a player.
type sailorBase struct{ *entity.Base }

func (b *sailorBase) OnCreated() {
	if err := b.CreateCell(1, property.Vector3{X: 5, Z: 20}, property.Vector3{}, nil); err != nil {
		b.Log().Error("no cell part", "error", err)
	}
}

// A player goes aboard a ferry that crosses a line between two CellApps again and again, walks about on it,
// and lands. Its client and that of another player see it on the ferry all the time.
func TestRideOverLines(t *testing.T) {
	t.Parallel()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Sailor/> <Ferry hasBase="false"/> </root>`)},
		"entity_defs/Sailor.def": {Data: []byte(`<root> <Volatile> <position/> <yaw/> </Volatile>
			<CellMethods> <embark> <Exposed/> </embark> <land> <Exposed/> </land> </CellMethods>
		</root>`)},
		"entity_defs/Ferry.def": {Data: []byte(`<root> <Volatile> <position/> <yaw/> </Volatile> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.CellScripts, cfg.BaseScripts, cfg.PlayerType = space.NewScripts(schema), baseapp.NewScripts(schema), "Sailor"
	space.Register[ferry](cfg.CellScripts, "Ferry")
	space.Register[sailor](cfg.CellScripts, "Sailor")
	baseapp.Register[sailorBase](cfg.BaseScripts, "Sailor")
	cfg.Key = testKey(1)
	cfg.CellScripts.OnFirstCell(func(c *space.Cell, _ bool) {
		if _, err := c.Spawn("Ferry", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Error(err)
		}
	})
	w := started(t, cfg)
	dial := func(user string) *session.Session {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s, err := session.Dial(ctx, session.Config{LoginApp: w.LoginURLs()[0], Schema: schema, User: user, ServerKey: cfg.Key.Public(), Tick: cfg.Tick})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	ada, bob := dial("ada"), dial("bob")
	own := entity.ID(0)
	do := func(s *session.Session, f func(c *client.Client) error) {
		t.Helper()
		if err := s.Do(f); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, s *session.Session, f func(c *client.Client) bool) {
		t.Helper()
		eventually(t, what, func() (ok bool) {
			do(s, func(c *client.Client) error { ok = f(c); return nil })
			return ok
		})
	}
	// aboard reports whether a client sees ada on the ferry, at a seat.
	aboard := func(c *client.Client, seat property.Vector3) bool {
		r := c.Entity(own)
		if r == nil || r.Vehicle() == 0 || c.Entity(r.Vehicle()) == nil {
			return false
		}
		f := c.Entity(r.Vehicle())
		if off := property.Distance(r.Position, f.Position); off < 4.9 || off > 6.1 {
			t.Errorf("ada is %v m away from the ferry that she is on", off)
		}
		at, _ := r.Seat()
		return at == seat
	}
	do(ada, func(c *client.Client) error { own = c.Player().ID; return c.Player().Cell().Call("embark") })
	for n, s := range []*session.Session{ada, bob} {
		until(fmt.Sprint("client ", n, " sees ada aboard"), s, func(c *client.Client) bool { return aboard(c, property.Vector3{Z: 5}) })
	}
	do(ada, func(c *client.Client) error {
		return c.Player().SetSeat(property.Vector3{X: 3, Z: 5}, property.Vector3{})
	})
	until("bob sees ada walk on deck", bob, func(c *client.Client) bool { return aboard(c, property.Vector3{X: 3, Z: 5}) })
	for _, far := range []float32{40, -40, 40} {
		until(fmt.Sprint("ada comes to ", far), ada, func(c *client.Client) bool {
			return aboard(c, property.Vector3{X: 3, Z: 5}) && c.Player().Position.X/far > 1
		})
	}
	do(ada, func(c *client.Client) error { return c.Player().Cell().Call("land") })
	until("ada is ashore", ada, func(c *client.Client) bool { return c.Player().Vehicle() == 0 && c.Controls() })
	until("bob sees that", bob, func(c *client.Client) bool { return c.Entity(own).Vehicle() == 0 })
}
