package shared_test

import (
	"fmt"
	"io"
	"os"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// Hero is the base part of the example's only type, and Body its cell part.
type Hero struct{ *entity.Base }

// OnCreated puts the hero into the world.
func (h *Hero) OnCreated() { _ = h.CreateCell(1, property.Vector3{}, property.Vector3{}, nil) }

// Body hears what is going on.
type Body struct{ *space.Real }

// OnSharedData is called on all cell parts, wherever they are.
func (b *Body) OnSharedData(c shared.Change) { fmt.Println(c.Key, c.Value) }

// printing stands for the *testing.T of a test.
type printing struct{}

func (printing) Helper()                      {}
func (printing) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
func (printing) Output() io.Writer            { return os.Stderr }

// A base begins an event, and cell parts on other processes hear of it.
func Example() {
	var t printing
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":         {Data: []byte(`<root><Hero hasCell="true" hasBase="true" hasClient="true"/></root>`)},
		"entity_defs/Hero.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Body](cells, "Hero")
	baseapp.Register[Hero](bases, "Hero")

	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Hero"}})
	w.Login("Ada")
	w.Run(time.Second)
	for hero := range spacetest.BaseScripts[Hero](w) {
		if err := hero.Shared().Set("event/harvest", 2); err != nil {
			t.Fatalf("%v", err)
		}
	}
	w.Run(time.Second)
	for body := range spacetest.CellScripts[Body](w) {
		rate, _ := body.Shared().Get("event/harvest")
		fmt.Println("the harvest counts", rate, "times")
	}
	// Output:
	// event/harvest 2
	// the harvest counts 2 times
}
