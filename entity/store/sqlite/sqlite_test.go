package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/entity/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Rig {
		path := filepath.Join(t.TempDir(), "a world?.db")
		return &storetest.Rig{Open: func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, path, sqlite.Config{}) }}
	})
}
