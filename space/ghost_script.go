package space

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Ghost is the read-only copy of an entity whose real is on another cell. The script of a ghost
// embeds it. Scripts call its methods on the goroutine of their CellApp. A ghost and its script end
// when the real goes out of reach or comes to this cell. A Ghost that is kept beyond that shows the
// last state.
type Ghost struct {
	rec    *record
	e      *presence.Entity
	cell   *Cell
	kind   *script.Type
	script reflect.Value
}

// ID is the entity's id.
func (g *Ghost) ID() entity.ID { return g.e.ID }

// Def is the entity's definition.
func (g *Ghost) Def() *property.Definition { return g.e.Def }

// Space is the id of the space that the entity is in.
func (g *Ghost) Space() entity.SpaceID { return g.e.Space }

// Position is where the entity is, in metres.
func (g *Ghost) Position() property.Vector3 { return g.e.Position }

// Direction is yaw, pitch and roll, in radians.
func (g *Ghost) Direction() property.Vector3 { return g.e.Direction }

// Order says which incarnation and hop the copy mirrors.
func (g *Ghost) Order() entity.Order { return g.e.Order }

// Home is the CellApp that the real is on, as far as this copy knows.
func (g *Ghost) Home() mercury.Address { return View{g.rec}.Home() }

// Now is game time: the same on all CellApps of the space but for network delay.
func (g *Ghost) Now() time.Duration { return g.cell.game }

// Log writes to the CellApp's log with the entity's name.
func (g *Ghost) Log() *slog.Logger {
	return g.cell.log.With("ghost", g.e.ID.String(), "type", g.e.Def.Name)
}

// watchGhost counts what a new ghost hears, and gives it the game's script, if any. Its values must
// be set already.
func (c *Cell) watchGhost(rec *record) {
	rec.mirror = nil
	if kind := c.scripts.ghosts.Of(rec.e.Def); kind != nil && !c.annex {
		g := &Ghost{rec: rec, e: rec.e, cell: c, kind: kind}
		rec.mirror = g
		g.guard("constructor", func() { g.script = kind.New(g, rec.e.Props) })
	}
	rec.ghost.Changed = func(change *property.Change, bytes int) {
		c.stats.Add(rec.e.Def, change.Index, property.Received, bytes)
		if rec.mirror != nil {
			rec.mirror.hear(change)
		}
	}
}

// hear calls the setter of a change.
func (g *Ghost) hear(change *property.Change) {
	g.guard(g.e.Def.Properties[change.Index].Name, func() { g.kind.Hear(g.script, change) })
}

// guard runs game code. A panic costs the ghost its script and nothing else.
func (g *Ghost) guard(what string, f func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		invariant.Pass(p)
		g.rec.mirror = nil
		g.cell.count.Errors++
		g.Log().Error("script of a ghost panicked; the ghost goes on without it",
			"in", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}()
	f()
}

// ghostValues are the values that a ghost's script has seen.
func (rec *record) ghostValues() []property.Value {
	if rec.mirror == nil {
		return nil
	}
	var values []property.Value
	for _, i := range rec.e.Def.Stream(property.GhostStream) {
		values = append(values, rec.e.Props.Get(i))
	}
	return values
}

// hearState tells the script what a State has changed, as Updates would have done.
func (rec *record) hearState(was []property.Value) {
	for n, i := range rec.e.Def.Stream(property.GhostStream) {
		if rec.mirror == nil {
			return
		}
		if is := rec.e.Props.Get(i); !property.Equal(was[n], is) {
			rec.mirror.hear(&property.Change{Index: i, Op: property.SetValue, Old: was[n], New: is})
		}
	}
}
