package space_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// A Tram gathers speed, passes the points, stops at the depot, and turns round there.
type Tram struct {
	*space.Real
	timetable func(what string, t *Tram) `cellscape:"local"`
}

// smooth is how a tram moves: it has its 12 m/s after 8 s, and needs as long to stop.
func smooth() space.Gait { return space.Gait{Acceleration: 1.5} }

// OnCreated sets off. It does not brake for the points.
func (t *Tram) OnCreated() {
	t.timetable("off", t)
	through := smooth()
	through.Through = true
	if _, err := t.MoveTo(property.Vector3{X: 120}, 12, "OnPoints", 0, through); err != nil {
		t.Log().Error("it stands", "error", err)
	}
}

// OnPoints goes on with the speed that it has by then.
func (t *Tram) OnPoints(entity.Callback) {
	t.timetable("points", t)
	if _, err := t.MoveTo(property.Vector3{X: 120, Z: 120}, 12, "OnDepot", 0, smooth()); err != nil {
		t.Log().Error("it stands", "error", err)
	}
}

// OnDepot turns round, in six seconds.
func (t *Tram) OnDepot(entity.Callback) {
	t.timetable("depot", t)
	if _, err := t.TurnTo(math.Pi, math.Pi/6, "OnTurned", 0); err != nil {
		t.Log().Error("it stays as it is", "error", err)
	}
}

// OnTurned is the end of the line.
func (t *Tram) OnTurned(entity.Callback) { t.timetable("turned", t) }

// Passenger is who the world is for; none comes.
type Passenger struct{ *entity.Base }

// printing stands for the *testing.T of a test.
type printing struct{}

func (printing) Helper()                      {}
func (printing) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
func (printing) Output() io.Writer            { return os.Stderr }

func ExampleGait() {
	var t printing
	schema, err := property.NewSchema(
		&property.Definition{Name: "Tram", HasCell: true, HasClient: true},
		&property.Definition{Name: "Passenger", HasBase: true, HasClient: true},
	)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var began time.Duration
	timetable := func(what string, t *Tram) {
		if what == "off" {
			began = t.Now()
		}
		fmt.Printf("%s after %.0f s, at %.0f m/s: %v\n", what, (t.Now() - began).Seconds(), t.WalkingSpeed(), t.Position())
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	baseapp.Register[Passenger](bases, "Passenger")
	space.Register(cells, "Tram", func() *Tram { return &Tram{timetable: timetable} })
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		if _, err := c.Spawn("Tram", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Fatalf("%v", err)
		}
	})
	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Passenger"}})
	w.Run(time.Minute)
	// Output:
	// off after 0 s, at 0 m/s: {0 0 0}
	// points after 14 s, at 12 m/s: {120 0 0}
	// depot after 28 s, at 0 m/s: {120 0 120}
	// turned after 34 s, at 0 m/s: {120 0 120}
}
