package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A BaseApp that retired after its operator had given up waiting left the cluster, and its process
// stayed for ever, dialling managers that did not know it any more.
func TestRetiresUnwatched(t *testing.T) {
	t.Parallel()
	schema, err := property.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(context.Background(), Config{CellScripts: space.NewScripts(schema), BaseScripts: baseapp.NewScripts(schema), CellApps: 1, BaseApps: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := c.RetireBaseApp(short, 0, "a test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the last BaseApp: %v", err)
	}
	if err := c.AddBaseApp(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.baseApps[0].Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the process has not ended")
	}
	if err := c.RetireBaseApp(context.Background(), 0, "again"); err != nil {
		t.Errorf("asked again for what is done: %v", err)
	}
	if err := c.Trouble(); err != nil {
		t.Errorf("trouble after it has left: %v", err)
	}
}
