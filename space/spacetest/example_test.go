package spacetest_test

import (
	"fmt"
	"io"
	"os"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// Hero is the base part of the example's only type, and Body its cell part.
type Hero struct{ *entity.Base }

// OnCreated puts the hero into the world.
func (h *Hero) OnCreated() { _ = h.CreateCell(1, property.Vector3{}, property.Vector3{}, nil) }

// Body counts beats.
type Body struct {
	*space.Real
	Beats property.Uint32
}

// OnCreated starts the heart.
func (b *Body) OnCreated() { _, _ = b.AddTimer(time.Second, time.Second, "OnBeat", 0) }

// OnBeat is called each second of the world.
func (b *Body) OnBeat(entity.Callback) { b.Beats.Set(b.Beats.Get() + 1) }

// printing stands for the *testing.T of a test.
type printing struct{}

func (printing) Helper()                      {}
func (printing) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
func (printing) Output() io.Writer            { return os.Stderr }

// A heart goes on beating when its CellApp is killed: a minute of the world, in a few milliseconds.
func Example() {
	var t printing
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root><Hero hasCell="true" hasBase="true" hasClient="true"/></root>`)},
		"entity_defs/Hero.def": {Data: []byte(`<root><Properties>
			<beats> <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </beats>
		</Properties></root>`)},
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Body](cells, "Hero")
	baseapp.Register[Hero](bases, "Hero")

	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Hero"}})
	ada := w.Login("Ada")
	w.Run(30 * time.Second)
	w.Where(ada.Player().ID).Kill()
	w.Run(30 * time.Second)
	for body := range spacetest.CellScripts[Body](w) {
		beats := body.Beats.Get()
		fmt.Println(beats > 50 && beats <= 60, ada.InWorld())
	}
	// Output: true true
}
