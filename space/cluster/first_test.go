package cluster_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// What a newcomer gets wrong is told by Start, with what to do.

type hastyCell struct{ *space.Real }

func (*hastyCell) OnCreate() {}

type hastyBase struct{ *entity.Base }

func (*hastyBase) OnCreate() {}

func TestStartRefusesMisspeltCallbacks(t *testing.T) {
	cfg := world(t)
	schema := cfg.CellScripts.Schema()
	cfg.CellScripts = space.NewScripts(schema)
	cfg.BaseScripts = new(baseapp.Scripts)
	space.Register[hastyCell](cfg.CellScripts, "Avatar")
	baseapp.Register[hastyBase](cfg.BaseScripts, "Avatar", nil)
	c, err := cluster.Start(context.Background(), cfg)
	if err == nil {
		_ = c.Stop()
		t.Fatal("a world with a misspelt callback has started")
	}
	for _, want := range []string{
		"did you mean func (*cluster_test.hastyCell) OnCreated()?",
		"did you mean func (*cluster_test.hastyBase) OnCreated()?",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}
