package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A process that came into a world which was being stopped ended with it, and its start went on
// waiting for the managers to tell of it.
func TestStartOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	schema, err := property.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{CellScripts: space.NewScripts(schema), BaseScripts: baseapp.NewScripts(schema)}
	managers, err := StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = managers.Stop() }()
	c, err := StartCellApp(context.Background(), cfg, managers.ManagerAddr())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := c.ready(context.Background()); !errors.Is(err, host.ErrStopped) || !strings.Contains(err.Error(), "the world was stopped") {
		t.Errorf("%v, want that it was stopped", err)
	}
}
